import { ExpectedError } from "../../engine/lib/errors.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import type { Exclusion, Paper, Rrd } from "../generated/rrd.js";
import { namesIn, nameOf } from "../papers/paper-keys.js";
import { withMissingFacts } from "../papers/records/known-paper.js";
import { wasRead } from "../papers/rubric/rubric.js";
import { recordNamed, recordsNamed, severalFit } from "./which-record.js";

/** A settled pair: the state with it, and what was done, one sentence. */
export interface Settled {
  readonly rrd: Rrd;
  readonly says: string;
}

const refused = (sentence: string): ExpectedError => new ExpectedError(sentence, 2);

/**
 * Makes two records one work: the second leaves the pool as a duplicate of the first, which takes over its facts; where
 * the second alone is a paper that was decided on, it stays and the first leaves. What left stays as it was, with its
 * insights, so that `part` brings it back. Two that a person has parted are one again. Pure.
 * @throws ExpectedError (exit code 2) where a name fits no record or several, where both mean one, where the one that
 * stays is a duplicate itself, and where both were read and decided otherwise.
 */
export function joined(rrd: Rrd, one: string, other: string, where: string): Settled {
  const parted = (rrd.apart ?? []).find((pair) => [one, other].every((typed) => pair.includes(idOf(rrd, typed))));
  if (parted !== undefined)
    return {
      rrd: withApart(
        rrd,
        (rrd.apart ?? []).filter((pair) => pair !== parted),
      ),
      says: `${one} and ${other} may be one work again.`,
    };
  const [first, second] = [recordNamed(rrd, one, where), recordNamed(rrd, other, where)];
  const isTurned = decisionOf(first) === undefined && decisionOf(second) !== undefined;
  const [kept, gone] = isTurned ? [second, first] : [first, second];
  const [name, goneName] = [nameOf(kept), nameOf(gone)];
  if (kept.id === gone.id) throw refused(`'${one}' and '${other}' are one record: ${name}.`);
  if ("duplicate_of" in kept)
    throw refused(
      `${name} is itself a duplicate of ${namesIn(rrd).get(String(kept.duplicate_of)) ?? "another"}; name that one.`,
    );
  if (decisionOf(gone) !== undefined && decisionOf(kept) !== decisionOf(gone))
    throw refused(
      `${name} is ${words(kept)} and ${goneName} ${words(gone)}, each after a reading; say first which decision stands: research-ralph decide ${shellWord(where)} ${goneName} include or exclude, or start its reading again: research-ralph reset ${shellWord(where)} --unit ${goneName}.`,
    );
  const insights = rrd.insights ?? [];
  const its = isPaper(gone) ? insights.filter(({ paper_id }) => paper_id === gone.id) : [];
  const duplicate: Exclusion = {
    ...("reason" in gone ? (gone as Exclusion) : asExclusion(gone as Paper)),
    stage: "duplicate",
    duplicate_of: kept.id,
    reason: `the same work as ${kept.id}: a person says so`,
    before: its.length === 0 ? gone : { ...gone, insights: its },
  };
  const pool = rrd.papers_pool
    .filter((paper) => paper !== gone)
    .map((paper) => (paper === kept && isPaper(gone) ? withMissingFacts(paper, gone) : paper));
  const excluded = [...(rrd.excluded ?? []).filter((each) => each !== gone), duplicate];
  return {
    rrd: {
      ...rrd,
      papers_pool: pool,
      excluded,
      ...(its.length === 0 ? {} : { insights: insights.filter((each) => !its.includes(each)) }),
    },
    says: `${goneName} is a duplicate of ${name}; 'research-ralph join ${shellWord(where)} ${goneName} --part' takes that back.`,
  };
}

/**
 * Makes a duplicate a work of its own again. One that a person has joined is what it was before; one that code has
 * merged is screened by the next run that searches. It is named as other records are, or by the id that it had in its
 * source. Pure.
 * @throws ExpectedError (exit code 2) where a name fits no record or several, and for one that is not a duplicate.
 */
