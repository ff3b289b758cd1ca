import type { LedgerLine } from "../generated/ledger.js";
import { stopName } from "../lib/layout.js";
import { oneLine } from "../lib/sanitise.js";
import { shortCount, shortDuration, timeText } from "../lib/words.js";
import type { RunStatus, Progress, RunningUnit } from "../loop/types.js";
import { roleWithRound, unlabelledCost, type UsageSum } from "./terminal/tally.js";

/** The end of a run, as the state stores it. */
interface RunEnd {
  readonly at: string;
  readonly verdict: string;
  readonly reason: string;
  readonly cause?: string;
}

/** The state of a project, a task or a team ("the work"): its records, and facts that other processes can see. */
export interface Standing extends RunStatus {
  /** The noun for the work: "project", "task". */
  readonly noun: string;
  readonly folder: string;
  /** The title of the work; absent if it can't be read. */
  readonly title?: string;
  /** The phase as it is named in files: "ANALYSIS". */
  readonly phase: string;
  /** The phase in a sentence: "analysis"; absent if there is only one phase. */
  readonly stage?: string;
  /** True: a run would start no more agents. */
  readonly isFinished: boolean;
  readonly progress: Progress;
  /** The noun for the counts in `progress`: "papers done". */
  readonly progressNoun: string;
  /** The results so far: "4 included, 2 kept for insights". */
  readonly results?: string;
  /** The goals, if they are few. `met`: absent if the goal was not checked; `found`: the result of the check. */
  readonly goals?: readonly { readonly text: string; readonly met?: boolean; readonly found?: string }[];
  readonly lastRun?: RunEnd;
  /** Decisions that only the user can make, one sentence each. */
  readonly openDecisions: readonly string[];
  readonly ledger: readonly LedgerLine[];
  /** Names of units by id; a unit without a name is shown by its id. */
  readonly names?: ReadonlyMap<string, string>;
  /** The action of an agent on a unit with this name: "reads smith2020". If absent, only the name is shown. */
  activityOf?(work: Pick<RunningUnit, "unit" | "phase">, name: string): string | undefined;
  readonly spending: UsageSum;
  /** Total working time of agents in milliseconds; absent if it was not recorded. */
  readonly spentMs?: number;
  /** What the next run does, if that is only one thing: "writes the report again"; absent: "continues it". */
  readonly continuation?: string;
  /**
   * `continueCommand` continues the work. `resumeCommand` allows new runs after a pause or a stop.
   */
  readonly commands: { readonly continueCommand: string; readonly resumeCommand: string };
  /** The reason why the work can't be read; other fields then have no meaning. */
  readonly problem?: string;
}

/** A state as text, for terminals, pages and reports. */
export interface StateText {
  readonly tone: "running" | "held" | "finished" | "bad" | "waiting";
  /** "Running, in analysis", "Finished". */
  readonly headline: string;
  /** "#5 reads p1", one entry for each iteration under way. */
  readonly doing: readonly string[];
  /** As `doing`, with more details: "#5 reads p1, claude: On hands, since 14:30". */
  readonly underWay: readonly string[];
  /** "3 of 12 papers done". */
  readonly progress: string;
  /** "limit, 14:30: All 2 iterations are used up."; absent during a run. */
  readonly lastRun?: string;
  /** The next step for the user: "'research-ralph run hands' continues it". */
  readonly next?: string;
  /** Decisions that only the user can make, one sentence each. */
  readonly openDecisions: readonly string[];
  /** "36.1k tokens · $0.12 · 14m 20s"; absent if nothing was recorded. */
  readonly cost?: string;
}

