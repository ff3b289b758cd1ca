import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine, shellWord } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { separatedReason, separatedTest } from "../derived/separated.js";
import { maxPoolSize } from "../derived/status.js";
import { lookupReason } from "../full-text/own-record.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { namesIn, nameOf } from "../papers/paper-keys.js";
import { withMissingFacts } from "../papers/records/known-paper.js";
import { wasRead } from "../papers/rubric/rubric.js";
import { screenSeparated, undoSeparated } from "../units/screening/reset-search.js";
import type { MergedDuplicate } from "./all-records.js";
import { recordNamed, recordsExactlyNamed, recordsNamed, severalMatchError } from "./which-record.js";

/** The result of merging or separating two records: the new state, and one sentence. */
export interface MergeResult {
  readonly rrd: Rrd;
  readonly says: string;
}

const refusal = (sentence: string): ExpectedError => new ExpectedError(sentence, 2);

/**
 * Merges two records: the second one leaves the pool as a duplicate of the first, which gets its additional data. If
 * only the second one is a decided paper, it stays instead. The removed record is stored unchanged with its insights,
 * so that it can be separated again. Two records that the user has separated may be merged again. `ids`: of
 * records that nobody has screened, by their keys in exports. A separated record that is not screened yet counts once.
 * Pure.
 * @throws ExpectedError (exit code 2) if a name fits no record or several, both names mean the same record, the
 * remaining record is itself a duplicate, or both were read and decided differently.
 */
