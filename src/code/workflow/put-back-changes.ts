import type { Tell } from "../../engine/loop/types.js";
import { protecting } from "../../task/project-files/protect.js";
import type { Changed } from "../../task/project-files/snapshots.js";
import type { CodeState } from "../generated/ralph-code.js";
import type { CodeOptions } from "./options.js";

/** A run of tests that an agent may have written. */
interface Held {
  readonly state: CodeState;
  /** What goes on, in words: "the tests ran". */
  readonly during: string;
  /** Whether what it does to this file of the project is left as it is. */
  readonly mayStay: (changed: Changed) => boolean;
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/**
 * Runs tests and puts back what they do to the records, to git's settings and to the files of the project: nobody looks
 * at that, and what they say holds for the files as they were. Before the first agent has worked they are the user's
 * own, and nothing is put back. `changed`: files of the project that were put back; `kept`: the ref of git that
 * has them as they stood then, since a person may have changed them too.
 */
export async function whileHeld<Found>(
  { protect, snapshots }: Pick<CodeOptions, "protect" | "snapshots">,
  { state, during, mayStay, signal, tell }: Held,
  act: () => Promise<Found>,
): Promise<{ readonly found: Found; readonly changed: readonly string[]; readonly kept?: string }> {
  const iteration = state.attempts.at(-1)?.iteration;
  // Snapshots are refs of the repository, which are protected too where an agent could commit: they come around it.
  const before = iteration === undefined ? undefined : await snapshots.take(0);
  const found = await protecting(protect, iteration, during, tell, act);
  const after = before === undefined || signal.aborted ? undefined : await snapshots.take(0);
  if (before === undefined || after === undefined) return { found, changed: [] };
  const changed = (await snapshots.changes(before.commit, after.commit))
    .filter((each) => !mayStay(each))
    .map(({ path }) => path);
  if (changed.length === 0) return { found, changed };
  return { found, changed, kept: await snapshots.put(before.commit, changed) };
}

/** What programs that run tests write themselves: snapshots of values, versions that they resolved, and reports. */
const writtenByPrograms =
  /\.(?:snap|ambr|lock|lockb)$|[-.]lock\.(?:json|yaml)$|(?:^|\/)(?:go\.sum|npm-shrinkwrap\.json|\.coverage|coverage\.(?:xml|json)|cobertura\.xml|lcov\.info|junit\.xml)$|(?:^|\/)coverage\/(?:.*\.(?:html|json|xml|info|css|png)|(?:.*\/)?(?:block-navigation|prettify|sorter)\.js)$/;

/** Whether a change that the project's own tests make may stay: new files, and what their programs write. */
export const isOrdinary = ({ path, kind }: Changed): boolean =>
  kind === "added" || (kind === "changed" && writtenByPrograms.test(path));
