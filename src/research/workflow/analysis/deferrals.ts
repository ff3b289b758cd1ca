import type { Paper } from "../../generated/rrd.js";
import type { Deferral, Library, TextAnswer } from "../records/state.js";
import type { Clock } from "../../../engine/lib/clock.js";

const second = 1000;
/** Milliseconds between the tries to get a text. */
const pauses = [2 * second, 10 * second, 30 * second];
/** So long other papers go first. */
const putOffFor = 10 * 60 * second;

/** Papers that a run puts off, kept in memory: the next run tries them at once. */
interface Deferrals {
  current(): readonly Deferral[];
  /** The paper's text or why it has none; `later` where it could not be had in several tries and the paper was put off. */
  text(library: Library, paper: Paper): Promise<TextAnswer | "later">;
}

/** A paper whose host is only busy must not be decided from its abstract, for good: it is tried some times, then put off. */
export function deferrals({ now, sleep, signal }: Clock & { readonly signal: AbortSignal }): Deferrals {
  const putOff = new Map<string, Deferral>();
  const current = () => [...putOff.values()].filter(({ until }) => until > now());
  return {
    current,
    async text(library, paper) {
      let answer = await library.text(paper);
      // With the network away every paper would cost these 42 seconds, not only the first.
      for (const pause of current().length > 0 ? [] : pauses) {
        if (!isTransient(answer) || signal.aborted) break;
        await sleep(now() + pause, signal);
        answer = await library.text(paper);
      }
      if (!isTransient(answer)) return answer;
      // What an interrupted run was told says nothing of the paper.
      if (!signal.aborted) putOff.set(paper.id, { id: paper.id, reason: answer.unavailable, until: now() + putOffFor });
      return "later";
    },
  };
}

const isTransient = (answer: TextAnswer): answer is Extract<TextAnswer, { unavailable: string }> =>
  "unavailable" in answer && answer.transient === true;
