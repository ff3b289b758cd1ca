import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { given } from "../../engine/lib/given.js";
import { resultName } from "../../engine/lib/layout.js";
import type { MemoryLimits } from "../../engine/lib/memory-limits.js";
import type { Redact } from "../../engine/lib/redact.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { nothingSpent } from "../../engine/loop/guards/budget.js";
import { usesAllowance } from "../../engine/loop/guards/limits.js";
import { orVerdict } from "../../engine/loop/or-verdict.js";
import { ledgerLine } from "../../engine/loop/run-record/ledger-line.js";
import { observationOf } from "../../engine/loop/run-record/observation.js";
import type { AgentRun, Brief, Notes, Outcome, Tell, Verdict, Workflow } from "../../engine/loop/types.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import type { RecordStore } from "../../engine/storage/records/record-store.js";
import { keepAnswer, readChecked } from "../../engine/storage/result-file.js";
import { many } from "../../engine/ui/terminal/format.js";
import type { Snapshots } from "../../task/folder/snapshots.js";
import type { Place } from "../../task/place/run.js";
import { roundFolder } from "../folder/layout.js";
import type { AdversaryResult } from "../generated/result-adversary.js";
import type { ArtisanResult } from "../generated/result-artisan.js";
import type { CriticResult } from "../generated/result-critic.js";
import type { LibrarianResult } from "../generated/result-librarian.js";
import type { AdversarialFinding, CodePlan, CodeState, Round, Step, Tested } from "../generated/ralph-code.js";
import { layTests, whereTestsRun } from "../roles/adversarial-tests.js";
import { adversaryBrief, artisanBrief, criticBrief, librarianBrief, type Told } from "../roles/briefs.js";
import { planIn } from "../roles/plan.js";
import type { loadMachine } from "../round/next-role.js";
import { areSame } from "../round/signature.js";
import type { FixAttempt, Fixes } from "../vault/fixes.js";
import { type Change, changeBetween } from "./change.js";
import { unmetOf } from "./ends.js";
import { keepReport } from "./report.js";
import {
  type CodeUnit,
  isReached,
  latestTests,
  memoryOf,
  progressOf,
  roundsOf,
  spentIn,
  unitOf,
  verdictAfter,
  withSummary,
} from "./status.js";
import { testProject, type TestRun } from "./tests.js";

/** Remembers what stands around a role and nobody but this program and the user may change. */
export type Protect = (iteration: number) => Promise<{ putBack(): Promise<readonly string[]> }>;

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
  /** What a sandbox shows to agents and does not let them change. */
  readonly readOnly: readonly string[];
  /** A folder for an agent that does not work in the project. */
  readonly roleFolder: (iteration: number) => string;
  readonly memory: MemoryLimits;
  readonly redact: Redact;
  /** Whether the artisan runs commands itself. */
  readonly shell: boolean;
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

export interface LoadedCode {
  readonly state: CodeState;
  readonly ledger: readonly LedgerLine[];
}

type Prepared =
  | { readonly run: TestRun; readonly tested: Tested }
  | { readonly plan: CodePlan }
  | { readonly files: string; readonly fixes: string }
  | { readonly fixes: string }
  | { readonly change: Change };

interface Context {
  readonly protection: Awaited<ReturnType<Protect>>;
}

export type CodeWorkflow = Workflow<LoadedCode, CodeUnit, Prepared, Context>;

/** The share of the model's window that the librarian's brief fills at most. */
const librarianShare = 0.25;
/** What the rest of its brief takes at most. */
const besideFiles = 7_500;

/** Estimated tokens of files in the librarian's brief; `scale`: 1, or less where the last one was too large. */
export const librarianTokens = (window: number, scale: number): number =>
  Math.max(1_000, Math.floor((window * librarianShare - besideFiles) * scale));

const maxChanged = 50;

type Refused = { readonly reasons: readonly string[] };
/** What a role has brought: the event of the round, and what is kept of it. */
type Judged = {
  readonly event: Step["event"];
  readonly set: Partial<Round>;
  readonly summary: string;
  readonly after?: string;
};

