import { quotedWords } from "../../../text/evidence/quoted.js";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { currentAccepted } from "../../../engine/storage/state/ledger.js";
import { abstractLocator, hashOf } from "../../../text/evidence/check-evidence.js";
import type { Answer } from "../../generated/answer.js";
import type { Paper } from "../../generated/rrd.js";
import { parseHandle } from "../../units/narrative/handles.js";
import { type AskedText, choosePassages, maxPassageTokens, type Pool } from "./pool.js";

/** A project of a question in its present state. */
export interface ProjectState {
  /** Absolute path. */
  readonly folder: string;
  readonly ledger: readonly LedgerLine[];
}

/**
 * The reasons why an answer is no longer valid, a clause each; empty if it is: a paper that it cites was retracted,
 * removed or read again, or a paper that was read since would be among the passages of its question. Computed from the
 * files. `projects`: those of the pool in the same order, the home of the answer first.
 */
export async function staleReasons(answer: Answer, projects: readonly ProjectState[], pool: Pool): Promise<string[]> {
  const places = new Map(pool.papers.map(({ key }, place) => [key, place]));
  const keysReadSince = keysOfPapersReadSince(answer, projects, pool);
  const reasons: string[] = [];
  const readAgain = new Set<string>();
  for (const key of new Set(answer.quotes.map(({ paper }) => paper))) {
    const place = places.get(key);
    const paper = place === undefined ? undefined : pool.papers[place]?.paper;
    if (place === undefined || paper === undefined) {
      reasons.push(`a paper that it cites (${key}) is gone from the project`);
      continue;
    }
    if (paper.retracted === true && !saysRetracted(answer, key)) reasons.push(`${key} was retracted`);
    const text = pool.withoutText.includes(key) ? undefined : await pool.textOf(place);
    const itsQuotes = answer.quotes.filter((quote) => quote.paper === key);
    if (itsQuotes.every((quote) => isUnchanged(quote, paper, text, keysReadSince.has(key)))) continue;
    readAgain.add(key);
    reasons.push(`${key} was read anew`);
  }
  if (keysReadSince.size > 0) {
    const shownPassages = choosePassages(pool, pool.query(answer.question), maxPassageTokens);
    const shownKeys = new Set(
      [...shownPassages].flatMap(({ paper }) => pool.papers[paper]?.key ?? []).filter((key) => keysReadSince.has(key)),
    );
    const [firstKey, ...otherKeys] = [...shownKeys].filter((key) => !readAgain.has(key));
    if (firstKey !== undefined)
      reasons.push(
        otherKeys.length === 0 ? `${firstKey} was read since` : `${otherKeys.length + 1} papers were read since`,
      );
  }
  return reasons;
}

/** Whether the answer itself already says that the paper was retracted. */
const saysRetracted = ({ statements }: Answer, key: string): boolean =>
  statements.some(({ marks = [] }) => marks.includes(`${key} was retracted.`));

/**
 * Whether a quote still agrees with its paper. A quote of the record is compared with the record, which clones also
 * have; a quote of the answer with the stored text, or without a text by the ledger.
 */
function isUnchanged(
  quote: Answer["quotes"][number],
  { abstract, analysis }: Paper,
  text: AskedText | undefined,
  isReadSince: boolean,
): boolean {
  const { handle, locator, text_sha256 } = quote;
  const number = parseHandle(handle)?.number;
  if (number !== undefined) {
    const current = analysis?.evidence?.[number - 1];
    const isSame = current !== undefined && quotedWords(current) === quotedWords(quote);
    return isSame && current.status === "verified" && (current.text_sha256 ?? null) === (text_sha256 ?? null);
  }
  if (text_sha256 == null || locator === abstractLocator || text_sha256 === hashOf(abstract ?? "")) return true;
  return text === undefined ? !isReadSince : text.sha256 === text_sha256;
}

/** Keys of the papers that were accepted after the question, as far as the answer states when it was asked. */
function keysOfPapersReadSince({ seen, seen_in }: Answer, projects: readonly ProjectState[], pool: Pool): Set<string> {
  const keys = new Set<string>();
  for (const [index, { folder, ledger }] of projects.entries()) {
    const lastSeen = index === 0 ? seen : seen_in?.[index];
    if (lastSeen === undefined) continue;
    const acceptedIterations = currentAccepted(ledger);
    for (const { key, paper, folder: itsFolder } of pool.papers)
      if (itsFolder === folder && (acceptedIterations.get(paper.id) ?? 0) > lastSeen) keys.add(key);
  }
  return keys;
}
