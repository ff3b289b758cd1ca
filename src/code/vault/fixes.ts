import { oneLine } from "../../engine/lib/sanitise.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { isNoTest } from "../../task/test-runs/results.js";
import type { Round, TestFailure } from "../../task/generated/ralph-state.js";
import { textOf } from "../graph/source-text.js";
import { type ChangedSymbol, errorOf, frameOf, standingOf, type TextOf } from "./fault.js";
import { type Fix, openVault, type Vault } from "./vault.js";

/** What a round did about the failing tests that it began with, and what the tests say at its end. */
export interface FixAttempt {
  /** Names the run, of which the round is one. */
  readonly run: string;
  readonly round: Pick<Round, "round" | "hypothesis" | "action_taken">;
  /** The tests that failed before the round. */
  readonly failures: readonly TestFailure[];
  /** Names of the tests that pass at its end, and of those that fail; one that is in neither says nothing. */
  readonly passing: readonly string[];
  readonly failing: readonly string[];
  /** Its change was put back, so it helped nothing. */
  readonly isPutBack: boolean;
  readonly changed: readonly ChangedSymbol[];
  /** The texts of the project as the round found it. */
  readonly before: TextOf;
  readonly tokens: number;
  readonly framework: string;
}

/** What helped against which faults, in the life of the project. */
export interface Fixes {
  /** Fixes that helped when these tests failed by the same fault, a line each; empty where there was none. */
  recall(failures: readonly TestFailure[]): Promise<string>;
  /** Keeps what a round did, once the tests have spoken. */
  keep(attempt: FixAttempt): Promise<void>;
}

/** Most fixes that a brief is told of, and most estimated tokens of them. */
const maxRecalled = 5;
const maxTokens = 1_000;
/** Most failing tests that are asked for. */
const maxFailures = 20;

const languages: Readonly<Record<string, string>> = { pytest: "python", unittest: "python", cargo: "rust", go: "go" };

/**
 * The memory of fixes of the project in `folder`. The file is open only while it is used, so that what an agent does to
 * it meanwhile can be put back. Where it can't be had, nothing is recalled or kept; each problem is told once.
 */
export function fixesIn(folder: string, now: () => number, warn: (message: string) => void): Fixes {
  const told = new Set<string>();
  const tell = (message: string) => {
    if (!told.has(message)) warn(message);
    told.add(message);
  };
  async function use<Value>(otherwise: Value, work: (vault: Vault) => Promise<Value>): Promise<Value> {
    const vault = await openVault(folder, tell);
    if (typeof vault === "string") {
      tell(`${vault} The run goes on without it.`);
      return otherwise;
    }
    try {
      return await work(vault);
    } catch (error) {
      tell(
        `The memory of fixes can't be used (${error instanceof Error ? error.message : String(error)}); the run goes on without it.`,
      );
      return otherwise;
    } finally {
      await vault.close();
    }
  }
  return {
    recall: (failures) =>
      use("", async (vault) => {
        const lines: string[] = [];
        let used = 0;
        for (const fix of await sameFault(vault, failures, (path) => textOf(folder, path))) {
          const line = lineOf(fix);
          used += estimateTokens(line) + 1;
          if (used > maxTokens) break;
          lines.push(line);
        }
        return lines.join("\n");
      }),
    keep: (attempt) => use(undefined, (vault) => keep(vault, attempt, new Date(now()).toISOString())),
  };
}

/**
 * The fixes of these very faults, each action once: of a test or a frame that fails again, where a symbol that the fix
 * changed holds again what the fix took out. Without one, those of the same test, frame and error whose symbols hold
 * something else by now. A fix that still stands did not mend this fault.
 */
async function sameFault(vault: Vault, failures: readonly TestFailure[], now: TextOf): Promise<Fix[]> {
  const [back, alike]: [Fix[], Fix[]] = [[], []];
  const seen = new Set<number>();
  for (const failure of failures.slice(0, maxFailures)) {
    const frame = await frameOf(failure, now);
    for (const fix of await vault.helped(failure.test, frame)) {
      if (seen.has(fix.id)) continue;
      seen.add(fix.id);
      const standing = await standingOf(fix.changed, now);
      const isSame = fix.test === failure.test && fix.frame === frame && fix.error_signature === errorOf(failure);
      if (standing === "back") back.push(fix);
      else if (standing === "other" && isSame && fix.changed.length > 0 && !isNoTest(fix.test)) alike.push(fix);
    }
  }
  const actions = new Set<string>();
  return (back.length > 0 ? back : alike)
    .filter(({ action_taken }) => !actions.has(action_taken) && actions.add(action_taken))
    .slice(0, maxRecalled);
}

async function keep(vault: Vault, attempt: FixAttempt, timestamp: string): Promise<void> {
  const { run, failures, passing, failing, isPutBack, changed, before, tokens, framework } = attempt;
  const { round, hypothesis = "", action_taken = "" } = attempt.round;
  const [passes, fails] = [new Set(passing), new Set(failing)];
  const language = languages[framework] ?? (framework === "command" ? "" : "javascript");
  // A file that could not be loaded, and the run as a whole, have no name that passes.
  const spoken = failures.filter(({ test }) => fails.has(test) || passes.has(test) || isNoTest(test));
  await vault.add(
    await Promise.all(
      spoken.map(async (failure) => ({
        key: `${run}/${round}/${failure.test}`,
        run,
        test: failure.test,
        error_signature: errorOf(failure),
        frame: await frameOf(failure, before),
        changed,
        hypothesis,
        action_taken,
        timestamp,
        success: !isPutBack && !fails.has(failure.test),
        cost_tokens: tokens,
        framework,
        language,
      })),
    ),
  );
  if (!isPutBack && fails.size > 0) await vault.failedAgain(run, [...fails]);
}

const lineOf = ({ test, changed, hypothesis, action_taken }: Fix): string =>
  `- ${oneLine(test).slice(0, 120)} (${placesOf(changed)}): ${oneLine(hypothesis).slice(0, 200)} Helped: ${oneLine(action_taken).slice(0, 300)}`;

const placesOf = (changed: readonly ChangedSymbol[]): string =>
  changed
    .slice(0, 3)
    .map(({ file, symbol }) => (symbol === "" ? file : `${file}#${symbol}`))
    .join(", ");
