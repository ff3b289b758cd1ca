import { resolve } from "node:path";
import { configToRead, type ConfigFlags } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { createCounter } from "../../engine/ui/terminal/counter.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { unscreenedWorks } from "../../research/workflow/steering/kept-search.js";
import { readResearch } from "../../research/project-files/research.js";
import type { Paper, Rrd } from "../../research/generated/rrd.js";
import { requireInside } from "./inside-folder.js";
import { requirePerson } from "./require-person.js";
import { editOrLeave, reopenByCommand } from "../../research/overview/edit-or-leave.js";
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

/** The result for one paper. */
interface AddResult {
  readonly reference: string;
  readonly id: string | null;
  /** Its citation key, if it is in the project. */
  readonly key?: string;
  readonly title: string | null;
  readonly result: "added" | "already there" | "not found";
  readonly reason?: string;
  /** Set if the user has excluded it: a note with the reason, and how to include it. */
  readonly excluded?: string;
  /** Set if the reference is a file that became the text of a known paper: a note. */
  readonly text?: string;
}

/** Entries of a file that could not be read. */
interface UnreadEntries {
  readonly file: string;
  readonly count: number;
  /** The first entries, with the reasons. */
  readonly entries: readonly string[];
}

/** Maximum number of printed results; the others are only counted. */
const maxShown = 100;

/** The results for all references. */
interface AddResults {
  readonly results: readonly AddResult[];
  readonly notRead: readonly UnreadEntries[];
  /** The files with lists of works among the references. */
  readonly lists: readonly string[];
  /** True if a run holds the project; it adds the papers before its next iteration. */
  readonly isLeftForRun: boolean;
  /** Number of references that were not looked up, because the user interrupted or the time was over. */
  readonly skippedCount: number;
}

const addedByRunText = "The project is running; the run adds them before its next iteration, and reads them first.";

/** Adds papers to a project. The next run reads them first. The exit code is 1 if one of them is not available. */
export async function addCommand(
  { folder: typedName, references, columns, flags, json }: AddArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const columnNames = parseColumns(columns);
  const folder = await findResearch(io.cwd, typedName);
  await readResearch(folder);
  const config = await configToRead(io, flags, ["sources", "state_dir"]);
  const signals = listenForSignals(io);
  const progressCounter = createCounter(io, "Looking up", references.length);
  const { finish } = signals;
  const { results, notRead, lists, isLeftForRun, skippedCount } = await addPapers(
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
      `${JSON.stringify({ folder, papers: results, applied: !isLeftForRun, ...(notRead.length === 0 ? {} : { not_read: notRead }) }, null, 2)}\n`,
    );
  else {
    for (const result of results.slice(0, maxShown)) io.stdout(`${resultText(result)}\n`);
    const count = (wantedResult: AddResult["result"]) => results.filter(({ result }) => result === wantedResult).length;
    if (results.length > maxShown)
      io.stdout(
        `and ${results.length - maxShown} more; of all ${results.length}: ${count("added")} added, ${count("already there")} already there, ${count("not found")} not found\n`,
      );
    if (count("added") > 0) {
      say(io, "They are not screened. The PRISMA flow counts those that the search did not find under other methods.");
      say(io, isLeftForRun ? addedByRunText : `They are read first: 'research-ralph run ${nameFor(io.cwd, folder)}'`);
    }
    if (lists.length > 0 && count("added") > 0)
      say(io, `To screen records first, name their file as a source: run --source ${lists.join(",")}`);
  }
  if (skippedCount > 0) {
    say(
      io,
      `Interrupted: ${skippedCount} of ${references.length} were not looked up; repeat the command to look them up.`,
    );
    return exitCodeOf({ verdict: "interrupted", reason: "", signal: finish.reason });
  }
  return notRead.length > 0 || results.some(({ result }) => result === "not found") ? 1 : 0;
}

/**
 * Adds papers that the user typed on the local page. Returns the results as text.
 * @throws ExpectedError as `addPapers`, for a path outside the folder of the page, or if the time is over.
 */
export async function addForPage(folder: string, referenceText: string, io: Io): Promise<string> {
  const reference = referenceText.trim();
  if (reference === "") throw new ExpectedError("Nothing is named; give a DOI, a URL or a path.", 2);
  // A stolen cookie of the page must not give access to other files.
  requireInside(reference, io.cwd, "the page");
  const config = await configToRead(io, {}, ["sources", "state_dir"]);
  const { results, isLeftForRun, skippedCount } = await addPapers(
    folder,
    [reference],
    {},
    config,
    io,
    AbortSignal.timeout(maxPageMs),
  );
  if (skippedCount > 0)
    throw new ExpectedError(`${oneLine(reference)}: no answer within ${maxPageMs / 1000} s; add it again.`, 5);
  const moreText = results.length > maxResultsOnPage ? ` And ${results.length - maxResultsOnPage} more.` : "";
  const texts = results.slice(0, maxResultsOnPage).map((result) => resultText(result).replace(/\.$/, ""));
  const isAdded = results.some(({ result }) => result === "added");
  return `${texts.join("; ")}.${moreText}${isLeftForRun && isAdded ? ` ${addedByRunText}` : ""}`;
}

