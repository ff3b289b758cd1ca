import { authorsText } from "../../papers/authors.js";
import { ledgerName } from "../../../engine/lib/layout.js";
import { costText, uncountedText, tokensText } from "../../../engine/ui/terminal/tally.js";
import { shortCount, shortDuration, quantity } from "../../../engine/lib/words.js";
import { queriesName, rrdName } from "../../project-files/layout.js";
import {
  block,
  cell,
  onOneLine,
  inline,
  line,
  maxListItems,
  omittedNote,
  escapeLineStart,
  linkText,
} from "../../project-files/markdown.js";
import { checklistOf } from "./checklist.js";
import { agreementLine } from "../../units/form/agreement.js";
import { type Cell, extractedTable, settleAdvice } from "./extracted.js";
import type { ShownSections } from "./section.js";
import { citationMarks, commonCitation, commonText } from "../citation-status.js";
import type { FlowStep } from "../prisma-flow.js";
import { countCell, outcomeText } from "../search-yield.js";
import { promptsText } from "../method.js";
import { crossReferencesText, type Finding, type InsightRow, type ReportModel } from "../model.js";
import { signsOf, strengthExplanation, surenessText } from "../strength.js";
import { answeredText, type AskedQuestion } from "../narrative/questions.js";
import { meaningMark } from "../../derived/meaning-mark.js";
import type { Meaning } from "../narrative/meaning.js";
import { type ShownPair, relationWords } from "../narrative/side-by-side.js";
import { type PaperEntry, type PaperRow, readingWords, statusWords } from "../papers.js";
import type { PassagePiece } from "../../../text/evidence/quoted.js";
import { evidenceWords, type PaperName, type Quote, quoteMarks, tablesAsText } from "../quotes.js";
import type { Statement } from "../statements.js";
import { movesText, moveWords, type WhatChanged } from "../narrative/what-changed.js";

/** Maximum number of papers with a separate entry. */
const maxEntries = 100;
/** Maximum number of papers whose quotes are printed. */
const maxEvidencePapers = 300;
const maxThemeInsights = 12;
const maxLinks = 15;
const maxQueries = 100;

/** The Markdown of each section. */
export const sectionTexts = {
  changes: ({ changes }: ReportModel) => (changes === undefined ? "" : changesText(changes)),
  question: ({ question }: ReportModel) => block(question),
  // The figures follow the answer, so that one screen shows the question, the answer and how sure it is.
  answer: (model: ReportModel) =>
    [
      ...(model.noAnswerReason !== undefined
        ? [model.noAnswerReason]
        : [
            model.answer
              .map((statement) => `${sentenceText(statement)}${sourceLinks(statement)}${problemMarks(statement)}`)
              .join(" "),
            `**How sure:** ${surenessText(model.sureness)}`,
          ]),
      ...(model.meaning === undefined ? [] : [meaningText(model.meaning)]),
      figuresTable(model),
    ].join("\n\n"),
  findings: ({ findings }: ReportModel) =>
    [
      findings.map(findingText).join("\n"),
      ...(findings.some(({ strength }) => strength.papers > 0) ? [inline(strengthExplanation)] : []),
    ].join("\n\n"),
  recommendations: ({ recommendations }: ReportModel) =>
    (["high", "medium", "low"] as const)
      .map((priority) => ({
        priority,
        list: recommendations.filter((recommendation) => recommendation.priority === priority),
      }))
      .filter(({ list }) => list.length > 0)
      .map(({ priority, list }) =>
        [
          ...(priority === "high" ? [] : [`${priority === "medium" ? "Then" : "Later"}:`]),
          list
            .map(
              (recommendation, index) =>
                `${index + 1}. ${sentenceText(recommendation)}${sourceLinks(recommendation)}${problemMarks(recommendation)}`,
            )
            .join("\n"),
        ].join("\n\n"),
      )
      .join("\n\n"),
  agreed: ({ agreed, pairs }: ReportModel) =>
    [
      ...(agreed.length === 0 ? [] : [agreed.map(findingText).join("\n")]),
      ...pairs.filter(({ stand }) => stand === "agreed").map(pairText),
    ].join("\n\n"),
  disputed: ({ disputed, pairs }: ReportModel) =>
    [
      ...disputed.map(({ text, sides }) => `**${inline(text)}**\n\n${sides.map(findingText).join("\n")}`),
      ...pairs.filter(({ stand }) => stand !== "agreed").map(pairText),
    ].join("\n\n"),
  gaps: ({ gaps }: ReportModel) =>
    gaps.map((gap) => `- ${sentenceText(gap)}${sourceLinks(gap)}${problemMarks(gap)}`).join("\n"),
  unborne: ({ meaning }: ReportModel) => (meaning === undefined ? "" : removedText(meaning)),
  questions: ({ questions }: ReportModel) => questions.map(questionText).join("\n\n"),
  comparison: ({ comparison }: ReportModel) =>
    comparison === undefined
      ? ""
      : grid(
          ["", ...comparison.approaches.map(cell)],
          comparison.rows.map(({ aspect, cells }) => [
            `**${cell(aspect)}**`,
            ...cells.map(
              (statement) => `${cell(tablesAsText(statement.text))}${sourceLinks(statement)}${problemMarks(statement)}`,
            ),
          ]),
        ),
  scores: scoresTable,
  papers: papersText,
  extracted: extractedText,
  themes: themesText,
  map: mapText,
  flow: flowText,
  method: methodText,
  checklist: (model: ReportModel, shownSections: ShownSections) =>
    grid(
      ["Item", "Topic", "Where"],
      checklistOf(model, shownSections).map(({ item, topic, section, says }) => [
        cell(item),
        cell(topic),
        section === undefined ? cell(says) : `${cell(shownSections.get(section))}: ${cell(says)}`,
      ]),
    ),
  references: referencesText,
  ideas: ({ ideas }: ReportModel) =>
    ideas
      .slice(0, maxListItems)
      .map(
        ({ name, oneLiner, isRecommended, combinedPoints, papers }) =>
          `- **${inline(name)}**${isRecommended ? " (recommended)" : ""}${combinedPoints === undefined ? "" : `, ${combinedPoints} of 50`}: ${inline(oneLiner)}${papers.length === 0 ? "" : ` (${papers.map(paperLink).join(", ")})`}`,
      )
      .join("\n"),
};

