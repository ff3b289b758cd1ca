import { libraryFor } from "../../compose/library.js";
import { configToRead } from "../../compose/config.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { listenForSignals } from "../../engine/ui/signals.js";
import { quantity } from "../../engine/lib/words.js";
import { say } from "../../engine/ui/terminal/format.js";
import { abstractLocator, hashOf, reasonOf } from "../../text/evidence/check-evidence.js";
import { citedReason, type QuoteMatch, type Searchable } from "../../text/evidence/find-quote.js";
import { hasPlacesOutside } from "../../text/evidence/quoted.js";
import { cutMark, type Passage } from "../../text/evidence/passage.js";
import { passageFields, passageText, quotedWords } from "../../text/evidence/quoted.js";
import { pageMark } from "../../text/evidence/structure/sentences.js";
import { keepPassages } from "../../research/workflow/keep-passages.js";
import { textsFolder } from "../../research/project-files/layout.js";
import { requireKnownFormats } from "../../engine/storage/state/format-version.js";
import { researchFormat } from "../../research/project-files/rrd-file.js";
import { laterFormatIn, readResearch } from "../../research/project-files/research.js";
import { searchUntrusted } from "../../research/full-text/reader-process.js";
import { documentChange, documentSentence, nothingRead } from "../../research/update/changed-documents.js";
import { isCachedTextChanged, lastCachedText } from "../../research/full-text/text-cache.js";
import type { Evidence, Paper } from "../../research/generated/rrd.js";
import { nameOf } from "../../research/papers/paper-keys.js";
import { findResearch, nameFor, type FolderOptions } from "../../research/overview/find-research.js";
import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { groupBy } from "../../engine/lib/group.js";

interface VerifyOptions extends FolderOptions {
  /** Fetch the papers whose text is not stored. */
  readonly fetch: boolean;
}

/** The result for one quote of the records. */
interface CheckedQuote {
  readonly paper: string;
  /** Its number among the paper's quotes, from 1. */
  readonly number: number;
  readonly quote: string;
  /** The short name of the paper. */
  readonly key: string;
  /** The paper's sentence with the quoted words between “ and ”. */
  readonly passage: string;
  /** The status in the record. */
  readonly recorded: Evidence["status"];
  /** `holds`: the text confirms the record. `fails`: the record claims more than the text says. */
  readonly result: "holds" | "fails" | "could-not-check";
  readonly reason?: string;
}

/**
 * Searches every quote of a project again in the stored texts and lists those that fail. The exit code is 1 if a quote
 * fails: its record says that it was found, or nearly found, and the text does not confirm this. A quote can't be
 * checked if its text is not stored or has changed; that is not a failure. If a local document has changed, its quotes
 * are searched in its present text. Uses the network only with `fetch`, for texts that are not stored.
 */
