import { join, relative } from "node:path";
import { isWithin } from "../../engine/process/search-path.js";
import type { Place } from "../place/run.js";

/** The place of a test run. `path`: returns the path of a file of the project as the test run sees it. */
interface PlaceOfTests {
  readonly place: Place;
  readonly path: (projectFile: string) => string;
}

/**
 * The place of a test run. If `place` has a `testPlace`, the project is mounted there, read-only, and the tools write
 * their own files into the scratch folder. Otherwise the result is `place`.
 */
export function placeOfTests(place: Place): PlaceOfTests {
  const { cwd, env, access, scratch, testPlace } = place;
  if (testPlace === undefined) return { place, path: (projectFile) => projectFile };
  const { path: projectPath, packageFolder } = testPlace;
  const mountedFolder = packageFolder !== undefined && isWithin(cwd, packageFolder) ? packageFolder : cwd;
  const path = (projectFile: string) =>
    isWithin(projectFile, mountedFolder) ? join(projectPath, relative(mountedFolder, projectFile)) : projectFile;
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
export const readOnlyHint = ({ testPlace }: Place, output: string): string | undefined =>
  testPlace !== undefined && /read-only file ?system|EROFS/i.test(output)
    ? `Runs of tests see the project read-only at ${testPlace.path} here; let them write to $TMPDIR, or run them by a criterion command_succeeds, which may write.`
    : undefined;
