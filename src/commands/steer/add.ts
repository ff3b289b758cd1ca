import { resolve } from "node:path";
import { configToRead, type ConfigFlags } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { counter } from "../../engine/ui/terminal/counter.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { unscreenedWorks } from "../../research/workflow/steering/kept-search.js";
import { readResearch } from "../../research/project-files/research.js";
import type { Paper, Rrd } from "../../research/generated/rrd.js";
import { requireInside } from "./inside-folder.js";
import { requirePerson } from "./require-person.js";
import { editOrLeave } from "../../research/overview/edit-or-leave.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { namesIn, withKeys } from "../../research/papers/paper-keys.js";
import {
  type AddedPaper,
  addedMessage,
  type NamedPaper,
  asFound,
  withAdded,
} from "../../research/papers/records/added-papers.js";
import { parseColumns } from "../../research/papers/records/csv.js";
import { isRecordFile } from "../../research/papers/records/read-records.js";
import { readListedPapers } from "../../research/papers/records/listed-papers.js";
import { lookUpTyped, typedReference } from "../run/typed-reference.js";
import { say } from "../../engine/ui/terminal/format.js";

interface AddArguments {
  readonly folder: string;
  readonly references: readonly string[];
  /** Columns of tables with other headers, each "title=Name". */
  readonly columns: readonly string[];
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** The result for one reference. */
interface Added {
  readonly reference: string;
  readonly id: string | null;
  /** Its name for people, if it is in the project. */
  readonly key?: string;
  readonly title: string | null;
  readonly result: "added" | "already there" | "not found";
  readonly reason?: string;
  /** Set if the user has excluded it: the reason, and how to include it. */
  readonly excluded?: string;
}

/** Entries of a file that could not be read. */
interface UnreadEntries {
  readonly file: string;
  readonly count: number;
  /** The first entries, with the reasons. */
  readonly entries: readonly string[];
}

/** Maximum number of lines with results; the others are only counted. */
const maxShown = 100;

/** The results for all references. */
interface AddedAll {
  readonly all: readonly Added[];
  readonly notRead: readonly UnreadEntries[];
  /** The files with lists of works among the references. */
  readonly lists: readonly string[];
  /** True if a run holds the project; it adds the papers before its next iteration. */
  readonly isLeftForRun: boolean;
  /** Number of references that were not looked up, because the user interrupted. */
  readonly left: number;
}

const leftForRunText = "A run is under way; it takes them before its next iteration, reads them first, and says so.";

/** Adds papers to a project's pool, to be read next. The exit code is 1 if one of them is not available. */
export async function addCommand(
  { folder: argument, references, columns, flags, json }: AddArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const columnNames = parseColumns(columns);
  const folder = await findResearch(io.cwd, argument);
  await readResearch(folder);
  const config = await configToRead(io, flags, ["sources", "state_dir"]);
  const signals = listenForSignals(io);
  const progressCounter = counter(io, "Looking up", references.length);
  const { finish } = signals;
  const { all, notRead, lists, isLeftForRun, left } = await addPapers(
    folder,
    references,
    columnNames,
    config,
    io,
    finish,
    progressCounter,
  ).finally(() => {
    progressCounter.close();
    signals.stop();
  });
  if (json)
    io.stdout(
      `${JSON.stringify({ folder, papers: all, applied: !isLeftForRun, ...(notRead.length === 0 ? {} : { not_read: notRead }) }, null, 2)}\n`,
    );
  else {
    for (const each of all.slice(0, maxShown)) io.stdout(`${addedText(each)}\n`);
    const count = (wantedResult: Added["result"]) => all.filter(({ result }) => result === wantedResult).length;
    if (all.length > maxShown)
      io.stdout(
        `and ${all.length - maxShown} more; of all ${all.length}: ${count("added")} added, ${count("already there")} already there, ${count("not found")} not found\n`,
      );
    if (count("added") > 0) {
      say(io, "They skip screening. The PRISMA flow counts what the search had not found as found another way.");
      say(io, isLeftForRun ? leftForRunText : `They are read first: 'research-ralph run ${nameFor(io.cwd, folder)}'`);
    }
    if (lists.length > 0 && count("added") > 0)
      say(io, `To screen records first, name their file as a source: run --source ${lists.join(",")}`);
  }
  if (left > 0) {
    say(io, `Interrupted: ${left} of ${references.length} were not looked up; the same command goes on with them.`);
    return exitCodeOf({ verdict: "interrupted", reason: "", signal: finish.reason });
  }
  return notRead.length > 0 || all.some(({ result }) => result === "not found") ? 1 : 0;
}

/** Adds the papers that the user names on the local page. Returns the results. @throws ExpectedError as `addPapers`. */
export async function addForPage(folder: string, typed: string, io: Io): Promise<string> {
  const reference = typed.trim();
  if (reference === "") throw new ExpectedError("Nothing is named; give a DOI, an address or a path.", 2);
  // A stolen cookie of the page must not give access to other files.
  requireInside(reference, io.cwd, "the page");
  const config = await configToRead(io, {}, ["sources", "state_dir"]);
  const { all, isLeftForRun, left } = await addPapers(folder, [reference], {}, config, io, AbortSignal.timeout(pageMs));
  if (left > 0) throw new ExpectedError(`${oneLine(reference)}: no answer within ${pageMs / 1000} s; add it again.`, 5);
  const more = all.length > maxOnPage ? ` And ${all.length - maxOnPage} more.` : "";
  const texts = all.slice(0, maxOnPage).map((added) => addedText(added).replace(/\.$/, ""));
  const isAdded = all.some(({ result }) => result === "added");
  return `${texts.join("; ")}.${more}${isLeftForRun && isAdded ? ` ${leftForRunText}` : ""}`;
}

/** Maximum number of results on the page. */
const maxOnPage = 3;
/** Maximum milliseconds for the services on the page. */
const pageMs = 60_000;

const addedText = ({ reference, id, key = id ?? undefined, title, result, reason, excluded = "" }: Added): string =>
  `${result}: ${oneLine(reason === undefined ? `${key ?? ""}  ${title ?? ""}${excluded}` : `${reference}: ${reason}`)}`;

/** The note on a paper that the user has excluded. */
function exclusionOf(paper: Paper | undefined, key: string, where: string): Pick<Added, "excluded"> {
  const { override } = paper ?? {};
  if (override?.decision !== "exclude") return {};
  const include = `research-ralph decide ${shellWord(where)} ${shellWord(key)} include "why"`;
  return { excluded: `; you excluded it (${override.why}), and '${include}' includes it` };
}

/**
 * Adds references, documents and the works of lists to the pool.
 * @throws ExpectedError if nothing can be stored, for example on a full disk.
 */
async function addPapers(
  folder: string,
  references: readonly string[],
  columnNames: ReturnType<typeof parseColumns>,
  config: Awaited<ReturnType<typeof configToRead>>,
  io: Io,
  signal: AbortSignal,
  progressCounter: Pick<ReturnType<typeof counter>, "step" | "say"> = {
    step: () => undefined,
    say: (text) => say(io, text),
  },
): Promise<AddedAll> {
  const papersToAdd: NamedPaper[] = [];
  const notFound: Added[] = [];
  const notRead: UnreadEntries[] = [];
  const lists: string[] = [];
  let left = 0;
  for (const [index, typed] of references.entries()) {
    progressCounter.step(index);
    if (!/^https?:/i.test(typed) && (await isRecordFile(resolve(io.cwd, typed)))) {
      const listed = await readListedPapers(typed, resolve(io.cwd, typed), columnNames).catch((error: unknown) => {
        // If there are several references, a bad file does not affect the others.
        if (references.length === 1 || !(error instanceof ExpectedError)) throw error;
        return error;
      });
      if (listed instanceof ExpectedError) {
        notFound.push({ reference: typed, id: null, title: null, result: "not found", reason: listed.message });
        continue;
      }
      const { papers, broken, notice } = listed;
      lists.push(typed);
      for (const { key, record } of papers) papersToAdd.push({ reference: `${typed}: ${key}`, record });
      if (broken.count > 0) notRead.push({ file: typed, count: broken.count, entries: broken.examples });
      if (notice !== undefined) progressCounter.say(notice);
      continue;
    }
    const reference = await typedReference(typed, io.cwd);
    const described = await lookUpTyped(reference, folder, config, io, signal);
    if (described.status === "ok") papersToAdd.push({ reference: typed, record: described.paper });
    else if (signal.aborted) {
      // An interrupted lookup does not mean that the paper does not exist.
      left = references.length - index;
      break;
    } else notFound.push({ reference: typed, id: null, title: null, result: "not found", reason: described.reason });
  }
  let added: readonly AddedPaper[] = [];
  const before = (await readResearch(folder)).rrd;
  const named = asFound(papersToAdd, await unscreenedWorks(folder, before));
  const change = (rrd: Rrd): Rrd => {
    const after = withAdded(rrd, named);
    added = after.results;
    return after.rrd;
  };
  if (papersToAdd.length === 0) return { all: notFound, isLeftForRun: false, notRead, lists, left };
  const notify = (_: string, message: string) => say(io, message);
  const options = { git: config.git, stateDir: config.stateDir, now: io.clock.now(), notify };
  const edited = await editOrLeave(folder, change, [addedMessage(named)], options);
  const after = withKeys(edited ?? change((await readResearch(folder)).rrd));
  const names = namesIn(after);
  const where = nameFor(io.cwd, folder);
  return {
    all: [
      ...notFound,
      ...added.map((each) => ({
        ...each,
        key: names.get(each.id),
        ...exclusionOf(
          after.papers_pool.find(({ id }) => id === each.id),
          names.get(each.id) ?? each.id,
          where,
        ),
      })),
    ],
    isLeftForRun: edited === undefined,
    notRead,
    lists,
    left,
  };
}
