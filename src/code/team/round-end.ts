import { join } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { Outcome, Tell } from "../../engine/loop/types.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { makeFolder } from "../../engine/storage/regular-file.js";
import type { Checked } from "../../task/criteria/check-criteria.js";
import type { Best, Round, TaskState, Tested } from "../../task/generated/ralph-state.js";
import { roundsOf } from "../../task/plan/used.js";
import { passingTestsIn, type TaskFrame } from "../../task/workflow/frame.js";
import { isBetter, isMet, metIn, resultOf } from "../../task/workflow/status.js";
import { roundFolder } from "../project-files/layout.js";
import { areSame } from "../round/signature.js";
import { changedSymbols } from "../vault/fault.js";
import type { TeamOptions } from "./options.js";
import { roundOf, stepped, type TeamUnit, withRound } from "./standing.js";
import { flakyIn, testedIn } from "./tests.js";

/** Most paths that a record names. */
export const maxChanged = 50;

/** Accepts what the criteria have shown of a round: its files are kept or put back, and what it did is remembered. */
export async function acceptTests(
  options: TeamOptions,
  frame: TaskFrame,
  state: TaskState,
  unit: TeamUnit,
  checked: Checked,
  tell: Tell,
): Promise<Outcome> {
  const { store, snapshots, redact, folder } = options;
  const at = frame.at();
  const tested = testedIn(checked, at);
  const flaky = await tellFlaky(state, checked, tell);
  const last = roundsOf(state)
    .flatMap(({ steps }) => steps)
    .findLast(({ iteration }) => iteration !== undefined)?.iteration;
  const reachedNow = resultOf(checked.checks, last ?? 0);
  const best = state.best ?? reachedNow;
  // Only tests are a reason to take a round back: it may mend them and leave another criterion for the next round.
  const isWorse = isBetter({ ...best, met: reachedNow.met }, reachedNow);
  const restored = isWorse ? await putBack(options, roundOf(state, unit.round), best) : undefined;
  for (const path of restored?.left_alone ?? [])
    await tell({
      type: "notice",
      level: "warning",
      message: `${path} was changed by somebody else after the artisan, so it is not put back.`,
    });
  const isDone = isMet({ ...state, checks: [...checked.checks] });
  const previous = roundsOf(state).findLast(({ round }) => round < unit.round);
  const isSame = !isDone && previous !== undefined && (await failsAlike(previous, tested, metIn(checked.checks)));
  const round = {
    ...stepped(state, unit, isDone ? "pass" : "fail", at),
    tests: tested,
    met: metIn(checked.checks),
    ...(isDone ? {} : { repeats: isSame ? (previous.repeats ?? 1) + 1 : 1 }),
    ...withoutUndefined({ put_back: restored?.put_back, left_alone: restored?.left_alone }),
  };
  // The files as the tests saw them, for later rounds to be put back to.
  const after = isWorse ? undefined : (await snapshots.take(last ?? 0))?.commit;
  await remember(options, state, round, checked, isWorse);
  const results = JSON.stringify(
    checked.runs.flatMap((run) => run.results ?? []),
    null,
    2,
  );
  await keepOfRound(folder, unit.round, "tests.json", redact(results));
  if (isWorse) {
    // What was known of the files that stand there again holds.
    frame.take(state.task, { checks: state.checks, tests: [], runs: [] });
    await frame.show(await store.edit((current) => ({ ...withRound(current, round), flaky })));
  } else {
    const next: Best = { ...reachedNow, ...withoutUndefined({ commit: after ?? best.commit }) };
    await frame.keep(checked, (current) => ({ ...withRound(current, round), flaky, tested, best: next }), tell);
  }
  return { outcome: "accepted", summary: summaryOf(checked, tested) };
}

/** Names the tests that are flaky, and says so of each that is newly known for it. */
export async function tellFlaky(state: TaskState, checked: Checked, tell: Tell): Promise<string[]> {
  const known = state.flaky ?? [];
  const flaky = flakyIn(checked, known);
  for (const name of flaky.filter((each) => !known.includes(each)))
    await tell({
      type: "notice",
      level: "warning",
      message: `${name} is flaky: it failed, then passed on the same files, so it is not counted.`,
    });
  return flaky;
}

/** Whether the same tests fail for the same reasons as in another round, and as many criteria are met. */
async function failsAlike({ tests, met }: Round, now: Tested, metNow: number): Promise<boolean> {
  if (tests === undefined || (met ?? metNow) !== metNow || tests.failing !== now.failing) return false;
  const names = new Set(tests.failures.map(({ test }) => test));
  if (now.failures.some(({ test }) => !names.has(test))) return false;
  return now.failing === 0 || (await areSame(tests.signatures, now.signatures));
}

/** Keeps what a round did about the tests that failed before it. */
async function remember(
  { fixes, snapshots }: TeamOptions,
  state: TaskState,
  round: Round & { readonly tests: Tested },
  checked: Checked,
  isPutBack: boolean,
): Promise<void> {
  const { before, after, tests } = round;
  const isKnown = before !== undefined && after !== undefined;
  const runs = state.attempts.filter((each) => each.round === round.round);
  await fixes.keep({
    run: `${state.id}/${state.begun ?? 0}`,
    round,
    framework: tests.framework,
    isPutBack,
    failures: state.tested?.failures ?? [],
    passing: passingTestsIn(checked),
    failing: tests.failures.map(({ test }) => test),
    changed: isKnown ? await changedSymbols(snapshots, before, after) : [],
    before: (path) => (isKnown ? snapshots.textAt(before, path) : undefined),
    tokens: runs.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
  });
}

/** Puts what a round has changed back to the best files, but for what somebody has changed since. */
async function putBack({ snapshots }: TeamOptions, round: Round | undefined, { commit: best }: Best) {
  const after = round?.after;
  const present = after === undefined || best === undefined ? undefined : await snapshots.tree();
  if (after === undefined || best === undefined || present === undefined) return undefined;
  const touched = new Set((await snapshots.changes(after, present)).map(({ path }) => path));
  const paths = (await snapshots.changes(best, after)).map(({ path }) => path);
  const own = paths.filter((path) => !touched.has(path));
  const foreign = paths.filter((path) => touched.has(path));
  await snapshots.put(best, own);
  return {
    put_back: own.slice(0, maxChanged),
    ...(foreign.length === 0 ? {} : { left_alone: foreign.slice(0, maxChanged) }),
  };
}

/** Keeps a text among those of a round. `text`: without secrets. */
export async function keepOfRound(folder: string, round: number, name: string, text: string): Promise<void> {
  const target = roundFolder(folder, round);
  makeFolder(target);
  await writeFileAtomic(join(target, name), text, { durable: false });
}

const summaryOf = ({ checks }: Checked, { passed, failing }: Tested): string =>
  [
    `${passed} tests passed, ${failing} failing`,
    ...checks
      .filter((check) => !check.passed && check.failing === undefined)
      .map(({ criterion, detail }) => `${criterion}: ${detail.split("\n")[0]}`.slice(0, 160)),
  ].join("; ");
