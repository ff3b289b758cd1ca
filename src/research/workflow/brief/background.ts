import { join } from "node:path";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { clip, estimateTokens, fit } from "../../../engine/lib/tokens.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { isDecided } from "../decisions/status.js";
import { waitingEdit } from "../../folder/approval.js";
import { lessonsName } from "../../folder/layout.js";

/** What the project is about: requirements, mission and glossary. Bounded. */
export function aboutResearch(rrd: Rrd): string {
  const { requirements, mission } = rrd;
  const lines = [
    `Project: ${clip(rrd.project, 40)}`,
    rrd.description ? `Sought: ${clip(rrd.description, 220)}` : "",
    requirements.focus_area ? `Field: ${clip(requirements.focus_area, 30)}` : "",
    requirements.keywords ? `Keywords: ${clip(requirements.keywords.join("; "), 120)}` : "",
    requirements.time_window_days ? `Recent means: the last ${requirements.time_window_days} days` : "",
    requirements.historical_lookback_days
      ? `Older work counts back to: ${requirements.historical_lookback_days} days`
      : "",
    requirements.published_from || requirements.published_until
      ? `Published: ${requirements.published_from ?? "any time"} to ${requirements.published_until ?? "today"}`
      : "",
    mission?.strategic_focus && mission.strategic_focus !== "balanced"
      ? `Strategic focus: ${mission.strategic_focus}`
      : "",
    ...openQuestions(rrd),
  ].filter((line) => line !== "");
  const terms = rrd.domain_glossary?.enabled === true ? Object.entries(rrd.domain_glossary.terms ?? {}) : [];
  const glossary = fit(terms, 250, ([term, meaning]) => `- ${term}: ${meaning}`).lines;
  return [...lines, ...(glossary.length > 0 ? ["Terms:", ...glossary] : [])].join("\n");
}

function openQuestions(rrd: Rrd): string[] {
  const questions = (rrd.open_questions ?? []).filter((question) => typeof question !== "string");
  return fit(
    questions,
    150,
    (question) => `Assumed: ${question.question} ${String(question.current_default ?? "open")}`,
  ).lines;
}

/**
 * At most `tokens` tokens of AGENTS.md as far as a person has agreed to it, whole sections first come; what was left out is named. Empty
 * where there is none.
 */
export async function agentsFile(root: string, stateDir: string, tokens: number): Promise<string> {
  const path = join(root, lessonsName);
  const waiting = await waitingEdit(stateDir, path);
  const text = waiting === undefined ? await readRegularText(path).catch(() => "") : (waiting.before ?? "");
  const sections = text.split(/^(?=#{1,3} )/m).filter((section) => section.trim() !== "");
  const kept: string[] = [];
  const left: string[] = [];
  if (tokens < 120) return "";
  let room = tokens - 60;
  for (const section of sections) {
    const size = estimateTokens(section);
    const title = /^#+ (.+)/.exec(section)?.[1] ?? "its beginning";
    if (size <= room) {
      kept.push(section.trim());
      room -= size;
    } else if (kept.length === 0) {
      kept.push(clip(section, room));
      room = 0;
      left.push(`the rest of "${clip(title, 10)}"`);
    } else {
      left.push(`"${clip(title, 10)}"`);
    }
  }
  if (left.length > 0) kept.push(clip(`(Left out of AGENTS.md for length: ${left.join(", ")}.)`, 60));
  return kept.join("\n\n");
}

/** Decided papers and insights that share most words with `paper`, a line each, so that an agent can connect them. Bounded. */
export function related(rrd: Rrd, paper: Paper, tokens: number): string[] {
  const about = words(`${paper.title} ${paper.abstract ?? ""}`);
  const rank = <Item>(items: readonly Item[], textOf: (item: Item) => string): Item[] =>
    items
      .map((item) => ({ item, score: overlap(about, words(textOf(item))) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 12)
      .map(({ item }) => item);
  const papers = rank(
    rrd.papers_pool.filter((other) => isDecided(other) && other.id !== paper.id),
    (other) => other.title,
  );
  const insights = rank(rrd.insights ?? [], (insight) => insight.insight);
  const half = Math.floor(tokens / 2);
  return [
    ...fit(papers, half, (other) => `- ${other.id}: ${clip(other.title, 30)}`).lines,
    ...fit(
      insights,
      half,
      (insight) => `- ${insight.id ?? "insight"} (${insight.paper_id ?? "several"}): ${clip(insight.insight, 50)}`,
    ).lines,
  ];
}

const words = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu));

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of b) if (a.has(word)) shared += 1;
  return shared / Math.sqrt(b.size + 1);
}
