import { settingsFor } from "../../compose/agents.js";
import { crewOf, librariansOf, windowOf } from "../../compose/code-roles.js";
import type { ResolvedConfig } from "../../compose/config.js";
import { rankingOf, requireTeamPlace } from "../../compose/open-team.js";
import { loadMachine } from "../../code/round/next-role.js";
import { gatherMaterial, roleText } from "../../code/team/role-text.js";
import { nextRound, unitOf } from "../../code/team/rounds.js";
import { openFixes } from "../../code/vault/fixes.js";
import type { Notes } from "../../engine/loop/types.js";
import type { Io } from "../../engine/ui/io.js";
import { snapshotIndex } from "../../task/project-files/layout.js";
import { openSnapshots } from "../../task/project-files/snapshots.js";
import { roundsOf } from "../../task/plan/used.js";
import type { TaskState } from "../../task/generated/ralph-state.js";

interface Asked {
  readonly state: TaskState;
  readonly notes: Notes;
  readonly workspace: string;
  /** Of the task's records. */
  readonly folder: string;
  readonly shell: boolean;
}

/** What the role that is next would be given; a reason where code alone does what is next. */
export async function nextOfTeam(
  { state, notes, workspace, folder, shell }: Asked,
  own: ResolvedConfig,
  io: Io,
): Promise<{ readonly id: string; readonly title: string; readonly text: string } | { readonly reason: string }> {
  const crew = crewOf(own, io.env);
  const { config, hasAdversary, isBuiltIn } = crew;
  const repository = await requireTeamPlace(workspace, folder);
  const last = roundsOf(state).at(-1);
  const place = last === undefined ? "completion" : (await loadMachine())(last.steps, hasAdversary);
  if (place === "tests") return { reason: "The tests are next, which code runs." };
  const isNew = last === undefined || place === "completion" || place === "error";
  const unit = isNew ? unitOf("librarian", nextRound(state), state) : unitOf(place, last.round, state);
  if (unit.kind === "librarian" && isBuiltIn) return { reason: "The librarian is next, which is code (built-in)." };
  const silent = () => undefined;
  const means = {
    workspace,
    shell,
    ranking: rankingOf(workspace),
    snapshots: openSnapshots(workspace, repository, state.id, {
      index: snapshotIndex(folder),
      views: [],
      notify: silent,
    }),
    fixes: openFixes(folder, io.clock.now, silent),
    window: windowOf(librariansOf(crew), settingsFor(config, io, { folder, changes: true })),
  };
  const text = roleText(means, state, unit, await gatherMaterial(means, state, unit), notes);
  return { id: unit.id, title: unit.title, text };
}
