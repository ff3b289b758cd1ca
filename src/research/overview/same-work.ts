import { ExpectedError } from "../../engine/lib/errors.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { namesIn, nameOf } from "../papers/paper-keys.js";
import { withMissingFacts } from "../papers/records/known-paper.js";
import { wasRead } from "../papers/rubric/rubric.js";
import { recordNamed, recordsNamed, severalMatchError } from "./which-record.js";

/** The result of merging or separating two records: the new state, and one sentence. */
export interface MergeResult {
  readonly rrd: Rrd;
  readonly says: string;
}

const refusal = (sentence: string): ExpectedError => new ExpectedError(sentence, 2);

/**
 * Merges two records: the second one leaves the pool as a duplicate of the first, which gets its additional data. If
 * only the second one is a decided paper, it stays instead. The removed record is stored unchanged with its insights,
 * so that it can be separated again. Two records that the user has separated may be merged again. Pure.
 * @throws ExpectedError (exit code 2) if a name fits no record or several, both names mean the same record, the
 * remaining record is itself a duplicate, or both were read and decided differently.
 */
export function mergeTwo(rrd: Rrd, firstName: string, secondName: string, where: string): MergeResult {
  const separation = (rrd.apart ?? []).find((pair) =>
    [firstName, secondName].every((typedName) => pair.includes(idOf(rrd, typedName))),
  );
  if (separation !== undefined)
    return {
      rrd: withApart(
        rrd,
        (rrd.apart ?? []).filter((pair) => pair !== separation),
      ),
      says: `${firstName} and ${secondName} may be one work again.`,
    };
  const [first, second] = [recordNamed(rrd, firstName, where), recordNamed(rrd, secondName, where)];
  const isReversed = decisionOf(first) === undefined && decisionOf(second) !== undefined;
  const [remaining, removed] = isReversed ? [second, first] : [first, second];
  const [name, goneName] = [nameOf(remaining), nameOf(removed)];
  if (remaining.id === removed.id) throw refusal(`'${firstName}' and '${secondName}' are one record: ${name}.`);
  if ("duplicate_of" in remaining)
    throw refusal(
      `${name} is itself a duplicate of ${namesIn(rrd).get(String(remaining.duplicate_of)) ?? "another"}; name that one.`,
    );
  if (decisionOf(removed) !== undefined && decisionOf(remaining) !== decisionOf(removed))
    throw refusal(
      `${name} is ${decisionText(remaining)} and ${goneName} ${decisionText(removed)}, each after a reading; say first which decision stands: research-ralph decide ${shellWord(where)} ${goneName} include or exclude, or start its reading again: research-ralph reset ${shellWord(where)} --unit ${goneName}.`,
    );
  const insights = rrd.insights ?? [];
  const insightsOfRemoved = isPaper(removed) ? insights.filter(({ paper_id }) => paper_id === removed.id) : [];
  const duplicate: Exclusion = {
    ...("reason" in removed ? (removed as Exclusion) : asExclusion(removed as Paper)),
    stage: "duplicate",
    duplicate_of: remaining.id,
    reason: `the same work as ${remaining.id}: a person says so`,
    before: insightsOfRemoved.length === 0 ? removed : { ...removed, insights: insightsOfRemoved },
  };
  const pool = rrd.papers_pool
    .filter((paper) => paper !== removed)
    .map((paper) => (paper === remaining && isPaper(removed) ? withMissingFacts(paper, removed) : paper));
  const excluded = [...(rrd.excluded ?? []).filter((exclusion) => exclusion !== removed), duplicate];
  return {
    rrd: {
      ...rrd,
      papers_pool: pool,
      excluded,
      ...(insightsOfRemoved.length === 0
        ? {}
        : { insights: insights.filter((insight) => !insightsOfRemoved.includes(insight)) }),
    },
    says: `${goneName} is a duplicate of ${name}; 'research-ralph join ${shellWord(where)} ${goneName} --part' takes that back.`,
  };
}

/**
 * Separates a duplicate from its work. A record that the user has merged is restored; a record that code has merged is
 * screened by the next run that searches. It can be named like other records, or by its id in its source. Pure.
 * @throws ExpectedError (exit code 2) if a name fits no record or several, or the record is not a duplicate.
 */
