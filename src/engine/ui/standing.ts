import type { LedgerLine } from "../generated/ledger.js";
import { stopName } from "../lib/layout.js";
import { oneLine } from "../lib/sanitise.js";
import { count, duration, timeText } from "../lib/words.js";
import type { Outside, Progress, UnderWay } from "../loop/types.js";
import { partText, unlabelledCost, type Sum } from "./terminal/tally.js";

/** How a run ended, as its state keeps it. */
interface RunEnd {
  readonly at: string;
  readonly verdict: string;
  readonly reason: string;
  readonly cause?: string;
}

/** How a piece of work stands, whatever it is: its records, and what is seen of it from outside. */
export interface Standing extends Outside {
  /** What it is: "project", "task". */
  readonly noun: string;
  readonly folder: string;
  /** What it is called in its own words; absent where it can't be read. */
  readonly title?: string;
  /** As files and programs name where it is: "ANALYSIS". */
  readonly phase: string;
  /** The same in words, where there is more than one: "analysis". */
  readonly stage?: string;
  /** No agent would be started any more. */
  readonly finished: boolean;
  readonly progress: Progress;
  /** What the progress counts: "papers decided". */
  readonly counts: string;
  /** What came of it so far: "4 presented, 2 for insights". */
  readonly came?: string;
  /** Its goals one by one, where there are few: whether each is met, if that was checked, and what was found. */
  readonly goals?: readonly { readonly text: string; readonly met?: boolean; readonly found?: string }[];
  readonly lastRun?: RunEnd;
  /** What only a person can settle, a sentence each. */
  readonly waits: readonly string[];
  readonly ledger: readonly LedgerLine[];
  /** What people call its units, by their ids; of any other the id is shown. */
  readonly names?: ReadonlyMap<string, string>;
  /** What an agent at work on a unit does, by what people call that: "reads smith2020"; absent: just the name. */
  doing?(work: Pick<UnderWay, "unit" | "phase">, name: string): string | undefined;
  readonly spending: Sum;
  /** Milliseconds that agents worked on it; absent where nothing was recorded. */
  readonly spentMs?: number;
  /** What going on with it does, where that is one thing: "writes the report again"; absent: it continues. */
  readonly goesOn?: string;
  /** The command that goes on with it, and the one that lets it run again. */
  readonly commands: { readonly goOn: string; readonly resume: string };
  /** Why it can't be read; the rest then says nothing. */
  readonly broken?: string;
}

/** A state in sentences, for a terminal, a page and a report alike. */
export interface StateWords {
  readonly tone: "running" | "held" | "finished" | "bad" | "waiting";
  /** "Running, in analysis", "Finished". */
  readonly headline: string;
  /** "#5 reads p1", one for each iteration under way. */
  readonly doing: readonly string[];
  /** The same in full: "#5 reads p1, claude: On hands, since 14:30". */
  readonly underWay: readonly string[];
  /** "3 of 12 papers decided". */
  readonly progress: string;
  /** "limit, 14:30: All 2 iterations are used up."; absent while a run is under way. */
  readonly lastRun?: string;
  /** What a person can do about it: "research-ralph run hands continues it". */
  readonly next?: string;
  /** What only a person can settle, a sentence each. */
  readonly waits: readonly string[];
  /** "36.1k tokens · $0.12 · 14m 20s"; absent where nothing was recorded. */
  readonly cost?: string;
}

/** The one wording of a state. `now`: milliseconds since the epoch. Pure. */
export function wordsOf(standing: Standing, now: number): StateWords {
  const { running, held, underWay, lastRun, waits } = standing;
  const { tone, word } = stateOf(standing);
  const [next, cost] = [nextStep(standing), costOf(standing)];
  return {
    tone,
    headline: `${headlineOf(standing, word)}${running && held.length > 0 ? "; ends before the next iteration" : ""}`,
    doing: underWay.map((each) => doingText(each, standing)),
    underWay: underWay.map((each) =>
      oneLine(
        `${doingText(each, standing)}${each.agent === undefined ? "" : `, ${each.agent}`}: ${each.title}, since ${timeText(each.since, now)}`,
      ),
    ),
    progress: progressText(standing),
    ...(running || lastRun === undefined
      ? {}
      : { lastRun: oneLine(`${lastRun.verdict}, ${timeText(lastRun.at, now)}: ${lastRun.reason}`) }),
    ...(next === undefined ? {} : { next }),
    waits,
    ...(cost === undefined ? {} : { cost }),
  };
}

/** How it stands and where it is; what is read later than it is written, such as a report, knows of no run. */
export const headlineOf = ({ finished, stage }: Pick<Standing, "finished" | "stage">, word?: string): string =>
  finished ? (word ?? "Finished") : `${word ?? "Unfinished"}${stage === undefined ? "" : `, in ${oneLine(stage)}`}`;

function stateOf({
  broken,
  running,
  held,
  finished,
  abandoned,
}: Standing): Pick<StateWords, "tone"> & { word: string } {
  if (broken !== undefined) return { tone: "bad", word: "Broken" };
  if (running) return { tone: held.length > 0 ? "held" : "running", word: "Running" };
  if (held.length > 0) return { tone: "held", word: held.includes(stopName) ? "Stopped" : "Paused" };
  if (finished) return { tone: "finished", word: "Finished" };
  if (abandoned) return { tone: "bad", word: "Its run was killed" };
  return { tone: "waiting", word: "Not running" };
}

/** "3 of 12 papers decided". */
export const progressText = ({ progress: { done, total }, counts }: Pick<Standing, "progress" | "counts">): string =>
  `${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${counts}`;

function nextStep({
  held,
  running,
  finished,
  broken,
  commands,
  ledger,
  goesOn = "continues it",
}: Standing): string | undefined {
  if (broken !== undefined) return undefined;
  if (held.length > 0) return `${commands.resume} removes ${held.join(" and ")}; then runs can start again`;
  if (running || finished) return undefined;
  return `${commands.goOn} ${ledger.length === 0 ? "starts it" : goesOn}`;
}

/** What was used up: "36.1k tokens · $0.12 · 14m 20s"; undefined where nothing was recorded. */
function costOf({ spending: { tokens, iterations, ...cost }, spentMs }: Standing): string | undefined {
  const parts = [
    ...(tokens > 0 ? [`${count(tokens)} tokens`] : []),
    ...(cost.cost_usd !== undefined || iterations > 0 ? [unlabelledCost(cost)] : []),
    ...(spentMs === undefined ? [] : [duration(spentMs)]),
  ];
  return parts.length === 0 ? undefined : parts.join(" · ");
}

/** "#5 reads p1", "#6 critic of p1": what an iteration under way does. */
const doingText = (work: UnderWay, standing: Pick<Standing, "names" | "doing">): string =>
  oneLine(`#${work.iteration} ${activityText(work, standing)}`);

/** "reads p1", "critic of p1", "artisan 2": what is done under way; `fallback`: used if there is no other text. */
export function activityText(
  work: UnderWay,
  { names, doing }: Pick<Standing, "names" | "doing">,
  fallback?: string,
): string {
  const { unit, role, round } = work;
  const name = names?.get(unit) ?? unit;
  if (role === undefined) return doing?.(work, name) ?? fallback ?? name;
  // A unit may be a role's part alone.
  return unit.startsWith(`${role}:`) ? partText(role, round) : `${partText(role, round)} of ${name}`;
}
