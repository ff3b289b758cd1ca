import { createHash } from "node:crypto";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { mergedWork, type MergedWork } from "./merge-fields.js";
import type { PaperRecord } from "../paper-record.js";
import { companionship, type Companionship } from "./companions.js";
import { compareRecords, type Comparison } from "./same-work.js";
import { blockKeys, type MatchFeatures, matchFeaturesOf } from "./match-features.js";

/** Why a record was taken for the same work as another. */
export interface Merge {
  /** Id of the merged record. */
  readonly into: string;
  /** Id and source of the record that went into it. */
  readonly from: string;
  readonly source: string;
  readonly why: string;
  /** It is not a second record of the work, but a report that goes with it. */
  readonly companion?: Companionship["kind"];
}

/** Two works that look like one, and what speaks against it. */
export interface LookAlikes {
  readonly ids: readonly [string, string];
  readonly why: string;
}

/** Two ids of records that a person says are two works, whatever speaks for one: this undoes a merge. */
export type Apart = readonly [string, string];

/** So many works of one block are compared with a record; past it lie only titles such as "Editorial". */
const maxBlockSize = 100;

/** So many members of a work are asked whether something speaks against a new one; no work has more versions. */
const maxCompared = 20;

/**
 * Puts records of one work together, in the order of their first record. Records that share an identifier, a title or
 * its beginning are compared, no others, so time grows with their number. The same records give the same result in
 * whatever order they come. A correction, an abstract or a letter that goes with another record, as `companionship`
 * says, is among the records of its work too, and adds nothing to it but the notice of the correction.
 */
export function mergeRecords(
  records: readonly PaperRecord[],
  apart: readonly Apart[],
): {
  readonly works: readonly MergedWork[];
  readonly merges: readonly Merge[];
  readonly lookAlikes: readonly LookAlikes[];
} {
  const traits = records.map(matchFeaturesOf);
  const said = new Set(apart.flatMap(([a, b]) => [`${a}\n${b}`, `${b}\n${a}`]));
  const { clusters, refused } = clustersOf(records, traits, said);
  const merges: Merge[] = [];
  const taken = new Set<string>();
  const merged = clusters.map(({ members, companions }) => {
    const { record, ...from } = mergedWork(
      members.map(({ at }) => records[at] as PaperRecord),
      companions.map(({ at, kind }) => ({ record: records[at] as PaperRecord, kind })),
    );
    let id = record.id;
    for (let more = ""; taken.has(id); more += "+") id = `${record.id}_${hash8(`${record.title}${more}`)}`;
    taken.add(id);
    const whys = new Map<PaperRecord | undefined, Partial<Companionship>>(
      [...members, ...companions].map(({ at, ...how }) => [records[at], how]),
    );
    for (const other of from.mergedFrom.slice(1)) {
      const { why = "", kind } = whys.get(other) ?? {};
      merges.push({ into: id, from: other.id, source: other.source, why, ...withoutUndefined({ companion: kind }) });
    }
    return { record: id === record.id ? record : { ...record, id }, ...from };
  });
  const idOf = new Map(
    clusters.flatMap(({ members, companions }, index) =>
      [...members, ...companions].map(({ at }) => [at, merged[index]?.record.id ?? ""]),
    ),
  );
  const lookAlikes = new Map<string, LookAlikes>();
  for (const { a, b, why } of refused) {
    const [one = "", other = ""] = [idOf.get(a), idOf.get(b)];
    if (one !== other && !lookAlikes.has(`${other}\n${one}`))
      lookAlikes.set(`${one}\n${other}`, { ids: [one, other], why });
  }
  return { works: merged, merges, lookAlikes: [...lookAlikes.values()] };
}

interface Member {
  /** Index of the record. */
  readonly at: number;
  /** Why it joined; empty for the first of a cluster that nothing joined. */
  why: string;
}

interface Cluster {
  readonly members: Member[];
  /** Records of other clusters that go with this one. */
  readonly companions: (Pick<Member, "at"> & Companionship)[];
  /** Index of its earliest record. */
  first: number;
}

/** Indexes of a record and of the one that it goes with. */
interface Companion {
  readonly at: number;
  readonly of: number;
  readonly how: Companionship;
}

/** Indexes of two records that were not put together, and why. */
interface Refused {
  readonly a: number;
  readonly b: number;
  readonly why: string;
}

