import { matchFeaturesOf } from "../dedup/match-features.js";
import { workIndex } from "../dedup/work-index.js";
import type { NamedPaper, TitledPaper } from "../paper-record.js";
import type { KnownSeed } from "./seed.js";

/** A work that may be a seed, with the records that were put together for it. */
export interface Sought {
  readonly record: NamedPaper & TitledPaper;
  readonly mergedFrom: readonly NamedPaper[];
}

/** Which works are seeds, and which seeds are not among them. */
export interface FoundSeeds {
  /** By the id of the work. */
  readonly works: ReadonlyMap<string, KnownSeed>;
  readonly missing: readonly KnownSeed[];
}

/** Finds seeds among works: by id or identifier, else by title, authors and year as duplicates are found. */
export function findSeeds(seeds: readonly KnownSeed[], works: readonly Sought[]): FoundSeeds {
  if (seeds.length === 0) return { works: new Map(), missing: [] };
  const byKey = new Map(seeds.flatMap((seed) => keysOf(seed).map((key) => [key, seed] as const)));
  const found = new Map<string, KnownSeed>();
  const others: Sought[] = [];
  for (const work of works) {
    const keys = [work.record, ...work.mergedFrom].flatMap(keysOf);
    const seed = keys.map((key) => byKey.get(key)).find((each) => each !== undefined);
    if (seed === undefined) others.push(work);
    else found.set(work.record.id, seed);
  }
  const isFound = new Set(found.values());
  const left = seeds.filter((seed): seed is KnownSeed & TitledPaper => !isFound.has(seed) && seed.title != null);
  if (left.length > 0) {
    const index = workIndex();
    for (const [at, seed] of left.entries()) index.add(String(at), matchFeaturesOf(seed));
    for (const { record } of others) {
      const twin = index.twinOf(matchFeaturesOf(record));
      const seed = twin === undefined ? undefined : left[Number(twin.id)];
      if (seed === undefined) continue;
      found.set(record.id, seed);
      isFound.add(seed);
    }
  }
  return { works: found, missing: seeds.filter((seed) => !isFound.has(seed)) };
}

function keysOf({
  id,
  identifiers,
}: {
  readonly id?: string | null;
  readonly identifiers?: KnownSeed["identifiers"] | null;
}): string[] {
  const { doi, arxiv, pmid } = identifiers ?? {};
  return [
    ...(id == null ? [] : [`id ${id}`]),
    ...(doi === undefined ? [] : [`doi ${doi.toLowerCase()}`]),
    ...(arxiv === undefined ? [] : [`arxiv ${arxiv.toLowerCase().replace(/v\d+$/, "")}`]),
    ...(pmid === undefined ? [] : [`pmid ${pmid}`]),
  ];
}

/** What is kept of the check of recall. */
export interface SeedRecall {
  readonly given: number;
  readonly found: number;
  /** References of those that were found. */
  readonly references: string[];
}

/** How many seeds were found, with those that were found before; undefined without seeds. */
export function seedRecall(
  seeds: readonly KnownSeed[],
  found: Iterable<KnownSeed>,
  before: readonly string[] = [],
): SeedRecall | undefined {
  if (seeds.length === 0) return undefined;
  const known = new Set([...before, ...[...found].map(({ reference }) => reference)]);
  const references = seeds.map(({ reference }) => reference).filter((reference) => known.has(reference));
  return { given: seeds.length, found: references.length, references };
}

const maxNamed = 5;
const maxTitle = 60;

/** A key of a file tells a reader nothing. */
function nameOf({ reference, id, title }: KnownSeed): string {
  if (id !== undefined || title == null) return reference;
  return `"${title.length > maxTitle ? `${title.slice(0, maxTitle)}…` : title}"`;
}

/**
 * "found 9 of your 10; not found: 10.1000/x", and those that were screened out all the same; undefined without seeds.
 * `excluded`: ids of the records that were.
 */
export function seedRecallText(
  seeds: readonly KnownSeed[],
  recall: SeedRecall | undefined,
  excluded: readonly string[],
): string | undefined {
  if (seeds.length === 0) return undefined;
  if (recall === undefined) return `${seeds.length}, not looked for yet`;
  const found = new Set(recall.references);
  const missing = seeds.filter(({ reference }) => !found.has(reference));
  const gone = new Set(excluded);
  const dropped = seeds.filter(({ id }) => id !== undefined && gone.has(id));
  return [
    `found ${seeds.length - missing.length} of your ${seeds.length}`,
    ...listed("not found", missing),
    ...listed("screened out", dropped),
  ].join("; ");
}

function listed(what: string, seeds: readonly KnownSeed[]): string[] {
  if (seeds.length === 0) return [];
  const names = seeds
    .slice(0, maxNamed)
    .map((seed) => `${nameOf(seed)}${seed.notKnown === undefined ? "" : " (no source knows it)"}`);
  const more = seeds.length > maxNamed ? ` and ${seeds.length - maxNamed} more` : "";
  return [`${what}: ${names.join(", ")}${more}`];
}
