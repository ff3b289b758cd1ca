import { settingsFor } from "../../compose/agents.js";
import { crewOf, librariansOf, windowOf } from "../../compose/code-roles.js";
import type { ResolvedConfig } from "../../compose/config.js";
import { rankingOf, requireTeamPlace } from "../../compose/open-team.js";
import { loadMachine } from "../../code/round/next-role.js";
import { gatherMaterial, roleText } from "../../code/team/role-text.js";
import { nextRoundNumber, unitOf } from "../../code/team/rounds.js";
import { openFixes } from "../../code/vault/fixes.js";
import type { Notes } from "../../engine/loop/types.js";
import type { Io } from "../../engine/ui/io.js";
import { snapshotIndex } from "../../task/project-files/layout.js";
import { openSnapshots } from "../../task/project-files/snapshots.js";
import { roundsOf } from "../../task/plan/used.js";
import type { TaskState } from "../../task/generated/ralph-state.js";

interface TeamBriefRequest {
  readonly state: TaskState;
  readonly notes: Notes;
  readonly workspace: string;
  /** The folder of the task's records. */
  readonly folder: string;
  readonly hasShell: boolean;
}

/** The brief for the next role; or a reason if the program does the next step without an agent. */
export async function teamBrief(
  { state, notes, workspace, folder, hasShell }: TeamBriefRequest,
  baseConfig: ResolvedConfig,
  io: Io,
): Promise<{ readonly id: string; readonly title: string; readonly text: string } | { readonly reason: string }> {
  const crew = crewOf(baseConfig, io.env);
  const { config, hasAdversary, isBuiltIn } = crew;
  const repository = await requireTeamPlace(workspace, folder);
  const lastRound = roundsOf(state).at(-1);
  const nextRole = lastRound === undefined ? "completion" : (await loadMachine())(lastRound.steps, hasAdversary);
  if (nextRole === "tests") return { reason: "The tests are next; the program runs them without an agent." };
  const startsRound = lastRound === undefined || nextRole === "completion" || nextRole === "error";
  const unit = startsRound
    ? unitOf("librarian", nextRoundNumber(state), state)
    : unitOf(nextRole, lastRound.round, state);
  if (unit.kind === "librarian" && isBuiltIn)
    return { reason: "The librarian is next; it is built in and needs no agent." };
  const ignoreNotice = () => undefined;
  const roleMeans = {
    workspace,
    shell: hasShell,
    ranking: rankingOf(workspace),
    snapshots: openSnapshots(workspace, repository, state.id, {
      index: snapshotIndex(folder),
      views: [],
      notify: ignoreNotice,
    }),
    fixes: openFixes(folder, io.clock.now, ignoreNotice),
    window: windowOf(librariansOf(crew), settingsFor(config, io, { folder, changes: true })),
  };
  const text = roleText(roleMeans, state, unit, await gatherMaterial(roleMeans, state, unit), notes);
  return { id: unit.id, title: unit.title, text };
}
