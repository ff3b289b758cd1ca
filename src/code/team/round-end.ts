import { join } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Outcome, Tell } from "../../engine/loop/types.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import type { CriteriaResults } from "../../task/criteria/check-criteria.js";
import type { Best, Round, TaskState, Tested } from "../../task/generated/ralph-state.js";
import { roundsOf } from "../../task/plan/used.js";
import { passingTestsIn, type TaskFrame } from "../../task/workflow/frame.js";
import { isBetter, isMet, countMet, resultOf } from "../../task/workflow/status.js";
import { roundFolder } from "../project-files/layout.js";
import { areSame } from "../round/signature.js";
import { changedSymbols } from "../vault/fault.js";
import type { TeamOptions } from "./options.js";
import { roundOf, roundWithStep, type TeamUnit, withRound } from "./rounds.js";
import { flakyTestsIn, testSummaryOf } from "./tests.js";

/** Maximum number of paths in a record. */
export const maxNamedPaths = 50;

/** Accepts the checks of a round: its files are kept or put back, and its fix is stored. */
export async function acceptTests(
  options: TeamOptions,
  frame: TaskFrame,
  state: TaskState,
  unit: TeamUnit,
  results: CriteriaResults,
  tell: Tell,
): Promise<Outcome> {
  const { store, snapshots, redact, folder } = options;
  const at = frame.timestamp();
  const tested = testSummaryOf(results, at);
  const flaky = await reportFlaky(state, results, tell);
  const lastIteration = roundsOf(state)
    .flatMap(({ steps }) => steps)
    .findLast(({ iteration }) => iteration !== undefined)?.iteration;
  const result = resultOf(results.checks, lastIteration ?? 0);
  const best = state.best ?? result;
  // Only failing tests are a reason to put a round back. It may have repaired tests and left another criterion open.
  const isWorse = isBetter({ ...best, met: result.met }, result);
  const putBackPaths = isWorse ? await restoreFiles(options, roundOf(state, unit.round), best) : undefined;
  for (const path of putBackPaths?.left_alone ?? [])
    await tell({
      type: "notice",
      level: "warning",
      message: `${path} was changed by somebody else after the artisan, so it is not put back.`,
    });
  const isDone = isMet({ ...state, checks: [...results.checks] });
  const previous = roundsOf(state).findLast(({ round }) => round < unit.round);
  const isRepeated =
    !isDone && previous !== undefined && (await isSameFailure(previous, tested, countMet(results.checks)));
  const round = {
    ...roundWithStep(state, unit, isDone ? "pass" : "fail", at),
    tests: tested,
    met: countMet(results.checks),
    ...(isDone ? {} : { repeats: isRepeated ? (previous.repeats ?? 1) + 1 : 1 }),
    ...withoutUndefined({ put_back: putBackPaths?.put_back, left_alone: putBackPaths?.left_alone }),
  };
  // A snapshot of the files as they were tested: later rounds may be put back to it.
  const snapshot = isWorse ? undefined : (await snapshots.take(lastIteration ?? 0))?.commit;
  await storeFix(options, state, round, results, isWorse);
  const resultsText = JSON.stringify(
    results.runs.flatMap((run) => run.results ?? []),
    null,
    2,
  );
  await writeRoundFile(folder, unit.round, "tests.json", redact(resultsText));
  if (isWorse) {
    // The earlier checks are valid again for the restored files.
    frame.setChecks(state.task, { checks: state.checks, tests: [], runs: [] });
    await frame.writeViewFiles(await store.edit((current) => ({ ...withRound(current, round), flaky })));
  } else {
    const newBest: Best = { ...result, ...withoutUndefined({ commit: snapshot ?? best.commit }) };
    await frame.storeChecks(
      results,
      (current) => ({ ...withRound(current, round), flaky, tested, best: newBest }),
      tell,
    );
  }
  return { outcome: "accepted", summary: summaryOf(results, tested) };
}

/** The names of all flaky tests. It reports each new one. */
export async function reportFlaky(state: TaskState, results: CriteriaResults, tell: Tell): Promise<string[]> {
  const knownFlaky = state.flaky ?? [];
  const flaky = flakyTestsIn(results, knownFlaky);
  for (const name of flaky.filter((each) => !knownFlaky.includes(each)))
    await tell({
      type: "notice",
      level: "warning",
      message: `${name} is flaky: it failed, then passed on the same files, so it is not counted.`,
    });
  return flaky;
}

/** Whether a round ended with the same failing tests, the same error signatures and as many met criteria as another. */
async function isSameFailure({ tests, met }: Round, testedNow: Tested, metNow: number): Promise<boolean> {
  if (tests === undefined || (met ?? metNow) !== metNow || tests.failing !== testedNow.failing) return false;
  const names = new Set(tests.failures.map(({ test }) => test));
  if (testedNow.failures.some(({ test }) => !names.has(test))) return false;
  return testedNow.failing === 0 || (await areSame(tests.signatures, testedNow.signatures));
}

/** Stores what a round did about the tests that failed before it. */
async function storeFix(
  { fixes, snapshots }: TeamOptions,
  state: TaskState,
  round: Round & { readonly tests: Tested },
  results: CriteriaResults,
  isPutBack: boolean,
): Promise<void> {
  const { before, after, tests } = round;
  const hasSnapshots = before !== undefined && after !== undefined;
  const attempts = state.attempts.filter((attempt) => attempt.round === round.round);
  await fixes.keep({
    run: `${state.id}/${state.begun ?? 0}`,
    round,
    framework: tests.framework,
    isPutBack,
    failures: state.tested?.failures ?? [],
    passing: passingTestsIn(results),
    failing: tests.failures.map(({ test }) => test),
    changed: hasSnapshots ? await changedSymbols(snapshots, before, after) : [],
    before: (path) => (hasSnapshots ? snapshots.textAt(before, path) : undefined),
    tokens: attempts.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
  });
}

/** Puts the files that a round changed back to the best version, except files that somebody changed since. */
async function restoreFiles({ snapshots }: TeamOptions, round: Round | undefined, { commit: best }: Best) {
  const treeAfter = round?.after;
  const currentTree = treeAfter === undefined || best === undefined ? undefined : await snapshots.tree();
  if (treeAfter === undefined || best === undefined || currentTree === undefined) return undefined;
  const changedSince = new Set((await snapshots.changes(treeAfter, currentTree)).map(({ path }) => path));
  const paths = (await snapshots.changes(best, treeAfter)).map(({ path }) => path);
  const pathsToRestore = paths.filter((path) => !changedSince.has(path));
  const otherPaths = paths.filter((path) => changedSince.has(path));
  await snapshots.putBackFiles(best, pathsToRestore);
  return {
    put_back: pathsToRestore.slice(0, maxNamedPaths),
    ...(otherPaths.length === 0 ? {} : { left_alone: otherPaths.slice(0, maxNamedPaths) }),
  };
}

/** Writes a file into the folder of a round. `text`: without secrets. */
export async function writeRoundFile(folder: string, round: number, name: string, text: string): Promise<void> {
  const target = roundFolder(folder, round);
  makeFolder(target);
  await writeFileAtomic(join(target, name), text, { isDurable: false });
}

const summaryOf = ({ checks }: CriteriaResults, { passed, failing }: Tested): string =>
  [
    `${passed} tests passed, ${failing} failing`,
    ...checks
      .filter((check) => !check.passed && check.failing === undefined)
      .map(({ criterion, detail }) => `${criterion}: ${detail.split("\n")[0]}`.slice(0, 160)),
  ].join("; ");