/** A coding run, role by role and round by round, until the tests say that it is done. */
export function codeWorkflow(options: CodeOptions): CodeWorkflow {
  const { store, folder, snapshots, memory, now, redact, placeOf, hasAdversary, fixes } = options;
  let history = nothingSpent;
  const at = () => new Date(now()).toISOString();
  const roundOf = (state: CodeState, round: number): Round | undefined =>
    state.rounds.find((each) => each.round === round);
  const whereOf = ({ steps }: Round) => placeOf(steps, hasAdversary);

  const test = async (state: CodeState, signal: AbortSignal, tell: Tell) => {
    const place = { ...options.place, signal };
    const begun = performance.now();
    const run = await testProject(place, state.job, state, now);
    if (signal.aborted) return undefined;
    // The tests that ran before the job are those of the baseline itself, while it is made.
    const known = { ...state, tests_before: state.tests_before ?? [...run.passing] };
    const unmet = await unmetOf(known, run, place, snapshots, now);
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
  };

  const writeReport = (state: CodeState) => keepReport(folder, state, redact);

  /** The round's record with one more step. */
  const stepped = (state: CodeState, unit: CodeUnit, event: Step["event"], iteration?: number): Round => {
    const round = roundOf(state, unit.round) ?? { id: `round-${unit.round}`, round: unit.round, steps: [] };
    const role = unit.kind as Step["role"];
    return { ...round, steps: [...round.steps, { role, event, at: at(), ...given({ iteration }) }] };
  };

  const withRound = (state: CodeState, round: Round): CodeState => ({
    ...state,
    rounds: [...state.rounds.filter(({ id }) => id !== round.id), round].toSorted((a, b) => a.round - b.round),
  });

  /** Whether a round that has reached the end is the end of the run: a hook may say no. */
  const vetoes = async (state: CodeState, round: Round): Promise<readonly string[]> => {
    const { text = "Repair the failing tests" } = state.job;
    return await options.veto({ unit: `round:${round.round}`, phase: "CODE", title: text, workspace: folder });
  };

  /** Accepts what the tests have shown of a round: the tree is kept or put back, and what it did is remembered. */
  const acceptTests = async (
    state: CodeState,
    unit: CodeUnit,
    { run, tested }: { readonly run: TestRun; readonly tested: Tested },
    tell: Tell,
  ): Promise<Outcome> => {
    const known = { flaky: [...run.flaky], tests_seen: [...run.seen] };
    for (const name of run.flaky.filter((each) => !(state.flaky ?? []).includes(each)))
      await tell({
        type: "notice",
        level: "warning",
        message: `${name} is flaky: it failed, then passed on the same files; it decides nothing.`,
      });
    if (unit.kind === "baseline") {
      const base = await snapshots.take(0);
      const best = { round: unit.round, failing: tested.failing, ...given({ commit: base?.commit }) };
      const next = await store.edit((before) => ({
        ...before,
        ...known,
        baseline: tested,
        best,
        ...given({ base: before.base ?? base?.commit }),
        tests_before: before.tests_before ?? [...run.passing],
      }));
      await writeReport(next);
      return { outcome: "accepted", summary: summaryOf(tested) };
    }
    const before = latestTests(state) ?? tested;
    const best = state.best ?? { round: 0, failing: before.failing };
    const isWorse = tested.failing > best.failing;
    const round = roundOf(state, unit.round);
    const restored = isWorse && best.commit !== undefined ? await putBack(round, best.commit) : undefined;
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
      ...stepped(state, unit, reached ? "pass" : "fail"),
      tests: tested,
      ...(reached ? {} : { repeats: isSame ? (previous?.repeats ?? 1) + 1 : 1 }),
      ...given({ put_back: restored?.put_back, left_alone: restored?.left_alone }),
    };
    const veto = reached && !hasAdversary ? await vetoes(state, full) : [];
    const after = await snapshotAfter(state, unit.round, isWorse);
    const left = new Set(tested.signatures);
    const attempt: FixAttempt = {
      signatures: before.signatures.map((signature) => ({ signature, success: !left.has(signature) && !isWorse })),
      tokens: state.attempts
        .filter((each) => each.round === unit.round)
        .reduce((sum, { tokens = 0 }) => sum + tokens, 0),
    };
    await fixes.keep(`${state.id}/${state.baseline?.at ?? ""}`, full, attempt, tested.framework);
    await keepOf(unit.round, "tests.json", JSON.stringify(run.results ?? tested, null, 2));
    const next = await store.edit((current) => ({
      ...withRound(current, { ...full, ...(veto.length === 0 ? {} : { veto: [...veto] }) }),
      ...known,
      ...(isWorse
        ? {}
        : { best: { round: unit.round, failing: tested.failing, ...given({ commit: after ?? best.commit }) } }),
    }));
    await writeReport(next);
    return { outcome: "accepted", summary: summaryOf(tested) };
  };

  /** The tree as the tests saw it, for later rounds to be put back to. */
  const snapshotAfter = async (state: CodeState, round: number, isWorse: boolean): Promise<string | undefined> =>
    isWorse ? undefined : (await snapshots.take(lastIteration(state, round)))?.commit;

  const lastIteration = ({ attempts }: CodeState, round: number): number =>
    attempts.findLast((each) => each.round === round && each.role === "artisan")?.iteration ?? 0;

  /** Puts what a round has changed back to the best tree, but for what somebody has changed since. */
  const putBack = async (round: Round | undefined, best: string) => {
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
  };

  const keepOf = async (round: number, name: string, text: string): Promise<void> => {
    const target = roundFolder(folder, round);
    mkdirSync(target, { recursive: true });
    await writeFileAtomic(join(target, name), redact(text), { durable: false });
  };

  /** Keeps the tree before the round's artisan, in case a kill comes while it is at work. */
  const rememberTree = async (state: CodeState, unit: CodeUnit): Promise<void> => {
    const round = roundOf(state, unit.round);
    if (round === undefined || round.before !== undefined) return;
    const before = (await snapshots.take(0))?.commit;
    if (before === undefined) return;
    await store.edit((current) => withRound(current, { ...(roundOf(current, unit.round) ?? round), before }));
  };

  /** What came of an agent's run, by its role. */
  const judge = async (
    state: CodeState,
    unit: CodeUnit,
    run: AgentRun,
    signal: AbortSignal,
  ): Promise<Judged | Refused> => {
    const round = roundOf(state, unit.round);
    if (unit.kind === "artisan") {
      const snapshot = await snapshots.take(run.iteration);
      const before = round?.before;
      const files =
        snapshot === undefined || before === undefined ? [] : await snapshots.changes(before, snapshot.commit);
      if (files.length === 0)
        return { reasons: ["No file was changed. Make the change in the current folder, then give your answer."] };
      const said = await answered<ArtisanResult>("result-artisan", run, false);
      const { hypothesis, action_taken } = "reasons" in said ? wordsIn(run.message, round?.plan?.cause) : said.value;
      const changed = files.map(({ path }) => path);
      return {
        event: "ok",
        set: { hypothesis, action_taken, changed: changed.slice(0, maxChanged), ...given({ after: snapshot?.commit }) },
        summary: `changed ${changed.slice(0, 3).join(", ")}${changed.length > 3 ? ` and ${changed.length - 3} more` : ""}`,
        ...given({ after: snapshot?.commit }),
      };
    }
    if (unit.kind === "librarian") {
      const said = await answered<LibrarianResult>("result-librarian", run, true);
      if ("reasons" in said) return said;
      const plan = planIn(folder, said.value);
      return "reasons" in plan
        ? plan
        : { event: "ok", set: { plan: plan.plan }, summary: plan.plan.cause.slice(0, 160) };
    }
    if (unit.kind === "critic") {
      const said = await answered<CriticResult>("result-critic", run, true);
      if ("reasons" in said) return said;
      const { decision, findings } = said.value;
      if (decision === "revise" && findings.length === 0)
        return { reasons: ["/findings is empty; say what must change, or approve."] };
      return {
        event: decision,
        set: { review: said.value },
        summary: findings.length === 0 ? decision : `${decision}: ${many(findings.length, "finding")}`,
      };
    }
    const said = await answered<AdversaryResult>("result-adversary", run, true);
    if ("reasons" in said) return said;
    const findings = await tryTests(state, said.value, signal);
    return { event: "ok", set: { findings }, summary: many(findings.length, "finding") };
  };

  /** Runs an adversary's tests in the project, and takes them out again. */
  const tryTests = async (
    state: CodeState,
    result: AdversaryResult,
    signal: AbortSignal,
  ): Promise<AdversarialFinding[]> => {
    const read: AdversarialFinding[] = result.findings.map(({ title, detail, file }) => ({
      title,
      ...given({ detail, file }),
    }));
    const laid = layTests(folder, result, state.job.test_command);
    try {
      if (laid.written.length === 0) return read;
      const { tested } = await testProject({ ...options.place, signal }, state.job, { flaky: state.flaky ?? [] }, now);
      if (signal.aborted) return read;
      const failures = tested.failures.slice(0, 20);
      return [
        ...read,
        ...failures.map(({ test: name, message, file }) => ({
          title: `A test of the adversary fails: ${name}`.slice(0, 300),
          detail: message.slice(0, 600),
          test: name,
          ...given({ file }),
        })),
      ];
    } finally {
      laid.remove(options.keepTests);
    }
  };

  /** The role's answer: its final message, or the result.json that it left in its own folder. */
  async function answered<Result>(
    schema: "result-artisan" | "result-librarian" | "result-critic" | "result-adversary",
    run: AgentRun,
    isRequired: boolean,
  ): Promise<{ readonly value: Result } | Refused> {
    const place = isRequired ? run.brief.workspace : options.roleFolder(run.iteration);
    await keepAnswer(place, run.message);
    const read = await readChecked(schema, join(place, resultName), redact);
    return "reasons" in read ? { reasons: read.reasons } : { value: read.value as Result };
  }

  return {
    name: "code",
    load: () => orVerdict(async () => await store.load()),
    next({ state }, busy) {
      if (busy.length > 0) return "wait";
      const { job, baseline, begun = 0 } = state;
      const last = roundsOf(state).at(-1);
      if (baseline === undefined) return unitOf("baseline", last?.round ?? begun, job);
      const isFresh = last?.tests === undefined || baseline.at > last.tests.at;
      const where = last === undefined ? "completion" : whereOf(last);
      if (where === "completion" && isFresh && isReached(baseline))
        return { verdict: "complete", reason: `All tests pass (${baseline.passed}), and nothing else was asked for.` };
      if (where === "error") {
        const role = last?.steps.at(-1)?.role ?? "role";
        return {
          verdict: "failed",
          reason: `The ${role} of round ${last?.round ?? 0} failed three times in a row; the reasons stand in .ralph/ledger.jsonl.`,
        };
      }
      if (where !== "completion") return unitOf(where, last?.round ?? begun + 1, job);
      return (last && verdictAfter(state, last)) ?? unitOf("librarian", (last?.round ?? begun) + 1, job);
    },
    progress: ({ state }) => progressOf(state),
    account: ({ state }) => ({ spent: spentIn(state), budget: {}, beside: history }),
    memory: ({ state, ledger }) => memoryOf(state, ledger, memory),
    remember: async (compression) => {
      history = {
        ...history,
        tokens: history.tokens + compression.tokens,
        usd: history.usd + (compression.cost_usd ?? 0),
      };
      await store.edit((state) => withSummary(state, compression));
    },
    close: async (verdict) => {
      await options.close(verdict);
    },

    prepare: ({ state }, unit, { signal, tell }) =>
      orVerdict(async () => {
        const tests = latestTests(state);
        if (unit.kind === "baseline" || unit.kind === "tests") {
          const found = await test(state, signal, tell);
          return found === undefined ? { later: { until: now(), reason: "The run is ending." } } : { settled: found };
        }
        if (tests === undefined) throw new Error(`${unit.id} comes before the tests`);
        if (unit.kind === "librarian") {
          if (options.isBuiltIn) return { settled: { plan: await options.ranking.plan(state, tests) } };
          const tokens = librarianTokens(options.window, scaleOf(state, unit));
          const [files, recalled] = await Promise.all([
            options.ranking.text(state, tests, tokens),
            fixes.recall(tests.signatures),
          ]);
          return { ready: { files, fixes: recalled } };
        }
        if (unit.kind === "artisan") return { ready: { fixes: await fixes.recall(tests.signatures) } };
        const { before, after } = roundOf(state, unit.round) ?? {};
        if (before === undefined || after === undefined) throw new Error(`${unit.id} comes before a change`);
        const change = await changeBetween(snapshots, before, after);
        await keepOf(unit.round, "change.diff", change.text);
        return { ready: { change } };
      }),

    brief: ({ state }, unit, prepared, notes) =>
      orVerdict(async () => {
        const tests = latestTests(state);
        if (tests === undefined) throw new Error(`${unit.id} comes before the tests`);
        const iteration = store.nextIteration();
        const isArtisan = unit.kind === "artisan";
        if (isArtisan) await rememberTree(state, unit);
        const told: Told = {
          state,
          round: roundOf(state, unit.round),
          tests,
          notes: withoutHistory(notes),
          folder,
          scale: scaleOf(state, unit),
        };
        const text = textFor(told, unit, prepared);
        const workspace = isArtisan ? folder : options.roleFolder(iteration);
        mkdirSync(workspace, { recursive: true });
        const access: Brief["access"] = {
          ...{ web: false, read: true, everything: false },
          ...(isArtisan ? { shell: true as const, readOnly: options.readOnly } : { readOnly: [folder] }),
        };
        const protection = await options.protect(iteration);
        const temperature = options.temperatures[unit.kind];
        const brief: Brief = {
          iteration,
          text,
          tokens: estimateTokens(text),
          workspace,
          access,
          ...given({ temperature }),
        };
        return { brief, context: { protection } };
      }),

    accept: ({ state: loaded }, unit, done, { signal, tell }) =>
      orVerdict(async () => {
        if ("prepared" in done) {
          const { prepared } = done;
          if ("tested" in prepared) return await acceptTests(loaded, unit, prepared, tell);
          if (!("plan" in prepared)) throw new Error(`${unit.id} can't be settled`);
          await store.edit((state) => withRound(state, { ...stepped(state, unit, "ok"), plan: prepared.plan }));
          return { outcome: "accepted", summary: prepared.plan.cause };
        }
        const { run, context } = done;
        for (const message of await context.protection.putBack())
          await tell({ type: "notice", level: "warning", message });
        const { state } = await store.load();
        const judged: Judged | Refused | undefined =
          run.failure === undefined ? await judge(state, unit, run, signal) : undefined;
        if (unit.kind !== "artisan") rmSync(run.brief.workspace, { recursive: true, force: true });
        const outcome = outcomeOf(run, judged);
        const event = eventOf(state, unit, run, judged);
        const round = event === undefined ? undefined : stepped(state, unit, event, run.iteration);
        const set = judged === undefined || "reasons" in judged ? {} : judged.set;
        const isEnd = unit.kind === "adversary" && round !== undefined;
        const veto = isEnd ? await vetoes(state, { ...round, ...set }) : [];
        const is = roundOf(state, unit.round);
        const observation = observationOf(unit, run, outcome, {}, { redact, memory });
        const when = at();
        await store.fold({
          iteration: run.iteration,
          at: when,
          message: `code: ${unit.kind} ${outcome.outcome}`,
          changes: [
            {
              in: "attempts",
              id: `attempt-${run.iteration}`,
              was: null,
              set: { ...attemptRecord(unit, run, outcome, when, judged) },
            },
            ...(round === undefined
              ? []
              : [
                  {
                    in: "rounds",
                    id: round.id,
                    ...(is === undefined ? { was: null } : {}),
                    set: {
                      round: round.round,
                      steps: round.steps,
                      ...set,
                      ...(veto.length === 0 ? {} : { veto: [...veto] }),
                    },
                  },
                ]),
            ...(observation === undefined ? [] : [{ in: "loop", set: {}, add: { observations: [observation] } }]),
          ],
          progress: `${when} #${run.iteration} ${unit.id} ${sentenceOf(outcome)}\n`,
          ledger: { ...ledgerLine(unit, run, new Date(when), outcome.outcome, done.prepareMs), ...whyNot(outcome) },
        });
        if (isEnd) await writeReport((await store.load()).state);
        return outcome;
      }),
  };

  /** Smaller where the last brief of this role filled its model's context too far. */
  function scaleOf({ attempts }: CodeState, { kind, round }: CodeUnit): number {
    const full = attempts.filter(
      (each) => each.role === kind && each.round === round && each.failure === "context",
    ).length;
    return 1 / 2 ** Math.min(3, full);
  }

  function textFor(told: Told, { kind }: CodeUnit, prepared: Prepared): string {
    if (kind === "librarian" && "files" in prepared) return librarianBrief(told, prepared.files, prepared.fixes);
    if (kind === "artisan" && "fixes" in prepared) return artisanBrief(told, prepared.fixes, options.shell);
    if ("change" in prepared) {
      const { text, warnings } = prepared.change;
      if (kind === "critic") return criticBrief(told, text, warnings);
      return adversaryBrief(told, text, whereTestsRun(folder, told.state.job.test_command));
    }
    throw new Error(`no brief for ${kind}`);
  }
}

