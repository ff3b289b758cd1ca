import { mkdirSync, rmSync } from "node:fs";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { given } from "../../engine/lib/given.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { estimateTokens } from "../../engine/lib/tokens.js";
import { orVerdict } from "../../engine/loop/in-workflows.js";
import { saidOf } from "../../engine/loop/run-record/observation.js";
import { outcomeRecord } from "../../engine/loop/run-record/outcome-record.js";
import type { Brief, Notes, Workflow } from "../../engine/loop/types.js";
import { hear } from "../../engine/storage/state/steering-inbox.js";
import type { CodePlan, CodeState, Round } from "../generated/ralph-code.js";
import { roundsOf } from "../project-files/state-file.js";
import { whereTestsRun } from "../roles/adversarial-tests.js";
import {
  adversaryBrief,
  artisanBrief,
  criticBrief,
  librarianBrief,
  librarianTokens,
  type Told,
} from "../roles/briefs.js";
import type { Protect } from "../../task/project-files/protect.js";
import { acceptTests, type Shown, showTests } from "./after-tests.js";
import { type Change, changeBetween } from "./change.js";
import { vetoesOf } from "./ends.js";
import { attemptRecord, eventOf, judge, type Judged, outcomeOf, type Refused } from "./judge.js";
import { whyNotBegin } from "./start-refusal.js";
import type { CodeOptions } from "./options.js";
import { keepOfRound, keepReport } from "./report.js";
import {
  type CodeUnit,
  isReached,
  latestTests,
  memoryOf,
  progressOf,
  roundOf,
  spentIn,
  stepped,
  steered,
  unitOf,
  verdictAfter,
  withRound,
} from "./status.js";
import { withSummary } from "../../engine/loop/history/summarise.js";

export interface LoadedCode {
  readonly state: CodeState;
  readonly ledger: readonly LedgerLine[];
}

type Prepared =
  | Shown
  | { readonly plan: CodePlan }
  | { readonly files: string; readonly fixes: string }
  | { readonly fixes: string }
  | { readonly change: Change };

interface Context {
  readonly protection: Awaited<ReturnType<Protect>>;
}

export type CodeWorkflow = Workflow<LoadedCode, CodeUnit, Prepared, Context>;

