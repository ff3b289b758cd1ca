import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CodeCrew } from "./code-roles.js";
import { librariansOf, noticesOf, windowOf } from "./code-roles.js";
import type { ResolvedConfig } from "./config.js";
import type { Run } from "./drive.js";
import { readGraph } from "../code/graph/graph.js";
import { rankFiles, rankedText, startingFiles } from "../code/graph/ranking.js";
import { rolesFolder } from "../code/project-files/layout.js";
import { removeRemainingTests } from "../code/roles/adversarial-tests.js";
import { builtInPlan } from "../code/roles/plan.js";
import { loadMachine } from "../code/round/next-role.js";
import type { Ranking } from "../code/team/options.js";
import { type TeamWorkflow, teamWorkflow } from "../code/team/workflow.js";
import { openFixes } from "../code/vault/fixes.js";
import { requireKnownVault } from "../code/vault/vault.js";
import { ExpectedError } from "../engine/lib/errors.js";
import { type FolderRepository, repositoryOf } from "../engine/storage/git-repository.js";
import { makeFolder } from "../engine/storage/regular-file.js";
import type { Io } from "../engine/ui/io.js";
import type { TaskState } from "../task/generated/ralph-state.js";
import type { TaskOptions } from "../task/workflow/frame.js";

/** Options for a team. */
export interface TeamOptions {
  readonly crew: CodeCrew;
  readonly keepTests: boolean;
}

/**
 * Checks that a team can work in a workspace, before anything is written there. `folder`: the folder of the task's
 * records. @throws ExpectedError: exit code 2 outside of a git repository, 5 if a later version wrote the memory of
 * fixes.
 */
export async function requireTeamPlace(workspace: string, folder: string): Promise<FolderRepository> {
  const repository = await repositoryOf(workspace);
  if (repository === undefined)
    throw new ExpectedError(
      `${workspace} is not in a git repository, which a team needs to show changes to its critic and to undo what makes tests worse; create one with 'git init'.`,
      2,
    );
  await requireKnownVault(folder);
  return repository;
}

/** Makes the workflow of a team for an open task. `folder`: the folder of the task's records. */
export async function openTeam(
  { snapshots, ...task }: TaskOptions,
  folder: string,
  { crew, keepTests }: TeamOptions,
  config: ResolvedConfig,
  io: Io,
  { everyone, settings, tell }: Run,
): Promise<TeamWorkflow> {
  if (snapshots === undefined) throw new Error("a team works in a repository");
  const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
  for (const message of noticesOf(crew, everyone)) notify("info", message);
  const { workspace } = task;
  const roles = rolesFolder(config.stateDir, folder);
  removeRemainingTests(workspace);
  rmSync(roles, { recursive: true, force: true });
  return teamWorkflow({
    ...task,
    snapshots,
    folder,
    roleFolder: (iteration) => {
      const path = join(roles, String(iteration));
      makeFolder(path, 0o700);
      return path;
    },
    nextStepOf: await loadMachine(),
    hasAdversary: crew.hasAdversary,
    isBuiltIn: crew.isBuiltIn,
    keepTests,
    temperatures: crew.temperatures,
    fixes: openFixes(folder, io.clock.now, (message) => notify("warning", message)),
    ranking: rankingOf(workspace),
    window: windowOf(librariansOf(crew), settings),
    close: async (verdict, keep) => {
      await task.close(verdict, keep);
      rmSync(roles, { recursive: true, force: true });
    },
  });
}

/**
 * The state at the start of a team's run: a finished task starts again with new rounds, and steps that failed last are
 * removed, so that their role tries again. Pure.
 */
export function atTeamStart(state: TaskState): TaskState {
  const rounds = state.rounds ?? [];
  const lastRound = rounds.at(-1);
  if (lastRound === undefined) return state;
  if (state.status === "success") {
    const { best: _b, base: _a, tests_before: _n, tests_seen: _s, ...rest } = state;
    return { ...rest, begun: lastRound.round };
  }
  // If the critic failed, the tests decide, so its step stays.
  if (lastRound.steps.at(-1)?.role === "critic") return state;
  const answeredSteps = lastRound.steps.slice(
    0,
    lastRound.steps.findLastIndex(({ event }) => event !== "failed" && event !== "refused") + 1,
  );
  return { ...state, rounds: [...rounds.slice(0, -1), { ...lastRound, steps: answeredSteps }] };
}

/** Maximum estimated tokens of files if no failing test points to any of them. */
const tokensWithoutStart = 6_000;

/** The project's files by their distance from the failures, read again for each role. */
export function rankingOf(folder: string): Ranking {
  const nearFiles = async (state: TaskState) => {
    const graph = await readGraph(folder);
    const starts = startingFiles(folder, state, graph);
    return { starts, files: rankFiles(graph, starts) };
  };
  return {
    text: async (state, tokens) => {
      const { starts, files } = await nearFiles(state);
      // Without a failure to start from, a few files are enough: the librarian looks for more itself.
      return rankedText(folder, files, starts, starts.size === 0 ? Math.min(tokens, tokensWithoutStart) : tokens);
    },
    plan: async (state) => builtInPlan(folder, state.tested, (await nearFiles(state)).files),
  };
}
