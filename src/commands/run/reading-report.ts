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
import { authorsOf } from "../../research/papers/authors.js";
import { areTokensKnown, partText, unlabelledCost, type UsageSum } from "../../engine/ui/terminal/tally.js";
import { shortCount, shortDuration } from "../../engine/lib/words.js";
import { wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { oneLine } from "../../engine/lib/sanitise.js";
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

/** What reading one paper brought and cost, and what thirty such papers would. */
export interface Reading {
  readonly paper: Paper;
  /** The eligibility criteria of its project; absent where they are missing. */
  readonly criteria?: readonly Criterion[];
  readonly totals?: Totals;
  /** The rubric of the person's own, where points are given by it. */
  readonly rubric?: OwnRubric;
  readonly insights: readonly string[];
  /** How those who checked its claims answered to controls; absent where nobody has. */
  readonly checkers?: Checkers;
  readonly spending: UsageSum;
  readonly thirty_papers: { readonly seconds: number; readonly cost_usd?: number };
}

/** `ledger`: the lines of this paper's iterations; `rrd` holds its insights and no others. */
export function readingOf(rrd: Rrd, ledger: readonly LedgerLine[], paper = rrd.papers_pool[0]): Reading {
  if (paper === undefined) throw new Error("a reading without its paper");
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
 * A reading for people: verdict and scores first, then every claim with its quote and whether it was found. `isTrial`:
 * say what many would cost. `names`: what people call the records of its project, by id.
 */
export function readingLines(
  reading: Reading,
  io: Pick<Io, "columns" | "color">,
  isTrial = true,
  names: ReadonlyMap<string, string> = new Map(),
): string[] {
  const { paper, totals, spending, thirty_papers: thirty, rubric = "original" } = reading;
  const colors = createColors(io.color);
  const columns = Math.min(io.columns, 100);
  const flow = (text: string, indent = "") => wrap(oneLine(text), columns - indent.length).map((line) => indent + line);
  const passage = (kept: StoredQuote) => passageLines(kept, { columns, color: io.color, indent: "      " });
  const scores = scoresOf({ rubric }, paper);
  // A hard space holds a name and its points together on one line.
  const points = (of: NonNullable<Scores["strategic"]>, names: readonly string[]) =>
    wrap(
      names.map((name) => `${ownName({ rubric }, name) ?? name} ${of[name]}`.replaceAll(/[_ ]/g, "\u00a0")).join(", "),
      columns - 2,
    ).map((line) => `  ${line.replaceAll("\u00a0", " ")}`);
  const dimensions = dimensionsOf({ rubric });
  const analysis = paper.analysis;
  // A retracted paper is decided without a reading.
  const wasRead = paper.read_depth != null || analysis != null;
  const part = (name: string, text: unknown) =>
    joinTexts(text) === "" ? [] : ["", colors.bold(name), ...flow(joinTexts(text), "  ")];
  const code = Array.isArray(analysis?.implementations_found) ? analysis.implementations_found.map(String) : [];
  const byline = [
    authorsOf(paper.authors).slice(0, 4).join(", ") + (authorsOf(paper.authors).length > 4 ? " and others" : ""),
    paper.date ?? "",
    nameOf(paper),
    fileNameOf(paper) ?? "",
  ].filter((text) => text !== "");
  const total =
    totals?.strategic === undefined
      ? `${totals?.combined ?? "?"}/${5 * dimensions.execution.length}`
      : `${totals.combined}/50 (execution ${totals.execution}/30, blue ocean ${totals.strategic}/20)`;
  const verdict = statusWords[paper.status];
  const missing = notRetrievedText(paper);
  const outcome = !wasRead
    ? missing === undefined
      ? `${verdict}, not read`
      : "not retrieved, not read"
    : scores === undefined
      ? `${verdict}, read: ${paper.read_depth ?? "?"}`
      : `${verdict} ${total}, read: ${paper.read_depth ?? "?"}`;
  return [
    ...flow(paper.title).map(colors.bold),
    ...flow(byline.join(" · ")),
    "",
    ...flow(outcome).map((line, index) => (index === 0 ? line.replace(verdict, colors.bold(verdict)) : line)),
    ...(scores === undefined ? [] : points(scores.execution, dimensions.execution)),
    ...(scores?.strategic === undefined ? [] : points(scores.strategic, dimensions.strategic)),
    ...[...(missing === undefined ? [] : [missing]), ...warningsOf(paper)].flatMap((warning) =>
      flow(`! ${warning}`).map(colors.yellow),
    ),
    ...eligibilityLines(paper, reading.criteria ?? [], flow, colors, passage),
    ...part("Summary", analysis?.summary),
    ...part("Method", analysis?.methodology),
    ...part("Results", analysis?.results),
    ...part("Limitations", analysis?.limitations),
    ...part("Code", code.join(" ")),
    ...(wasRead ? ["", colors.bold("Evidence")] : []),
    ...(analysis?.evidence ?? []).flatMap((evidence) =>
      evidenceLines(evidence, reading.checkers, flow, colors, passage),
    ),
    ...(reading.insights.length > 0
      ? [
          "",
          colors.bold(isIneligible(paper) ? "Insights, which don't count unless you include the paper" : "Insights"),
          ...reading.insights.flatMap((insight) =>
            flow(insight, "    ").map((line, index) => (index === 0 ? `  - ${line.trimStart()}` : line)),
          ),
        ]
      : []),
    ...part(paper.override === undefined ? "Why" : "Noted by the agent", paper.notes),
    ...foundLines(paper, names, flow, colors),
    ...(wasRead
      ? [
          "",
          `${areTokensKnown(spending) ? `${shortCount(spending.input)} tokens in, ${shortCount(spending.output)} out` : "tokens not known"} · ${unlabelledCost(spending)} · ${shortDuration(spending.seconds * 1000)}`,
          ...(isTrial
            ? [
                `Thirty papers like this one: about ${shortDuration(thirty.seconds * 1000)}, ${unlabelledCost({ ...spending, ...thirty })}`,
              ]
            : []),
        ]
      : []),
  ];
}

/** Who found the paper, why so high, and why records are one work with it or not. */
function foundLines(
  { id, source, found }: Paper,
  names: ReadonlyMap<string, string>,
  flow: (text: string, indent?: string) => string[],
  colors: ReturnType<typeof createColors>,
): string[] {
  if (found === undefined) return [];
  const own = { id, ...withoutUndefined({ source: source ?? found.sources[0] }) };
  const how = [`by ${found.sources.join(", ")}: ${found.why}`, ...mergeSentences(own, found, names)];
  return ["", colors.bold("Found"), ...how.flatMap((sentence) => flow(sentence, "  "))];
}

/** The answers to the eligibility criteria, what each reader and what a person decided; nothing where it is missing. */
export function eligibilityLines(
  {
    answers = [],
    readings = [],
    override,
    excluded_by: by,
    read_depth,
  }: Pick<Paper, "answers" | "readings" | "override" | "excluded_by" | "read_depth">,
  criteria: readonly Criterion[],
  flow: (text: string, indent?: string) => string[],
  colors: ReturnType<typeof createColors>,
  passage: (kept: StoredQuote) => string[],
): string[] {
  if (answers.length + readings.length === 0 && override === undefined) return [];
  const mark = { yes: colors.green("✓"), no: colors.red("✗"), unclear: colors.yellow("?") };
  const decidedText = ({ decision, why, criterion: id }: Override) => {
    const criterion = criteria.find((each) => each.id === id);
    return `A person decided: ${decision}. ${criterion === undefined ? why : withCriterion(why, criterion)}`;
  };
  const nameOf = (id: string) => {
    const criterion = criteria.find((each) => each.id === id);
    return criterion === undefined ? id : criterionText(criterion);
  };
  return [
    "",
    colors.bold("Eligibility"),
    ...(override === undefined ? [] : flow(decidedText(override), "  ")),
    ...answers.flatMap((answer) => {
      const { criterion, locator, said, reason } = answer;
      const place = locator ?? basisOf(answer, { read_depth });
      const why = reason === undefined ? "" : `; ${said === undefined ? "" : `the agent said ${said}. `}${reason}`;
      const [first = "", ...rest] = flow(`${nameOf(criterion)}: ${answer.answer}, ${place}${why}`, "    ");
      const notes = answer.answer === "unclear" ? [] : notesOfOldQuote(answer);
      return [
        ...[`  ${mark[answer.answer]} ${first.trimStart()}`, ...rest, ...passage(answer)],
        ...notes.flatMap((note) => flow(note, "      ").map(colors.yellow)),
      ];
    }),
    ...readings.flatMap(({ by: reader, role, decision, reason }) =>
      flow(`${reader} (${partText(role)}): ${decision}${reason === undefined ? "" : `. ${reason}`}`, "  "),
    ),
    ...(by == null || override !== undefined ? [] : flow(`Excluded by ${nameOf(by)}.`, "  ")),
  ];
}

function evidenceLines(
  evidence: Evidence,
  checkers: Checkers | undefined,
  flow: (text: string, indent?: string) => string[],
  colors: ReturnType<typeof createColors>,
  passage: (kept: StoredQuote) => string[],
): string[] {
  const marks = {
    verified: [colors.green("✓"), evidence.locator ?? ""],
    near: [colors.yellow("≈"), `near: ${evidence.reason ?? "a number differs"}`],
    "not-in-text": [colors.red("✗"), evidence.reason ?? "not in the text"],
    "could-not-check": [colors.yellow("?"), "could not be checked"],
  } as const;
  const [mark, where] = marks[evidence.status];
  const { meaning } = meaningField(evidence.check, checkers);
  const isSupported = meaning?.kind === "supported";
  const second = isSupported ? ` ✓✓ ${meaning.says}` : "";
  const [first = "", ...rest] = flow(`${evidence.claim}${where === "" ? "" : ` (${where})`}${second}`, "    ");
  // The mark is that of the quoted words; the claim about them is judged apart.
  const doubts = meaning === undefined || isSupported ? [] : [`the claim: ${meaning.says}`];
  const notes = [...doubts, ...notesOf(evidence)].flatMap((note) => flow(note, "      ").map(colors.yellow));
  return [`  ${mark} ${first.trimStart()}`, ...rest, ...passage(evidence), ...notes];
}
