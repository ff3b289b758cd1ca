import type { DiscoveryResult } from "../generated/result-discovery.js";
import type { RequirementsResult } from "../generated/result-requirements.js";
import type { ListedCandidate, DiscoveryUnit, RequirementsUnit } from "./brief.js";
import { clip, contentWords, phrases, stem, stemsOf, titleCase } from "./words.js";
import { given } from "../../engine/lib/given.js";

type Found = DiscoveryResult["papers"][number];

const PADDING = ["methods", "evaluation", "benchmark", "dataset", "survey"];

/** Name, description and five to eight keywords, made of the topic's own words. */
export function deriveRequirements({ unit, topic }: RequirementsUnit): RequirementsResult {
  const runs = phrases(topic);
  const words = [...new Set(contentWords(topic))].map((word) => word.slice(0, 30));
  const main = clip(
    (runs.toSorted((a, b) => b.length - a.length)[0] ?? [topic.trim() || "research"]).slice(0, 3).join(" "),
    60,
  );
  const pairs = runs.flatMap((run) => run.slice(1).map((word, index) => `${run[index]} ${word}`));
  const keywords = new Set([...pairs.slice(0, 5), ...words].map((keyword) => clip(keyword, 80)).slice(0, 8));
  for (const padding of PADDING) if (keywords.size < 5) keywords.add(`${main} ${padding}`);
  const named = words.length > 0 ? words.slice(0, 6) : main.split(" ").slice(0, 4);
  return {
    unit,
    name: clip(titleCase([...named, "Literature", "Research"].slice(0, Math.max(3, named.length))), 120),
    description: clip(
      `Literature research on: ${topic}. Derived from the words of the topic by the baseline agent, without a model.`,
      1500,
    ),
    focus_area: clip(main, 120),
    keywords: [...keywords],
    // How fast a field ages can't be read off a topic's words, so the window is wide.
    time_window_days: 1095,
    historical_lookback_days: 3650,
  };
}

/** Keeps the candidates that share words with the keywords. Without candidates every source failed: this agent can't search. */
export function sortCandidates(unit: DiscoveryUnit): DiscoveryResult {
  // Each stem with the word that brought it, which is what a reason shows.
  const wanted = new Map(contentWords(unit.keywords.join(" ")).map((word) => [stem(word), word]));
  const newest = Math.max(...unit.candidates.map(yearOf).filter((year) => !Number.isNaN(year)));
  const judged = unit.candidates.map((candidate) => ({ candidate, judgement: judge(candidate, wanted, newest) }));
  return {
    unit: unit.unit,
    papers: judged.flatMap(({ candidate, judgement }) =>
      "priority" in judgement ? [found(candidate, judgement)] : [],
    ),
    dropped: judged.flatMap(({ candidate, judgement }) =>
      "priority" in judgement ? [] : [{ id: candidate.id, reason: judgement.reason }],
    ),
    sources: sourcesOf(unit),
  };
}

function judge(
  candidate: ListedCandidate,
  wanted: ReadonlyMap<string, string>,
  newest: number,
): { reason: string; priority: number } | { reason: string } {
  const stems = stemsOf(`${candidate.title} ${candidate.abstract ?? ""}`);
  const shared = [...wanted].filter(([key]) => stems.has(key)).map(([, word]) => word);
  if (wanted.size === 0) return { priority: 3, reason: "No keywords to compare with." };
  // A file that could not be read shows no more than its name; reading it later decides.
  if (candidate.abstract === undefined && contentWords(candidate.title).length < 4 && shared.length < 2) {
    return { priority: 1, reason: "It has no abstract and hardly a title to judge by, so only reading can decide." };
  }
  if (shared.length < Math.min(2, wanted.size))
    return { reason: clip(`It shares ${shared.length} of the keywords' ${wanted.size} words.`, 300) };
  const recent = yearOf(candidate) >= newest - 1;
  const priority = Math.min(5, 1 + Math.round((3 * shared.length) / wanted.size) + (recent ? 1 : 0));
  const stated = `It shares ${shared.length} of the keywords' ${wanted.size} words (${shared.join(", ")})${recent ? " and is among the newest" : ""}.`;
  return { priority, reason: clip(stated, 500) };
}

function found(candidate: ListedCandidate, { priority, reason }: { priority: number; reason: string }): Found {
  const date = /^\d{4}(-\d{2}(-\d{2})?)?/.exec(candidate.date ?? "")?.[0] ?? null;
  const title = candidate.title.length >= 3 ? candidate.title : `Untitled ${candidate.id}`;
  return {
    id: candidate.id,
    title: clip(title, 500),
    url: candidate.url,
    pdf_url: candidate.pdf_url ?? null,
    authors: candidate.authors.slice(0, 300).map((author) => clip(author, 200)),
    date,
    ...given({ source: candidate.source }),
    abstract: candidate.abstract === undefined ? null : clip(candidate.abstract, 6000),
    doi: candidate.doi ?? null,
    priority: candidate.priority ?? priority,
    reason,
  };
}

function sourcesOf(unit: DiscoveryUnit): DiscoveryResult["sources"] {
  const given = new Set(unit.candidates.flatMap(({ source }) => (source === undefined ? [] : [source])));
  return unit.sources
    .slice(0, 50)
    .map((name) =>
      given.has(name)
        ? { name, status: "ok", reason: "Its candidates came with the brief." }
        : { name, status: "skipped", reason: "the baseline agent has no web access" },
    );
}

const yearOf = ({ date }: ListedCandidate): number => Number.parseInt(date ?? "", 10);
