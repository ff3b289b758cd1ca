import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { normalTitle } from "../papers/normalise-title.js";
import { nameOf } from "../papers/paper-keys.js";
import { parseReference } from "../papers/reference.js";

type Found = Paper | Exclusion;

/** So many are listed where several fit. */
const maxListed = 6;

/**
 * The papers that a person means, else the excluded records: by id or key, a DOI or an arXiv id, the beginning of an id
 * or a key, or words of the title, by the first of these that fits any. Each id once; empty where nothing fits.
 */
export function recordsNamed({ papers_pool: pool, excluded = [] }: Rrd, typed: string): Found[] {
  const text = typed.trim();
  if (text === "") return [];
  const folded = text.toLowerCase();
  const words = normalTitle(text).split(" ").filter(Boolean);
  const ways: ((one: Found) => boolean)[] = [
    ({ id }) => id === text,
    ({ key }) => key?.toLowerCase() === folded,
    ({ identifiers }) => identifiers !== undefined && hasName(identifiers, text),
    ({ id, key }) => id.startsWith(text) || key?.toLowerCase().startsWith(folded) === true,
    ({ title }) => hasWords(title, words),
  ];
  for (const fits of ways)
    for (const list of [pool, excluded]) {
      const found = new Map(list.filter(fits).map((one) => [one.id, one]));
      if (found.size > 0) return [...found.values()];
    }
  return [];
}

function hasName({ doi, arxiv, pmid, pmcid }: NonNullable<Paper["identifiers"]>, text: string): boolean {
  if (text === pmid || text.toUpperCase() === pmcid) return true;
  // Only names: a path would be looked for on the disk.
  if (!/^(?:https?:|doi:|arxiv:|10\.\d|\d{4}\.\d{4})/i.test(text)) return false;
  const reference = parseReference(text);
  return reference.kind === "doi" ? reference.doi === doi : reference.kind === "arxiv" && reference.id === arxiv;
}

/** Whether a title has all these words, each whole or its beginning. */
function hasWords(title: string | null | undefined, wanted: readonly string[]): boolean {
  const words = normalTitle(title ?? "").split(" ");
  return wanted.length > 0 && wanted.every((word) => words.some((each) => each.startsWith(word)));
}

/**
 * The one record that a person means. `where`: the project as the person knows it.
 * @throws ExpectedError (exit code 2) where nothing fits, or several do, which it lists.
 */
export function recordNamed(rrd: Rrd, typed: string, where: string): Found {
  const [only, ...others] = recordsNamed(rrd, typed);
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) throw severalFit(typed, [only, ...others]);
  const names = [...rrd.papers_pool, ...(rrd.excluded ?? [])].flatMap(({ id, key = id }) => [key, id]);
  const near = nearestCandidate(typed, names);
  throw new ExpectedError(
    `There is no paper '${oneLine(typed)}' in ${where}${near === undefined ? "" : `; the nearest name is ${oneLine(near)}`}; 'research-ralph status ${shellWord(where)} --papers' lists the papers.`,
    2,
  );
}

/** That several records fit what was typed, with their keys and titles. */
export function severalFit(typed: string, records: readonly Found[]): ExpectedError {
  const listed = records
    .slice(0, maxListed)
    .map((one) => `${nameOf(one)} (${oneLine(one.title ?? one.id).slice(0, 60)})`);
  const more = records.length > maxListed ? `, and ${records.length - maxListed} more` : "";
  return new ExpectedError(`'${oneLine(typed)}' fits ${records.length} papers: ${listed.join(", ")}${more}.`, 2);
}
