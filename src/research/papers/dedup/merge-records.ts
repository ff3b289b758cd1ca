import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { mergedWork, type MergedWork } from "./merge-fields.js";
import type { PaperRecord } from "../paper-record.js";
import { hash8 } from "../reference.js";
import { companionship, type Companionship } from "./companions.js";
import { compareRecords, type Comparison } from "./same-work.js";
import { blockKeys, type MatchFeatures, matchFeaturesOf } from "./match-features.js";

/** A record that was merged into another one, and why. */
export interface Merge {
  /** Id of the merged record. */
  readonly into: string;
  /** Id and source of the record that was merged into it. */
  readonly from: string;
  readonly source: string;
  readonly why: string;
  /** Set if the record is a companion report of the work, and not a second record of it. */
  readonly companion?: Companionship["kind"];
}

/** Two works that are similar, and the reason why they were not merged. */
export interface LookAlikes {
  readonly ids: readonly [string, string];
  readonly why: string;
}

/** Two ids of records that the user declared to be two works. They are never merged. */
export type SeparatedPair = readonly [string, string];

/** Maximum number of records in a block. Only blocks for titles such as "Editorial" are larger. */
const maxBlockSize = 100;

/** Maximum number of members of a cluster that are compared with another cluster. */
const maxComparedMembers = 20;

/**
 * Merges the records of one work, in the order of their first records. Only records with a common key (`blockKeys`) are
 * compared, so that the time is proportional to their number. The result does not depend on the order of the records. A
 * correction, an abstract or a letter that belongs to another record (`companionship`) is added to the records of its
 * work too, but changes only the notices of corrections.
 */
export function mergeRecords(
  records: readonly PaperRecord[],
  apart: readonly SeparatedPair[],
): {
  readonly works: readonly MergedWork[];
  readonly merges: readonly Merge[];
  readonly lookAlikes: readonly LookAlikes[];
} {
  const features = records.map(matchFeaturesOf);
  const separatedPairs = new Set(apart.flatMap(([a, b]) => [`${a}\n${b}`, `${b}\n${a}`]));
  const { clusters, rejectedMerges } = clustersOf(records, features, separatedPairs);
  const merges: Merge[] = [];
  const usedIds = new Set<string>();
  const mergedWorks = clusters.map(({ members, companions }) => {
    const { record, ...from } = mergedWork(
      members.map(({ index }) => records[index] as PaperRecord),
      companions.map(({ index, kind }) => ({ record: records[index] as PaperRecord, kind })),
    );
    let id = record.id;
    for (let suffix = ""; usedIds.has(id); suffix += "+") id = `${record.id}_${hash8(`${record.title}${suffix}`)}`;
    usedIds.add(id);
    const reasons = new Map<PaperRecord | undefined, Partial<Companionship>>(
      [...members, ...companions].map(({ index, ...relation }) => [records[index], relation]),
    );
    for (const member of from.mergedFrom.slice(1)) {
      const { why = "", kind } = reasons.get(member) ?? {};
      merges.push({ into: id, from: member.id, source: member.source, why, ...withoutUndefined({ companion: kind }) });
    }
    return { record: id === record.id ? record : { ...record, id }, ...from };
  });
  const idOf = new Map(
    clusters.flatMap(({ members, companions }, clusterIndex) =>
      [...members, ...companions].map(({ index }) => [index, mergedWorks[clusterIndex]?.record.id ?? ""]),
    ),
  );
  const lookAlikes = new Map<string, LookAlikes>();
  for (const { a, b, why } of rejectedMerges) {
    const [firstId = "", secondId = ""] = [idOf.get(a), idOf.get(b)];
    if (firstId !== secondId && !lookAlikes.has(`${secondId}\n${firstId}`))
      lookAlikes.set(`${firstId}\n${secondId}`, { ids: [firstId, secondId], why });
  }
  return { works: mergedWorks, merges, lookAlikes: [...lookAlikes.values()] };
}

interface Member {
  /** Index of the record. */
  readonly index: number;
  /** Why it was merged; empty for the only member of a cluster. */
  why: string;
}

interface Cluster {
  readonly members: Member[];
  /** Companion reports of this work. */
  readonly companions: (Pick<Member, "index"> & Companionship)[];
  /** The lowest index of its records. */
  first: number;
}

/** The indexes of a companion report and of its main report. */
interface Companion {
  readonly index: number;
  readonly mainIndex: number;
  readonly relation: Companionship;
}

/** The indexes of two records that were not merged, and why. */
interface RejectedMerge {
  readonly a: number;
  readonly b: number;
  readonly why: string;
}

