import { join, relative } from "node:path";
import { isWithin } from "../../engine/process/search-path.js";
import type { Place } from "../place/run.js";

/** A place for a run of tests, and how paths of the project read there. */
interface Seen {
  readonly place: Place;
  readonly path: (outside: string) => string;
}

/**
 * The place as a run of tests sees it: where it says so, with the project read-only at another path and what the tools
 * write by themselves in the scratch folder; else as it is.
 */
export function seenByTests(place: Place): Seen {
  const { cwd, env, reach, scratch, tests } = place;
  if (tests === undefined) return { place, path: (outside) => outside };
  const { at, packages } = tests;
  const top = packages !== undefined && isWithin(cwd, packages) ? packages : cwd;
  const path = (outside: string) => (isWithin(outside, top) ? join(at, relative(top, outside)) : outside);
  const froms = reach.read.filter((mount) => !isWithin(typeof mount === "string" ? mount : mount.from, top));
  return {
    path,
    place: {
      ...place,
      cwd: path(cwd),
      env: { ...env, PYTHONDONTWRITEBYTECODE: "1", CARGO_TARGET_DIR: join(scratch, "cargo-target") },
      reach: { ...reach, read: [...froms, { from: top, at }], write: [scratch] },
    },
  };
}

/** What to do where a run of tests failed because it can't write into the project; undefined where that is not why. */
export const readOnlyHint = ({ tests }: Place, said: string): string | undefined =>
  tests !== undefined && /read-only file ?system|EROFS/i.test(said)
    ? `Runs of tests see the project read-only at ${tests.at} here; let them write to $TMPDIR, or run them by a criterion command_succeeds, which may write.`
    : undefined;