/** Maximum number of results on the page. */
const maxResultsOnPage = 3;
/** Maximum time for the services on the page. */
const maxPageMs = 60_000;

const resultText = ({
  reference,
  id,
  key = id ?? undefined,
  title,
  result,
  reason,
  excluded = "",
  text = "",
}: AddResult): string =>
  `${result}: ${oneLine(reason === undefined ? `${key ?? ""}  ${title ?? ""}${text}${excluded}` : `${reference}: ${reason}`)}`;

/** The note on a paper that the user has excluded. */
function exclusionOf(paper: Paper | undefined, key: string, projectName: string): Pick<AddResult, "excluded"> {
  const { override } = paper ?? {};
  if (override?.decision !== "exclude") return {};
  const includeCommand = `research-ralph decide ${shellWord(projectName)} ${shellWord(key)} include "why"`;
  return { excluded: `; you excluded it (${override.why}), and '${includeCommand}' includes it` };
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
  progressCounter: Pick<ReturnType<typeof createCounter>, "step" | "say"> = {
    step: () => undefined,
    say: (text) => say(io, text),
  },
): Promise<AddResults> {
  const papersToAdd: NamedPaper[] = [];
  const notFound: AddResult[] = [];
  const notRead: UnreadEntries[] = [];
  const lists: string[] = [];
  let skippedCount = 0;
  for (const [index, referenceText] of references.entries()) {
    progressCounter.step(index);
    if (!/^https?:/i.test(referenceText) && (await isRecordFile(resolve(io.cwd, referenceText)))) {
      const listedPapers = await readListedPapers(referenceText, resolve(io.cwd, referenceText), columnNames).catch(
        (error: unknown) => {
          // If there are several references, a bad file does not affect the others.
          if (references.length === 1 || !(error instanceof ExpectedError)) throw error;
          return error;
        },
      );
      if (listedPapers instanceof ExpectedError) {
        notFound.push({
          reference: referenceText,
          id: null,
          title: null,
          result: "not found",
          reason: listedPapers.message,
        });
        continue;
      }
      const { papers, broken, notice } = listedPapers;
      lists.push(referenceText);
      for (const { key, record } of papers) papersToAdd.push({ reference: `${referenceText}: ${key}`, record });
      if (broken.count > 0) notRead.push({ file: referenceText, count: broken.count, entries: broken.examples });
      if (notice !== undefined) progressCounter.say(notice);
      continue;
    }
    const reference = await typedReference(referenceText, io.cwd);
    const described = await lookUpTyped(reference, folder, config, io, signal);
    if (described.status === "ok") papersToAdd.push({ reference: referenceText, record: described.paper });
    else if (signal.aborted) {
      // An interrupted lookup does not mean that the paper does not exist.
      skippedCount = references.length - index;
      break;
    } else
      notFound.push({ reference: referenceText, id: null, title: null, result: "not found", reason: described.reason });
  }
  let addedPapers: readonly AddedPaper[] = [];
  const rrdBefore = (await readResearch(folder)).rrd;
  const namedPapers = asFound(papersToAdd, await unscreenedWorks(folder, rrdBefore));
  const change = (rrd: Rrd): Rrd => {
    const changed = withAdded(rrd, namedPapers);
    addedPapers = changed.results;
    return changed.rrd;
  };
  if (papersToAdd.length === 0) return { results: notFound, isLeftForRun: false, notRead, lists, skippedCount };
  const notify = (_: string, message: string) => say(io, message);
  const options = { git: config.git, stateDir: config.stateDir, now: io.clock.now(), notify };
  const edited = await editOrLeave(folder, change, [addedMessage(namedPapers)], options);
  const after =
    edited === undefined ? change((await readResearch(folder)).rrd) : await reopenByCommand(folder, options);
  const rrdAfter = withKeys(after);
  const namesById = namesIn(rrdAfter);
  const projectName = nameFor(io.cwd, folder);
  const earlierStatuses = new Map(rrdBefore.papers_pool.map(({ id, status }) => [id, status]));
  const isReopened = ({ id, status }: Paper) => status === "pending" && (earlierStatuses.get(id) ?? status) !== status;
  const papersWithText = new Set(rrdAfter.papers_pool.filter(isReopened).map(({ id }) => id));
  return {
    results: [
      ...notFound,
      ...addedPapers.map((result) => ({
        ...result,
        key: namesById.get(result.id),
        ...(papersWithText.has(result.id)
          ? { text: `; the file is its text now, and 'research-ralph run ${shellWord(projectName)}' reads it` }
          : {}),
        ...exclusionOf(
          rrdAfter.papers_pool.find(({ id }) => id === result.id),
          namesById.get(result.id) ?? result.id,
          projectName,
        ),
      })),
    ],
    isLeftForRun: edited === undefined,
    notRead,
    lists,
    skippedCount,
  };
}
