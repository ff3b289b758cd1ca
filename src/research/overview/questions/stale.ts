import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { currentAccepted } from "../../../engine/storage/records/ledger.js";
import type { Answer } from "../../generated/answer.js";
import type { Rrd } from "../../generated/rrd.js";
import { chosenFor, passageTokens, type Pool } from "./pool.js";

/** A project that an answer rests on, as it stands now; the home of the answer is the first. */
export interface Standing {
  readonly rrd: Rrd;
  readonly ledger: readonly LedgerLine[];
}

/**
 * Why an answer no longer stands, a clause each; none where it does: a paper that it rests on is retracted, gone or was
 * read anew, or a paper read since would be among the passages of its question. Derived from the files, never kept.
 * `pool`: of the same projects in the same order.
 */
export async function whyStale(answer: Answer, home: Standing, pool: Pool): Promise<string[]> {
  const places = new Map(pool.papers.map(({ key }, place) => [key, place]));
  const reasons: string[] = [];
  for (const key of new Set(answer.quotes.map(({ paper }) => paper))) {
    const place = places.get(key);
    const paper = place === undefined ? undefined : pool.papers[place]?.paper;
    if (place === undefined || paper === undefined) {
      reasons.push(`${key} is gone`);
      continue;
    }
    if (paper.retracted === true && !wasMarked(answer, key)) reasons.push(`${key} was retracted`);
    // Without a kept text nobody can say that it was read anew.
    if (pool.withoutText.includes(key)) continue;
    const now = (await pool.textOf(place))?.sha256;
    const then = answer.quotes.filter((quote) => quote.paper === key).flatMap(({ text_sha256 }) => text_sha256 ?? []);
    if (now !== undefined && then.length > 0 && !then.includes(now)) reasons.push(`${key} was read anew`);
  }
  const newer = newerPapers(answer, home, pool);
  if (newer.size > 0) {
    const shown = chosenFor(pool, pool.query(answer.question), passageTokens);
    const among = new Set(
      [...shown].flatMap(({ paper }) => pool.papers[paper]?.key ?? []).filter((key) => newer.has(key)),
    );
    for (const key of among) reasons.push(`${key} was read since`);
  }
  return reasons;
}

/** It said so itself. */
const wasMarked = ({ statements }: Answer, key: string): boolean =>
  statements.some(({ marks = [] }) => marks.includes(`${key} was retracted.`));

/** Keys of the home project's papers that were accepted after the question was put. */
function newerPapers({ seen }: Answer, { ledger }: Standing, pool: Pool): Set<string> {
  const accepted = currentAccepted(ledger);
  const home = pool.papers[0]?.folder;
  return new Set(
    pool.papers
      .filter(({ paper, folder }) => folder === home && (accepted.get(paper.id) ?? 0) > seen)
      .map(({ key }) => key),
  );
}
