import type { HistoryLimits } from "../../engine/lib/history-limits.js";
import type { Redact } from "../../engine/lib/redact.js";
import type { Verdict } from "../../engine/loop/types.js";
import type { RecordStore } from "../../engine/storage/state/record-store.js";
import type { Protect } from "../../task/project-files/protect.js";
import type { Snapshots } from "../../task/project-files/snapshots.js";
import type { Place } from "../../task/place/run.js";
import type { CodePlan, CodeState, Tested } from "../generated/ralph-code.js";
import type { loadMachine } from "../round/next-role.js";
import type { Fixes } from "../vault/fixes.js";

/** The project's files by their distance from where it fails. */
export interface Ranking {
  /** The files as a text of at most so many tokens, the nearest first. */
  text(state: CodeState, tests: Tested, tokens: number): Promise<string>;
  /** The plan of the librarian without a model: failing places and what they import. */
  plan(state: CodeState, tests: Tested): Promise<CodePlan>;
}

export interface CodeOptions {
  readonly store: RecordStore<CodeState>;
  /** Absolute path of the project. */
  readonly folder: string;
  readonly place: Omit<Place, "signal">;
  readonly snapshots: Snapshots;
  readonly protect: Protect;
  /** What a sandbox shows to agents and does not let them change; absent: there is no sandbox. */
  readonly readOnly?: readonly string[];
  /** A folder for an agent that does not work in the project. */
  readonly roleFolder: (iteration: number) => string;
  readonly memory: HistoryLimits;
  readonly redact: Redact;
  /** Whether the artisan runs commands itself. */
  readonly shell: boolean;
  /** What the project asks of every agent, as the first part of a brief; as the run found it. */
  readonly instructions: string;
  readonly placeOf: Awaited<ReturnType<typeof loadMachine>>;
  readonly hasAdversary: boolean;
  /** The librarian is code. */
  readonly isBuiltIn: boolean;
  readonly keepTests: boolean;
  readonly temperatures: Readonly<Record<string, number>>;
  readonly fixes: Fixes;
  readonly ranking: Ranking;
  /** Tokens that the librarian's model takes in one request. */
  readonly window: number;
  /** Asks hooks whether the job is done. */
  readonly veto: (proposal: object) => Promise<readonly string[]>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly close: (verdict?: Verdict) => Promise<void>;
}
