import { given } from "../../engine/lib/given.js";
import type { Outcome, Tell } from "../../engine/loop/types.js";
import type { BestTree, CodeState, Round, Tested } from "../generated/ralph-code.js";
import { isNoTest } from "../../task/test-runs/results.js";
import { roundsOf } from "../project-files/state-file.js";
import { areSame } from "../round/signature.js";
import { changedSymbols } from "../vault/fault.js";
import { unmetOf, vetoesOf } from "./ends.js";
import { isOrdinary, whileHeld } from "./put-back-changes.js";
import type { CodeOptions } from "./options.js";
import { keepOfRound, keepReport } from "./report.js";
import { type CodeUnit, isReached, latestTests, roundOf, stepped, withRound } from "./status.js";
import { testProject, type TestRun } from "./tests.js";

/** What the tests of a round, or those before the first, have shown. */
export interface Shown {
  readonly run: TestRun;
  readonly tested: Tested;
}

/** Most paths that a record names. */
export const maxChanged = 50;

/** Runs the tests, and what the job asks for besides them; undefined where the run ends meanwhile. */
export async function showTests(
  options: CodeOptions,
  state: CodeState,
  signal: AbortSignal,
  tell: Tell,
): Promise<Shown | undefined> {
  const { now } = options;
  const place = { ...options.place, signal };
  await tell({ type: "checking", criterion: "tests" });
  const begun = performance.now();
  const during = "the tests ran";
  const {
    found: run,
    changed,
    kept,
  } = await whileHeld(options, { state, during, mayStay: isOrdinary, signal, tell }, () =>
    testProject(place, state.job, state, now),
  );
  if (changed.length > 0) {
    const more = changed.length > 5 ? ` and ${changed.length - 5} more` : "";
    const message = `${changed.slice(0, 5).join(", ")}${more} changed while ${during}, and ${changed.length === 1 ? "was" : "were"} put back; the earlier content is in ${kept}.`;
    await tell({ type: "notice", level: "warning", message });
  }
  if (signal.aborted) return undefined;
  // The tests that ran before the job are those of the baseline itself, while it is made.
  const known = { ...state, tests_before: state.tests_before ?? [...run.passing] };
  const unmet = await unmetOf(options, known, run, signal, tell);
  if (signal.aborted) return undefined;
  const tested: Tested = { ...run.tested, ...(unmet.length === 0 ? {} : { unmet }) };
  const first = tested.failures[0];
  const detail = [
    `${tested.passed} passed, ${tested.failing} failing.`,
    ...(first === undefined ? [] : [`${first.test}: ${first.message.split("\n")[0]}`]),
    ...unmet.slice(0, 2),
  ].join(" ");
  const ms = Math.round(performance.now() - begun);
  await tell({ type: "checked", criterion: `tests (${tested.framework})`, passed: isReached(tested), ms, detail });
  return { run, tested };
}