/** What roles know of each other stands in the round's records; a history of iterations would say it again. */
const withoutHistory = ({ history: _, ...notes }: Notes): Notes => notes;

const summaryOf = ({ passed, failing, unmet = [] }: Tested): string =>
  [`${passed} tests passed, ${failing} failing`, ...unmet.map((each) => each.slice(0, 120))].join("; ");

/** What an artisan that gave no JSON said of its change: the tests judge the change, not its words. */
const wordsIn = (message: string, cause: string | undefined): ArtisanResult => ({
  hypothesis: (cause ?? "not said").slice(0, 600),
  action_taken: message.replace(/\s+/g, " ").trim().slice(0, 600) || "not said",
});

/** One agent works at a time, so nothing is only noted. */
type RoleOutcome = Exclude<Outcome, { readonly outcome: "noted" }>;

function outcomeOf({ failure }: AgentRun, judged: Judged | Refused | undefined): RoleOutcome {
  if (failure !== undefined || judged === undefined)
    return { outcome: "failed", failure: failure ?? { kind: "crashed", message: "The agent left nothing." } };
  return "reasons" in judged
    ? { outcome: "refused", reasons: [...judged.reasons] }
    : { outcome: "accepted", summary: judged.summary };
}

/** What the round is told; undefined where the role was not at work, or its first brief was too large for the model. */
function eventOf(
  { attempts }: CodeState,
  { kind, round }: CodeUnit,
  { failure }: AgentRun,
  judged: Judged | Refused | undefined,
): Step["event"] | undefined {
  if (failure === undefined) return judged === undefined || "reasons" in judged ? "refused" : judged.event;
  if (!usesAllowance(failure.kind) || failure.kind === "aborted") return undefined;
  const wasFull = attempts.some((each) => each.role === kind && each.round === round && each.failure === "context");
  return failure.kind === "context" && !wasFull ? undefined : "failed";
}

