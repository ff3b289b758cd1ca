import { join, relative } from "node:path";
import { isWithin } from "../../engine/process/search-path.js";
import type { Place } from "../place/run.js";

/** The place of a test run, and a function that translates paths of the project into it. */
interface PlaceOfTests {
  readonly place: Place;
  readonly path: (outside: string) => string;
}

/**
 * The place of a test run. If `place` says how tests see the project, the project is mounted read-only at another path,
 * and the tools write their own files into the scratch folder. Else it is `place`.
 */
export function placeOfTests(place: Place): PlaceOfTests {
  const { cwd, env, access, scratch, tests } = place;
  if (tests === undefined) return { place, path: (outside) => outside };
  const { at: projectPath, packages } = tests;
  const mountedFolder = packages !== undefined && isWithin(cwd, packages) ? packages : cwd;
  const path = (outside: string) =>
    isWithin(outside, mountedFolder) ? join(projectPath, relative(mountedFolder, outside)) : outside;
  const otherMounts = access.read.filter(
    (mount) => !isWithin(typeof mount === "string" ? mount : mount.from, mountedFolder),
  );
  return {
    path,
    place: {
      ...place,
      cwd: path(cwd),
      env: { ...env, PYTHONDONTWRITEBYTECODE: "1", CARGO_TARGET_DIR: join(scratch, "cargo-target") },
      access: { ...access, read: [...otherMounts, { from: mountedFolder, target: projectPath }], write: [scratch] },
    },
  };
}

/** Advice if a test run failed because it can't write into the project; undefined if it failed for another reason. */
export const readOnlyHint = ({ tests }: Place, output: string): string | undefined =>
  tests !== undefined && /read-only file ?system|EROFS/i.test(output)
    ? `Runs of tests see the project read-only at ${tests.at} here; let them write to $TMPDIR, or run them by a criterion command_succeeds, which may write.`
    : undefined;
