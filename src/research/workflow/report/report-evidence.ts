import type { ReportResult } from "../../generated/result-report.js";
import type { Evidence, Paper, Rrd } from "../../generated/rrd.js";
import { inline, line, maxListed, moreThan } from "../derived/markdown.js";

/** Papers whose quotes are printed, presented ones first. */
const maxPapers = 300;
/** Quotes of a paper that is not presented; those that a statement of the report names come first. */
const maxQuotes = 8;

/** A statement of the report with the papers that it is about. */
interface Statement {
  readonly text: string;
  readonly papers: readonly string[];
}

const presentedOf = (rrd: Rrd): Paper[] =>
  rrd.papers_pool.filter((paper) => paper.status === "presented").toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0));

/** Every claim of a presented paper with the words it rests on. Quotes that were not found are left out. */
export function evidenceOf(rrd: Rrd): string {
  const shown = presentedOf(rrd);
  if (shown.length === 0) return "_No paper is presented._";
  return [
    legend,
    ...shown.slice(0, maxPapers).map((paper) => evidenceOfPaper(paper, quotesOf(paper))),
    ...moreThan(shown.length, maxPapers, "paper"),
  ].join("\n\n");
}

const legend =
  "Quotes are numbered as in rrd.json. ✓: code found the quote in the paper's text; ≈: the text has it with a number in another unit or rounded; ?: it could not be checked. Where claim and quote say the same, the quote stands alone.";

/** Quotes of the other papers that a statement of the report is about; undefined where there are none. */
export function evidenceOfOthers(rrd: Rrd, narrative: ReportResult): string | undefined {
  const named = new Map<string, string[]>();
  for (const { text, papers } of [...printedInsights(rrd, narrative), ...findingsOf(rrd, narrative)])
    for (const id of papers) named.set(id, [...(named.get(id) ?? []), text]);
  const others = rrd.papers_pool.filter(
    (paper) => paper.status !== "presented" && paper.retracted !== true && named.has(paper.id),
  );
  if (others.length === 0) return undefined;
  const room = Math.max(0, maxPapers - presentedOf(rrd).length);
  const shown = others.slice(0, room).map((paper) => evidenceOfPaper(paper, chosen(paper, named.get(paper.id) ?? [])));
  return [
    "Of papers that are not presented, but whose insights or findings stand above.",
    ...shown,
    ...moreThan(others.length, room, "paper"),
  ].join("\n\n");
}

function chosen(paper: Paper, statements: readonly string[]): NumberedQuote[] {
  const named = new Set(statements.map((text) => quoteFor(text, paper)?.number));
  const all = quotesOf(paper);
  const kept = new Set(
    [...new Set([...all.filter(({ number }) => named.has(number)), ...all])].slice(0, Math.max(maxQuotes, named.size)),
  );
  return all.filter((quote) => kept.has(quote));
}

function evidenceOfPaper(paper: Paper, quotes: readonly NumberedQuote[]): string {
  const lines = quotes.map(({ number, evidence: { claim, quote, locator, status, reason } }) => {
    const words = `“${inline(quote)}” ${locator ? `(${inline(locator)}) ` : ""}${markOf(status, reason)}`;
    return alike(claim, quote) ? `- ${number}: ${words}` : `- ${number}: ${inline(claim)}\n  > ${words}`;
  });
  return [
    `### ${inline(paper.title)}`,
    line(paper.id),
    lines.join("\n") || "_No quote was recorded._",
    ...moreThan(quotesOf(paper).length, quotes.length),
  ].join("\n\n");
}

/** A quote that is near says what differs; it is no proof. */
const markOf = (status: Evidence["status"], reason: string | null | undefined): string =>
  status === "near"
    ? `${statusSigns.near} near: ${inline(reason ?? "a number differs")}`
    : `${statusSigns[status]}${status === "could-not-check" ? ` could not be checked${reason ? `: ${inline(reason)}` : ""}` : ""}`;

const alike = (claim: string, quote: string): boolean => plain(claim) === plain(quote);
const plain = (text: string): string =>
  inline(text)
    .toLowerCase()
    .replace(/(?<![\s.…])[\s.…]+$/, "");

/** The narrative's findings, each with the quotes of its papers. */
export function keyFindings(rrd: Rrd, narrative: ReportResult): string {
  const byId = papersById(rrd);
  return narrative.key_findings
    .map((finding, index) => {
      const { text = "" } = findingsOf(rrd, narrative)[index] ?? {};
      return `- ${line(finding.text)} (${finding.paper_ids.map((id) => inline(sourceText(text, byId.get(id), id))).join("; ")})`;
    })
    .join("\n");
}

/** Findings without the title of their paper, which says nothing of it. */
const findingsOf = (rrd: Rrd, narrative: ReportResult): Statement[] => {
  const byId = papersById(rrd);
  return narrative.key_findings.map(({ text, paper_ids: papers }) => {
    const title = papers.map((id) => `${byId.get(id)?.title}: `).find((start) => text.startsWith(start)) ?? "";
    return { text: text.slice(title.length), papers };
  });
};

const papersById = (rrd: Rrd): ReadonlyMap<string, Paper> => new Map(rrd.papers_pool.map((paper) => [paper.id, paper]));

type Insight = NonNullable<Rrd["insights"]>[number];

/** Insights of papers that stand, and those of retracted ones. */
export function insightsApart(rrd: Rrd): { valid: readonly Insight[]; retracted: readonly Insight[] } {
  const gone = new Set(rrd.papers_pool.filter((paper) => paper.retracted === true).map(({ id }) => id));
  const insights = rrd.insights ?? [];
  const isGone = ({ paper_id }: Insight) => gone.has(paper_id ?? "");
  return { valid: insights.filter((insight) => !isGone(insight)), retracted: insights.filter(isGone) };
}