/** A sentence of the narrative at the beginning of a line. */
const sentenceText = ({ text }: Pick<Statement, "text">): string => line(tablesAsText(text));

/** The result of checking the sentences against their quotes. */
const meaningText = ({ says, supported, isAnswerRejected }: Meaning): string =>
  [
    ...(isAnswerRejected ? ["**The answer is not supported by what it cites.**"] : []),
    `**Checked:** ${inline(says)}${supported === 0 ? "" : " ✓✓ marks the sentences that are supported."}`,
  ].join(" ");

/** Removed sentences, with the reasons. */
const removedText = ({ removed }: Meaning): string =>
  removed.map(({ text, says }) => `- ${line(tablesAsText(text))} **[${inline(says)}]**`).join("\n");

/** The second mark of a sentence, or the verdict of its checker. */
const meaningMarkText = (mark: Statement["meaning"]): string =>
  mark === undefined ? "" : mark.kind === "supported" ? " ✓✓" : ` **[${inline(mark.says)}]**`;

/** Two quotes on the same outcome. */
const pairText = ({ outcome, stand, sides, differs }: ShownPair): string =>
  [
    `**${inline(outcome)}: ${relationWords[stand]}**`,
    sides
      .map(
        ({ quote, compared, says }) =>
          `- ${inline(compared)}: ${says}\n${passageText(quote.pieces, sourceText(quote))}`,
      )
      .join("\n"),
    ...(differs === undefined ? [] : [`${sentenceText(differs)}${problemMarks(differs)}`]),
  ].join("\n\n");

/** A question with its answer: each sentence with its quotes. */
const questionText = (asked: AskedQuestion): string => {
  const { question, noAnswer, sentences, invalidReasons, meaning } = asked;
  return [
    `**${inline(question)}** (${answeredText(asked)}${invalidReasons.map((why) => `; **no longer stands: ${inline(why)}**`).join("")})`,
    sentences.length === 0
      ? inline(noAnswer)
      : sentences
          .map(({ text, marks, quotes, meaning: mark }) =>
            [
              `- ${line(text)}${meaningMarkText(mark)}${marks.map((mark) => ` **[${inline(mark)}]**`).join("")}`,
              ...quotes.map(({ paper, key, pieces, locator, notes }) =>
                passageText(
                  pieces,
                  `${paper === undefined ? inline(key) : paperLink(paper)}${locator === undefined ? "" : `, ${inline(locator)}`}${notes.map((note) => ` · ${inline(note)}`).join("")}`,
                ),
              ),
            ].join("\n"),
          )
          .join("\n"),
    ...(meaning === undefined
      ? []
      : [meaningText(meaning), ...(meaning.removed.length === 0 ? [] : [removedText(meaning)])]),
  ].join("\n\n");
};

