import { basename, resolve } from "node:path";
import { ExpectedError } from "../../../engine/lib/errors.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Columns, Seed } from "../../generated/rrd.js";
import { parseReference } from "../reference.js";
import type { Entry } from "./entry.js";
import { isRecordFile, readRecords, unreadNotice } from "./read-records.js";
import { readStats } from "../../../engine/storage/regular-file.js";

/** The papers that the user named as seeds. */
export interface ReadSeeds {
  readonly seeds: readonly Seed[];
  /** A sentence for each file with parts that could not be read. */
  readonly notices: readonly string[];
}

/** With more seeds, abstracts are not stored, so that rrd.json stays small. */
const maxSeedsWithAbstract = 200;
/** Maximum number of stored authors, which is enough to distinguish works. */
const maxAuthors = 6;

/**
 * Reads references (DOI, arXiv id, address, document) and files that list works, without a service. `folder`: the base
 * of relative paths.
 * @throws ExpectedError (exit code 2) for other texts, and if nothing in a file can be read.
 */
export async function readSeeds(names: readonly string[], folder: string, columns?: Columns): Promise<ReadSeeds> {
  const seeds: Seed[] = [];
  const notices: string[] = [];
  for (const name of names) {
    const path = resolve(folder, name);
    if (!/^https?:/i.test(name) && (await isRecordFile(path))) {
      requireFile(name, path);
      const bibliography = await readRecords(path, columns);
      seeds.push(...bibliography.entries.map((entry) => seedOf(entry, basename(path))));
      const unread = unreadNotice(name, bibliography);
      if (unread !== undefined) notices.push(unread);
      continue;
    }
    const reference = parseReference(name, folder);
    if (reference.kind === "unknown") throw new ExpectedError(`--seed: ${reference.reason}`, 2);
    if (reference.kind === "file") requireFile(name, reference.path);
    // As the user typed it, not as an absolute path, because rrd.json is used on several machines.
    seeds.push({ reference: name.trim() });
  }
  const unique = [...new Map(seeds.map((seed) => [`${seed.reference} ${seed.title}`.toLowerCase(), seed])).values()];
  return { seeds: unique.length <= maxSeedsWithAbstract ? unique : unique.map(withoutAbstract), notices };
}

function requireFile(name: string, path: string): void {
  if (readStats(path)?.isFile() !== true) throw new ExpectedError(`--seed ${name}: there is no file ${path}.`, 2);
}

function seedOf({ key, title, authors, date, venue, abstract, identifiers, url }: Entry, from: string): Seed {
  const { doi, arxiv } = identifiers;
  return {
    reference: doi ?? (arxiv === undefined ? undefined : `arXiv:${arxiv}`) ?? url ?? key,
    title,
    authors: authors.slice(0, maxAuthors),
    ...withoutUndefined({ date, venue, abstract }),
    ...(Object.keys(identifiers).length === 0 ? {} : { identifiers: { ...identifiers } }),
    from,
  };
}

const withoutAbstract = ({ abstract: _, ...seed }: Seed): Seed => seed;
