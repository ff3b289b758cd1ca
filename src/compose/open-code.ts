import { folderInstructions } from "../engine/config/folder-instructions.js";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isUnconfined, warningsOf } from "./agents.js";
import { noticesOf, windowOf } from "./code-roles.js";
import { keepEnd, type Run } from "./drive.js";
import { guarded, scratchOf } from "./open-task.js";
import {
  codeLogName,
  codeReportName,
  codeSnapshotIndex,
  codeStateName,
  rolesFolder,
  vaultName,
} from "../code/project-files/layout.js";
import { codeFormat, newCodeState } from "../code/project-files/state-file.js";
import type { CodeState, Job, Tested } from "../code/generated/ralph-code.js";
import { ranked, rankedText, startsOf } from "../code/graph/ranking.js";
import { builtInPlan } from "../code/roles/plan.js";
import { sweepTests } from "../code/roles/adversarial-tests.js";
import { loadMachine } from "../code/round/next-role.js";
import { fixesIn } from "../code/vault/fixes.js";
import { requireKnownVault } from "../code/vault/vault.js";
import { keepReport } from "../code/workflow/report.js";
import type { Ranking } from "../code/workflow/options.js";
import { countedAnew, derive, withEnd } from "../code/workflow/status.js";
import { type CodeWorkflow, codeWorkflow } from "../code/workflow/workflow.js";
import { projectFiles } from "../engine/config/config-file.js";
import type { ResolvedConfig } from "./config.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { hiddenFolder, hiddenName, pauseName, stopName } from "../engine/lib/layout.js";
import type { Verdict } from "../engine/loop/types.js";
import { writeFileAtomic } from "../engine/storage/atomic-file.js";
import { explaining } from "../engine/storage/explain-system-error.js";
import { openRecordStore } from "../engine/storage/state/record-store.js";
import { makeFolder } from "../engine/storage/regular-file.js";
import { repositoryOf } from "../engine/storage/git-repository.js";
import type { Io } from "../engine/ui/io.js";
import { protectedIn } from "../task/project-files/protect.js";
import { excludeFromGit, openSnapshots } from "../task/project-files/snapshots.js";

/** What a person asks of a coding run. */
export interface CodeWish {
  readonly folder: string;
  readonly job: Job;
  readonly force: boolean;
  readonly keepTests: boolean;
  readonly hasAdversary: boolean;
  /** The librarian is code. */
  readonly isBuiltIn: boolean;
  readonly temperatures: Readonly<Record<string, number>>;
  /** Names of the librarian's agents. */
  readonly librarians: readonly string[];
}

/** Files of a coding run that agents may not change, within the project's folder. */
const own = [codeStateName, codeLogName, codeReportName, vaultName, `${vaultName}-wal`, `${vaultName}-shm`];