export async function verifyCommand({ folder: argument, json, fetch }: VerifyOptions, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  await keepPassages(folder, (await configToRead(io)).git, (message) => say(io, message));
  const { rrd } = await readResearch(folder);
  if (fetch) await requireKnownFormats(folder, researchFormat);
  const laterFormat = await laterFormatIn(folder);
  if (laterFormat !== undefined) say(io, `warning: ${laterFormat}`);
  const signals = listenForSignals(io);
  const checkedQuotes: CheckedQuote[] = [];
  const documents: string[] = [];
  const places = { rrd, root: rootOf(folder, io.cwd), known: nothingRead() };
  try {
    const endSignal = AbortSignal.any([signals.finish, signals.abort]);
    const fetchText = fetch ? await makeFetcher(folder, io, endSignal) : undefined;
    for (const paper of rrd.papers_pool) {
      const settledValues = (paper.settled ?? []).flatMap((settledField) => settledField.own ?? []);
      const values = [...(paper.extracted ?? []), ...(paper.extracted_again ?? []), ...settledValues];
      const extracted = values.flatMap((value) => value.evidence ?? []);
      const evidence = [...(paper.analysis?.evidence ?? []), ...extracted];
      if (evidence.length === 0) continue;
      const change = await documentChange(folder, paper, places, endSignal);
      if (change !== undefined) documents.push(documentSentence(change, nameFor(io.cwd, folder)));
      const cachedText = change?.text ?? (await lastCachedText(textsFolder(folder), paper.id));
      const fetchResult = cachedText === undefined ? await fetchText?.(paper) : { text: cachedText };
      const storedText = fetchResult !== undefined && "text" in fetchResult ? fetchResult.text : undefined;
      const absentReason =
        fetchResult !== undefined && "reason" in fetchResult
          ? fetchResult.reason
          : storedText === undefined && (await isCachedTextChanged(textsFolder(folder), paper.id))
            ? changedText
            : notStoredText;
      const results = await checkQuotes(paper, evidence, storedText, absentReason, change?.text !== undefined);
      for (const [index, item] of evidence.entries())
        checkedQuotes.push({
          paper: paper.id,
          key: nameOf(paper),
          number: index + 1,
          quote: quotedWords(item),
          passage: passageText(item),
          recorded: item.status,
          ...(results[index] ?? { result: "could-not-check" }),
        });
    }
    if (signals.finish.aborted)
      return exitCodeOf({ verdict: "interrupted", reason: "", signal: signals.finish.reason });
  } finally {
    signals.stop();
  }
  const count = (result: CheckedQuote["result"]) => checkedQuotes.filter((quote) => quote.result === result).length;
  const counts = { holds: count("holds"), fails: count("fails"), could_not_check: count("could-not-check") };
  if (json) io.stdout(`${JSON.stringify({ folder, ...counts, documents, quotes: checkedQuotes }, null, 2)}\n`);
  else {
    for (const sentence of documents) io.stdout(`${sentence}\n`);
    printResults(checkedQuotes, counts, io);
  }
  return counts.fails > 0 ? 1 : 0;
}

function printResults(
  checkedQuotes: readonly CheckedQuote[],
  { holds, fails, could_not_check }: { holds: number; fails: number; could_not_check: number },
  io: Io,
): void {
  for (const { key, number, passage, result, recorded, reason } of checkedQuotes.filter(
    (quote) => quote.result === "fails",
  ))
    io.stdout(`${result}: ${key}, quote ${number}, recorded as ${recorded}: ${reason ?? ""}: ${oneLine(passage)}\n`);
  const uncheckedQuotes = checkedQuotes.filter(({ result }) => result === "could-not-check");
  for (const [reason, quotes] of groupBy(uncheckedQuotes, (quote) => quote.reason ?? ""))
    io.stdout(
      `could not check: ${quantity(quotes.length, "quote")} of ${oneLine([...new Set(quotes.map(({ key }) => key))].join(", "))}: ${oneLine(reason).replace(/\.$/, "")}\n`,
    );
  const nearCount = checkedQuotes.filter(({ result, recorded }) => result === "holds" && recorded === "near").length;
  if (nearCount > 0)
    io.stdout(`near: ${quantity(nearCount, "quote")}: a number differs in unit or rounding, so this proves nothing\n`);
  io.stdout(
    `${quantity(checkedQuotes.length, "quote")}: ${holds} as recorded, ${fails} ${fails === 1 ? "fails" : "fail"}, ${could_not_check} could not be checked\n`,
  );
}

type Result = Pick<CheckedQuote, "result" | "reason">;

/**
 * Searches the quotes of one paper again, each in the text that its record names. The results have the order of
 * `evidence`.
 * `absentReason`: why the text is not stored. `isOtherText`: `storedText` is what the document says now.
 */
