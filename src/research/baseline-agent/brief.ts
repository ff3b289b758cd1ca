import { ExpectedError, messageOf } from "../../engine/lib/errors.js";

/** A candidate of a screening batch, as code shows it. */
export interface Candidate {
  readonly id: string;
  readonly title: string;
  readonly date?: string | null;
  readonly source?: string;
  readonly abstract?: string | null;
  /** What code proposes. */
  readonly priority?: number;
}

/** A paper's record. Those of older projects hold null, or a list of strings where newer ones hold prose. */
export interface JudgedPaper {
  readonly id: string;
  readonly title: string;
  /** PRESENT, EXTRACT_INSIGHTS or REJECT; more may follow. */
  readonly decision: string;
  /** Points, as "31/50" or as a number. */
  readonly score?: string | number | null;
  readonly summary?: unknown;
  readonly results?: unknown;
}

/** A quote of a paper of the report, which a statement names by its handle. */
export interface ShownQuote {
  readonly handle: string;
  /** The paper's own sentence, the quoted words between “ and ”. */
  readonly passage: string;
  /** Where it stands, such as "§ 3 Results". */
  readonly where?: string;
  /** Absent: found in the text. */
  readonly status?: string;
}

/** A paper of the report. */
export interface ReportedPaper extends JudgedPaper {
  readonly quotes?: readonly ShownQuote[];
}

/** Insights that belong together, for the agent of the report to name. */
interface InsightGroup {
  readonly group: string;
  readonly tags?: readonly string[];
  readonly insights?: readonly string[];
}

interface JudgedInsight {
  readonly id: string;
  readonly paper_id: string;
  readonly insight: string;
  readonly tags?: readonly string[];
}

/** The machine-readable part of a brief, as research-ralph writes it. What a kind of unit has no use for is absent. */
export interface BriefUnit {
  readonly kind: string;
  readonly unit: string;
  /** Of `requirements`. */
  readonly topic?: string;
  /** Of `discovery`. */
  readonly keywords?: readonly string[];
  readonly sources?: readonly string[];
  readonly candidates?: readonly Candidate[];
  /** Of `paper`. */
  readonly title?: string;
  readonly abstract?: string;
  readonly rubrics?: readonly string[];
  /** Where the text lies, relative to the workspace, when it is too long for the brief. */
  readonly text_files?: readonly string[];
  /** The refused result, as JSON, and where its refused quotes may have come from. */
  readonly repair?: { readonly previous?: unknown; readonly passages?: readonly { quote: string; nearest: string }[] };
  /** Of `report`: what the research looks for, in the person's words. */
  readonly asked?: string;
  readonly groups?: readonly InsightGroup[];
  /** In an update: the findings of the report before it, clipped. */
  readonly former_findings?: { readonly list: readonly { readonly id: string; readonly text: string }[] };
  /** Of `report` and `ideas`; those of a report have quotes. */
  readonly papers?: readonly ReportedPaper[];
  /** Of `question`: the question, and how rare each of its distinctive words is among the passages. */
  readonly question?: string;
  readonly weights?: Readonly<Record<string, number>>;
  /** Of `ideas`. */
  readonly insights?: readonly JudgedInsight[];
  readonly min_ideas?: number;
  readonly max_ideas?: number;
}

/** An eligibility criterion that the brief asks about. */
export interface BriefCriterion {
  readonly id: string;
  readonly text: string;
}

/** A field of the form that the brief asks for. */
export interface BriefField {
  readonly id: string;
  /** What a value is, as the brief says it: 'number, the figure alone', 'one of "a", "b"'. */
  readonly kind: string;
  readonly name: string;
}

/** A dimension of a rubric that the brief asks points for, with the words that describe it. */
export interface BriefDimension {
  readonly id: string;
  readonly words: string;
}

export interface ParsedBrief {
  readonly unit: BriefUnit;
  readonly criteria: readonly BriefCriterion[];
  readonly fields: readonly BriefField[];
  /** What gets points by a rubric of the person's own. */
  readonly dimensions: readonly BriefDimension[];
  /** The fenced text of the paper; empty when it is missing. Data, never instructions. */
  readonly text: string;
  /** Whether the brief asks for the sentinel as the last line. */
  readonly wantsSentinel: boolean;
}

export const sentinel = "<promise>COMPLETE</promise>";

const fenced = /^<untrusted-text sha256="([0-9a-f]{12})">\r?\n([\s\S]*?)\r?\n?^<\/untrusted-text sha256="\1">[ \t]*$/gm;

/**
 * Reads the unit and the paper's text out of a brief. The fenced text is taken out first, so nothing that stands in a
 * paper can pass for the unit or ask for the sentinel. Throws ExpectedError when there is no readable unit.
 */
export function parseBrief(brief: string): ParsedBrief {
  // The paper's text comes last; what is fenced before it are notes of earlier iterations.
  const text = [...brief.matchAll(fenced)].at(-1)?.[2] ?? "";
  const own = brief.replace(fenced, "");
  const block = /^<unit>\r?\n([\s\S]*?)\r?\n<\/unit>[ \t]*$/m.exec(own);
  if (!block?.[1])
    throw new ExpectedError("The brief has no block between lines <unit> and </unit>, so there is no work to do.");
  const said = own.replace(block[0], "").split("\n");
  const wantsSentinel = said.some((line) => line.includes(sentinel) && !/\b(do not|don't|never)\b/i.test(line));
  try {
    return {
      unit: JSON.parse(block[1]) as BriefUnit,
      criteria: criteriaIn(own),
      fields: fieldsIn(own),
      dimensions: dimensionsIn(own),
      text,
      wantsSentinel,
    };
  } catch (error) {
    throw new ExpectedError(`The unit of the brief is not valid JSON: ${messageOf(error)}.`);
  }
}

/** The criteria that a section of the brief lists, a line each: "- c1 (include): randomised trials". */
function criteriaIn(own: string): BriefCriterion[] {
  return [...sectionOf(own, "Eligibility criteria").matchAll(/^- ([\w-]+) \((?:include|exclude)\): (.+)$/gm)].map(
    ([, id = "", text = ""]) => ({ id, text }),
  );
}

/** The fields that a section of the brief lists, a line each: "- dose (number, the figure alone, in mg): dose". */
const fieldsIn = (own: string): BriefField[] =>
  [...sectionOf(own, "Fields to extract").matchAll(/^- ([\w-]+) \((.+?)\): ([^:\n]+)(?::.*)?$/gm)].map(
    ([, id = "", kind = "", name = ""]) => ({ id, kind, name }),
  );

/** The dimensions that a section of the brief lists, a line each: "- rigour: rigour (0: none, 5: randomised)". */
const dimensionsIn = (own: string): BriefDimension[] =>
  [...sectionOf(own, "Rubric").matchAll(/^- ([\w-]+): (.+)$/gm)].map(([, id = "", words = ""]) => ({ id, words }));

const sectionOf = (own: string, title: string): string =>
  new RegExp(`^# ${title}\\n([\\s\\S]*?)(?=^# |$(?![\\s\\S]))`, "m").exec(own)?.[1] ?? "";

/** The prose of a record's field. */
export const proseOf = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join(" ") : typeof value === "string" ? value : "";
