import { quotedWords } from "../../../text/evidence/quoted.js";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { currentAccepted } from "../../../engine/storage/state/ledger.js";
import { abstractLocator, hashOf } from "../../../text/evidence/check-evidence.js";
import type { Answer } from "../../generated/answer.js";
import type { Paper } from "../../generated/rrd.js";
import { type AskedText, chosenFor, passageTokens, type Pool } from "./pool.js";

/** A project that a question was put to, as it stands now. */
export interface Standing {
  /** Absolute. */
  readonly folder: string;
  readonly ledger: readonly LedgerLine[];
}

/**
 * Why an answer no longer stands, a clause each; none where it does: a paper that it rests on is retracted, gone or was
 * read anew, or a paper read since would be among the passages of its question. Derived from the files, never kept.
 * `projects`: those of the pool in the same order, the home of the answer first.
 */
export async function whyStale(answer: Answer, projects: readonly Standing[], pool: Pool): Promise<string[]> {
  const places = new Map(pool.papers.map(({ key }, place) => [key, place]));
  const since = readSince(answer, projects, pool);
  const reasons: string[] = [];
  const anew = new Set<string>();
  for (const key of new Set(answer.quotes.map(({ paper }) => paper))) {
    const place = places.get(key);
    const paper = place === undefined ? undefined : pool.papers[place]?.paper;
    if (place === undefined || paper === undefined) {
      reasons.push(`${key} is gone`);
      continue;
    }
    if (paper.retracted === true && !wasMarked(answer, key)) reasons.push(`${key} was retracted`);
    const text = pool.withoutText.includes(key) ? undefined : await pool.textOf(place);
    const own = answer.quotes.filter((quote) => quote.paper === key);
    if (own.every((quote) => isAsRead(quote, paper, text, since.has(key)))) continue;
    anew.add(key);
    reasons.push(`${key} was read anew`);
  }
  if (since.size > 0) {
    const shown = chosenFor(pool, pool.query(answer.question), passageTokens);
    const among = new Set(
      [...shown].flatMap(({ paper }) => pool.papers[paper]?.key ?? []).filter((key) => since.has(key)),
    );
    for (const key of among) if (!anew.has(key)) reasons.push(`${key} was read since`);
  }
  return reasons;
}

/** It said so itself. */
const wasMarked = ({ statements }: Answer, key: string): boolean =>
  statements.some(({ marks = [] }) => marks.includes(`${key} was retracted.`));

/**
 * Whether a quote's paper is still read as it was. A quote of the record is compared with the record, which a clone has
 * too; one that the answer found itself with the text that is kept. Without that text only the ledger tells.
 */
function isAsRead(
  quote: Answer["quotes"][number],
  { abstract, analysis }: Paper,
  text: AskedText | undefined,
  isReadSince: boolean,
): boolean {
  const { handle, locator, text_sha256 } = quote;
  const number = /#(\d{1,6})$/.exec(handle.trim())?.[1];
  if (number !== undefined) {
    const now = analysis?.evidence?.[Number(number) - 1];
    const isSame = now !== undefined && quotedWords(now) === quotedWords(quote);
    return isSame && now.status === "verified" && (now.text_sha256 ?? null) === (text_sha256 ?? null);
  }
  if (text_sha256 == null || locator === abstractLocator || text_sha256 === hashOf(abstract ?? "")) return true;
  return text === undefined ? !isReadSince : text.sha256 === text_sha256;
}

/** Keys of the papers that were accepted after the question was put, as far as the answer says what it saw. */
function readSince({ seen, seen_in }: Answer, projects: readonly Standing[], pool: Pool): Set<string> {
  const keys = new Set<string>();
  for (const [index, { folder, ledger }] of projects.entries()) {
    const until = index === 0 ? seen : seen_in?.[index];
    if (until === undefined) continue;
    const accepted = currentAccepted(ledger);
    for (const { key, paper, folder: of } of pool.papers)
      if (of === folder && (accepted.get(paper.id) ?? 0) > until) keys.add(key);
  }
  return keys;
}