async function checkQuotes(
  paper: Paper,
  evidence: readonly Evidence[],
  storedText: DocumentText | undefined,
  absentReason: string,
  isOtherText: boolean,
): Promise<readonly Result[]> {
  const abstract = { text: paper.abstract ?? "" };
  const isFromAbstract = ({ locator, text_sha256 }: Evidence) =>
    locator === abstractLocator && (text_sha256 ?? paper.text_sha256) === hashOf(abstract.text);
  const results = new Map<Evidence, Result>();
  for (const text of [abstract, storedText]) {
    const items = evidence.filter((item) => (isFromAbstract(item) ? abstract : storedText) === text);
    const searchable = items.filter((item) => {
      const problem =
        text === abstract || (isOtherText && text !== undefined)
          ? undefined
          : storedText === undefined
            ? absentReason
            : storedTextProblem(item.text_sha256 ?? paper.text_sha256, storedText);
      if (problem !== undefined) results.set(item, { result: "could-not-check", reason: problem });
      return problem === undefined;
    });
    if (text === undefined || searchable.length === 0) continue;
    const search = await searchUntrusted("findQuotes", text, searchable.map(quotedWords));
    for (const [index, item] of searchable.entries())
      results.set(
        item,
        "cut" in search ? { result: "could-not-check", reason: search.cut } : resultOf(item, search.value[index], text),
      );
  }
  return evidence.map((item) => results.get(item) ?? { result: "could-not-check" });
}

const notStoredText = "the text is not stored";
const changedText =
  "the stored text was changed since it was read; run the command with --fetch to get the paper again";

/** Why a quote can't be checked in the stored text; undefined if that is the text in which it was found. */
function storedTextProblem(wantedHash: string | null | undefined, storedText: DocumentText): string | undefined {
  if (wantedHash == null) return "the record names no text";
  return storedText.sha256 === wantedHash ? undefined : "the stored text is not the one that was searched";
}

function resultOf(item: Evidence, match: QuoteMatch | undefined, text: Searchable): Result {
  const { status } = item;
  // If the record calls a quote missing, it claims nothing that could fail.
  if (match === undefined || status === "not-in-text" || status === "could-not-check") return { result: "holds" };
  if (match.found && match.isCited === true) return { result: "fails", reason: citedReason };
  const compareWith = (found: Passage): Result =>
    isSamePassage(item, found, text) ? { result: "holds" } : { result: "fails", reason: differentSentenceReason };
  if (match.found) return compareWith(match);
  if (status === "near" && match.near !== undefined) return compareWith(match.near);
  return { result: "fails", reason: match.near === undefined ? reasonOf(match) : `near: ${match.near.differs}` };
}

const differentSentenceReason = "the sentence differs from the paper's";
const withoutSpace = (text: string): string => text.replace(/\s+/g, "");

/**
 * Whether the passage of a record is the passage that was found. Another passage of the text is also accepted, because
 * the quoted words may occur more than once. A part of the found passage is not: the missing part may be a "not".
 */
function isSamePassage(item: Evidence, found: Passage, text: Searchable): boolean {
  const { passage } = item;
  if (passage === undefined) return true;
  if (hasPlacesOutside(item)) return false;
  if (passageFields(found).passage === passage) return true;
  const passageParts = passage
    .split(/\n|\[…\]/)
    .map(withoutSpace)
    .filter((piece) => piece !== "");
  const hasAllParts = (fullText: string) => passageParts.every((piece) => fullText.includes(piece));
  const areBothCut = passage.includes(cutMark) && found.passage.includes(cutMark);
  if (!areBothCut && hasAllParts(withoutSpace(found.passage))) return false;
  return hasAllParts(withoutSpace(text.text.replace(pageMark, "")));
}

/** Returns a function that fetches and stores the text of a paper, or says why that is impossible. */
async function makeFetcher(
  folder: string,
  io: Io,
  endSignal: AbortSignal,
): Promise<(paper: Paper) => Promise<{ readonly text: DocumentText } | { readonly reason: string }>> {
  const config = await configToRead(io, {}, ["sources"]);
  const library = libraryFor(folder, rootOf(folder, io.cwd), config, io.env, endSignal);
  return async (paper) => {
    const answer = await library.text(paper);
    return "text" in answer ? { text: answer.text } : { reason: answer.unavailable };
  };
}
