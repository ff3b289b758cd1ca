import { oneLine } from "../../engine/lib/sanitise.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { isNotATest } from "../../task/test-runs/results.js";
import type { Round, TestFailure } from "../../task/generated/ralph-state.js";
import { textOf } from "../graph/source-text.js";
import { type ChangedSymbol, errorOf, frameOf, fixStateOf, type ReadText } from "./fault.js";
import { type Fix, openVault, type Vault } from "./vault.js";

/** What a round did about the tests that failed before it, and the test results at its end. */
export interface FixAttempt {
  /** The id of the run. */
  readonly run: string;
  readonly round: Pick<Round, "round" | "hypothesis" | "action_taken">;
  /** The tests that failed before the round. */
  readonly failures: readonly TestFailure[];
  /** Names of the tests that pass and that fail at the end of the round. The result of any other test is not known. */
  readonly passing: readonly string[];
  readonly failing: readonly string[];
  /** Whether the round's change was put back, because it did not help. */
  readonly isPutBack: boolean;
  readonly changed: readonly ChangedSymbol[];
  /** Reads the files of the project as they were before the round. */
  readonly before: ReadText;
  readonly tokens: number;
  readonly framework: string;
}

/** The memory of a project: which fixes helped against which faults. */
export interface Fixes {
  /** The fixes that helped when these tests failed by the same fault, a line each; empty if no fix helped. */
  recall(failures: readonly TestFailure[]): Promise<string>;
  /** Stores what a round did, after the tests have run. */
  keep(attempt: FixAttempt): Promise<void>;
}

/** Maximum number of fixes in a brief. */
const maxRecalledFixes = 5;
/** Maximum estimated tokens of the fixes in a brief. */
const maxTokens = 1_000;
/** Maximum number of failing tests for which fixes are searched. */
const maxFailures = 20;

const languages: Readonly<Record<string, string>> = { pytest: "python", unittest: "python", cargo: "rust", go: "go" };

/**
 * Opens the memory of fixes of the project in `folder`. The file is open only during a call, so that changes of an
 * agent can be put back in between. If it can't be opened, no fix is recalled or stored. Each problem is reported once.
 */
export function openFixes(folder: string, now: () => number, warn: (message: string) => void): Fixes {
  const sentMessages = new Set<string>();
  const warnOnce = (message: string) => {
    if (!sentMessages.has(message)) warn(message);
    sentMessages.add(message);
  };
  async function withVault<Value>(fallback: Value, action: (vault: Vault) => Promise<Value>): Promise<Value> {
    const vault = await openVault(folder, warnOnce);
    if (typeof vault === "string") {
      warnOnce(`${vault} The run goes on without it.`);
      return fallback;
    }
    try {
      return await action(vault);
    } catch (error) {
      warnOnce(
        `The memory of fixes can't be used (${error instanceof Error ? error.message : String(error)}); the run goes on without it.`,
      );
      return fallback;
    } finally {
      await vault.close();
    }
  }
  return {
    recall: (failures) =>
      withVault("", async (vault) => {
        const lines: string[] = [];
        let usedTokens = 0;
        for (const fix of await fixesOfSameFault(vault, failures, (path) => textOf(folder, path))) {
          const line = lineOf(fix);
          usedTokens += estimateTokens(line) + 1;
          if (usedTokens > maxTokens) break;
          lines.push(line);
        }
        return lines.join("\n");
      }),
    keep: (attempt) => withVault(undefined, (vault) => storeFixes(vault, attempt, new Date(now()).toISOString())),
  };
}

/**
 * The fixes of these faults, each action once. A fix belongs to a fault if its test or frame fails again and a changed
 * symbol contains again the lines that the fix removed. If there is no such fix, the result is the fixes of the same
 * test, frame and error whose symbols have different content now. A fix that is still in the code did not repair this
 * fault.
 */
async function fixesOfSameFault(vault: Vault, failures: readonly TestFailure[], readText: ReadText): Promise<Fix[]> {
  const [returnedFixes, similarFixes]: [Fix[], Fix[]] = [[], []];
  const seenIds = new Set<number>();
  for (const failure of failures.slice(0, maxFailures)) {
    const frame = await frameOf(failure, readText);
    for (const fix of await vault.helped(failure.test, frame)) {
      if (seenIds.has(fix.id)) continue;
      seenIds.add(fix.id);
      const fixState = await fixStateOf(fix.changed, readText);
      const isSame = fix.test === failure.test && fix.frame === frame && fix.error_signature === errorOf(failure);
      if (fixState === "back") returnedFixes.push(fix);
      else if (fixState === "other" && isSame && fix.changed.length > 0 && !isNotATest(fix.test))
        similarFixes.push(fix);
    }
  }
  const actions = new Set<string>();
  return (returnedFixes.length > 0 ? returnedFixes : similarFixes)
    .filter(({ action_taken }) => !actions.has(action_taken) && actions.add(action_taken))
    .slice(0, maxRecalledFixes);
}

async function storeFixes(vault: Vault, attempt: FixAttempt, timestamp: string): Promise<void> {
  const { run, failures, passing, failing, isPutBack, changed, before, tokens, framework } = attempt;
  const { round, hypothesis = "", action_taken = "" } = attempt.round;
  const [passingTests, failingTests] = [new Set(passing), new Set(failing)];
  const language = languages[framework] ?? (framework === "command" ? "" : "javascript");
  // A file that could not be loaded, and a run as a whole, never appear among the passing tests.
  const judgedFailures = failures.filter(
    ({ test }) => failingTests.has(test) || passingTests.has(test) || isNotATest(test),
  );
  await vault.add(
    await Promise.all(
      judgedFailures.map(async (failure) => ({
        key: `${run}/${round}/${failure.test}`,
        run,
        test: failure.test,
        error_signature: errorOf(failure),
        frame: await frameOf(failure, before),
        changed,
        hypothesis,
        action_taken,
        timestamp,
        success: !isPutBack && !failingTests.has(failure.test),
        cost_tokens: tokens,
        framework,
        language,
      })),
    ),
  );
  if (!isPutBack && failingTests.size > 0) await vault.failedAgain(run, [...failingTests]);
}

const lineOf = ({ test, changed, hypothesis, action_taken }: Fix): string =>
  `- ${oneLine(test).slice(0, 120)} (${placesOf(changed)}): ${oneLine(hypothesis).slice(0, 200)} Helped: ${oneLine(action_taken).slice(0, 300)}`;

const placesOf = (changed: readonly ChangedSymbol[]): string =>
  changed
    .slice(0, 3)
    .map(({ file, symbol }) => (symbol === "" ? file : `${file}#${symbol}`))
    .join(", ");
