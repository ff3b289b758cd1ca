import { ExpectedError, messageOf } from "../../engine/lib/errors.js";

/** A candidate in a screening batch. */
export interface Candidate {
  readonly id: string;
  readonly title: string;
  readonly date?: string | null;
  readonly source?: string;
  readonly abstract?: string | null;
  /** The priority that the code proposes. */
  readonly priority?: number;
}

/** A paper's record. In older projects, text fields can be null or a list of strings. */
export interface JudgedPaper {
  readonly id: string;
  readonly title: string;
  /** Starts with PRESENT, EXTRACT_INSIGHTS or REJECT. */
  readonly decision: string;
  /** The points, such as "31/50" or a number. */
  readonly score?: string | number | null;
  readonly summary?: unknown;
  readonly results?: unknown;
}

/** A quote of a paper in the report. Statements refer to it by its handle. */
export interface ShownQuote {
  readonly handle: string;
  /** The paper's sentence, with the quoted words between “ and ”. */
  readonly passage: string;
  /** The position, such as "§ 3 Results". */
  readonly where?: string;
  /** Absent if the quote was found in the text. */
  readonly status?: string;
}

/** A paper for the report. */
export interface ReportedPaper extends JudgedPaper {
  readonly quotes?: readonly ShownQuote[];
}

/** Related insights; the agent of the report names the group. */
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

/** The machine-readable part of a brief. It has only the fields of its kind of unit. */
export interface BriefUnit {
  readonly kind: string;
  readonly unit: string;
  /** Only for `requirements`. */
  readonly topic?: string;
  /** Only for `discovery`. */
  readonly keywords?: readonly string[];
  readonly sources?: readonly string[];
  readonly candidates?: readonly Candidate[];
  /** Only for `paper`. */
  readonly title?: string;
  readonly abstract?: string;
  readonly rubrics?: readonly string[];
  /** Files with the paper's text, relative to the workspace, if it is too long for the brief. */
  readonly text_files?: readonly string[];
  /** The refused result as JSON, and passages that its refused quotes may come from. */
  readonly repair?: { readonly previous?: unknown; readonly passages?: readonly { quote: string; nearest: string }[] };
  /** Only for `report`: the research question in the user's words. */
  readonly asked?: string;
  readonly groups?: readonly InsightGroup[];
  /** Only in an update: the findings of the previous report, shortened. */
  readonly former_findings?: { readonly list: readonly { readonly id: string; readonly text: string }[] };
  /** For `report` and `ideas`; only in a report do papers have quotes. */
  readonly papers?: readonly ReportedPaper[];
  /** Only for `question`: the question, and the weight of each distinctive word. Rare words have more weight. */
  readonly question?: string;
  readonly weights?: Readonly<Record<string, number>>;
  /** Only for `ideas`. */
  readonly insights?: readonly JudgedInsight[];
  readonly min_ideas?: number;
  readonly max_ideas?: number;
}

/** An eligibility criterion in the brief. */
export interface BriefCriterion {
  readonly id: string;
  readonly text: string;
}

/** A field of the extraction form in the brief. */
export interface BriefField {
  readonly id: string;
  /** The type of the value in the brief's words: 'number, the figure alone', 'one of "a", "b"'. */
  readonly kind: string;
  readonly name: string;
}

/** A dimension of a rubric that needs points, with its description. */
export interface BriefDimension {
  readonly id: string;
  readonly words: string;
}

export interface ParsedBrief {
  readonly unit: BriefUnit;
  readonly criteria: readonly BriefCriterion[];
  readonly fields: readonly BriefField[];
  /** The dimensions of the user's rubric. */
  readonly dimensions: readonly BriefDimension[];
  /** The fenced text of the paper; empty if it is missing. It is data, never instructions. */
  readonly text: string;
  /** Whether the brief asks for the sentinel as the last line. */
  readonly wantsSentinel: boolean;
}

export const sentinel = "<promise>COMPLETE</promise>";

const fencePattern =
  /^<untrusted-text sha256="([0-9a-f]{12})">\r?\n([\s\S]*?)\r?\n?^<\/untrusted-text sha256="\1">[ \t]*$/gm;

/**
 * Parses a brief. The fenced text is removed first, so that text in a paper can't imitate the unit or ask for the
 * sentinel.
 * @throws ExpectedError if the brief has no readable unit.
 */
export function parseBrief(brief: string): ParsedBrief {
  // The paper's text is the last fenced text; earlier ones are notes of earlier iterations.
  const text = [...brief.matchAll(fencePattern)].at(-1)?.[2] ?? "";
  const briefWithoutFences = brief.replace(fencePattern, "");
  const block = /^<unit>\r?\n([\s\S]*?)\r?\n<\/unit>[ \t]*$/m.exec(briefWithoutFences);
  if (!block?.[1])
    throw new ExpectedError("The brief has no block between lines <unit> and </unit>, so there is no work to do.");
  const otherLines = briefWithoutFences.replace(block[0], "").split("\n");
  const wantsSentinel = otherLines.some((line) => line.includes(sentinel) && !/\b(do not|don't|never)\b/i.test(line));
  try {
    return {
      unit: JSON.parse(block[1]) as BriefUnit,
      criteria: parseCriteria(briefWithoutFences),
      fields: parseFields(briefWithoutFences),
      dimensions: parseDimensions(briefWithoutFences),
      text,
      wantsSentinel,
    };
  } catch (error) {
    throw new ExpectedError(`The unit of the brief is not valid JSON: ${messageOf(error)}.`);
  }
}

/** The criteria in the brief, one per line: "- c1 (include): randomised trials". */
function parseCriteria(brief: string): BriefCriterion[] {
  return [...sectionOf(brief, "Eligibility criteria").matchAll(/^- ([\w-]+) \((?:include|exclude)\): (.+)$/gm)].map(
    ([, id = "", text = ""]) => ({ id, text }),
  );
}

/** The fields in the brief, one per line: "- dose (number, the figure alone, in mg): dose". */
const parseFields = (brief: string): BriefField[] =>
  [...sectionOf(brief, "Fields to extract").matchAll(/^- ([\w-]+) \((.+?)\): ([^:\n]+)(?::.*)?$/gm)].map(
    ([, id = "", kind = "", name = ""]) => ({ id, kind, name }),
  );

/** The dimensions in the brief, one per line: "- rigour: rigour (0: none, 5: randomised)". */
const parseDimensions = (brief: string): BriefDimension[] =>
  [...sectionOf(brief, "Rubric").matchAll(/^- ([\w-]+): (.+)$/gm)].map(([, id = "", words = ""]) => ({ id, words }));

const sectionOf = (brief: string, title: string): string =>
  new RegExp(`^# ${title}\\n([\\s\\S]*?)(?=^# |$(?![\\s\\S]))`, "m").exec(brief)?.[1] ?? "";

/** The text of a record's field, which may be a list. */
export const proseOf = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join(" ") : typeof value === "string" ? value : "";
