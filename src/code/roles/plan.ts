import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { CodePlan, Place, Tested } from "../../task/generated/ralph-state.js";
import type { LibrarianResult } from "../generated/result-librarian.js";
import { fileWithin, textOf } from "../graph/source-text.js";

/** The librarian's answer as a plan, every place of it checked; what is wrong where a place is not there. */
export function planIn(
  folder: string,
  { cause, files, plan }: LibrarianResult,
): { readonly plan: CodePlan } | { readonly reasons: readonly string[] } {
  const reasons: string[] = [];
  const places: Place[] = [];
  for (const [at, { path, lines, why }] of files.entries()) {
    const within = fileWithin(folder, path);
    if (within === undefined) {
      reasons.push(`/files/${at}/path: there is no text file ${path.slice(0, 200)} in the project`);
      continue;
    }
    const [first = 1, last = first] = lines ?? [];
    const count = (textOf(folder, within) ?? "").replace(/\n$/, "").split("\n").length;
    if (lines !== undefined && (first > last || first > count || last > count + 1))
      reasons.push(`/files/${at}/lines: ${within} has ${count} lines, not ${first} to ${last}`);
    else
      places.push({
        path: within,
        ...(lines === undefined ? {} : { lines: [first, Math.min(last, count)] }),
        ...withoutUndefined({ why }),
      });
  }
  return reasons.length > 0 ? { reasons } : { plan: { cause, files: places, steps: plan } };
}

/** Lines around a failure that belong to it. */
const around = 15;

/** The plan without a model: the places where it fails, then the files next to them. */
export function builtInPlan(
  folder: string,
  tested: Tested | undefined,
  near: readonly { readonly path: string; readonly distance: number }[],
): CodePlan {
  const failures = tested?.failures ?? [];
  const failing = failures.flatMap(({ file, line }): Place[] => {
    const path = file === undefined ? undefined : fileWithin(folder, file);
    if (path === undefined) return [];
    return [{ path, ...(line === undefined ? {} : { lines: [Math.max(1, line - around), line + around] }) }];
  });
  const seen = new Set(failing.map(({ path }) => path));
  const others = near
    .filter(({ path, distance }) => distance <= 1 && !seen.has(path))
    .map(({ path }): Place => ({ path }));
  const once = failing.filter(({ path }, at) => failing.findIndex((each) => each.path === path) === at);
  const first = failures[0];
  return {
    cause: first === undefined ? "No test fails." : `${first.test}: ${first.message}`.slice(0, 600),
    files: [...once, ...others].slice(0, 12),
    steps: ["Find out why these tests fail, and mend the cause."],
  };
}
