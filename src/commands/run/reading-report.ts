import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { createColors } from "picocolors";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { criteriaOf } from "../../research/project-files/eligibility-criteria.js";
import type { Checkers } from "../../research/derived/checker-rates.js";
import { meaningField } from "../../research/derived/meaning-mark.js";
import {
  basisOf,
  criterionText,
  isIneligible,
  withCriterion,
} from "../../research/screening/eligibility/eligibility.js";
import type { Criterion, Evidence, Override, OwnRubric, Paper, Rrd } from "../../research/generated/rrd.js";
import { notesOfOldQuote } from "../../text/evidence/quoted.js";
import { type StoredQuote, notesOf } from "../../text/evidence/quoted.js";
import { passageLines } from "../../research/overview/passage-lines.js";
import { nameOf } from "../../research/papers/paper-keys.js";
import { fileNameOf } from "../../research/papers/reference.js";
import { authorsOf, authorsText } from "../../research/papers/authors.js";
import { areTokensKnown, roleWithRound, unlabelledCost, type UsageSum } from "../../engine/ui/terminal/tally.js";
import { shortCount, shortDuration } from "../../engine/lib/words.js";
import { lineBreaker, wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import {
  dimensionsOf,
  ownName,
  ownRubricOf,
  type Scores,
  scoresOf,
  statusWords,
  type Totals,
  totalsOf,
} from "../../research/papers/rubric/rubric.js";
import { sumOf } from "../../research/overview/costs.js";
import { mergeSentences } from "../../research/search/candidates.js";
import { joinTexts } from "../../research/project-files/markdown.js";
import { notRetrievedText, warningsOf } from "../../research/report/papers.js";

/** The result and the cost of reading one paper, and the cost of thirty such papers. */
export interface Reading {
  readonly paper: Paper;
  /** The eligibility criteria of its project; absent if there are no criteria. */
  readonly criteria?: readonly Criterion[];
  /** The sums of its points; absent if it has no points. */
  readonly totals?: Totals;
  /** The user's rubric, if the points follow it. */
  readonly rubric?: OwnRubric;
  readonly insights: readonly string[];
  /** The checkers' answers to control sentences; absent if nothing was checked. */
  readonly checkers?: Checkers;
  readonly spending: UsageSum;
  readonly thirty_papers: { readonly seconds: number; readonly cost_usd?: number };
}

/**
 * The reading of a paper. `ledger`: only the lines of this paper's iterations. `rrd`: a state with only this paper's
 * insights.
 */
export function readingOf(rrd: Rrd, ledger: readonly LedgerLine[], paper = rrd.papers_pool[0]): Reading {
  if (paper === undefined) throw new Error("The project has no paper.");
  const spending = sumOf(ledger);
  const scores = scoresOf(rrd, paper);
  const criteria = criteriaOf(rrd);
  return {
    paper,
    ...(criteria.length === 0 ? {} : { criteria }),
    ...(scores === undefined ? {} : { totals: totalsOf(rrd, scores), rubric: ownRubricOf(rrd) }),
    insights: (rrd.insights ?? []).map((insight) => insight.insight),
    checkers: rrd.meaning?.checkers,
    spending,
    thirty_papers: {
      seconds: Math.round(spending.seconds * 30),
      ...(spending.cost_usd === undefined ? {} : { cost_usd: spending.cost_usd * 30 }),
    },
  };
}

/**
 * A reading for people: first the decision and the points, then each claim with its quote, and whether the quote was
 * found. `isTrial`: true to add the cost of thirty papers. `namesById`: the names of the project's records for people.
 */
export function readingLines(
  reading: Reading,
  io: Pick<Io, "columns" | "color">,
  isTrial = true,
  namesById: ReadonlyMap<string, string> = new Map(),
): string[] {
  const { paper, totals, spending, thirty_papers: thirtyPapers, rubric = "original" } = reading;
  const colors = createColors(io.color);
  const columns = Math.min(io.columns, 100);
  const toLines = lineBreaker(columns);
  const quoteLines = (quote: StoredQuote) => passageLines(quote, { columns, color: io.color, indent: "      " });
  const scores = scoresOf({ rubric }, paper);
  // A non-breaking space keeps a name and its points on one line.
  const pointLines = (pointsByDimension: NonNullable<Scores["strategic"]>, dimensionNames: readonly string[]) =>
    wrap(
      dimensionNames
        .map((name) => `${ownName({ rubric }, name) ?? name} ${pointsByDimension[name]}`.replaceAll(/[_ ]/g, "\u00a0"))
        .join(", "),
      columns - 2,
    ).map((line) => `  ${line.replaceAll("\u00a0", " ")}`);
  const dimensions = dimensionsOf({ rubric });
  const analysis = paper.analysis;
  // A retracted paper is excluded without a reading.
  const isRead = paper.read_depth != null || analysis != null;
  const partLines = (name: string, text: unknown) =>
    joinTexts(text) === "" ? [] : ["", colors.bold(name), ...toLines(joinTexts(text), "  ")];
  const implementations = Array.isArray(analysis?.implementations_found)
    ? analysis.implementations_found.map(String)
    : [];
  const byline = [
    authorsText(authorsOf(paper.authors), 4),
    paper.date ?? "",
    nameOf(paper),
    fileNameOf(paper) ?? "",
  ].filter((text) => text !== "");
  const totalText =
    totals?.strategic === undefined
      ? `${totals?.combined ?? "?"}/${5 * dimensions.execution.length}`
      : `${totals.combined}/50 (execution ${totals.execution}/30, blue ocean ${totals.strategic}/20)`;
  const statusText = statusWords[paper.status];
  const notRetrieved = notRetrievedText(paper);
  const outcomeText = !isRead
    ? notRetrieved === undefined
      ? `${statusText}, not read`
      : "not retrieved, not read"
    : scores === undefined
      ? `${statusText}, read: ${paper.read_depth ?? "?"}`
      : `${statusText} ${totalText}, read: ${paper.read_depth ?? "?"}`;
  return [
    ...toLines(paper.title).map(colors.bold),
    ...toLines(byline.join(" · ")),
    "",
    ...toLines(outcomeText).map((line, index) =>
      index === 0 ? line.replace(statusText, colors.bold(statusText)) : line,
    ),
    ...(scores === undefined ? [] : pointLines(scores.execution, dimensions.execution)),
    ...(scores?.strategic === undefined ? [] : pointLines(scores.strategic, dimensions.strategic)),
    ...[...(notRetrieved === undefined ? [] : [notRetrieved]), ...warningsOf(paper)].flatMap((warning) =>
      toLines(`! ${warning}`).map(colors.yellow),
    ),
    ...eligibilityLines(paper, reading.criteria ?? [], toLines, colors, quoteLines),
    ...partLines("Summary", analysis?.summary),
    ...partLines("Method", analysis?.methodology),
    ...partLines("Results", analysis?.results),
    ...partLines("Limitations", analysis?.limitations),
    ...partLines("Code", implementations.join(" ")),
    ...(isRead ? ["", colors.bold("Evidence")] : []),
    ...(analysis?.evidence ?? []).flatMap((evidence) =>
      evidenceLines(evidence, reading.checkers, toLines, colors, quoteLines),
    ),
    ...(reading.insights.length > 0
      ? [
          "",
          colors.bold(isIneligible(paper) ? "Insights, which don't count unless you include the paper" : "Insights"),
          ...reading.insights.flatMap((insight) =>
            toLines(insight, "    ").map((line, index) => (index === 0 ? `  - ${line.trimStart()}` : line)),
          ),
        ]
      : []),
    ...partLines(paper.override === undefined ? "Why" : "Noted by the agent", paper.notes),
    ...searchLines(paper, namesById, toLines, colors),
    ...(isRead
      ? [
          "",
          `${areTokensKnown(spending) ? `${shortCount(spending.input)} tokens in, ${shortCount(spending.output)} out` : "tokens not known"} · ${unlabelledCost(spending)} · ${shortDuration(spending.seconds * 1000)}`,
          ...(isTrial
            ? [
                `Thirty papers like this one: about ${shortDuration(thirtyPapers.seconds * 1000)}, ${unlabelledCost({ ...spending, ...thirtyPapers })}`,
              ]
            : []),
        ]
      : []),
  ];
}

/** The sources that found the paper, the reason for its priority, and the records that were merged with it or not. */
function searchLines(
  { id, source, found }: Paper,
  namesById: ReadonlyMap<string, string>,
  toLines: (text: string, indent: string) => string[],
  colors: ReturnType<typeof createColors>,
): string[] {
  if (found === undefined) return [];
  const record = { id, ...withoutUndefined({ source: source ?? found.sources[0] }) };
  const sentences = [`by ${found.sources.join(", ")}: ${found.why}`, ...mergeSentences(record, found, namesById)];
  return ["", colors.bold("Found"), ...sentences.flatMap((sentence) => toLines(sentence, "  "))];
}

/** The answers to the eligibility criteria, and the decisions of readers and of the user. Empty if all are missing. */
export function eligibilityLines(
  {
    answers = [],
    readings = [],
    override,
    excluded_by: excludingCriterion,
    read_depth,
  }: Pick<Paper, "answers" | "readings" | "override" | "excluded_by" | "read_depth">,
  criteria: readonly Criterion[],
  toLines: (text: string, indent: string) => string[],
  colors: ReturnType<typeof createColors>,
  quoteLines: (quote: StoredQuote) => string[],
): string[] {
  if (answers.length + readings.length === 0 && override === undefined) return [];
  const hasBothStages = new Set(answers.map(({ stage }) => stage)).size > 1;
  const answerMarks = { yes: colors.green("✓"), no: colors.red("✗"), unclear: colors.yellow("?") };
  const criteriaById = new Map(criteria.map((criterion) => [criterion.id, criterion]));
  const overrideText = ({ decision, why, criterion: id = "" }: Override) => {
    const criterion = criteriaById.get(id);
    return `A person decided: ${decision}. ${criterion === undefined ? why : withCriterion(why, criterion)}`;
  };
  const criterionName = (id: string) => {
    const criterion = criteriaById.get(id);
    return criterion === undefined ? id : criterionText(criterion);
  };
  return [
    "",
    colors.bold("Eligibility"),
    ...(override === undefined ? [] : toLines(overrideText(override), "  ")),
    ...answers.flatMap((answer, index) => {
      const { criterion, stage, locator, said, reason } = answer;
      const location = locator ?? basisOf(answer, { read_depth });
      const reasonText =
        reason === undefined ? "" : `; ${said === undefined ? "" : `the agent said ${said}. `}${reason}`;
      const [first = "", ...rest] = toLines(
        `${criterionName(criterion)}: ${answer.answer}, ${location}${reasonText}`,
        "    ",
      );
      const notes = answer.answer === "unclear" ? [] : notesOfOldQuote(answer);
      const stageTitle = stage === "screening" ? "  Screened by title and abstract:" : "  Read:";
      return [
        ...(hasBothStages && stage !== answers[index - 1]?.stage ? [stageTitle] : []),
        ...[`  ${answerMarks[answer.answer]} ${first.trimStart()}`, ...rest, ...quoteLines(answer)],
        ...notes.flatMap((note) => toLines(note, "      ").map(colors.yellow)),
      ];
    }),
    ...readings.flatMap(({ by: reader, role, decision, reason }) =>
      toLines(`${reader} (${roleWithRound(role)}): ${decision}${reason === undefined ? "" : `. ${reason}`}`, "  "),
    ),
    ...(excludingCriterion == null || override !== undefined
      ? []
      : toLines(`Excluded by ${criterionName(excludingCriterion)}.`, "  ")),
  ];
}

/** A claim with its quote, whether the quote was found, and the result of the check of the claim. */
function evidenceLines(
  evidence: Evidence,
  checkers: Checkers | undefined,
  toLines: (text: string, indent: string) => string[],
  colors: ReturnType<typeof createColors>,
  quoteLines: (quote: StoredQuote) => string[],
): string[] {
  const marks = {
    verified: [colors.green("✓"), evidence.locator ?? ""],
    near: [colors.yellow("≈"), `near: ${evidence.reason ?? "a number differs"}`],
    "not-in-text": [colors.red("✗"), evidence.reason ?? "not in the text"],
    "could-not-check": [colors.yellow("?"), "could not be checked"],
  } as const;
  const [quoteMark, locationText] = marks[evidence.status];
  const { meaning } = meaningField(evidence.check, checkers);
  const isSupported = meaning?.kind === "supported";
  const checkText = isSupported ? ` ✓✓ ${meaning.says}` : "";
  const [first = "", ...rest] = toLines(
    `${evidence.claim}${locationText === "" ? "" : ` (${locationText})`}${checkText}`,
    "    ",
  );
  // The mark at the beginning is for the quote. Whether the quote supports the claim is checked separately.
  const doubtTexts = meaning === undefined || isSupported ? [] : [`the claim: ${meaning.says}`];
  const notes = [...doubtTexts, ...notesOf(evidence)].flatMap((note) => toLines(note, "      ").map(colors.yellow));
  return [`  ${quoteMark} ${first.trimStart()}`, ...rest, ...quoteLines(evidence), ...notes];
}