export function separateRecord(rrd: Rrd, typedName: string, where: string): MergeResult {
  const duplicates = recordsNamed({ ...rrd, papers_pool: [] }, typedName).filter((record) => "duplicate_of" in record);
  const [duplicate, second] = duplicates as Exclusion[];
  if (duplicate !== undefined && second !== undefined) throw severalMatchError(typedName, duplicates);
  if (duplicate !== undefined) return restoreDuplicate(rrd, duplicate);
  const merged = rrd.papers_pool.flatMap(({ id, found }) =>
    (found?.merged ?? [])
      .filter((mergeEntry) => mergeEntry.id === typedName)
      .map((mergeEntry) => ({ into: id, ...mergeEntry })),
  );
  const [mergedRecord] = merged;
  if (mergedRecord !== undefined && mergedRecord.id !== mergedRecord.into)
    return separateFrom(rrd, mergedRecord.into, mergedRecord.id, mergedRecord.id);
  const namedRecord = recordNamed(rrd, typedName, where);
  const mergedIntoIt = (isPaper(namedRecord) ? (namedRecord.found?.merged ?? []) : []).filter(
    ({ id }) => id !== namedRecord.id,
  );
  const [firstMerged, secondMerged] = mergedIntoIt;
  if (firstMerged !== undefined && secondMerged === undefined)
    return separateFrom(rrd, namedRecord.id, firstMerged.id, firstMerged.id);
  throw refusal(
    firstMerged === undefined
      ? `${nameOf(namedRecord)} is not a duplicate, and nothing was merged into it.`
      : `Several records were merged into ${nameOf(namedRecord)}; name one of them: ${mergedIntoIt
          .map(({ id }) => id)
          .slice(0, 6)
          .join(", ")}.`,
  );
}

function restoreDuplicate(rrd: Rrd, duplicate: Exclusion): MergeResult {
  const { before, duplicate_of: mainId = "" } = duplicate;
  const name = nameOf(duplicate);
  if (before === undefined) return separateFrom(rrd, mainId, duplicate.id, name);
  const excluded = (rrd.excluded ?? []).filter((exclusion) => exclusion !== duplicate);
  const { insights: storedInsights = [], ...stored } = before as Paper & {
    readonly insights?: NonNullable<Rrd["insights"]>;
  };
  const record = { ...stored, ...(duplicate.key === undefined ? {} : { key: duplicate.key }) } as Paper | Exclusion;
  return isPaper(record)
    ? {
        rrd: {
          ...rrd,
          papers_pool: [...rrd.papers_pool, record],
          excluded,
          ...(storedInsights.length === 0 ? {} : { insights: [...(rrd.insights ?? []), ...storedInsights] }),
        },
        says: `${name} is a paper of its own again, as it was.`,
      }
    : {
        rrd: { ...rrd, excluded: [...excluded, record] },
        says: `${name} is excluded as it was before: ${record.reason}.`,
      };
}

const separateFrom = (rrd: Rrd, mainId: string, id: string, name: string): MergeResult => ({
  rrd: withApart(rrd, [...(rrd.apart ?? []), [mainId, id]]),
  says: `${name} is another work than ${namesIn(rrd).get(mainId) ?? mainId}; the next run that searches screens it by itself.`,
});

/** The decision on a paper that was read; undefined for other records. */
const decisionOf = (record: Paper | Exclusion): Paper["status"] | undefined =>
  isPaper(record) && wasRead(record) ? record.status : undefined;
const decisionText = (record: Paper | Exclusion): string => (decisionOf(record) ?? "").replaceAll("_", " ");

const isPaper = (record: Paper | Exclusion): record is Paper => "status" in record;
const idOf = (rrd: Rrd, typedName: string): string => recordsNamed(rrd, typedName)[0]?.id ?? typedName;

function withApart({ apart: _, ...rrd }: Rrd, apart: NonNullable<Rrd["apart"]>): Rrd {
  return apart.length === 0 ? rrd : { ...rrd, apart };
}

/** The stored data of a paper that leaves the pool. */
const asExclusion = ({ id, key, source_key, title, url, identifiers }: Paper): Exclusion => ({
  id,
  title,
  reason: "",
  ...(key === undefined ? {} : { key }),
  ...(source_key === undefined ? {} : { source_key }),
  ...(url == null ? {} : { url }),
  ...(identifiers === undefined ? {} : { identifiers }),
});
