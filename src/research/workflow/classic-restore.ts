import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Paper, Rrd } from "../generated/rrd.js";
import { timeForName } from "../../engine/storage/file-timestamp.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { formatRrd, parseRrd } from "../folder/rrd-file.js";
import { isDecided } from "./decisions/status.js";
import { progressFile, rrdFile, rrdName } from "../folder/layout.js";

/** What is settled once a paper is decided: 'reset --paper' opens it again, an agent does not. */
const judgement = ["status", "decision", "score", "score_breakdown"] as const;

/** What an iteration left, put right. */
interface Restored {
  /** What was wrong and refuses the iteration, a sentence each. */
  readonly reasons: string[];
  /** What was put back and does not. */
  readonly notices: readonly string[];
}

/**
 * Puts back what an agent that edits rrd.json itself broke or lost; a broken file is kept beside it, and of a valid one everything
 * that is new stays, but for papers beyond the one that an iteration reads.
 */
export async function restoreRecords(folder: string, before: Rrd, at: Date): Promise<Restored> {
  const path = rrdFile(folder);
  const text = await readRegularText(path).catch(() => undefined);
  if (text === undefined) {
    await writeFileAtomic(path, formatRrd(before));
    return { reasons: ["rrd.json was left deleted and was restored"], notices: [] };
  }
  const { ok: now, problems } = parseRrd(text, rrdName);
  if (now === undefined) {
    const broken = `rrd.json.broken-${timeForName(at.getTime())}`;
    await rename(path, join(folder, broken));
    await writeFileAtomic(path, formatRrd(before));
    const [first] = problems;
    const what = first === undefined ? "" : ` (${first.pointer === "" ? "" : `${first.pointer} `}${first.message})`;
    return { reasons: [`rrd.json was left broken${what} and was restored; the broken one is ${broken}`], notices: [] };
  }

  const old = new Map(before.papers_pool.map((paper) => [paper.id, paper]));
  const decidedBefore = ({ id }: Paper) => {
    const was = old.get(id);
    return was !== undefined && isDecided(was) ? was : undefined;
  };
  const isUndone = (paper: Paper) => {
    const was = decidedBefore(paper);
    return was !== undefined && (!isDecided(paper) || (was.analysis != null && paper.analysis == null));
  };
  const isRejudged = (paper: Paper) => {
    const was = decidedBefore(paper);
    return (
      was !== undefined && !isUndone(paper) && judgement.some((field) => !isDeepStrictEqual(was[field], paper[field]))
    );
  };
  const fresh = now.papers_pool.filter((paper) => isDecided(paper) && decidedBefore(paper) === undefined);
  const [, ...more] = fresh.toSorted((a, b) => (b.priority ?? 3) - (a.priority ?? 3));
  const beyond = new Set(more.map(({ id }) => id));
  const papers = missing(before.papers_pool, now.papers_pool);
  const undone = now.papers_pool.filter(isUndone);
  const rejudged = now.papers_pool.filter(isRejudged);
  const insights = missing(before.insights ?? [], now.insights ?? []);
  const known = new Set((before.insights ?? []).map(({ id }) => id));
  const lost = [
    [papers, "paper", "papers", "removed"],
    [undone, "analysis", "analyses", "removed"],
    [insights, "insight", "insights", "removed"],
    [rejudged, "decided paper", "decided papers", "judged anew"],
  ] as const;
  const said = lost.flatMap(([{ length }, one, many, done]) =>
    length === 0 ? [] : [`${length} ${length === 1 ? one : many} ${done}`],
  );
  const restored = (paper: Paper): Paper => {
    const was = old.get(paper.id);
    if (beyond.has(paper.id)) return was ?? { ...paper, ...unread };
    if (was === undefined || isUndone(paper)) return was ?? paper;
    return isRejudged(paper)
      ? { ...paper, ...Object.fromEntries(judgement.map((field) => [field, was[field]])) }
      : paper;
  };
  const own = ofThePerson(before, now);
  const whole =
    said.length + beyond.size === 0
      ? own
      : {
          ...own,
          papers_pool: [...now.papers_pool.map(restored), ...papers],
          insights: [
            ...(now.insights ?? []).filter(({ id, paper_id }) => known.has(id) || !beyond.has(paper_id ?? "")),
            ...insights,
          ],
        };
  if (whole !== now) await writeFileAtomic(path, formatRrd(whole));
  return {
    reasons: said.length === 0 ? [] : [`rrd.json was left with ${said.join(", ")}; the previous content was restored`],
    notices:
      beyond.size === 0
        ? []
        : [
            `${fresh.length} papers were decided in one iteration; one counts, and ${[...beyond].join(", ")} will be read again.`,
          ],
  };
}

/** A paper that was found and decided at once, as it was found. */
const unread = { status: "pending", score: null, score_breakdown: null, analysis: null, decision: null } as const;

/**
 * With what agents have no say in: what the loop remembers, the words of the person among it, and a budget that the agent dropped. One
 * that was changed stays: a person may raise it at any time.
 */
function ofThePerson(before: Rrd, now: Rrd): Rrd {
  const isLoopSame = isDeepStrictEqual(now.loop, before.loop);
  const isBudgetGone = now.budget == null && before.budget != null;
  if (isLoopSame && !isBudgetGone) return now;
  const { loop: _, ...rest } = now;
  return {
    ...rest,
    ...(before.loop === undefined ? {} : { loop: before.loop }),
    ...(isBudgetGone ? { budget: before.budget } : {}),
  };
}

/** Records of `before` whose id is in none of `now`. */
function missing<Item extends { id?: string | null }>(before: readonly Item[], now: readonly Item[]): Item[] {
  const ids = new Set(now.map(({ id }) => id));
  return before.filter(({ id }) => id != null && !ids.has(id));
}

/**
 * progress.txt only grows: where an agent rewrote it, the earlier text comes back and the agent's version is kept. Answers with what
 * was done. It is no reason to refuse the iteration: the records are whole.
 */
export async function restoreLog(folder: string, before: string, at: Date): Promise<string[]> {
  const path = progressFile(folder);
  const now = await readRegularText(path).catch(() => "");
  if (now.startsWith(before)) return [];
  await writeFileAtomic(path, before);
  if (now.trim() === "") return ["progress.txt was emptied instead of appended to; the earlier text is back"];
  const kept = join(folder, `progress.txt.rewritten-${timeForName(at.getTime())}`);
  await writeFile(kept, now);
  return [
    `progress.txt was rewritten instead of appended to; the earlier text is back, the agent's version is ${kept}`,
  ];
}