function attemptRecord(
  unit: CodeUnit,
  run: AgentRun,
  outcome: RoleOutcome,
  at: string,
  judged: Judged | Refused | undefined,
) {
  const { iteration, agent, usage, cost_usd, startedAt, endedAt } = run;
  const after = judged === undefined || "reasons" in judged ? undefined : judged.after;
  return {
    id: `attempt-${iteration}`,
    iteration,
    at,
    agent,
    role: unit.kind,
    round: unit.round,
    outcome: outcome.outcome,
    ...(outcome.outcome === "failed" ? { failure: outcome.failure.kind } : {}),
    duration_seconds: Math.max(0, endedAt - startedAt) / 1000,
    tokens: usage.input + usage.output,
    ...given({ cost_usd, snapshot: after }),
  };
}

const sentenceOf = (outcome: RoleOutcome): string => {
  if (outcome.outcome === "accepted") return `accepted: ${outcome.summary}`;
  return outcome.outcome === "refused"
    ? `refused: ${outcome.reasons.join("; ")}`
    : `failed: ${outcome.failure.message}`;
};

const whyNot = (outcome: RoleOutcome): Pick<LedgerLine, "failure" | "reasons"> => {
  if (outcome.outcome === "failed") return { failure: outcome.failure.kind, reasons: [outcome.failure.message] };
  return outcome.outcome === "refused" ? { reasons: [...outcome.reasons] } : {};
};
