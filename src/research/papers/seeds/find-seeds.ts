import { matchFeaturesOf } from "../dedup/match-features.js";
import { workIndex } from "../dedup/work-index.js";
import type { NamedPaper, TitledPaper } from "../paper-record.js";
import type { KnownSeed } from "./seed.js";

/** A work that may be a seed, with its records. */
export interface SeedCandidate {
  readonly record: NamedPaper & TitledPaper;
  readonly mergedFrom: readonly NamedPaper[];
}

/** The works that are seeds, and the missing seeds. */
export interface FoundSeeds {
  /** By the id of the work. */
  readonly works: ReadonlyMap<string, KnownSeed>;
  readonly missing: readonly KnownSeed[];
}

/** Finds seeds among works: by id or identifier, or else like duplicates, by title, authors and year. */
export function findSeeds(seeds: readonly KnownSeed[], works: readonly SeedCandidate[]): FoundSeeds {
  if (seeds.length === 0) return { works: new Map(), missing: [] };
  const byKey = new Map(seeds.flatMap((seed) => keysOf(seed).map((key) => [key, seed] as const)));
  const seedsById = new Map<string, KnownSeed>();
  const unmatched: SeedCandidate[] = [];
  for (const work of works) {
    const keys = [work.record, ...work.mergedFrom].flatMap(keysOf);
    const seed = keys.map((key) => byKey.get(key)).find((candidate) => candidate !== undefined);
    if (seed === undefined) unmatched.push(work);
    else seedsById.set(work.record.id, seed);
  }
  const foundSeeds = new Set(seedsById.values());
  const missingTitled = seeds.filter(
    (seed): seed is KnownSeed & TitledPaper => !foundSeeds.has(seed) && seed.title != null,
  );
  if (missingTitled.length > 0) {
    const index = workIndex();
    for (const [position, seed] of missingTitled.entries()) index.add(String(position), matchFeaturesOf(seed));
    for (const { record } of unmatched) {
      const twin = index.twinOf(matchFeaturesOf(record));
      const seed = twin === undefined ? undefined : missingTitled[Number(twin.id)];
      if (seed === undefined) continue;
      seedsById.set(record.id, seed);
      foundSeeds.add(seed);
    }
  }
  return { works: seedsById, missing: seeds.filter((seed) => !foundSeeds.has(seed)) };
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

/** The stored result of the recall check. */
export interface SeedRecall {
  readonly given: number;
  readonly found: number;
  /** The references of the found seeds. */
  readonly references: string[];
}

/** The recall of the seeds, with those that were found before; undefined without seeds. */
export function seedRecall(
  seeds: readonly KnownSeed[],
  found: Iterable<KnownSeed>,
  before: readonly string[] = [],
): SeedRecall | undefined {
  if (seeds.length === 0) return undefined;
  const knownReferences = new Set([...before, ...[...found].map(({ reference }) => reference)]);
  const references = seeds.map(({ reference }) => reference).filter((reference) => knownReferences.has(reference));
  return { given: seeds.length, found: references.length, references };
}

const maxNames = 5;
const maxTitleChars = 60;

/** The name of a seed: its reference, or its title if the reference is only a key of a file. */
function nameOf({ reference, id, title }: KnownSeed): string {
  if (id !== undefined || title == null) return reference;
  return `"${title.length > maxTitleChars ? `${title.slice(0, maxTitleChars)}…` : title}"`;
}

/**
 * For example "found 9 of your 10; not found: 10.1000/x", also with seeds that were screened out; undefined without
 * seeds. `excluded`: the ids of records that were screened out.
 */
export function seedRecallText(
  seeds: readonly KnownSeed[],
  recall: SeedRecall | undefined,
  excluded: readonly string[],
): string | undefined {
  if (seeds.length === 0) return undefined;
  if (recall === undefined) return `${seeds.length}, not looked for yet`;
  const foundReferences = new Set(recall.references);
  const missing = seeds.filter(({ reference }) => !foundReferences.has(reference));
  const excludedIds = new Set(excluded);
  const screenedOut = seeds.filter(({ id }) => id !== undefined && excludedIds.has(id));
  return [
    `found ${seeds.length - missing.length} of your ${seeds.length}`,
    ...listText("not found", missing),
    ...listText("screened out", screenedOut),
  ].join("; ");
}

function listText(label: string, seeds: readonly KnownSeed[]): string[] {
  if (seeds.length === 0) return [];
  const names = seeds
    .slice(0, maxNames)
    .map((seed) => `${nameOf(seed)}${seed.notKnown === undefined ? "" : " (no source knows it)"}`);
  const moreText = seeds.length > maxNames ? ` and ${seeds.length - maxNames} more` : "";
  return [`${label}: ${names.join(", ")}${moreText}`];
}
