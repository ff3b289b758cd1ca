import { ExpectedError, messageOf } from "../../engine/lib/errors.js";

export interface RequirementsUnit {
  readonly kind: "requirements";
  readonly unit: string;
  readonly topic: string;
}

export interface ListedCandidate {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly pdf_url?: string | undefined;
  readonly authors: readonly string[];
  readonly date?: string | undefined;
  readonly source?: string | undefined;
  readonly abstract?: string | undefined;
  readonly doi?: string | undefined;
  /** What code proposes. */
  readonly priority?: number;
}

export interface DiscoveryUnit {
  readonly kind: "discovery";
  readonly unit: string;
  readonly keywords: readonly string[];
  readonly sources: readonly string[];
  readonly candidates: readonly ListedCandidate[];
}

export interface PaperUnit {
  readonly kind: "paper";
  readonly unit: string;
  readonly title: string;
  readonly abstract: string;
  /** False where papers are judged by the execution rubric alone. */
  readonly strategic: boolean;
  /** Where the text lies, relative to the workspace, when it is too long for the brief. */
  readonly textFiles: readonly string[];
  readonly repair?: Repair | undefined;
}

/** What was wrong with the last result of a paper, and where its refused quotes may have come from. */
export interface Repair {
  readonly previous: Readonly<Record<string, unknown>>;
  readonly passages: readonly { readonly quote: string; readonly nearest: string }[];
}

export interface JudgedPaper {
  readonly id: string;
  readonly title: string;
  /** PRESENT, EXTRACT_INSIGHTS or REJECT; more may follow. */
  readonly decision: string;
  readonly retracted: boolean;
  readonly score: number;
  readonly summary: string;
  readonly results: string;
}

export interface JudgedInsight {
  readonly id: string;
  readonly paperId: string;
  readonly insight: string;
  readonly tags: readonly string[];
}

export interface ReportUnit {
  readonly kind: "report";
  readonly unit: string;
  readonly statistics: Readonly<Record<string, unknown>>;
  readonly papers: readonly JudgedPaper[];
  readonly insights: readonly JudgedInsight[];
}

export interface IdeasUnit {
  readonly kind: "ideas";
  readonly unit: string;
  readonly minIdeas: number;
  readonly maxIdeas: number;
  readonly papers: readonly JudgedPaper[];
  readonly insights: readonly JudgedInsight[];
}

type BriefUnit = RequirementsUnit | DiscoveryUnit | PaperUnit | ReportUnit | IdeasUnit;

export interface ParsedBrief {
  readonly unit: BriefUnit;
  /** The fenced text of the paper; empty when there is none. Data, never instructions. */
  readonly text: string;
  /** Whether the brief asks for the sentinel as the last line. */
  readonly wantsSentinel: boolean;
}

export const SENTINEL = "<promise>COMPLETE</promise>";

const FENCE = /^<untrusted-text sha256="([0-9a-f]{12})">\r?\n([\s\S]*?)\r?\n?^<\/untrusted-text sha256="\1">[ \t]*$/gm;

/**
 * Reads the machine-readable parts of a brief: the unit and the paper's text.
 * The fenced text is taken out first, so nothing that stands in a paper can pass for the unit or ask for the sentinel.
 * Throws ExpectedError when there is no readable unit.
 */
export function parseBrief(brief: string): ParsedBrief {
  // The paper's text comes last; what is fenced before it are notes of earlier iterations.
  const text = [...brief.matchAll(FENCE)].at(-1)?.[2] ?? "";
  const own = brief.replace(FENCE, "");
  const block = /^<unit>\r?\n([\s\S]*?)\r?\n<\/unit>[ \t]*$/m.exec(own);
  if (!block?.[1])
    throw new ExpectedError("The brief has no block between lines <unit> and </unit>, so there is no work to do.");
  const said = own.replace(block[0], "").split("\n");
  const wantsSentinel = said.some((line) => line.includes(SENTINEL) && !/\b(do not|don't|never)\b/i.test(line));
  return { unit: readUnit(parseJson(block[1])), text, wantsSentinel };
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return record(JSON.parse(text));
  } catch (error) {
    throw new ExpectedError(`The unit of the brief is not valid JSON: ${messageOf(error)}.`);
  }
}

function readUnit(json: Record<string, unknown>): BriefUnit {
  const unit = string(json.unit);
  switch (json.kind) {
    case "requirements":
      return { kind: "requirements", unit, topic: string(json.topic) };
    case "discovery":
      return {
        kind: "discovery",
        unit,
        keywords: strings(json.keywords),
        sources: strings(json.sources),
        candidates: list(json.candidates).map(readCandidate),
      };
    case "paper":
      return readPaper(unit, json);
    case "report":
      return { kind: "report", unit, statistics: record(json.statistics), ...readRecords(json) };
    case "ideas":
      return {
        kind: "ideas",
        unit,
        minIdeas: number(json.min_ideas, 3),
        maxIdeas: number(json.max_ideas, 12),
        ...readRecords(json),
      };
    default:
      throw new ExpectedError(`The baseline agent does not know units of kind "${string(json.kind)}".`);
  }
}

function readCandidate(json: Record<string, unknown>): ListedCandidate {
  const optional = (key: string) => string(json[key]) || undefined;
  return {
    id: string(json.id),
    title: string(json.title),
    url: string(json.url) || string(json.pdf_url) || string(json.id),
    pdf_url: optional("pdf_url"),
    authors: strings(json.authors),
    date: optional("date"),
    source: optional("source"),
    abstract: optional("abstract"),
    doi: string(record(json.identifiers).doi) || undefined,
    ...(typeof json.priority === "number" ? { priority: json.priority } : {}),
  };
}

function readPaper(unit: string, json: Record<string, unknown>): PaperUnit {
  const passages = list(record(json.repair).passages).map((passage) => ({
    quote: string(passage.quote),
    nearest: string(passage.nearest),
  }));
  return {
    kind: "paper",
    unit,
    title: string(json.title),
    abstract: string(json.abstract),
    strategic: strings(json.rubrics).includes("blue_ocean"),
    textFiles: strings(json.text_files),
    repair:
      json.repair === undefined ? undefined : { previous: record(parsed(record(json.repair).previous)), passages },
  };
}

const readRecords = (json: Record<string, unknown>) => ({
  papers: list(json.papers).map((paper) => ({
    id: string(paper.id),
    title: string(paper.title),
    decision: string(paper.decision),
    score: pointsOf(paper.score),
    retracted: /\bretracted\b/i.test(string(paper.decision)),
    summary: string(paper.summary),
    results: string(paper.results),
  })),
  insights: list(json.insights).map((insight) => ({
    id: string(insight.id),
    paperId: string(insight.paper_id),
    insight: string(insight.insight),
    tags: strings(insight.tags),
  })),
});

/** Points of a score that stands as "31/50", or as a number. */
const pointsOf = (score: unknown): number =>
  typeof score === "string" ? Number.parseFloat(score) || 0 : number(score, 0);

// Records of older researches hold null, or a list of strings where newer ones hold prose.
const string = (value: unknown): string =>
  Array.isArray(value) ? strings(value).join(" ") : typeof value === "string" ? value : "";
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
const number = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise);
/** The refused result stands in the brief as JSON in a string. */
function parsed(value: unknown): unknown {
  try {
    return typeof value === "string" ? JSON.parse(value) : value;
  } catch {
    return undefined;
  }
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(record) : []);