/** Accepts what the tests have shown of a round: the tree is kept or put back, and what it did is remembered. */
export async function acceptTests(
  options: CodeOptions,
  state: CodeState,
  unit: CodeUnit,
  { run, tested }: Shown,
  tell: Tell,
): Promise<Outcome> {
  const { store, folder, snapshots, fixes, redact, hasAdversary, now } = options;
  const known = { flaky: [...run.flaky], tests_seen: [...run.seen] };
  for (const name of run.flaky.filter((each) => !(state.flaky ?? []).includes(each)))
    await tell({
      type: "notice",
      level: "warning",
      message: `${name} is flaky: it failed, then passed on the same files, so it is not counted.`,
    });
  if (unit.kind === "baseline") {
    const base = await snapshots.take(0);
    const best = bestOf(unit, tested, base?.commit);
    const last = roundsOf(state).at(-1);
    // The run ended after a hook's veto and before the next round: what a person did since may be the answer to it.
    const asks = last !== undefined && (last.veto ?? []).length > 0 && isReached(tested);
    const still = asks ? await vetoesOf(options, state, last) : undefined;
    const next = await store.edit((before) => ({
      ...(last === undefined || still === undefined ? before : withRound(before, { ...last, veto: [...still] })),
      ...known,
      baseline: tested,
      best,
      ...given({ base: before.base ?? base?.commit }),
      tests_before: before.tests_before ?? [...run.passing],
    }));
    await keepReport(folder, next, redact);
    return { outcome: "accepted", summary: summaryOf(tested) };
  }
  const before = latestTests(state) ?? tested;
  const best = state.best ?? { round: 0, failing: before.failing };
  const isWorse = tested.failing > best.failing && unloadedIn(tested) >= (best.unloaded ?? 0);
  const round = roundOf(state, unit.round);
  const restored = isWorse && best.commit !== undefined ? await putBack(options, round, best.commit) : undefined;
  for (const path of restored?.left_alone ?? [])
    await tell({
      type: "notice",
      level: "warning",
      message: `${path} was changed by somebody else after the artisan, so it is not put back.`,
    });
  const reached = isReached(tested);
  const previous = roundsOf(state)
    .filter((each) => each.round < unit.round)
    .at(-1);
  const isSame = !reached && (await areSame(previous?.tests?.signatures ?? [], tested.signatures));
  const full: Round = {
    ...stepped(state, unit, reached ? "pass" : "fail", new Date(now()).toISOString()),
    tests: tested,
    ...(reached ? {} : { repeats: isSame ? (previous?.repeats ?? 1) + 1 : 1 }),
    ...given({ put_back: restored?.put_back, left_alone: restored?.left_alone }),
  };
  const veto = reached && !hasAdversary ? await vetoesOf(options, state, full) : [];
  // The tree as the tests saw it, for later rounds to be put back to.
  const after = isWorse ? undefined : (await snapshots.take(lastIteration(state, unit.round)))?.commit;
  await fixes.keep({
    ...{ run: `${state.id}/${state.baseline?.at ?? ""}`, round: full, framework: tested.framework, isPutBack: isWorse },
    ...{ failures: before.failures, passing: run.passing, failing: tested.failures.map(({ test }) => test) },
    ...(await changeOf(options, full)),
    tokens: state.attempts.filter((each) => each.round === unit.round).reduce((sum, { tokens = 0 }) => sum + tokens, 0),
  });
  await keepOfRound(folder, unit.round, "tests.json", redact(JSON.stringify(run.results ?? tested, null, 2)));
  const next = await store.edit((current) => ({
    ...withRound(current, { ...full, ...(veto.length === 0 ? {} : { veto: [...veto] }) }),
    ...known,
    ...(isWorse ? {} : { best: bestOf(unit, tested, after ?? best.commit) }),
  }));
  await keepReport(folder, next, redact);
  return { outcome: "accepted", summary: summaryOf(tested) };
}

/** What a round has changed, for the memory of fixes; nothing where git could not keep the folder. */
async function changeOf({ snapshots }: CodeOptions, { before, after }: Round) {
  if (before === undefined || after === undefined) return { changed: [], before: () => undefined };
  const changed = await changedSymbols(snapshots, before, after);
  return { changed, before: (path: string) => snapshots.textAt(before, path) };
}

function bestOf({ round }: CodeUnit, tested: Tested, commit: string | undefined): BestTree {
  return { round, failing: tested.failing, unloaded: unloadedIn(tested), ...given({ commit }) };
}

/** A file that can't be loaded is one failure, however many tests it holds, and so is a run without a test. */
const unloadedIn = ({ failures }: Tested): number => failures.filter(({ test }) => isNoTest(test)).length;

const lastIteration = ({ attempts }: CodeState, round: number): number =>
  attempts.findLast((each) => each.round === round && each.role === "artisan")?.iteration ?? 0;

/** Puts what a round has changed back to the best tree, but for what somebody has changed since. */
async function putBack({ snapshots }: CodeOptions, round: Round | undefined, best: string) {
  const after = round?.after;
  if (after === undefined) return undefined;
  const present = await snapshots.take(0);
  const touched = new Set(
    present === undefined ? [] : (await snapshots.changes(after, present.commit)).map(({ path }) => path),
  );
  const paths = (await snapshots.changes(best, after)).map(({ path }) => path);
  const own = paths.filter((path) => !touched.has(path));
  const foreign = paths.filter((path) => touched.has(path));
  await snapshots.put(best, own);
  return {
    put_back: own.slice(0, maxChanged),
    ...(foreign.length === 0 ? {} : { left_alone: foreign.slice(0, maxChanged) }),
  };
}

const summaryOf = ({ passed, failing, unmet = [] }: Tested): string =>
  [`${passed} tests passed, ${failing} failing`, ...unmet.map((each) => each.slice(0, 120))].join("; ");
