import { existsSync, realpathSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { configToRead, type ConfigFlags } from "../../compose/config.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { given } from "../../engine/lib/given.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { readResearch } from "../../research/project-files/research.js";
import type { Paper, Rrd } from "../../research/generated/rrd.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import { requirePerson } from "./require-person.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { type MatchFeatures, matchFeaturesOf } from "../../research/papers/dedup/match-features.js";
import { compareRecords } from "../../research/papers/dedup/same-work.js";
import { workIndex } from "../../research/papers/dedup/work-index.js";
import { namesIn, withKeys } from "../../research/papers/paper-keys.js";
import { keptFacts, type PaperRecord } from "../../research/papers/paper-record.js";
import { chosenColumns } from "../../research/papers/records/csv.js";
import { isRecordFile } from "../../research/papers/records/read-records.js";
import { withFactsOf } from "../../research/papers/records/known-paper.js";
import { readListedPapers } from "../../research/papers/records/listed-papers.js";
import { idApart, parseReference } from "../../research/papers/reference.js";
import { derive } from "../../research/workflow/derive.js";
import { lookUpTyped, typedReference } from "../run/typed-reference.js";
import { say } from "../../engine/ui/terminal/format.js";

interface AddArguments {
  readonly folder: string;
  readonly references: readonly string[];
  /** Columns of tables that have names of their own, each "title=Name". */
  readonly columns: readonly string[];
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

/** What became of one reference. */
interface Added {
  readonly reference: string;
  readonly id: string | null;
  /** What people call it, once it is in the project. */
  readonly key?: string;
  readonly title: string | null;
  readonly result: "added" | "already there" | "not found";
  readonly reason?: string;
}

/** Entries of a file that could not be read. */
interface NotRead {
  readonly file: string;
  readonly count: number;
  /** The first of them, with why. */
  readonly entries: readonly string[];
}

/** So many lines tell what became of each; more are counted. */
const maxShown = 100;

/** What became of all that was named. */
interface AddedAll {
  readonly all: readonly Added[];
  readonly notRead: readonly NotRead[];
  /** Files among what was named that list works. */
  readonly lists: readonly string[];
}

/**
 * Puts papers that a person names into a project's pool, to be read next. Exit code 1 where one of them could not be
 * had.
 */
export async function addCommand(
  { folder: argument, references, columns, flags, json }: AddArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const chosen = chosenColumns(columns);
  const folder = await findResearch(io.cwd, argument);
  await readResearch(folder);
  const config = await configToRead(io, flags, ["sources", "state_dir"]);
  const signals = listenForSignals(io);
  const { all, notRead, lists } = await addPapers(folder, references, chosen, config, io, signals.finish).finally(() =>
    signals.stop(),
  );
  if (json)
    io.stdout(
      `${JSON.stringify({ folder, papers: all, ...(notRead.length === 0 ? {} : { not_read: notRead }) }, null, 2)}\n`,
    );
  else {
    for (const each of all.slice(0, maxShown)) io.stdout(`${addedText(each)}\n`);
    const count = (wanted: Added["result"]) => all.filter(({ result }) => result === wanted).length;
    if (all.length > maxShown)
      io.stdout(
        `and ${all.length - maxShown} more; of all ${all.length}: ${count("added")} added, ${count("already there")} already there, ${count("not found")} not found\n`,
      );
    if (count("added") > 0) {
      say(io, "They skip screening, and the PRISMA flow counts them as found by other methods.");
      say(io, `They are read first: research-ralph run ${nameFor(io.cwd, folder)}`);
    }
    if (lists.length > 0 && count("added") > 0)
      say(io, `To screen records first, name their file as a source: run --source ${lists.join(",")}`);
  }
  return notRead.length > 0 || all.some(({ result }) => result === "not found") ? 1 : 0;
}

/** Adds what a person names on the local page; what became of it. @throws ExpectedError as `addPapers`. */
export async function addForPage(folder: string, typed: string, io: Io): Promise<string> {
  const reference = typed.trim();
  if (reference === "") throw new ExpectedError("Nothing is named; give a DOI, an address or a path.", 2);
  // A stolen cookie of the page must not get other files read.
  const named = parseReference(reference, io.cwd);
  const path = named.kind === "file" ? named.path : resolve(io.cwd, reference);
  if (existsSync(path) && relative(realpathSync(io.cwd), realpathSync(path)).split(sep)[0] === "..")
    throw new ExpectedError(
      `${reference} lies outside the folder that the page was started in; 'research-ralph add' in a terminal takes it.`,
      2,
    );
  const config = await configToRead(io, {}, ["sources", "state_dir"]);
  const { all } = await addPapers(folder, [reference], {}, config, io, AbortSignal.timeout(pageMs));
  const more = all.length > maxOnPage ? ` And ${all.length - maxOnPage} more.` : "";
  const each = all.slice(0, maxOnPage).map((one) => addedText(one).replace(/\.$/, ""));
  return `${each.join("; ")}.${more}`;
}

const maxOnPage = 3;
/** A page does not wait longer for services. */
const pageMs = 60_000;

const addedText = ({ reference, id, key = id ?? undefined, title, result, reason }: Added): string =>
  `${result}: ${oneLine(reason === undefined ? `${key ?? ""}  ${title ?? ""}` : `${reference}: ${reason}`)}`;

/**
 * Puts references, documents and the works of lists into the pool.
 * @throws ExpectedError where none can be kept, as on a full disk; nothing is added then.
 */
async function addPapers(
  folder: string,
  references: readonly string[],
  chosen: ReturnType<typeof chosenColumns>,
  config: Awaited<ReturnType<typeof configToRead>>,
  io: Io,
  signal: AbortSignal,
): Promise<AddedAll> {
  const found: Found[] = [];
  const missed: Added[] = [];
  const notRead: NotRead[] = [];
  const lists: string[] = [];
  for (const typed of references) {
    if (!/^https?:/i.test(typed) && (await isRecordFile(resolve(io.cwd, typed)))) {
      const listed = await readListedPapers(typed, resolve(io.cwd, typed), chosen).catch((error: unknown) => {
        // One bad file of several costs itself alone.
        if (references.length === 1 || !(error instanceof ExpectedError)) throw error;
        return error;
      });
      if (listed instanceof ExpectedError) {
        missed.push({ reference: typed, id: null, title: null, result: "not found", reason: listed.message });
        continue;
      }
      const { papers, broken, said } = listed;
      lists.push(typed);
      for (const { key, record } of papers) found.push({ reference: `${typed}: ${key}`, record });
      if (broken.count > 0) notRead.push({ file: typed, count: broken.count, entries: broken.named });
      if (said !== undefined) say(io, said);
      continue;
    }
    const reference = await typedReference(typed, io.cwd);
    const described = await lookUpTyped(reference, folder, config, io, signal);
    if (described.status === "ok") found.push({ reference: typed, record: described.paper });
    else missed.push({ reference: typed, id: null, title: null, result: "not found", reason: described.reason });
  }
  let added: readonly Added[] = [];
  const change = (rrd: Rrd): Rrd => {
    const { pool, results } = withPapers(rrd.papers_pool, found);
    added = results;
    return { ...rrd, papers_pool: pool };
  };
  const notify = (_: string, message: string) => say(io, message);
  const names =
    found.length === 0
      ? undefined
      : namesIn(withKeys((await editResearch(folder, change, { derive, git: config.git, notify })).rrd));
  await signState(folder, config.stateDir);
  return {
    all: [...missed, ...added.map((each) => ({ ...each, ...given({ key: names?.get(each.id ?? "") }) }))],
    notRead,
    lists,
  };
}

/** A paper that is read before those that a search found. */
function toRead(record: PaperRecord): Paper {
  const facts = keptFacts(record);
  const about = { priority: 5, notes: "Added by a person.", added: true };
  return { ...facts, url: facts.url || null, status: "pending", ...about };
}

interface Found {
  readonly reference: string;
  readonly record: PaperRecord;
}

/** The pool with those papers that are not in it; of one that is, what the record knows besides is kept. Pure. */
function withPapers(
  before: readonly Paper[],
  found: readonly Found[],
): { readonly pool: Paper[]; readonly results: readonly Added[] } {
  const works = workIndex();
  for (const paper of before) works.add(paper.id, matchFeaturesOf(paper));
  const pool = [...before];
  const places = new Map(before.map(({ id }, index) => [id, index]));
  const results = found.map(({ reference, record }): Added => {
    const traits = matchFeaturesOf(record);
    const twin = works.twinOf(traits)?.id ?? sameName(record, traits);
    const place = places.get(twin ?? "");
    const known = place === undefined ? undefined : pool[place];
    if (place !== undefined && known !== undefined) {
      pool[place] = withFactsOf(known, record);
      return { reference, id: known.id, title: known.title, result: "already there" };
    }
    const id = places.has(record.id) ? idApart(record.id, aboutOf(record)) : record.id;
    works.add(id, traits);
    places.set(id, pool.push(toRead({ ...record, id })) - 1);
    return { reference, id, title: record.title, result: "added" };
  });
  return { pool, results };

  /** A paper of the same id, unless the rules of deduplication say that it is another work. */
  function sameName(record: PaperRecord, traits: MatchFeatures): string | undefined {
    const known = pool[places.get(record.id) ?? places.get(idApart(record.id, aboutOf(record))) ?? -1];
    if (known === undefined) return undefined;
    const compared = compareRecords(matchFeaturesOf(known), traits);
    const isOther = !compared.same && (compared.apart !== undefined || known.title !== record.title);
    return isOther && known.id === record.id ? undefined : known.id;
  }
}

/** What tells two works of one name apart. */
const aboutOf = ({ title, venue = "", pages = "" }: PaperRecord): string => `${title} ${venue} ${pages}`;
