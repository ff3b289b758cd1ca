import type { ReportFile } from "../../generated/report.js";
import type { StoredSentence } from "../statements.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** The agent's text of a report: from report.json, or from under the headings of an older report. */
export interface Narrative {
  /** `data`: from report.json; `headings`: from an older report, which names no quotes. */
  readonly from: "data" | "headings" | "nothing";
  readonly question?: string;
  readonly answer: readonly StoredSentence[];
  /** `was`: the id of an earlier finding, from before the last update, that this one continues. */
  readonly findings: readonly (StoredSentence & { readonly was?: string })[];
  readonly agreed: readonly StoredSentence[];
  readonly disputed: readonly { readonly text: string; readonly sides: readonly StoredSentence[] }[];
  readonly gaps: readonly StoredSentence[];
  readonly themes: readonly (StoredSentence & { readonly name: string; readonly insight_ids: readonly string[] })[];
  readonly comparison?: {
    readonly approaches: readonly string[];
    readonly rows: readonly { readonly aspect: string; readonly cells: readonly StoredSentence[] }[];
  };
  readonly recommendations: readonly (StoredSentence & { readonly priority: "high" | "medium" | "low" })[];
  /** The differences between two papers on the same outcome. Each sentence cites the two quotes. */
  readonly contrasts?: readonly StoredSentence[];
  readonly agent?: string;
  readonly writtenAt?: string;
}

/** The narrative of a project without a report. */
export const emptyNarrative: Narrative = {
  from: "nothing",
  answer: [],
  findings: [],
  agreed: [],
  disputed: [],
  gaps: [],
  themes: [],
  recommendations: [],
};

/** The narrative of report.json. */
export function narrativeOf(file: ReportFile): Narrative {
  const { question, answer, findings, agreed, disputed, gaps, themes, comparison, recommendations } = file;
  return {
    from: file.taken_from === undefined ? "data" : "headings",
    question,
    answer,
    findings,
    agreed,
    disputed,
    gaps,
    themes,
    recommendations,
    ...(comparison == null ? {} : { comparison }),
    ...withoutUndefined({ contrasts: file.side_by_side, agent: file.agent }),
    // An imported report has no date of writing, only the date of the import.
    ...(file.taken_from === undefined ? { writtenAt: file.written_at } : {}),
  };
}

/**
 * The narrative of a research-report.md without report.json: the agent's text under its headings. Undefined if no known
 * heading is found.
 */
export function narrativeFromHeadings(markdown: string, knownPapers: ReadonlySet<string>): Narrative | undefined {
  const sections = sectionsOf(markdown);
  const textUnder = (...names: string[]) =>
    names.map((name) => sections.get(name) ?? "").find((content) => content !== "") ?? "";
  const answer = sentencesOf(textUnder("executive summary", "in short", "summary"), maxAnswerSentences).map(
    (sentence) => ({ text: sentence }),
  );
  const sentencesUnder = (...names: string[]) =>
    bulletsOf(textUnder(...names)).map((bullet) => sentenceWithSources(bullet, knownPapers));
  const findings = sentencesUnder("key findings", "findings");
  const recommendations = (["high", "medium", "low"] as const).flatMap((priority) =>
    sentencesUnder(`${priority} priority`).map((each) => ({ ...each, priority })),
  );
  const agent = /^\*\*Agent:\*\* (?:Research-Ralph \((.+)\)|(.+))$/m.exec(markdown);
  const name = agent?.[1] ?? agent?.[2];
  if (answer.length + findings.length + recommendations.length === 0) return undefined;
  return {
    from: "headings",
    answer,
    findings,
    recommendations,
    agreed: [],
    disputed: [],
    gaps: [],
    themes: [],
    ...(name === undefined ? {} : { agent: name.trim() }),
  };
}

const maxAnswerSentences = 3;
const maxBullets = 30;

/**
 * The text under each heading of the second or third level, by the heading in lower case. If a heading occurs twice,
 * the first counts.
 */
function sectionsOf(markdown: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  let name: string | undefined;
  for (const line of markdown.split(/\r?\n/)) {
    const heading = /^#{2,3} (.+)$/.exec(line)?.[1];
    if (heading !== undefined) {
      name = heading.trim().toLowerCase();
      if (sections.has(name)) name = undefined;
      else sections.set(name, "");
    } else if (name !== undefined && line.trim() !== "---") sections.set(name, `${sections.get(name)}${line}\n`);
  }
  return sections;
}

const bulletsOf = (text: string): string[] =>
  text
    .split("\n")
    .flatMap((line) => /^(?:[-*]|\d{1,3}\.) (.+)$/.exec(line)?.[1]?.trim() ?? [])
    .slice(0, maxBullets);

/** The first sentences of a text. A full stop in a number or after a single letter does not end a sentence. */
function sentencesOf(text: string, maxSentences: number): string[] {
  const onOneLine = text.replace(/\s+/g, " ").trim();
  if (onOneLine === "") return [];
  return onOneLine
    .split(/(?<=[^\s.]{2}[.!?])\s+(?=\p{Lu}|\d)/u)
    .slice(0, maxSentences)
    .map((sentence) => sentence.trim());
}

/** A bullet such as "… (sample_01, quote 3 ✓; sample_02)" as a sentence with its handles and papers. */
function sentenceWithSources(bullet: string, knownPapers: ReadonlySet<string>): StoredSentence {
  const match = /^(.*\S) ?\(([^()]+)\)\.?$/s.exec(bullet);
  const [, text = bullet, inside = ""] = match ?? [];
  const handles: string[] = [];
  const papers: string[] = [];
  for (const part of inside.split(/[;,]\s+/)) {
    const quote = /^quote (\d+)/.exec(part)?.[1];
    const last = papers.at(-1);
    if (quote !== undefined && last !== undefined) handles.push(`${papers.pop()}#${quote}`);
    else if (knownPapers.has(part.trim())) papers.push(part.trim());
  }
  return handles.length + papers.length === 0 ? { text: bullet } : { text, rests_on: handles, papers };
}
