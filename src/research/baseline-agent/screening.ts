import type { DiscoveryResult } from "../generated/result-discovery.js";
import type { RequirementsResult } from "../generated/result-requirements.js";
import type { BriefCriterion, BriefUnit, Candidate } from "./brief.js";
import { answerCriteria } from "./criteria.js";
import { clip, contentWords, requirementsOfTopic } from "../search/topic-words.js";
import { stem, stemsOf } from "./text.js";

/** What code makes of a topic by itself, and that no model had a part in it. */
export function deriveRequirements({ unit, topic = "" }: BriefUnit): RequirementsResult {
  const { description, ...made } = requirementsOfTopic(topic);
  const asked = /[.?!]$/.test(description) ? description : `${description}.`;
  const said = "Derived from the words of the topic by the baseline agent, without a model.";
  // How fast a field ages can't be read off a topic's words, so the window is wide.
  const windows = { time_window_days: 1095, historical_lookback_days: 3650 };
  return { unit, ...made, description: clip(`Literature research on: ${asked} ${said}`, 1500), ...windows };
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
