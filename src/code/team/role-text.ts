import { whereTestsRun } from "../roles/adversarial-tests.js";
import {
  adversaryBrief,
  artisanBrief,
  otherTokensOf,
  criticBrief,
  librarianBrief,
  librarianTokens,
  type BriefInput,
} from "../roles/briefs.js";
import type { Notes } from "../../engine/loop/types.js";
import type { TaskState } from "../../task/generated/ralph-state.js";
import { type Change, changeBetween } from "../round/change.js";
import type { RoleContext } from "./options.js";
import { roundOf, type TeamUnit } from "./rounds.js";

/** The material for the brief of a role, in addition to the records. */
export type RoleMaterial =
  | { readonly files: string; readonly fixes: string }
  | { readonly fixes: string }
  | { readonly change: Change };

const noTests = { at: "", framework: "", passed: 0, failing: 0, failures: [], signatures: [] };

/** Gathers the material for a role: ranked files, fixes that helped, or the change. */
export async function gatherMaterial(
  roleContext: RoleContext,
  state: TaskState,
  unit: TeamUnit,
): Promise<RoleMaterial> {
  const { ranking, fixes, snapshots, window } = roleContext;
  const { failures } = state.tested ?? noTests;
  if (unit.kind === "librarian") {
    const recalledFixes = await fixes.recall(failures);
    const input = briefInputOf(roleContext, state, unit);
    const tokens = librarianTokens(window, input.scale, otherTokensOf(input, recalledFixes));
    return { files: await ranking.text(state, tokens), fixes: recalledFixes };
  }
  if (unit.kind === "artisan") return { fixes: await fixes.recall(failures) };
  const { before, after } = roundOf(state, unit.round) ?? {};
  if (before === undefined || after === undefined) throw new Error(`${unit.id} comes before a change`);
  return { change: await changeBetween(snapshots, before, after) };
}

/** The text of a role's brief. */
export function roleText(
  roleContext: RoleContext,
  state: TaskState,
  unit: TeamUnit,
  material: RoleMaterial,
  notes: Notes,
): string {
  // The round's records already say what the other roles did, so the history of iterations is left out.
  const { history: _, ...otherNotes } = notes;
  const { workspace, shell } = roleContext;
  const input: BriefInput = { ...briefInputOf(roleContext, state, unit), notes: otherNotes };
  if ("files" in material) return librarianBrief(input, material.files, material.fixes);
  if ("fixes" in material) return artisanBrief(input, material.fixes, shell);
  const { text, warnings } = material.change;
  if (unit.kind === "critic") return criticBrief(input, text, warnings);
  return adversaryBrief(input, text, whereTestsRun(workspace, commandOf(state)));
}

const briefInputOf = ({ workspace }: RoleContext, state: TaskState, unit: TeamUnit): Omit<BriefInput, "notes"> => ({
  state,
  round: roundOf(state, unit.round),
  tests: state.tested ?? noTests,
  folder: workspace,
  scale: scaleOf(state, unit),
});

/** The command that runs the tests, if the task names one. */
export function commandOf({ task }: TaskState): string | undefined {
  const criterion = task.acceptance_criteria.find(({ type }) => type === "tests_pass");
  return criterion?.type === "tests_pass" ? criterion.command : undefined;
}

/** 1, or less if the last briefs of this role were too large for its model's context. */
function scaleOf({ attempts }: TaskState, { kind, round }: TeamUnit): number {
  const fullBriefs = attempts.filter(
    (attempt) =>
      attempt.role === kind &&
      (attempt.round ?? 0) >= round - 1 &&
      (attempt.failure === "context" || attempt.full === true),
  ).length;
  return 1 / 2 ** Math.min(3, fullBriefs);
}
