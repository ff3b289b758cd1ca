import { whereTestsRun } from "../roles/adversarial-tests.js";
import {
  adversaryBrief,
  artisanBrief,
  besideFiles,
  criticBrief,
  librarianBrief,
  librarianTokens,
  type Told,
} from "../roles/briefs.js";
import type { Notes } from "../../engine/loop/types.js";
import type { TaskState } from "../../task/generated/ralph-state.js";
import { type Change, changeBetween } from "../round/change.js";
import type { RoleMeans } from "./options.js";
import { roundOf, type TeamUnit } from "./standing.js";

/** What code has found for a role, before it is briefed. */
export type ForRole =
  | { readonly files: string; readonly fixes: string }
  | { readonly fixes: string }
  | { readonly change: Change };

const nothingTested = { at: "", framework: "", passed: 0, failing: 0, failures: [], signatures: [] };

/** Brings what a role's brief holds besides the records: ranked files, fixes that helped, the change. */
export async function gathered(means: RoleMeans, state: TaskState, unit: TeamUnit): Promise<ForRole> {
  const { ranking, fixes, snapshots, window } = means;
  const { failures } = state.tested ?? nothingTested;
  if (unit.kind === "librarian") {
    const recalled = await fixes.recall(failures);
    const told = toldOf(means, state, unit);
    const tokens = librarianTokens(window, told.scale, besideFiles(told, recalled));
    return { files: await ranking.text(state, tokens), fixes: recalled };
  }
  if (unit.kind === "artisan") return { fixes: await fixes.recall(failures) };
  const { before, after } = roundOf(state, unit.round) ?? {};
  if (before === undefined || after === undefined) throw new Error(`${unit.id} comes before a change`);
  return { change: await changeBetween(snapshots, before, after) };
}

/** The text for a role. */
export function roleText(means: RoleMeans, state: TaskState, unit: TeamUnit, found: ForRole, notes: Notes): string {
  // What roles know of each other stands in the round's records; a history of iterations would say it again.
  const { history: _, ...own } = notes;
  const { workspace, shell } = means;
  const told: Told = { ...toldOf(means, state, unit), notes: own };
  if ("files" in found) return librarianBrief(told, found.files, found.fixes);
  if ("fixes" in found) return artisanBrief(told, found.fixes, shell);
  const { text, warnings } = found.change;
  if (unit.kind === "critic") return criticBrief(told, text, warnings);
  return adversaryBrief(told, text, whereTestsRun(workspace, commandOf(state)));
}

const toldOf = ({ workspace }: RoleMeans, state: TaskState, unit: TeamUnit): Omit<Told, "notes"> => ({
  state,
  round: roundOf(state, unit.round),
  tests: state.tested ?? nothingTested,
  folder: workspace,
  scale: scaleOf(state, unit),
});

/** The command that runs the tests, where the task names one. */
export function commandOf({ task }: TaskState): string | undefined {
  const criterion = task.acceptance_criteria.find(({ type }) => type === "tests_pass");
  return criterion?.type === "tests_pass" ? criterion.command : undefined;
}

/** Smaller where the last briefs of this role filled its model's context too far. */
function scaleOf({ attempts }: TaskState, { kind, round }: TeamUnit): number {
  const full = attempts.filter(
    (each) =>
      each.role === kind && (each.round ?? 0) >= round - 1 && (each.failure === "context" || each.full === true),
  ).length;
  return 1 / 2 ** Math.min(3, full);
}
