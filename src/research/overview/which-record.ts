import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { normalTitle } from "../papers/normalise-title.js";
import { nameOf } from "../papers/paper-keys.js";
import { parseReference } from "../papers/reference.js";

type PaperOrExclusion = Paper | Exclusion;

/** Maximum number of names in the message about several matches. */
const maxListed = 6;

/**
 * The papers with this name, otherwise the excluded records: by one of their exact names, the beginning of an id or
 * key, or words of the title. The first of these ways with a match counts. Empty if nothing matches.
 */
export function recordsNamed(rrd: Rrd, typedName: string): PaperOrExclusion[] {
  const text = typedName.trim();
  const lowerCase = text.toLowerCase();
  const words = normalTitle(text).split(" ").filter(Boolean);
  const exact = recordsExactlyNamed(rrd, text);
  return exact.length > 0 || text === ""
    ? exact
    : firstMatches(rrd, [
        ({ id, key }) => id.startsWith(text) || key?.toLowerCase().startsWith(lowerCase) === true,
        ({ title }) => hasWords(title, words),
      ]);
}

/** Like `recordsNamed`, but only by id or key, DOI, arXiv id, PubMed id, or the complete title. */
export function recordsExactlyNamed(rrd: Rrd, name: string): PaperOrExclusion[] {
  const text = name.trim();
  const [lowerCase, title] = [text.toLowerCase(), normalTitle(text)];
  return text === ""
    ? []
    : firstMatches(rrd, [
        ({ id }) => id === text,
        ({ key }) => key?.toLowerCase() === lowerCase,
        ({ identifiers }) => identifiers !== undefined && hasName(identifiers, text),
        (record) => title !== "" && normalTitle(record.title ?? "") === title,
      ]);
}

/** The papers, or else the excluded records, for which the first of these tests with a match is true. */
function firstMatches(
  { papers_pool: pool, excluded = [] }: Rrd,
  tests: readonly ((record: PaperOrExclusion) => boolean)[],
): PaperOrExclusion[] {
  for (const test of tests)
    for (const list of [pool, excluded]) {
      const matches = new Map(list.filter(test).map((record) => [record.id, record]));
      if (matches.size > 0) return [...matches.values()];
    }
  return [];
}

function hasName({ doi, arxiv, pmid, pmcid }: NonNullable<Paper["identifiers"]>, text: string): boolean {
  if (text === pmid || text.toUpperCase() === pmcid) return true;
  // Only identifiers: a path would be looked up on the disk.
  if (!/^(?:https?:|doi:|arxiv:|10\.\d|\d{4}\.\d{4})/i.test(text)) return false;
  const reference = parseReference(text);
  return reference.kind === "doi" ? reference.doi === doi : reference.kind === "arxiv" && reference.id === arxiv;
}

/** Whether a title has all these words, or words that begin with them. */
function hasWords(title: string | null | undefined, wantedWords: readonly string[]): boolean {
  const words = normalTitle(title ?? "").split(" ");
  return wantedWords.length > 0 && wantedWords.every((word) => words.some((titleWord) => titleWord.startsWith(word)));
}

/**
 * The record with this name. `where`: the name of the project for the user.
 * @throws ExpectedError (exit code 2) if none or several match.
 */
export function recordNamed(rrd: Rrd, typedName: string, where: string): PaperOrExclusion {
  const [only, ...others] = recordsNamed(rrd, typedName);
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) throw severalMatchError(typedName, [only, ...others]);
  throw new ExpectedError(
    `There is no paper '${oneLine(typedName)}' in ${where}${nearestText(rrd, typedName)}; 'research-ralph status ${shellWord(where)} --papers' lists the papers.`,
    2,
  );
}

/** "; the nearest name is lo2020", or empty if no name of a record is similar. */
export function nearestText({ papers_pool: pool, excluded = [] }: Rrd, typedName: string): string {
  const names = [...pool, ...excluded].flatMap(({ id, key = id }) => [key, id]);
  const nearest = nearestCandidate(typedName, names);
  return nearest === undefined ? "" : `; the nearest name is ${oneLine(nearest)}`;
}

/** The error if several records match, with their keys and titles. */
export function severalMatchError(typedName: string, records: readonly PaperOrExclusion[]): ExpectedError {
  const nameTexts = records
    .slice(0, maxListed)
    .map((record) => `${nameOf(record)} (${oneLine(record.title ?? record.id).slice(0, 60)})`);
  const more = records.length > maxListed ? `, and ${records.length - maxListed} more` : "";
  return new ExpectedError(`'${oneLine(typedName)}' fits ${records.length} papers: ${nameTexts.join(", ")}${more}.`, 2);
}