interface Group {
  readonly name: string;
  readonly members: readonly Insight[];
}

/** The agent's themes with the insights it put there; insights it did not place follow as one more. */
function groupsOf(rrd: Rrd, { categories }: ReportResult): Group[] {
  const { valid } = insightsApart(rrd);
  const byId = new Map(valid.map((insight) => [insight.id, insight]));
  const placed = new Set<string>();
  const groups: Group[] = categories.map(({ name, insight_ids }) => ({
    name,
    members: insight_ids.filter((id) => !placed.has(id) && placed.add(id)).flatMap((id) => byId.get(id) ?? []),
  }));
  groups.push({ name: "More insights", members: valid.filter(({ id }) => !placed.has(id ?? "")) });
  return groups.filter(({ members }) => members.length > 0);
}

const printedInsights = (rrd: Rrd, narrative: ReportResult): Statement[] =>
  groupsOf(rrd, narrative)
    .flatMap(({ members }) => members.slice(0, maxListed))
    .flatMap(({ insight, paper_id }) => (paper_id == null ? [] : [{ text: insight, papers: [paper_id] }]));

/** Insights by theme, each with the quote it rests on; those of retracted papers stand apart at the end. */
export function insightsByCategory(rrd: Rrd, narrative: ReportResult): string {
  const { retracted } = insightsApart(rrd);
  const byId = papersById(rrd);
  const list = (title: string, members: readonly Insight[]) => {
    const lines = members.slice(0, maxListed).map(({ id, insight, paper_id }, index) => {
      const source = paper_id == null ? "several" : sourceText(insight, byId.get(paper_id), paper_id);
      return `${index + 1}. ${line(insight)} (${inline(id)}, source: ${inline(source)})`;
    });
    const counted = `${members.length} ${members.length === 1 ? "insight" : "insights"}`;
    return [`### ${inline(title)} (${counted})`, [...lines, ...moreThan(members.length)].join("\n")].join("\n\n");
  };
  const groups = groupsOf(rrd, narrative).map(({ name, members }) => list(name, members));
  return [
    ...(groups.length === 0 ? ["_No insights were extracted._"] : [insightLegend, ...groups]),
    ...(retracted.length === 0 ? [] : [list("Of retracted papers, counted nowhere: never build on them", retracted)]),
  ].join("\n\n");
}

const insightLegend =
  "An insight names the quote of its paper, printed under Evidence, that holds its numbers and most of its words; code put the two together. “No quote” means that none of the recorded quotes does: look it up before you rely on it.";

/** A quote of a paper's record, by its number: its place in the record's `evidence`, from 1. */
interface NumberedQuote {
  readonly number: number;
  readonly evidence: Evidence;
}

/** From this share of a statement's words on, a quote and its claim are taken to say the same. */
const wordShare = 0.6;

/** The quotes of a paper that a reader may see. One that was looked for and not found is none. */
const quotesOf = (paper: Paper | undefined): NumberedQuote[] =>
  (paper?.analysis?.evidence ?? []).flatMap((evidence, index) =>
    evidence.status === "not-in-text" ? [] : [{ number: index + 1, evidence }],
  );

/**
 * The quote that a statement about a paper rests on: it holds every number of the statement, and with its claim most of
 * the words. Undefined where none does. Records have no link between the two; this one is computed, and rather none
 * than a wrong one.
 */
function quoteFor(statement: string, paper: Paper | undefined): NumberedQuote | undefined {
  const wanted = wordsOf(statement);
  if (wanted.words.size === 0) return undefined;
  let best: { quote: NumberedQuote; share: number } | undefined;
  for (const quote of quotesOf(paper)) {
    const { claim, quote: text, status } = quote.evidence;
    const numbers = wordsOf(text).numbers;
    if ([...wanted.numbers].some((number) => !numbers.has(number))) continue;
    const known = wordsOf(`${claim} ${text}`).words;
    const found = [...wanted.words].filter((word) => known.has(word)).length / wanted.words.size;
    // Of two that fit as well, the one that was found in the text.
    const share = found + (status === "verified" ? 0.001 : 0);
    if (found >= wordShare && share > (best?.share ?? 0)) best = { quote, share };
  }
  return best?.quote;
}

/** How a quote's status is marked wherever it is shown. */
const statusSigns = { verified: "✓", near: "≈", "not-in-text": "✗", "could-not-check": "?" } as const;

/** How a statement names its quote: "sample_01, quote 3 ✓". */
function sourceText(statement: string, paper: Paper | undefined, id: string): string {
  if (paper?.retracted === true) return `${id}, RETRACTED`;
  const found = quoteFor(statement, paper);
  if (found === undefined) return `${id}, no quote`;
  return `${id}, quote ${found.number} ${statusSigns[found.evidence.status]}`;
}

/** Words that say something, cut to their stems' length, and numbers, without thousands separators. */
function wordsOf(text: string): { words: ReadonlySet<string>; numbers: ReadonlySet<string> } {
  const all =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/\d+(?:[.,]\d+)*|\p{L}+/gu) ?? [];
  const isNumber = (word: string) => /^\d/.test(word);
  return {
    words: new Set(all.filter((word) => !isNumber(word) && word.length > 3).map((word) => word.slice(0, 6))),
    numbers: new Set(all.filter(isNumber).map((word) => word.replace(/,(?=\d{3}(?!\d))/g, ""))),
  };
}