/** A coding run, role by role and round by round, until the tests say that it is done. */
export function codeWorkflow(options: CodeOptions): CodeWorkflow {
  const { store, folder, snapshots, memory, now, redact, placeOf, hasAdversary, fixes } = options;
  const at = () => new Date(now()).toISOString();
  const whereOf = ({ steps }: Round) => placeOf(steps, hasAdversary);

  /** Keeps the tree before the round's artisan, in case a kill comes while it is at work. */
  const rememberTree = async (state: CodeState, unit: CodeUnit): Promise<void> => {
    const round = roundOf(state, unit.round);
    if (round === undefined || round.before !== undefined) return;
    const before = (await snapshots.take(0))?.commit;
    if (before === undefined) return;
    await store.edit((current) => withRound(current, { ...(roundOf(current, unit.round) ?? round), before }));
  };

  return {
    name: "code",
    load: (tell, isAtWork) =>
      orVerdict(async () => {
        if (!isAtWork) await hear(store, (state, messages) => steered(state, messages, at(), redact), tell);
        return await store.load();
      }),
    next({ state, ledger }, busy) {
      if (busy.length > 0) return "wait";
      const { job, baseline, begun = 0 } = state;
      const last = roundsOf(state).at(-1);
      if (baseline === undefined) return unitOf("baseline", last?.round ?? begun, job);
      const isFresh = last?.tests === undefined || baseline.at > last.tests.at;
      const place = last === undefined ? "completion" : whereOf(last);
      // The tests were taken anew, and a person may have changed files since the round: what it has reached is over.
      const where = place === "adversary" && isFresh && !isReached(baseline) ? "completion" : place;
      if (where === "completion" && isFresh && isReached(baseline)) {
        // Ended after its last role and before its verdict: the round that did it is named all the same.
        const done = last && verdictAfter(state, last, false);
        if (done?.verdict === "complete") return done;
        // What a hook has said of the last round holds, although the tests pass.
        if ((last?.veto ?? []).length > 0) return done ?? unitOf("librarian", (last?.round ?? begun) + 1, job);
        const also = (job.checks ?? []).length === 0 ? "nothing else was asked for" : "every --check succeeds";
        return { verdict: "complete", reason: `All tests pass (${baseline.passed}), and ${also}.` };
      }
      if (where === "error") {
        const role = last?.steps.at(-1)?.role ?? "role";
        const why = ledger.findLast(({ unit }) => unit === `${role}:${last?.round ?? 0}`)?.reasons?.[0];
        const said = why === undefined ? "" : `, the last time as: ${oneLine(why).slice(0, 200).replace(/\.$/, "")}`;
        return {
          verdict: "failed",
          reason: `The ${role} of round ${last?.round ?? 0} failed three times in a row${said}. Run again to ask it three times more, or name another agent for it in code.roles.${role}; all reasons are in .ralph/ledger.jsonl.`,
        };
      }
      if (where !== "completion") return unitOf(where, last?.round ?? begun + 1, job);
      return (last && verdictAfter(state, last, isFresh)) ?? unitOf("librarian", (last?.round ?? begun) + 1, job);
    },
    progress: ({ state }) => progressOf(state),
    account: ({ state }) => ({ spent: spentIn(state), budget: {} }),
    memory: ({ state, ledger }) => memoryOf(state, ledger, memory),
    remember: async (compression) => {
      await store.edit((state) => withSummary(state, compression));
    },
    close: options.close,

    prepare: ({ state }, unit, { signal, tell }) =>
      orVerdict(async () => {
        const tests = latestTests(state);
        if (unit.kind === "baseline" || unit.kind === "tests") {
          const found = await showTests(options, state, signal, tell);
          if (found === undefined) return { later: { until: now(), reason: "The run is ending." } };
          const why = unit.kind === "baseline" ? whyNotBegin(state.job, found.run.results) : undefined;
          return why ?? { settled: found };
        }
        if (tests === undefined) throw new Error(`${unit.id} comes before the tests`);
        if (unit.kind === "librarian") {
          if (options.isBuiltIn) return { settled: { plan: await options.ranking.plan(state, tests) } };
          const tokens = librarianTokens(options.window, scaleOf(state, unit));
          const [files, recalled] = await Promise.all([
            options.ranking.text(state, tests, tokens),
            fixes.recall(tests.failures),
          ]);
          return { ready: { files, fixes: recalled } };
        }
        if (unit.kind === "artisan") return { ready: { fixes: await fixes.recall(tests.failures) } };
        const { before, after } = roundOf(state, unit.round) ?? {};
        if (before === undefined || after === undefined) throw new Error(`${unit.id} comes before a change`);
        const change = await changeBetween(snapshots, before, after);
        await keepOfRound(folder, unit.round, "change.diff", redact(change.text));
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
        const text = `${options.instructions}${textFor(told, unit, prepared)}`;
        const workspace = isArtisan ? folder : options.roleFolder(iteration);
        mkdirSync(workspace, { recursive: true });
        const access: Brief["access"] = {
          ...{ web: false, read: true, everything: false },
          ...(isArtisan ? { shell: true as const } : {}),
          ...given({ readOnly: isArtisan ? options.readOnly : [folder] }),
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
          if ("tested" in prepared) return await acceptTests(options, loaded, unit, prepared, tell);
          if (!("plan" in prepared)) throw new Error(`${unit.id} can't be settled`);
          await store.edit((state) => withRound(state, { ...stepped(state, unit, "ok", at()), plan: prepared.plan }));
          return { outcome: "accepted", summary: prepared.plan.cause };
        }
        const { run, context } = done;
        for (const message of await context.protection.end({ agent: run.agent, during: "the agent was at work" }))
          await tell({ type: "notice", level: "warning", message });
        const { state } = await store.load();
        const judged: Judged | Refused | undefined =
          run.failure === undefined ? await judge(options, state, unit, run, signal, tell) : undefined;
        if (unit.kind !== "artisan") rmSync(run.brief.workspace, { recursive: true, force: true });
        const outcome = outcomeOf(run, judged);
        const event = eventOf(state, unit, run, judged);
        const round = event === undefined ? undefined : stepped(state, unit, event, at(), run.iteration);
        const set = judged === undefined || "reasons" in judged ? {} : judged.set;
        const isEnd = unit.kind === "adversary" && round !== undefined;
        const veto = isEnd ? await vetoesOf(options, state, { ...round, ...set }) : [];
        const judgedAt = new Date(now());
        const when = judgedAt.toISOString();
        const attempt = {
          in: "attempts",
          id: `attempt-${run.iteration}`,
          was: null,
          set: { ...attemptRecord(unit, run, outcome, when, judged) },
        };
        const isNew = roundOf(state, unit.round) === undefined;
        const changed = round && {
          in: "rounds",
          id: round.id,
          ...(isNew ? { was: null } : {}),
          set: { round: round.round, steps: round.steps, ...set, ...(veto.length === 0 ? {} : { veto: [...veto] }) },
        };
        const changes = changed === undefined ? [attempt] : [attempt, changed];
        await store.fold({
          ...outcomeRecord(unit, run, outcome, { at: judgedAt, prepareMs: done.prepareMs, changes, redact, memory }),
          message: `code: ${unit.kind} ${outcome.outcome}`,
          progress: `${when} #${run.iteration} ${unit.id} ${outcome.outcome}: ${saidOf(outcome)}\n`,
        });
        if (isEnd) await keepReport(folder, (await store.load()).state, redact);
        return outcome;
      }),
  };

  /** Smaller where the last briefs of this role filled its model's context too far. */
  function scaleOf({ attempts }: CodeState, { kind, round }: CodeUnit): number {
    const full = attempts.filter(
      (each) => each.role === kind && each.round >= round - 1 && (each.failure === "context" || each.full === true),
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