/** The texts for a state. No other code has these texts. `now`: milliseconds since the epoch. Pure. */
export function stateText(standing: Standing, now: number): StateText {
  const { running, held, underWay, lastRun, openDecisions } = standing;
  const { tone, word } = toneAndWordOf(standing);
  const [next, cost] = [nextStep(standing), costOf(standing)];
  return {
    tone,
    headline: `${headlineOf(standing, word)}${running && held.length > 0 ? "; ends before the next iteration" : ""}`,
    doing: underWay.map((iteration) => doingText(iteration, standing)),
    underWay: underWay.map((iteration) =>
      oneLine(
        `${doingText(iteration, standing)}${iteration.agent === undefined ? "" : `, ${iteration.agent}`}: ${iteration.title}, since ${timeText(iteration.since, now)}`,
      ),
    ),
    progress: progressText(standing),
    ...(running || lastRun === undefined
      ? {}
      : { lastRun: oneLine(`${lastRun.verdict}, ${timeText(lastRun.at, now)}: ${lastRun.reason}`) }),
    ...(next === undefined ? {} : { next }),
    openDecisions,
    ...(cost === undefined ? {} : { cost }),
  };
}

/**
 * The headline: the state and the stage. `word`: the word for the state; absent in a text that is read later, such as a
 * report, because the run may have ended by then.
 */
export const headlineOf = ({ isFinished, stage }: Pick<Standing, "isFinished" | "stage">, word?: string): string =>
  isFinished ? (word ?? "Finished") : `${word ?? "Unfinished"}${stage === undefined ? "" : `, in ${oneLine(stage)}`}`;

function toneAndWordOf({
  problem,
  running,
  held,
  isFinished,
  openDecisions,
  abandoned,
}: Standing): Pick<StateText, "tone"> & { word: string } {
  if (problem !== undefined) return { tone: "bad", word: "Broken" };
  if (running) return { tone: held.length > 0 ? "held" : "running", word: "Running" };
  if (held.length > 0) return { tone: "held", word: held.includes(stopName) ? "Stopped" : "Paused" };
  if (isFinished)
    return { tone: "finished", word: openDecisions.length === 0 ? "Finished" : "Finished, and waits for you" };
  if (abandoned) return { tone: "bad", word: "Its run was killed" };
  return { tone: "waiting", word: "Not running" };
}

/** "3 of 12 papers done". */
export const progressText = ({
  progress: { done, total },
  progressNoun,
}: Pick<Standing, "progress" | "progressNoun">): string =>
  `${done.toLocaleString("en")} of ${total.toLocaleString("en")} ${progressNoun}`;

function nextStep({
  held,
  running,
  isFinished,
  problem,
  commands,
  ledger,
  lastRun,
  continuation = "continues it",
}: Standing): string | undefined {
  if (problem !== undefined) return undefined;
  if (held.length > 0) return `'${commands.resumeCommand}' removes ${held.join(" and ")}; then runs can start again`;
  if (running || isFinished) return undefined;
  const isStuck = lastRun?.verdict === "stuck";
  return `'${commands.continueCommand}' ${ledger.length === 0 ? "starts it" : continuation}${isStuck ? " after new advice; if you mended the agent instead, add --force" : ""}`;
}

/** The usage so far: "36.1k tokens · $0.12 · 14m 20s"; undefined if nothing was recorded. */
function costOf({ spending: { tokens, iterations, ...cost }, spentMs }: Standing): string | undefined {
  const parts = [
    ...(tokens > 0 ? [`${shortCount(tokens)} tokens`] : []),
    ...(cost.cost_usd !== undefined || iterations > 0 ? [unlabelledCost(cost)] : []),
    ...(spentMs === undefined ? [] : [shortDuration(spentMs)]),
  ];
  return parts.length === 0 ? undefined : parts.join(" · ");
}

/** The action of an iteration under way: "#5 reads p1", "#6 critic of p1". */
const doingText = (work: RunningUnit, standing: Pick<Standing, "names" | "activityOf">): string =>
  oneLine(`#${work.iteration} ${activityText(work, standing)}`);

/** The action of an iteration: "reads p1", "critic of p1", "artisan 2". `fallback`: used if there is no other text. */
export function activityText(
  work: RunningUnit,
  { names, activityOf }: Pick<Standing, "names" | "activityOf">,
  fallback?: string,
): string {
  const { unit, role, round } = work;
  const name = names?.get(unit) ?? unit;
  if (role === undefined) return activityOf?.(work, name) ?? fallback ?? name;
  // If the id of the unit already names the role, the unit is not named.
  return unit.startsWith(`${role}:`) ? roleWithRound(role, round) : `${roleWithRound(role, round)} of ${name}`;
}