export function parted(rrd: Rrd, typed: string, where: string): Settled {
  const duplicates = recordsNamed({ ...rrd, papers_pool: [] }, typed).filter((one) => "duplicate_of" in one);
  const [duplicate, second] = duplicates as Exclusion[];
  if (duplicate !== undefined && second !== undefined) throw severalFit(typed, duplicates);
  if (duplicate !== undefined) return partedFrom(rrd, duplicate);
  const merged = rrd.papers_pool.flatMap(({ id, found }) =>
    (found?.merged ?? []).filter((each) => each.id === typed).map((each) => ({ into: id, ...each })),
  );
  const [one] = merged;
  if (one !== undefined && one.id !== one.into) return apartFrom(rrd, one.into, one.id, one.id);
  const named = recordNamed(rrd, typed, where);
  const inside = (isPaper(named) ? (named.found?.merged ?? []) : []).filter(({ id }) => id !== named.id);
  const [only, more] = inside;
  if (only !== undefined && more === undefined) return apartFrom(rrd, named.id, only.id, only.id);
  throw refused(
    only === undefined
      ? `${nameOf(named)} is not a duplicate, and nothing was merged into it.`
      : `Several records were merged into ${nameOf(named)}; name one of them: ${inside
          .map(({ id }) => id)
          .slice(0, 6)
          .join(", ")}.`,
  );
}

function partedFrom(rrd: Rrd, duplicate: Exclusion): Settled {
  const { before, duplicate_of: of = "" } = duplicate;
  const name = nameOf(duplicate);
  if (before === undefined) return apartFrom(rrd, of, duplicate.id, name);
  const excluded = (rrd.excluded ?? []).filter((each) => each !== duplicate);
  const { insights: its = [], ...kept } = before as Paper & { readonly insights?: NonNullable<Rrd["insights"]> };
  const record = { ...kept, ...(duplicate.key === undefined ? {} : { key: duplicate.key }) } as Paper | Exclusion;
  return isPaper(record)
    ? {
        rrd: {
          ...rrd,
          papers_pool: [...rrd.papers_pool, record],
          excluded,
          ...(its.length === 0 ? {} : { insights: [...(rrd.insights ?? []), ...its] }),
        },
        says: `${name} is a paper of its own again, as it was.`,
      }
    : {
        rrd: { ...rrd, excluded: [...excluded, record] },
        says: `${name} is excluded as it was before: ${record.reason}.`,
      };
}

const apartFrom = (rrd: Rrd, of: string, id: string, name: string): Settled => ({
  rrd: withApart(rrd, [...(rrd.apart ?? []), [of, id]]),
  says: `${name} is another work than ${namesIn(rrd).get(of) ?? of}; the next run that searches screens it by itself.`,
});

/** What was decided on a record after a reading; undefined for any other. */
const decisionOf = (record: Paper | Exclusion): Paper["status"] | undefined =>
  isPaper(record) && wasRead(record) ? record.status : undefined;
const words = (record: Paper | Exclusion): string => (decisionOf(record) ?? "").replaceAll("_", " ");

const isPaper = (record: Paper | Exclusion): record is Paper => "status" in record;
const idOf = (rrd: Rrd, typed: string): string => recordsNamed(rrd, typed)[0]?.id ?? typed;

function withApart({ apart: _, ...rrd }: Rrd, apart: NonNullable<Rrd["apart"]>): Rrd {
  return apart.length === 0 ? rrd : { ...rrd, apart };
}

/** What is kept of a paper that leaves the pool. */
const asExclusion = ({ id, key, source_key, title, url, identifiers }: Paper): Exclusion => ({
  id,
  title,
  reason: "",
  ...(key === undefined ? {} : { key }),
  ...(source_key === undefined ? {} : { source_key }),
  ...(url == null ? {} : { url }),
  ...(identifiers === undefined ? {} : { identifiers }),
});
