import type { ReportFile } from "../../generated/report.js";
import type { SaidSentence } from "../statements.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** What an agent said of the whole: from report.json, or the words under the headings of an older report. */
export interface Narrative {
  /** `data`: report.json of an agent's result; `headings`: the words of an older report, which names no quotes. */
  readonly from: "data" | "headings" | "nothing";
  readonly question?: string;
  readonly answer: readonly SaidSentence[];
  /** `was`: id of the finding before the last update that it continues. */
  readonly findings: readonly (SaidSentence & { readonly was?: string })[];
  readonly agreed: readonly SaidSentence[];
  readonly disputed: readonly { readonly text: string; readonly sides: readonly SaidSentence[] }[];
  readonly gaps: readonly SaidSentence[];
  readonly themes: readonly (SaidSentence & { readonly name: string; readonly insight_ids: readonly string[] })[];
  readonly comparison?: {
    readonly approaches: readonly string[];
    readonly rows: readonly { readonly aspect: string; readonly cells: readonly SaidSentence[] }[];
  };
  readonly recommendations: readonly (SaidSentence & { readonly priority: "high" | "medium" | "low" })[];
  /** What differs between two papers whose quotes on one outcome stand side by side; each rests on these two. */
  readonly contrasts?: readonly SaidSentence[];
  readonly agent?: string;
  readonly writtenAt?: string;
}

/** Of a project whose report is not written yet. */
export const narrativeOfNothing: Narrative = {
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
    // When the words of an older report were taken over says nothing of when they were written.
    ...(file.taken_from === undefined ? { writtenAt: file.written_at } : {}),
  };
}

/**
 * The narrative of a research-report.md that was written before report.json was: the words under its headings, as far
 * as they are the agent's. Undefined where no heading is known.
 */
export function narrativeOfHeadings(markdown: string, knownPapers: ReadonlySet<string>): Narrative | undefined {
  const sections = sectionsOf(markdown);
  const text = (...names: string[]) => names.map((name) => sections.get(name) ?? "").find((each) => each !== "") ?? "";
  const answer = sentencesOf(text("executive summary", "in short", "summary"), maxAnswer).map((each) => ({
    text: each,
  }));
  const said = (...names: string[]) => bulletsOf(text(...names)).map((each) => sourced(each, knownPapers));
  const findings = said("key findings", "findings");
  const recommendations = (["high", "medium", "low"] as const).flatMap((priority) =>
    said(`${priority} priority`).map((each) => ({ ...each, priority })),
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

const maxAnswer = 3;
const maxBullets = 30;

/** Text by heading of the second or third level, lower-case. The first of a name counts. */
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

/** Sentences of a text; a point within a number or an abbreviation of one letter ends none. */
function sentencesOf(text: string, most: number): string[] {
  const plain = text.replace(/\s+/g, " ").trim();
  if (plain === "") return [];
  return plain
    .split(/(?<=[^\s.]{2}[.!?])\s+(?=\p{Lu}|\d)/u)
    .slice(0, most)
    .map((sentence) => sentence.trim());
}

/** "… (sample_01, quote 3 ✓; sample_02)" as a sentence with its handles and papers. */
function sourced(bullet: string, known: ReadonlySet<string>): SaidSentence {
  const match = /^(.*\S) ?\(([^()]+)\)\.?$/s.exec(bullet);
  const [, text = bullet, inside = ""] = match ?? [];
  const handles: string[] = [];
  const papers: string[] = [];
  for (const part of inside.split(/[;,]\s+/)) {
    const quote = /^quote (\d+)/.exec(part)?.[1];
    const last = papers.at(-1);
    if (quote !== undefined && last !== undefined) handles.push(`${papers.pop()}#${quote}`);
    else if (known.has(part.trim())) papers.push(part.trim());
  }
  return handles.length + papers.length === 0 ? { text: bullet } : { text, rests_on: handles, papers };
}
