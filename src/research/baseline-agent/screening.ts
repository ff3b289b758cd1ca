import type { DiscoveryResult } from "../generated/result-discovery.js";
import type { RequirementsResult } from "../generated/result-requirements.js";
import type { BriefCriterion, BriefUnit, Candidate } from "./brief.js";
import { answerCriteria } from "./criteria.js";
import { clip, contentWords, phrases, stem, stemsOf, titleCase } from "./text.js";

const padding = ["methods", "evaluation", "benchmark", "dataset", "survey"];

/** Name, description and five to eight keywords, made of the topic's own words. */
export function deriveRequirements({ unit, topic = "" }: BriefUnit): RequirementsResult {
  const runs = phrases(topic);
  const words = [...new Set(contentWords(topic))].map((word) => word.slice(0, 30));
  const longest = runs.toSorted((a, b) => b.length - a.length)[0] ?? [topic.trim() || "research"];
  const main = clip(longest.slice(0, 3).join(" "), 60);
  const pairs = runs.flatMap((run) => run.slice(1).map((word, index) => `${run[index]} ${word}`));
  const keywords = new Set([...pairs.slice(0, 5), ...words].map((keyword) => clip(keyword, 80)).slice(0, 8));
  for (const word of padding) if (keywords.size < 5) keywords.add(`${main} ${word}`);
  const named = words.length > 0 ? words.slice(0, 6) : main.split(" ").slice(0, 4);
  const asked = /[.?!]$/.test(topic) ? topic : `${topic}.`;
  const description = `Literature research on: ${asked} Derived from the words of the topic by the baseline agent, without a model.`;
  return {
    unit,
    name: clip(titleCase([...named, "Literature", "Research"].slice(0, Math.max(3, named.length))), 120),
    description: clip(description, 1500),
    focus_area: clip(main, 120),
    keywords: [...keywords],
    // How fast a field ages can't be read off a topic's words, so the window is wide.
    time_window_days: 1095,
    historical_lookback_days: 3650,
  };
}

/**
 * Keeps the candidates that share words with the keywords. Without candidates every source failed: this agent can't
 * search.
 */
export function sortCandidates(unit: BriefUnit, criteria: readonly BriefCriterion[]): DiscoveryResult {
  const { candidates = [], keywords = [], sources = [] } = unit;
  // Each stem with the word that brought it, which is what a reason shows.
  const wanted = new Map(contentWords(keywords.join(" ")).map((word) => [stem(word), word]));
  const newest = Math.max(...candidates.map(yearOf).filter((year) => !Number.isNaN(year)));
  const judged = candidates.map((candidate) => ({
    id: candidate.id,
    ...judge(candidate, wanted, newest),
    ...answerCriteria(criteria, [candidate.abstract ?? "", candidate.title]),
  }));
  const given = new Set(candidates.map(({ source }) => source));
  return {
    unit: unit.unit,
    papers: [],
    kept: judged.flatMap(({ id, priority, reason, ...answers }) =>
      priority === undefined ? [] : [{ id, priority, reason, ...answers }],
    ),
    dropped: judged.flatMap(({ id, priority, reason, ...answers }) =>
      priority === undefined ? [{ id, reason, ...answers }] : [],
    ),
    sources: sources
      .slice(0, 50)
      .map((name) =>
        given.has(name)
          ? { name, status: "ok", reason: "Its candidates came with the brief." }
          : { name, status: "skipped", reason: "the baseline agent has no web access" },
      ),
  };
}

/** Without a priority the candidate is dropped. */
function judge(
  candidate: Candidate,
  wanted: ReadonlyMap<string, string>,
  newest: number,
): { reason: string; priority?: number } {
  const { title, abstract, priority: proposed } = candidate;
  const stems = stemsOf(`${title} ${abstract ?? ""}`);
  const shared = [...wanted].filter(([key]) => stems.has(key)).map(([, word]) => word);
  if (wanted.size === 0) return { priority: proposed ?? 3, reason: "No keywords to compare with." };
  // A file that could not be read shows no more than its name; reading it later decides.
  if (abstract == null && contentWords(title).length < 4 && shared.length < 2)
    return { priority: 1, reason: "It has no abstract and hardly a title to judge by, so only reading can decide." };
  const said = `It shares ${shared.length} of the keywords' ${wanted.size} words`;
  if (shared.length < Math.min(2, wanted.size)) return { reason: `${said}.` };
  const recent = yearOf(candidate) >= newest - 1;
  const priority = Math.min(5, 1 + Math.round((3 * shared.length) / wanted.size) + (recent ? 1 : 0));
  const reason = `${said} (${shared.join(", ")})${recent ? " and is among the newest" : ""}.`;
  return { priority: proposed ?? priority, reason: clip(reason, 500) };
}

const yearOf = ({ date }: Candidate): number => Number.parseInt(date ?? "", 10);