function clustersOf(
  records: readonly PaperRecord[],
  traits: readonly MatchFeatures[],
  said: ReadonlySet<string>,
): { readonly clusters: readonly Cluster[]; readonly refused: readonly Refused[] } {
  const clusterOf = new Map<number, Cluster>();
  const blocks = new Map<string, number[]>();
  const refused: Refused[] = [];
  const companions: Companion[] = [];
  const isSaidApart = (a: number, b: number): boolean =>
    said.size > 0 && said.has(`${records[a]?.id}\n${records[b]?.id}`);
  const are = (a: number, b: number): Comparison => {
    if (isSaidApart(a, b)) return { same: false, apart: "a person says so" };
    if (isListedTwice(records[a], records[b])) return { same: true, why: "the same record", sure: true };
    return compareRecords(traits[a] as MatchFeatures, traits[b] as MatchFeatures);
  };
  /**
   * What speaks against putting two clusters together. What tells two members apart for sure does; what may be a slip
   * is outvoted by more pairs that agree, or where one pair `isSure`.
   */
  const objection = (a: Cluster, b: Cluster, isSure: boolean): string | undefined => {
    let votes = 0;
    let doubt: string | undefined;
    for (const one of a.members.slice(0, maxCompared))
      for (const other of b.members.slice(0, maxCompared)) {
        const answer = are(one.at, other.at);
        if (answer.same) votes += 1;
        else if (answer.apart !== undefined) {
          if (answer.maybe !== true) return answer.apart;
          votes -= 1;
          doubt = answer.apart;
        }
      }
    return isSure || votes > 0 ? undefined : doubt;
  };

  for (const at of inOrder(records, traits)) {
    let own: Cluster = { members: [{ at, why: "" }], companions: [], first: at };
    clusterOf.set(at, own);
    const keys = [...blockKeys(traits[at] as MatchFeatures), `record ${records[at]?.id}`];
    for (const other of new Set(keys.flatMap((key) => blocks.get(key) ?? []))) {
      const its = clusterOf.get(other) as Cluster;
      if (its === own) continue;
      const answer = are(at, other);
      const company = answer.same || isSaidApart(at, other) ? undefined : inCompany(at, other, traits);
      if (company !== undefined) {
        companions.push(company);
        continue;
      }
      const against = answer.same ? objection(own, its, answer.sure === true) : answer.apart;
      if (against !== undefined) refused.push({ a: at, b: other, why: against });
      if (!answer.same || against !== undefined) continue;
      const [small, large] = own.members.length < its.members.length ? [own, its] : [its, own];
      // Only the first of a cluster that nothing joined yet has no reason.
      for (const [first] of [small.members, large.members]) if (first?.why === "") first.why = answer.why;
      large.members.push(...small.members);
      large.first = Math.min(large.first, small.first);
      for (const member of small.members) clusterOf.set(member.at, large);
      own = large;
    }
    for (const key of keys) remember(blocks, key, at, clusterOf);
  }
  attach(companions, clusterOf, isSaidApart);
  return { clusters: [...new Set(clusterOf.values())].toSorted((a, b) => a.first - b.first), refused };
}

/** Which of two records goes with the other, if any does. */
function inCompany(a: number, b: number, traits: readonly MatchFeatures[]): Companion | undefined {
  const [one, other] = [traits[a] as MatchFeatures, traits[b] as MatchFeatures];
  const how = companionship(one, other);
  if (how !== undefined) return { at: a, of: b, how };
  const turned = companionship(other, one);
  return turned === undefined ? undefined : { at: b, of: a, how: turned };
}

/**
 * Gives each work the records of the works that go with it. A work goes with one other only, the first that was found;
 * one that others go with stays by itself.
 */
function attach(
  companions: readonly Companion[],
  clusterOf: Map<number, Cluster>,
  isSaidApart: (a: number, b: number) => boolean,
): void {
  for (const { at, of, how } of companions) {
    const [own, main] = [clusterOf.get(at) as Cluster, clusterOf.get(of) as Cluster];
    const isOwn = own.members.some((member) => member.at === at);
    if (own === main || !isOwn || own.companions.length > 0) continue;
    if (own.members.some((one) => main.members.some((other) => isSaidApart(one.at, other.at)))) continue;
    for (const member of own.members) {
      main.companions.push({ at: member.at, ...how });
      clusterOf.set(member.at, main);
    }
    main.first = Math.min(main.first, own.first);
  }
}

/**
 * A source lists a record once for each query, and two engines list the same page: however little its title tells, that
 * is one work.
 */
const isListedTwice = (a: PaperRecord | undefined, b: PaperRecord | undefined): boolean =>
  a?.id === b?.id && a?.title === b?.title && (a?.source === b?.source || a?.url === b?.url);

/** One record of each cluster stands in a block, unless others say more: those with identifiers of their own do. */
function remember(
  blocks: Map<string, number[]>,
  key: string,
  at: number,
  clusterOf: ReadonlyMap<number, Cluster>,
): void {
  const block = blocks.get(key);
  if (block === undefined) return void blocks.set(key, [at]);
  const own = clusterOf.get(at);
  const present = block.filter((other) => clusterOf.get(other) === own).length;
  if (present < 5 && block.length < maxBlockSize) block.push(at);
}

/**
 * Records with most identifiers first, then by what they say, so that the order in which sources answered does not
 * count.
 */
function inOrder(records: readonly PaperRecord[], traits: readonly MatchFeatures[]): number[] {
  const keys = records.map(({ source, id, title }) => `${source}\n${id}\n${title}`);
  return records
    .map((_, at) => at)
    .sort(
      (a, b) =>
        (traits[b]?.keys.length ?? 0) - (traits[a]?.keys.length ?? 0) ||
        compareText(keys[a] ?? "", keys[b] ?? "") ||
        a - b,
    );
}

/** By code units, the same under every locale. */
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const hash8 = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);
