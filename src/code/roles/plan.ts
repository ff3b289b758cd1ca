import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import type { CodePlan, Place, Tested } from "../../task/generated/ralph-state.js";
import type { LibrarianResult } from "../generated/result-librarian.js";
import { fileWithin, textOf } from "../graph/source-text.js";

/**
 * Checks every place of the librarian's answer. Returns the answer as a plan, or the reasons if a place does not exist.
 */
export function checkPlan(
  folder: string,
  { cause, files, plan }: LibrarianResult,
): { readonly plan: CodePlan } | { readonly reasons: readonly string[] } {
  const reasons: string[] = [];
  const places: Place[] = [];
  for (const [index, { path, lines, why }] of files.entries()) {
    const filePath = fileWithin(folder, path);
    if (filePath === undefined) {
      reasons.push(`/files/${index}/path: there is no text file ${path.slice(0, 200)} in the project`);
      continue;
    }
    const [first = 1, last = first] = lines ?? [];
    const lineCount = (textOf(folder, filePath) ?? "").replace(/\n$/, "").split("\n").length;
    if (lines !== undefined && (first > last || first > lineCount || last > lineCount + 1))
      reasons.push(`/files/${index}/lines: ${filePath} has ${lineCount} lines, not ${first} to ${last}`);
    else
      places.push({
        path: filePath,
        ...(lines === undefined ? {} : { lines: [first, Math.min(last, lineCount)] }),
        ...withoutUndefined({ why }),
      });
  }
  return reasons.length > 0 ? { reasons } : { plan: { cause, files: places, steps: plan } };
}

/** Lines before and after a failure that belong to its place. */
const contextLines = 15;

/** The plan without a model: the places of the failures, then the files next to them. */
export function builtInPlan(
  folder: string,
  tested: Tested | undefined,
  rankedFiles: readonly { readonly path: string; readonly distance: number }[],
): CodePlan {
  const failures = tested?.failures ?? [];
  const failurePlaces = failures.flatMap(({ file, line }): Place[] => {
    const path = file === undefined ? undefined : fileWithin(folder, file);
    if (path === undefined) return [];
    return [
      { path, ...(line === undefined ? {} : { lines: [Math.max(1, line - contextLines), line + contextLines] }) },
    ];
  });
  const failurePaths = new Set(failurePlaces.map(({ path }) => path));
  const nearPlaces = rankedFiles
    .filter(({ path, distance }) => distance <= 1 && !failurePaths.has(path))
    .map(({ path }): Place => ({ path }));
  const uniquePlaces = failurePlaces.filter(
    ({ path }, index) => failurePlaces.findIndex((place) => place.path === path) === index,
  );
  const firstFailure = failures[0];
  return {
    cause:
      firstFailure === undefined ? "No test fails." : `${firstFailure.test}: ${firstFailure.message}`.slice(0, 600),
    files: [...uniquePlaces, ...nearPlaces].slice(0, 12),
    steps: ["Find out why these tests fail, and mend the cause."],
  };
}