/** The changes of the last update: papers, then findings. */
function changesText({ since, until, isWritten, findings, failed, ...papers }: WhatChanged): string {
  const moves = movesText(findings);
  return [
    `Changes from ${since} to ${until}:`,
    [
      ...papers.new
        .slice(0, maxListItems)
        .map((paper) => `- **New:** ${paperLink(paper)}, ${statusWords[paper.status].toLowerCase()}`),
      ...papers.changed
        .slice(0, maxListItems)
        .map(({ paper, says, reading }) => `- **Changed:** ${paperLink(paper)}: ${inline(says)}; ${reading}`),
      ...papers.retracted.slice(0, maxListItems).map((paper) => `- **Retracted:** ${paperLink(paper)}`),
    ].join("\n"),
    ...(moves === "" ? [] : [`Findings: ${moves}.${isWritten ? "" : " No finding gained or lost a paper."}`]),
    findings
      .filter(({ move }) => move !== "kept")
      .map(
        ({ move, text, from, to, before }) =>
          `- **${moveWords[move]}**${levelChangeText(from, to)}: ${sentenceText({ text })}${before === undefined ? "" : ` Before: ${sentenceText({ text: before })}`}`,
      )
      .join("\n"),
    ...(failed.length === 0 ? [] : [`Not searched completely for this period: ${inline(failed.join(", "))}.`]),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const levelChangeText = (from: number | undefined, to: number | undefined): string =>
  from === undefined || to === undefined || from === to ? "" : ` (${from} → ${to} of 5)`;

function figuresTable({ figures: all }: ReportModel): string {
  return grid(
    all.map(({ value }) => `**${cell(value)}**`),
    [all.map(({ label }) => cell(label))],
  );
}

/** A finding, the strength of its evidence, and its quotes. */
function findingText(finding: Finding): string {
  const { level, says } = finding.strength;
  return [
    `- ${sentenceText(finding)}${finding.quotes.length === 0 ? sourceLinks(finding) : ""}${problemMarks(finding)}`,
    `  <br>${signsOf(level)} ${inline(says)}`,
    ...finding.quotes.map((quote) => {
      const shownText = quote.stored.passage ?? quote.quote;
      const isSame = finding.quotes.length === 1 && evidenceWords(shownText) === evidenceWords(finding.text);
      return isSame ? `  > In these words: ${sourceText(quote)}` : passageText(quote.pieces, sourceText(quote));
    }),
  ].join("\n");
}

/**
 * A passage as a block, with the quoted words in bold, and one line for each row of a table. `ending` is added at its
 * end. Bold is a tag, because two asterisks have no effect between a Chinese full stop and the next word.
 */
function passageText(pieces: readonly PassagePiece[], ending: string): string {
  const lineText = (line: string, isQuoted: boolean) => {
    const text = inlineSpaced(tablesAsText(line));
    return isQuoted && text.trim() !== "" ? `<b>${text}</b>` : text;
  };
  const lines = pieces
    .map(({ text, isQuoted }) =>
      text
        .split("\n")
        .map((line) => lineText(line, isQuoted))
        .join("\n"),
    )
    .join("")
    .split("\n");
  return `${lines.map((line) => `  > ${escapeLineStart(line.trim())}`).join("  \n")} ${ending}`;
}

/** Like `inline`, but spaces at both ends are kept. */
const inlineSpaced = (text: string): string =>
  `${/^\s/.test(text) ? " " : ""}${inline(text)}${/\S\s+$/.test(text) ? " " : ""}`;

/** The source of a quote: its paper, place and mark, and a link that opens it there. */
function sourceText(quote: Quote): string {
  const { sign, words } = quoteMarks[quote.status];
  const status =
    quote.status === "verified"
      ? sign
      : `${sign} ${words}${quote.reason === undefined ? "" : `: ${inline(quote.reason)}`}`;
  const place = quote.locator === undefined ? "" : `, ${inline(quote.locator)}`;
  const link = quote.address === undefined ? "" : ` · [open there](<${address(quote.address)}>)`;
  return `[${linkText(quote.paper.label)}, quote ${quote.number}](#${quoteAnchor(quote)})${statusNote(quote.paper)}${place} ${status}${link}`;
}

/** The quotes and papers of a sentence, as links in brackets; empty if it names no source. */
function sourceLinks({ quotes, papers }: Pick<Statement, "quotes" | "papers">): string {
  const links = [
    ...quotes.map(
      (quote) =>
        `[${linkText(quote.paper.label)} ${quoteMarks[quote.status].sign}](#${quoteAnchor(quote)})${statusNote(quote.paper)}`,
    ),
    ...papers.map(paperLink),
  ];
  return links.length === 0 ? "" : ` (${links.join(", ")})`;
}

/** The problems of a sentence, for the place after it. */
function problemMarks({ missingNumbers, outsideNumbers, brokenHandles, meaning }: Statement): string {
  return [
    meaningMarkText(meaning),
    ...missingNumbers.map((number) => ` **[number not in the passage: ${cell(number)}]**`),
    ...outsideNumbers.map((number) => ` **[in the sentence, outside the quoted words: ${cell(number)}]**`),
    ...brokenHandles.map(({ handle, reason }) => ` **[no such quote: ${cell(handle)}, ${cell(reason)}]**`),
  ].join("");
}

const anchor = (id: string): string => id.replace(/[^\w.-]/g, "-");
const quoteAnchor = ({ paper, number }: Quote): string => `${anchor(paper.id)}-${number}`;
/** The note after a link to a paper that is not included. */
const notIncludedNote = ({ isRetracted, isIneligible }: PaperName): string =>
  isIneligible && !isRetracted ? " (not included)" : "";
const statusNote = (paper: PaperName): string => (paper.isRetracted ? " (RETRACTED)" : notIncludedNote(paper));
const paperLink = (paper: PaperName): string =>
  `${paper.isRetracted ? "RETRACTED " : ""}[${linkText(paper.label)}](#${anchor(paper.id)})${notIncludedNote(paper)}`;
const retractedPrefix = ({ isRetracted }: PaperName): string => (isRetracted ? "RETRACTED: " : "");
const titleLink = (paper: PaperName): string =>
  `${retractedPrefix(paper)}[${linkText(paper.title)}](#${anchor(paper.id)})`;

/** An address between angle brackets, without characters that would end it or start code or a link. */
const address = (url: string): string =>
  onOneLine(url)
    .replace(/[<>\s]/g, "")
    .replace(/[`[\]\\]/g, (character) => encodeURIComponent(character));

/** A table with cells in Markdown. */
const grid = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

function scoresTable(model: ReportModel): string {
  const { scores } = model;
  const lines = scores.lines.map(({ at, says }) => `from ${at} ${says}`).join(", ");
  const pointCells = (row: PaperRow) =>
    scores.usesBothRubrics
      ? [String(row.score ?? "–"), String(row.execution ?? "–"), String(row.strategic ?? "–")]
      : [String(row.score ?? "–")];
  const shownRows = rowsInTable(model);
  const idsWithAnchor = new Set(
    [...entriesOf(model), ...rowsWithEvidence(model).slice(0, maxEvidencePapers)].map(({ id }) => id),
  );
  const title = (row: PaperRow) =>
    idsWithAnchor.has(row.id)
      ? titleLink(row)
      : `<a id="${anchor(row.id)}"></a>${retractedPrefix(row)}${cell(row.title)}`;
  return [
    lines === ""
      ? `Points of ${scores.maxScore}. They only order the papers.`
      : `Points of ${scores.maxScore}: ${lines}.`,
    grid(
      [
        "Paper",
        ...(scores.usesBothRubrics ? ["Points", "Execution of 30", "Strategic of 20"] : ["Points"]),
        "Decision",
        "Why",
      ],
      shownRows.map((row) => [title(row), ...pointCells(row), statusWords[row.status], cell(row.why)]),
    ),
    ...omittedNote(model.rows.length, shownRows.length, "paper"),
  ].join("\n\n");
}

/** The papers with a decision that the table of scores shows. */
const rowsInTable = ({ rows }: ReportModel): PaperRow[] =>
  rows.filter(({ status }) => status !== "unread").slice(0, maxListItems);

/** The papers with a separate entry. */
const entriesOf = ({ rows }: ReportModel): PaperRow[] =>
  rows.filter(({ status }) => status === "presented" || status === "insights").slice(0, maxEntries);

/** The papers that the report names and that have quotes, which are at the end. */
function rowsWithEvidence(model: ReportModel): PaperRow[] {
  const referencedIds = new Set(model.references().map(({ paper }) => paper.id));
  return model.rows.filter((row) => row.quotes > 0 && referencedIds.has(row.id));
}

function papersText(model: ReportModel): string {
  const shownRows = entriesOf(model);
  const further = shownRows.length === 0 ? "paper" : "further paper";
  const shownIds = new Set(shownRows.map(({ id }) => id));
  const others = model.rows.filter(({ id }) => !shownIds.has(id));
  const inTableIds = new Set(model.scores.rows.length > 0 ? rowsInTable(model).map(({ id }) => id) : []);
  const decidedOthers = others.filter(({ status }) => status !== "unread");
  const unlistedRows = decidedOthers.filter(({ id }) => !inTableIds.has(id));
  const reasons = decidedOthers.length > 0 && unlistedRows.length === 0 ? " The reasons are in the table above." : "";
  const rowsWithReason = unlistedRows.filter(({ why }) => why !== "").slice(0, maxListItems);
  const kinds = (Object.keys(statusWords) as PaperRow["status"][]).flatMap((status) => {
    const number = others.filter((row) => row.status === status).length;
    return number === 0 ? [] : [`${number} ${statusWords[status].toLowerCase()}`];
  });
  return [
    ...shownRows.map((row) => entryText(model.entry(row))),
    ...(others.length === 0
      ? []
      : [
          `${quantity(others.length, further)} ${others.length === 1 ? "has" : "have"} no entry here: ${kinds.join(", ")}.${reasons}`,
          ...(rowsWithReason.length === 0 ? [] : [rowsWithReason.map(reasonText).join("\n")]),
          ...omittedNote(unlistedRows.length, maxListItems, "paper"),
        ]),
  ].join("\n\n");
}

const reasonText = (row: PaperRow): string =>
  `- ${titleLink(row)}, ${statusWords[row.status].toLowerCase()}: ${inline(row.why)}`;

/** The table of extracted data, then the passages of its values. */
function extractedText(model: ReportModel): string {
  const { fields, rows, agreements, open } = extractedTable(model);
  const anchorAt = (paper: PaperRow, index: number) => `${anchor(paper.id)}-f${index + 1}`;
  const shownRows = rows.slice(0, maxListItems);
  const cellText = ({ text, sign, isValue, sides }: Cell, format = cell) =>
    `${isValue ? `${format(text)} ${sign}` : format(text)}${sides === undefined ? "" : " ≠"}`;
  const linkedCell = (at: string, cellData: Cell) =>
    cellData.quotes.length === 0 && cellData.sides === undefined
      ? cellText(cellData)
      : `[${cellText(cellData, linkText)}](#${at})`;
  const passages = ({ quotes }: Pick<Cell, "quotes">) =>
    quotes.map(({ pieces, locator, notes, address: opens }) =>
      passageText(
        pieces,
        [
          ...[locator ?? "", ...notes].filter((part) => part !== "").map(inline),
          ...(opens === undefined ? [] : [`[open there](<${address(opens)}>)`]),
        ].join(" · "),
      ),
    );
  const passageBlocks = shownRows.slice(0, maxEntries).flatMap(({ paper, cells }) => {
    const lines = cells.flatMap((cellData, index) => {
      if (cellData.quotes.length === 0 && cellData.note === "" && cellData.sides === undefined) return [];
      if (cellData.sides !== undefined)
        return [
          `- <a id="${anchorAt(paper, index)}"></a>**${inline(fields[index]?.label ?? "")}:** the two agents differ ≠`,
          ...cellData.sides.flatMap(({ by, text, sign, quotes, isChosen }) => [
            `  - **${inline(by)}:** ${inline(text)}${sign === "" ? "" : ` ${sign}`}${isChosen ? "; a person chose this one" : ""}`,
            ...passages({ quotes }).map((line) => line.replace(/^/gm, "  ")),
          ]),
        ];
      return [
        `- <a id="${anchorAt(paper, index)}"></a>**${inline(fields[index]?.label ?? "")}:** ${cellText(cellData)}${cellData.note === "" ? "" : ` (${inline(cellData.note)})`}`,
        ...passages(cellData),
      ];
    });
    return lines.length === 0 ? [] : [`#### ${paperLink(paper)}\n\n${lines.join("\n")}`];
  });
  return [
    grid(
      ["Paper", ...fields.map(({ label }) => cell(label))],
      shownRows.map(({ paper, cells }) => [
        paperLink(paper),
        ...cells.map((cellData, index) => linkedCell(anchorAt(paper, index), cellData)),
      ]),
    ),
    ...omittedNote(rows.length, shownRows.length, "paper"),
    ...(agreements.length === 0
      ? []
      : [
          `Two agents filled in the form, each alone. How often they agree:\n\n${agreements.map((agreement) => `- ${inline(agreementLine(agreement))}`).join("\n")}`,
          ...(open === 0 ? [] : [settleAdvice(open)]),
        ]),
    ...passageBlocks,
  ].join("\n\n");
}

function entryText(entry: PaperEntry): string {
  const { warnings, dimensions, code } = entry;
  const part = (name: string, text: string) => (onOneLine(text) === "" ? [] : [`- **${name}:** ${inline(text)}`]);
  const byline = [
    authorsText(entry.authors, 5),
    entry.date,
    entry.venue,
    entry.file ?? "",
    entry.score === undefined ? "" : `${entry.score} points`,
    statusWords[entry.status],
    entry.status === "unread" ? "" : readingWords[entry.reading],
  ].filter((part) => part !== "");
  return [
    `### <a id="${anchor(entry.id)}"></a>${retractedPrefix(entry)}${inline(entry.title)}`,
    `${byline.map(inline).join(" · ")}${entry.url === undefined ? "" : ` · [open](<${address(entry.url)}>)`}`,
    ...warnings.map((warning) => `> **Warning:** ${inline(warning)}`),
    [
      ...part("Summary", entry.summary || entry.abstract),
      ...part("Method", entry.method),
      ...part("Results", entry.results),
      ...part("Limitations", entry.limitations),
      ...(code.length === 0
        ? []
        : [
            `- **Code:** ${code.map(({ text, url }) => (url === undefined ? inline(text) : `<${address(url)}>`)).join(" ")}`,
          ]),
      ...part("Points", dimensions.map(({ label, points }) => `${label} ${points}`).join(", ")),
      ...part("Why", entry.notes),
      ...part(
        "Eligibility",
        entry.eligibility
          .map(
            ({ criterion, answer, says, pieces, notes }) =>
              `${criterion}: ${answer}, ${
                pieces.length === 0
                  ? ""
                  : `${pieces
                      .map(({ text, isQuoted }) => (isQuoted ? `“${tablesAsText(text)}”` : tablesAsText(text)))
                      .join("")}, `
              }${[says, ...notes].join("; ")}`,
          )
          .join(" · "),
      ),
      ...evidenceLine(entry),
    ].join("\n"),
  ].join("\n\n");
}

/** The number of quotes that were found, with a link to the quotes if some are shown. */
function evidenceLine({ id, quotes, quotesGiven, quotesFound }: PaperEntry): string[] {
  const countText = `${quotesFound} of ${quantity(quotesGiven, "quote")} found in the text`;
  return quotesGiven === 0
    ? []
    : [`- **Evidence:** ${quotes === 0 ? countText : `[${countText}](#${anchor(id)}-evidence)`}`];
}

function themesText(model: ReportModel): string {
  const insightLine = ({ text, paper }: InsightRow) =>
    `- ${line(text)}${paper === undefined ? "" : ` (${paperLink(paper)})`}`;
  const list = (insights: readonly InsightRow[]) =>
    [
      ...insights.slice(0, maxThemeInsights).map(insightLine),
      ...omittedNote(insights.length, maxThemeInsights, "insight"),
    ].join("\n");
  const others = model.otherInsights();
  const summary = `${quantity(model.insightCount, "insight")}, ${crossReferencesText(model)}.`;
  return [
    summary,
    ...model.themes().map(({ name, statement, insights }) => {
      // An insight with the same words as the theme's sentence is not repeated.
      const sentence = evidenceWords(statement?.text ?? "");
      const others = insights.filter(({ text }) => evidenceWords(text) !== sentence);
      return [
        `### ${inline(name)}${insights.length === 0 ? "" : ` (${insights.length})`}`,
        ...(statement === undefined
          ? []
          : [`${sentenceText(statement)}${sourceLinks(statement)}${problemMarks(statement)}`]),
        ...(others.length === 0 ? [] : [list(others)]),
      ].join("\n\n");
    }),
    ...(others.length === 0 ? [] : [`### More insights (${others.length})\n\n${list(others)}`]),
  ].join("\n\n");
}

function mapText(model: ReportModel): string {
  const { papers, links, linkCount } = model.map();
  const shownLinks = links.slice(0, maxLinks).flatMap(({ from, to, because }) => {
    const [a, b] = [model.row(from), model.row(to)];
    return a === undefined || b === undefined
      ? []
      : `- ${paperLink(a)} and ${paperLink(b)}: ${because.map(inline).join(", ")}`;
  });
  const whichText =
    shownLinks.length < linkCount ? `. Here are ${shownLinks.length} of the strongest.` : ", the strongest first.";
  return [
    `${quantity(papers.length, "paper")} joined by ${quantity(linkCount, "link")}${whichText}`,
    shownLinks.join("\n"),
  ].join("\n\n");
}

function flowText({ flow, search }: ReportModel): string {
  const lineTexts = (lines: readonly { readonly label: string; readonly count: number }[]) =>
    lines.map(({ label, count: number }) => `${cell(label)} ${number}`).join(", ");
  const stepsTable = (steps: readonly FlowStep[]) =>
    grid(
      ["Step", "n", "Left out here"],
      steps.map(({ box, sideBox }) => [
        `${cell(box.label)}${box.lines.length === 0 ? "" : ` (${lineTexts(box.lines)})`}`,
        String(box.count),
        sideBox === undefined
          ? ""
          : `${cell(sideBox.label)} ${sideBox.count}${sideBox.lines.length === 0 ? "" : `: ${lineTexts(sideBox.lines)}`}`,
      ]),
    );
  return [
    stepsTable(flow.steps),
    ...(flow.other.length === 0 ? [] : ["Records from other sources than the search:", stepsTable(flow.other)]),
    flow.says,
    ...(search.sources.length === 0
      ? []
      : [
          grid(
            ["Source", "Outcome", "Requests", "Records", "Papers", "Included"],
            search.sources.map((sourceText) => [
              cell(sourceText.name),
              cell(outcomeText(sourceText)),
              ...[sourceText.queries, sourceText.identified, sourceText.papers, sourceText.presented].map(countCell),
            ]),
          ),
        ]),
    ...(search.saturation.length < 2
      ? []
      : [
          `Records kept of those screened, batch by batch: ${search.saturation.map(({ kept, screened }) => `${kept} of ${screened}`).join(", ")}.`,
        ]),
  ].join("\n\n");
}

function methodText(model: ReportModel): string {
  const { method, total } = model;
  const queries = model.queries();
  const heading = (title: string, text: string) => (text === "" ? [] : [`### ${title}\n\n${text}`]);
  return [
    method.facts.map(({ name, says }) => `- **${cell(name)}:** ${inline(says)}`).join("\n"),
    ...heading("Eligibility criteria", criteriaText(model)),
    ...heading("What was not done", method.limits.map((limit) => `- ${line(limit)}`).join("\n")),
    ...heading("Retractions and corrections", inline(method.retractions)),
    ...heading("Warnings", warningsText(model)),
    ...heading(
      "Reasons for leaving records out",
      method.exclusions.map(({ reason, count: number }) => `- ${line(reason)}: ${number}`).join("\n"),
    ),
    ...heading(
      "Search log",
      queries.length === 0
        ? ""
        : [
            grid(
              ["When", "Source", "Asked", "Results"],
              queries
                .slice(0, maxQueries)
                .map(({ at, source: sourceText, asked, hits, status }) => [
                  cell(at.slice(0, 16)),
                  cell(sourceText),
                  cell(asked),
                  hits === undefined ? cell(status) : String(hits),
                ]),
            ),
            ...omittedNote(queries.length, maxQueries, "query").map((note) => note.replace(rrdName, queriesName)),
          ].join("\n\n"),
    ),
    ...heading(
      "Agents",
      method.agents
        .map(({ agent, model: name, version, prompts, iterations, confinement }) => {
          const facts = [
            name === undefined ? "" : `model ${name}`,
            version === undefined ? "no version reported" : `version ${version}`,
            prompts.length === 0 ? "" : `${prompts.length === 1 ? "prompt" : "prompts"} ${promptsText(prompts)}`,
            quantity(iterations, "iteration"),
            confinement ?? "",
          ].filter((fact) => fact !== "");
          return `- ${line(agent)}: ${inline(facts.join(", "))}`;
        })
        .join("\n"),
    ),
    ...heading(
      "Cost by phase",
      method.phases.length === 0
        ? ""
        : `${grid(
            ["Phase", "Iterations", "Accepted", "Refused", "Failed", "Agent time", "Tokens in", "Tokens out", "Cost"],
            [
              ...method.phases.map((phase) => ({ name: phase.phase, ...phase })),
              { name: "together", accepted: "", refused: "", failed: "", ...total },
            ].map((phase) => [
              cell(phase.name.toLowerCase()),
              String(phase.iterations),
              ...[phase.accepted, phase.refused, phase.failed].map(String),
              shortDuration(phase.seconds * 1000),
              tokensText(phase, phase.input, shortCount),
              tokensText(phase, phase.output, shortCount),
              cell(costText(phase)),
            ]),
          )}${total.not_counted === undefined ? "" : `\n\n${quantity(total.iterations, "iteration")}${uncountedText(total.not_counted)}.`}`,
    ),
    ...heading(
      "Refused and failed",
      [
        ...method.setbacks
          .slice(0, maxListItems)
          .map(
            ({ iteration, unit, outcome, reasons }) =>
              `- #${iteration} ${inline(unit)}, ${outcome}: ${inline(reasons.join("; "))}`,
          ),
        ...omittedNote(method.setbacks.length).map((note) => note.replace(rrdName, ledgerName)),
      ].join("\n"),
    ),
  ].join("\n\n");
}

/** The criteria, and the exclusions by each. */
function criteriaText({ method }: ReportModel): string {
  return [
    method.criteria.map(({ id, kind, text }) => `- **${inline(id)}** (${kind}): ${inline(text)}`).join("\n"),
    ...method.eligibility.map(
      ({ stage, reasons }) =>
        `Excluded ${stage}: ${reasons.map(({ reason, count: number }) => `${inline(reason)} ${number}`).join("; ")}.`,
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Warnings about papers: retractions, corrections, instructions to AI readers. */
function warningsText(model: ReportModel): string {
  const rows = model.rows.filter(({ hasWarnings }) => hasWarnings);
  return [
    ...rows
      .slice(0, maxListItems)
      .flatMap((row) => model.entry(row).warnings.map((warning) => `- ${titleLink(row)}: ${inline(warning)}`)),
    ...omittedNote(rows.length, maxListItems, "paper"),
  ].join("\n");
}

function reference(paper: PaperRow): string {
  const authors = authorsText(paper.authors, 6);
  const places = [
    paper.venue === paper.source ? "" : inline(paper.venue),
    inline(paper.file ?? ""),
    paper.doi === undefined ? "" : `DOI ${inline(paper.doi)}`,
    paper.url === undefined ? "" : `<${address(paper.url)}>`,
  ].filter((place) => place !== "");
  return `${inline(authors) || "No author known"} (${paper.year ?? "no year known"}). ${titleLink(paper)}.${places.map((place) => ` ${place}.`).join("")}`;
}

function referencesText(model: ReportModel): string {
  const all = model.references();
  const shown = all.slice(0, maxEvidencePapers).map(({ number, paper, citation }) => ({ number, paper, citation }));
  const common = commonCitation(shown.map(({ citation }) => citation));
  const list = shown.map(({ number, paper, citation: { status, says } }) => {
    const { sign, words } = citationMarks[status];
    const isCommon = status === common?.status && says === common.says;
    return `${number}. ${reference(paper)} ${sign} ${words}${isCommon ? "" : `: ${inline(says)}`}`;
  });
  return [
    ...(common === undefined ? [] : [`${inline(commonText(common, shown.length))}\n`]),
    ...list,
    ...omittedNote(all.length, maxEvidencePapers, "reference"),
  ].join("\n");
}

/**
 * The quotes of all papers that the report names, with their numbers. Papers without an entry have their anchor here.
 */
export function evidenceText(model: ReportModel): string {
  const rows = rowsWithEvidence(model);
  const hasEntry = new Set(entriesOf(model).map(({ id }) => id));
  const shown = rows.slice(0, maxEvidencePapers).map((row) => {
    const entry = model.entry(row);
    const paperAnchor = hasEntry.has(row.id) ? "" : `<a id="${anchor(row.id)}"></a>`;
    const quotes = entry.evidence.map((quote) => {
      const mark = quoteMarks[quote.status];
      const statusText = quote.status === "verified" ? mark.sign : `${mark.sign} ${mark.words}`;
      const facts = [
        `${quote.locator === undefined ? "" : `(${inline(quote.locator)}) `}${statusText}${quote.reason === undefined ? "" : `: ${inline(quote.reason)}`}`,
        ...quote.notes.map(inline),
      ];
      const numberWithAnchor = `<a id="${quoteAnchor(quote)}"></a>${quote.number}`;
      return `- ${numberWithAnchor}:${quote.claim === quote.quote ? "" : ` ${inline(tablesAsText(quote.claim))}${meaningMarkText(quote.check && meaningMark(quote.check, model.rrd.meaning?.checkers))}`}\n${passageText(quote.pieces, facts.join(" · "))}`;
    });
    return [
      `### <a id="${anchor(row.id)}-evidence"></a>${paperAnchor}${inline(row.title)}`,
      quotes.join("\n"),
      ...(entry.notInText === 0
        ? []
        : [
            `${quantity(entry.notInText, "quote")} ${entry.notInText === 1 ? "was" : "were"} not found in the text and ${entry.notInText === 1 ? "is" : "are"} not shown.`,
          ]),
    ].join("\n\n");
  });
  return shown.length === 0
    ? ""
    : [
        "Quotes are numbered as in rrd.json, each in its own sentence of the paper, the quoted words in bold. ✓: these words stand in the paper; ≈: near the text, with what differs; ?: it could not be checked.",
        ...shown,
        ...omittedNote(rows.length, maxEvidencePapers, "paper"),
      ].join("\n\n");
}