export function mergeTwo(
  rrd: Rrd,
  firstName: string,
  secondName: string,
  where: string,
  ids: ReadonlyMap<string, string> = new Map(),
  known: SearchedDuplicates = {},
): MergeResult {
  const [firstId, secondId] = [idOf(rrd, firstName, ids), idOf(rrd, secondName, ids)];
  const separation = (rrd.apart ?? []).find((pair) => pair.includes(firstId) && pair.includes(secondId));
  const isSeparated = separatedTest(rrd);
  const own = [...rrd.papers_pool, ...(rrd.excluded ?? []).filter((exclusion) => !isSeparated(exclusion))];
  const areScreened = [firstId, secondId].every((id) => own.some((record) => record.id === id));
  // Once both were screened, they are joined like any two records; the search keeps them apart.
  if (separation !== undefined && !areScreened)
    return {
      rrd: withoutSeparation(rrd, separation, known),
      says: `${firstName} and ${secondName} may be one work again.`,
    };
  const [first, second] = [recordNamed(rrd, firstName, where), recordNamed(rrd, secondName, where)];
  const isOpen = (record: Paper | Exclusion): boolean => !isPaper(record) && isSeparated(record);
  const isReversed =
    (decisionOf(first) === undefined && decisionOf(second) !== undefined) || (isOpen(first) && !isOpen(second));
  const [remaining, removed] = isReversed ? [second, first] : [first, second];
  const [name, goneName] = [nameOf(remaining), nameOf(removed)];
  if (remaining.id === removed.id) throw refusal(`'${firstName}' and '${secondName}' are one record: ${name}.`);
  if (isOpen(remaining))
    throw refusal(`${name} is not screened yet, so nothing is joined to it; ${screeningText(rrd, where)}.`);
  const into = isOpen(removed) && known.merged?.find(({ separateAs }) => separateAs === removed.id)?.into;
  if (typeof into === "string")
    throw refusal(
      `${goneName} is the same work as ${namesIn(rrd).get(into) ?? into} in the search; separate it first: research-ralph join ${shellWord(where)} ${goneName} --part.`,
    );
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
      ...(isOpen(removed) ? undoSeparated(rrd, false) : rrd),
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
 * The state in which two separated records may be one work again. It counts one more duplicate only if the separation
 * counted one less: the record was in the lists, and its exclusion says so.
 */
function withoutSeparation(
  rrd: Rrd,
  separation: readonly string[],
  { merged = [], countWorks }: SearchedDuplicates,
): Rrd {
  const [otherId = "", id = ""] = separation;
  const isSeparated = separatedTest(rrd);
  const excluded = rrd.excluded ?? [];
  const workOf = (each: string): string =>
    excluded.find((exclusion) => exclusion.id === each && !isSeparated(exclusion))?.duplicate_of ??
    merged.find(({ separateAs, others }) => separateAs === each || others.includes(each))?.into ??
    each;
  // The other records of the same work were separated with it; other works stay separate.
  const apart = (rrd.apart ?? []).filter(
    (pair) => pair !== separation && !(pair[1] === id && workOf(pair[0] ?? "") === workOf(otherId)),
  );
  const after = withApart(rrd, apart);
  const remaining = excluded.filter((exclusion) => exclusion.id !== id || exclusion.reason !== separatedReason);
  const own = remaining.find((exclusion) => exclusion.id === id);
  if (own !== undefined) return isSeparated(own) && !separatedTest(after)(own) ? undoSeparated(after, false) : after;
  const isUnchanged = countWorks !== undefined && countWorks(after) >= countWorks(rrd);
  if (isUnchanged || remaining.length === excluded.length) return after;
  return undoSeparated({ ...after, excluded: remaining }, true);
}

/** What the stored search knows of duplicates. */
interface SearchedDuplicates {
  readonly merged?: readonly MergedDuplicate[];
  /** The number of works in the search, with the separated pairs of a state. */
  readonly countWorks?: ((rrd: Rrd) => number) | undefined;
}

/**
 * Separates a duplicate from its work. A record that the user has merged is restored; a record that code has merged is
 * screened by the next run. It can be named like other records, by its key in exports (`merged`), or by its id in its
 * source; the only duplicate of a work also by the name of the work. Pure.
 * @throws ExpectedError (exit code 2) if a name fits no record or several, or the record is not a duplicate.
 */
export function separateRecord(
  rrd: Rrd,
  typedName: string,
  where: string,
  { merged = [], countWorks }: SearchedDuplicates = {},
): MergeResult {
  const isSeparated = separatedTest(rrd);
  const isDuplicate = (record: Paper | Exclusion): record is Exclusion =>
    "duplicate_of" in record && !isSeparated(record as Exclusion);
  const withoutPool = { ...rrd, papers_pool: [] };
  const exactly = recordsExactlyNamed(withoutPool, typedName).filter(isDuplicate);
  const isMainRecord = recordsExactlyNamed({ ...rrd, excluded: [] }, typedName).length > 0;
  const mergedByKey = merged.find(({ key }) => key.toLowerCase() === typedName.trim().toLowerCase());
  if (exactly.length === 0 && mergedByKey !== undefined) return separateMerged(rrd, mergedByKey, where, countWorks);
  const duplicates =
    exactly.length > 0 || isMainRecord ? exactly : recordsNamed(withoutPool, typedName).filter(isDuplicate);
  const [duplicate, second] = duplicates;
  if (duplicate !== undefined && second !== undefined) throw severalMatchError(typedName, duplicates);
  if (duplicate !== undefined) return restoreDuplicate(rrd, duplicate, where);
  const foundMerged = rrd.papers_pool.flatMap(({ id, found }) =>
    (found?.merged ?? [])
      .filter((entry) => entry.id === typedName && entry.id !== id)
      .map((entry) => [id, entry] as const),
  );
  const [[mainId, mergedRecord] = []] = foundMerged;
  if (mainId !== undefined && mergedRecord !== undefined) {
    const { id } = mergedRecord;
    const ofSearch = merged.find(
      ({ into, others, separateAs }) => separateAs === id && [into, ...others].includes(mainId),
    );
    if (ofSearch !== undefined) return separateMerged(rrd, ofSearch, where, countWorks);
    const separated = withApart(rrd, [...(rrd.apart ?? []), [mainId, id]]);
    if (isListed(mergedRecord) && (countWorks === undefined || countWorks(separated) > countWorks(rrd)))
      return separateFrom(rrd, { mainId, id, name: id, where, others: [], isMerged: true });
    return {
      rrd: separated,
      says: `${id} is another work than ${namesIn(rrd).get(mainId) ?? mainId}; the lists don't hold it, so no run screens it.`,
    };
  }
  const namedRecord = recordNamed(rrd, typedName, where);
  return separateOnly(rrd, namedRecord, where, { merged, countWorks });
}
function restoreDuplicate(rrd: Rrd, duplicate: Exclusion, where: string): MergeResult {
  const { before, duplicate_of: mainId = "" } = duplicate;
  const name = nameOf(duplicate);
  if (before === undefined)
    return separateFrom(rrd, { mainId, id: duplicate.id, name, where, others: [], isMerged: false });
  const excluded = (rrd.excluded ?? []).filter((exclusion) => exclusion !== duplicate);
  const { insights: storedInsights = [], ...stored } = before as Paper & {
    readonly insights?: NonNullable<Rrd["insights"]>;
  };
  const record = { ...stored, ...(duplicate.key === undefined ? {} : { key: duplicate.key }) } as Paper | Exclusion;
  if (!isPaper(record) && separatedTest(rrd)(record))
    return {
      rrd: screenSeparated({ ...rrd, excluded: [...excluded, record] }, false),
      says: `${name} is another work again; ${screeningText(rrd, where)}.`,
    };
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

/** Separates a record that the search merged, so that it is not among the exclusions. */
function separateMerged(
  rrd: Rrd,
  duplicate: MergedDuplicate,
  where: string,
  countWorks: SearchedDuplicates["countWorks"],
): MergeResult {
  const { key, into, separateAs } = duplicate;
  if (separateAs === undefined)
    throw refusal(
      `${key} has the identifier and the data of ${namesIn(rrd).get(into) ?? into}, so the search can't tell the two apart; change one in its file, and give the file again: research-ralph run ${shellWord(where)} --source <file>.`,
    );
  const { title, source } = duplicate;
  const exclusion: Exclusion = {
    ...{ id: separateAs, key, title, reason: separatedReason, stage: "duplicate", duplicate_of: into },
    ...(typeof source === "string" ? { source } : {}),
  };
  const record = { mainId: into, id: separateAs, name: key, where, others: duplicate.others, isMerged: true };
  const { rrd: separated, says } = separateFrom(rrd, record);
  if (countWorks !== undefined && countWorks(separated) <= countWorks(rrd))
    return {
      rrd: withApart(rrd, separated.apart ?? []),
      says: `${key} is another work than ${namesIn(rrd).get(into) ?? into}, but it is still the same work as another record; 'research-ralph join ${shellWord(where)}' tells which.`,
    };
  const others = (separated.excluded ?? []).filter(({ id, reason }) => id !== separateAs || reason !== separatedReason);
  return { rrd: { ...separated, excluded: [...others, exclusion] }, says };
}

/**
 * Separates the only record that the search merged into this one.
 * @throws ExpectedError (exit code 2) if there is not exactly one.
 */
function separateOnly(
  rrd: Rrd,
  record: Paper | Exclusion,
  where: string,
  { merged = [], countWorks }: SearchedDuplicates,
): MergeResult {
  const isSeparated = separatedTest(rrd);
  const exclusions = (rrd.excluded ?? []).filter(
    (exclusion) => exclusion.duplicate_of === record.id && !isSeparated(exclusion),
  );
  const ofSearch = merged.filter(({ into, others }) => into === record.id || others.includes(record.id));
  const [only] = ofSearch;
  if (only !== undefined && ofSearch.length + exclusions.length === 1)
    return separateMerged(rrd, only, where, countWorks);
  const names = [...exclusions.map((each) => ({ key: nameOf(each), source: each.source })), ...ofSearch].map(
    ({ key, source }) => (typeof source === "string" ? `${key} (${oneLine(source)})` : key),
  );
  const moreText = names.length > maxListed ? `, and ${names.length - maxListed} more` : "";
  const namesText = `${names.slice(0, maxListed).join(", ")}${moreText}`;
  if (names.length === 0) throw refusal(`${nameOf(record)} is not a duplicate, and nothing was merged into it.`);
  throw refusal(
    names.length === 1
      ? `${nameOf(record)} is not a duplicate; its duplicate is ${namesText}.`
      : `Several records were merged into ${nameOf(record)}; name one of them: ${namesText}.`,
  );
}

/** Maximum number of duplicates in a message. */
const maxListed = 6;

/** A duplicate that code found. */
interface SeparatedRecord {
  readonly mainId: string;
  readonly id: string;
  readonly name: string;
  /** The ids of the other records of the work. */
  readonly others: readonly string[];
  /** Whether the search merged it, so that it is not among the exclusions. */
  readonly isMerged: boolean;
  readonly where: string;
}

function separateFrom(rrd: Rrd, { mainId, id, name, others, isMerged, where }: SeparatedRecord): MergeResult {
  // The work itself may be a duplicate of a document in a folder.
  const root = (rrd.excluded ?? []).find((exclusion) => exclusion.id === mainId)?.duplicate_of;
  const otherIds = new Set([mainId, ...others, ...(root == null ? [] : [root])]);
  const pairs = [...otherIds].filter((other) => other !== id).map((other) => [other, id]);
  const separated = screenSeparated(withApart(rrd, [...(rrd.apart ?? []), ...pairs]), isMerged);
  return {
    rrd: separated,
    says: `${name} is another work than ${namesIn(rrd).get(mainId) ?? mainId}; ${screeningText(rrd, where)}.`,
  };
}

/** When a separated record is screened. `where`: the name of the project in commands. */
export function screeningText(rrd: Rrd, where: string): string {
  const size = rrd.papers_pool.length;
  return size < maxPoolSize(rrd)
    ? "the next run screens it by itself"
    : `the pool holds the ${quantity(size, "paper")} that the project wants, and 'research-ralph run ${shellWord(where)} -p ${size + 1} --force' screens it by itself`;
}

/** Whether a merged record was in the lists of the search. Others are texts of a paper, and no records. */
const isListed = ({ why, url }: NonNullable<NonNullable<Paper["found"]>["merged"]>[number]): boolean =>
  why !== lookupReason && url?.startsWith("file:") !== true;

/** The decision on a paper that was read; undefined for other records. */
const decisionOf = (record: Paper | Exclusion): Paper["status"] | undefined =>
  isPaper(record) && wasRead(record) ? record.status : undefined;
const decisionText = (record: Paper | Exclusion): string => (decisionOf(record) ?? "").replaceAll("_", " ");

const isPaper = (record: Paper | Exclusion): record is Paper => "status" in record;

/** The id of the record with this name, which may also be the key of an unscreened record. */
const idOf = (rrd: Rrd, typedName: string, ids: ReadonlyMap<string, string>): string =>
  recordsExactlyNamed(rrd, typedName)[0]?.id ??
  ids.get(typedName.trim().toLowerCase()) ??
  recordsNamed(rrd, typedName)[0]?.id ??
  typedName;

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