function clustersOf(
  records: readonly PaperRecord[],
  features: readonly MatchFeatures[],
  separatedPairs: ReadonlySet<string>,
): { readonly clusters: readonly Cluster[]; readonly rejectedMerges: readonly RejectedMerge[] } {
  const clusterOf = new Map<number, Cluster>();
  const blocks = new Map<string, number[]>();
  const rejectedMerges: RejectedMerge[] = [];
  const companions: Companion[] = [];
  const areSeparated = (a: number, b: number): boolean =>
    separatedPairs.size > 0 && separatedPairs.has(`${records[a]?.id}\n${records[b]?.id}`);
  const compare = (a: number, b: number): Comparison => {
    if (areSeparated(a, b)) return { same: false, apart: "a person says so" };
    if (isListedTwice(records[a], records[b])) return { same: true, why: "the same record", sure: true };
    return compareRecords(features[a] as MatchFeatures, features[b] as MatchFeatures);
  };
  // The reason against merging two clusters. A certain difference between two members is one. A possible error in a
  // record is outvoted if more pairs agree, or if the match `isSure`.
  const objectionTo = (a: Cluster, b: Cluster, isSure: boolean): string | undefined => {
    let votes = 0;
    let doubt: string | undefined;
    for (const first of a.members.slice(0, maxComparedMembers))
      for (const second of b.members.slice(0, maxComparedMembers)) {
        const comparison = compare(first.index, second.index);
        if (comparison.same) votes += 1;
        else if (comparison.apart !== undefined) {
          if (comparison.maybe !== true) return comparison.apart;
          votes -= 1;
          doubt = comparison.apart;
        }
      }
    return isSure || votes > 0 ? undefined : doubt;
  };

  for (const index of sortedIndexes(records, features)) {
    let ownCluster: Cluster = { members: [{ index, why: "" }], companions: [], first: index };
    clusterOf.set(index, ownCluster);
    const keys = [...blockKeys(features[index] as MatchFeatures), `record ${records[index]?.id}`];
    for (const other of new Set(keys.flatMap((key) => blocks.get(key) ?? []))) {
      const otherCluster = clusterOf.get(other) as Cluster;
      if (otherCluster === ownCluster) continue;
      const comparison = compare(index, other);
      const companion = comparison.same || areSeparated(index, other) ? undefined : companionOf(index, other, features);
      if (companion !== undefined) {
        companions.push(companion);
        continue;
      }
      const reason = comparison.same
        ? objectionTo(ownCluster, otherCluster, comparison.sure === true)
        : comparison.apart;
      if (reason !== undefined) rejectedMerges.push({ a: index, b: other, why: reason });
      if (!comparison.same || reason !== undefined) continue;
      const [smallCluster, largeCluster] =
        ownCluster.members.length < otherCluster.members.length
          ? [ownCluster, otherCluster]
          : [otherCluster, ownCluster];
      // The only member of a cluster has no reason yet.
      for (const [first] of [smallCluster.members, largeCluster.members])
        if (first?.why === "") first.why = comparison.why;
      largeCluster.members.push(...smallCluster.members);
      largeCluster.first = Math.min(largeCluster.first, smallCluster.first);
      for (const member of smallCluster.members) clusterOf.set(member.index, largeCluster);
      ownCluster = largeCluster;
    }
    for (const key of keys) addToBlock(blocks, key, index, clusterOf);
  }
  addCompanions(companions, clusterOf, areSeparated);
  return { clusters: [...new Set(clusterOf.values())].toSorted((a, b) => a.first - b.first), rejectedMerges };
}

/** Which of two records is a companion report of the other; undefined if neither is. */
function companionOf(a: number, b: number, features: readonly MatchFeatures[]): Companion | undefined {
  const [aFeatures, bFeatures] = [features[a] as MatchFeatures, features[b] as MatchFeatures];
  const relation = companionship(aFeatures, bFeatures);
  if (relation !== undefined) return { index: a, mainIndex: b, relation };
  const reversed = companionship(bFeatures, aFeatures);
  return reversed === undefined ? undefined : { index: b, mainIndex: a, relation: reversed };
}

/**
 * Adds companion reports to the clusters of their main reports. A cluster becomes a companion of only one other
 * cluster, the first that was found. A cluster with companions does not become one.
 */
function addCompanions(
  companions: readonly Companion[],
  clusterOf: Map<number, Cluster>,
  areSeparated: (a: number, b: number) => boolean,
): void {
  for (const { index, mainIndex, relation } of companions) {
    const [ownCluster, mainCluster] = [clusterOf.get(index) as Cluster, clusterOf.get(mainIndex) as Cluster];
    const isOwn = ownCluster.members.some((member) => member.index === index);
    if (ownCluster === mainCluster || !isOwn || ownCluster.companions.length > 0) continue;
    if (
      ownCluster.members.some((first) => mainCluster.members.some((second) => areSeparated(first.index, second.index)))
    )
      continue;
    for (const member of ownCluster.members) {
      mainCluster.companions.push({ index: member.index, ...relation });
      clusterOf.set(member.index, mainCluster);
    }
    mainCluster.first = Math.min(mainCluster.first, ownCluster.first);
  }
}

/**
 * Whether a record was found twice: a source returns it for several queries, and two search engines return the same
 * page.
 */
const isListedTwice = (a: PaperRecord | undefined, b: PaperRecord | undefined): boolean =>
  a?.id === b?.id && a?.title === b?.title && (a?.source === b?.source || a?.url === b?.url);

/** Adds a record to a block, unless the block is full or has enough records of the same cluster. */
function addToBlock(
  blocks: Map<string, number[]>,
  key: string,
  index: number,
  clusterOf: ReadonlyMap<number, Cluster>,
): void {
  const block = blocks.get(key);
  if (block === undefined) return void blocks.set(key, [index]);
  const ownCluster = clusterOf.get(index);
  const clusterCount = block.filter((other) => clusterOf.get(other) === ownCluster).length;
  if (clusterCount < 5 && block.length < maxBlockSize) block.push(index);
}

/**
 * The indexes of records: those with most identifiers first, then by source, id and title, so that the result does not
 * depend on the order of the answers.
 */
function sortedIndexes(records: readonly PaperRecord[], features: readonly MatchFeatures[]): number[] {
  const keys = records.map(({ source, id, title }) => `${source}\n${id}\n${title}`);
  return records
    .map((_, index) => index)
    .sort(
      (a, b) =>
        (features[b]?.keys.length ?? 0) - (features[a]?.keys.length ?? 0) ||
        compareText(keys[a] ?? "", keys[b] ?? "") ||
        a - b,
    );
}

/** Compares by code units, which does not depend on the locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