/** Takes the project's lock and makes a coding run ready. */
export async function openCode(wish: CodeWish, config: ResolvedConfig, io: Io, run: Run): Promise<CodeWorkflow> {
  const { folder, job } = wish;
  const { everyone, settings, tell, abort, redact, hooks } = run;
  const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
  for (const message of everyone.flatMap(warningsOf)) notify("warning", message);
  for (const message of noticesOf({ config }, everyone)) notify("info", message);
  const { limits: memory } = config.history;
  // Before anything is written: a folder in which no run can be is left as it is.
  const repository = await repositoryOf(folder);
  if (repository === undefined) throw noRepository(folder);
  await requireKnownVault(folder);
  const unconfined = everyone.some(isUnconfined);
  if (!existsSync(join(folder, codeStateName))) {
    explaining(hiddenFolder(folder), () => makeFolder(hiddenFolder(folder)));
    await writeFileAtomic(join(folder, codeStateName), codeFormat.format(newCodeState(job, folder)));
  }
  const store = await openRecordStore(folder, codeFormat, {
    derive: (state, ledger) => derive(state, ledger, memory),
    git: false,
    notify,
    abort,
    unconfined,
  });
  const roles = rolesFolder(config.stateDir, folder);
  const close = async (verdict?: Verdict) => {
    if (verdict !== undefined)
      await keepEnd(store, async () => {
        const state = await store.edit((before) => withEnd(before, verdict, io.clock.now()));
        await keepReport(folder, state, redact);
      });
    await store.close();
    for (const path of [scratchOf(config), roles]) rmSync(path, { recursive: true, force: true });
  };
  try {
    sweepTests(folder);
    rmSync(roles, { recursive: true, force: true });
    await excludeFromGit(repository, [`${hiddenName}/`, codeStateName, codeReportName, pauseName, stopName]);
    const { state } = await store.load();
    const snapshots = openSnapshots(folder, repository, state.id, {
      index: codeSnapshotIndex(folder),
      views: [codeStateName, codeReportName, pauseName, stopName],
      notify: (message) => notify("warning", message),
      abort,
    });
    await store.edit((before) => begun(before, wish));
    const around = await protectedIn(folder, folder, {
      repository,
      everything: unconfined,
      configs: projectFiles(folder),
      more: own,
    });
    return codeWorkflow({
      store,
      folder,
      ...guarded({ workspace: folder, folder, around, unconfined }, config, io, settings),
      snapshots,
      // What an agent writes there during the run is in no brief of it.
      instructions: await folderInstructions(folder),
      roleFolder: (iteration) => {
        const path = join(roles, String(iteration));
        makeFolder(path, 0o700);
        return path;
      },
      memory,
      redact,
      placeOf: await loadMachine(),
      hasAdversary: wish.hasAdversary,
      isBuiltIn: wish.isBuiltIn,
      keepTests: wish.keepTests,
      temperatures: wish.temperatures,
      fixes: fixesIn(folder, io.clock.now, (message) => notify("warning", message)),
      ranking: rankingOf(folder),
      window: windowOf(wish.librarians, settings),
      veto: async (proposal) => {
        const { vetoes, problems } = await hooks.ask(["complete"], proposal);
        for (const message of problems) notify("warning", message);
        return vetoes;
      },
      now: io.clock.now,
      close,
    });
  } catch (error) {
    await close();
    throw error;
  }
}

const noRepository = (folder: string): ExpectedError =>
  new ExpectedError(
    `${folder} is not in a git repository, which a coding run needs to show changes to its critic and to undo what makes tests worse; create one with 'git init'.`,
    2,
  );

/**
 * The state as a run begins: another job, or one that is done, begins anew; else the round under way goes on, and where
 * none is, the tests are run again, as a person may have changed the files since.
 */
function begun(state: CodeState, { job, force }: CodeWish): CodeState {
  const { rounds: _, ...wanted } = job;
  const { rounds: __, ...known } = state.job;
  const last = state.rounds.at(-1);
  if (state.done === true || !isDeepStrictEqual(wanted, known)) {
    const { baseline: _b, best: _t, base: _c, tests_before: _n, tests_seen: _s, ...rest } = state;
    return { ...rest, job, done: false, begun: last?.round ?? 0 };
  }
  // A person who starts it again gives the role that failed another chance.
  const kept = last?.steps.slice(
    0,
    last.steps.findLastIndex(({ event }) => event !== "failed" && event !== "refused") + 1,
  );
  const isOver = last === undefined || last.tests !== undefined;
  const { baseline, best, ...rest } = state;
  const going: CodeState = {
    ...rest,
    job,
    ...(isOver ? {} : { ...(baseline && { baseline }), ...(best && { best }) }),
    rounds: [...state.rounds.slice(0, -1), ...(last === undefined ? [] : [{ ...last, steps: kept ?? [] }])],
  };
  return force ? countedAnew(going) : going;
}

/** The project's files by their distance from where it fails, read anew for each role. */
function rankingOf(folder: string): Ranking {
  const near = async ({ job }: CodeState, tests: Tested) => {
    const { readGraph } = await import("../code/graph/graph.js");
    const graph = await readGraph(folder);
    const starts = startsOf(folder, job, tests, graph);
    return { starts, files: ranked(graph, starts) };
  };
  return {
    text: async (state, tests, tokens) => {
      const { starts, files } = await near(state, tests);
      return rankedText(folder, files, starts, tokens);
    },
    plan: async (state, tests) => builtInPlan(folder, tests, (await near(state, tests)).files),
  };
}
