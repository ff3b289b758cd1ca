import type { DiscoveryResult } from "../generated/result-discovery.js";
import type { RequirementsResult } from "../generated/result-requirements.js";
import type { BriefCriterion, BriefUnit, Candidate } from "./brief.js";
import { answerCriteria } from "./criteria.js";
import { clip, contentWords, requirementsOfTopic } from "../search/topic-words.js";
import { stem, stemsOf } from "./text.js";

/** Requirements from the words of a topic. The description says that no model was used. */
export function deriveRequirements({ unit, topic = "" }: BriefUnit): RequirementsResult {
  const { description, ...requirements } = requirementsOfTopic(topic);
  const question = /[.?!]$/.test(description) ? description : `${description}.`;
  const disclaimer = "Derived from the words of the topic by the baseline agent, without a model.";
  // The topic's words do not show how fast the field changes, so the window is wide.
  const windows = { time_window_days: 1095, historical_lookback_days: 3650 };
  return {
    unit,
    ...requirements,
    description: clip(`Literature research on: ${question} ${disclaimer}`, 1500),
    ...windows,
  };
}

/**
 * Keeps the candidates that share words with the keywords. If there are no candidates, all sources failed; this agent
 * can't search.
 */
export function screenCandidates(unit: BriefUnit, criteria: readonly BriefCriterion[]): DiscoveryResult {
  const { candidates = [], keywords = [], sources = [] } = unit;
  // Each stem with its original word, which is shown in reasons.
  const keywordStems = new Map(contentWords(keywords.join(" ")).map((word) => [stem(word), word]));
  const newestYear = Math.max(...candidates.map(yearOf).filter((year) => !Number.isNaN(year)));
  const judged = candidates.map((candidate) => ({
    id: candidate.id,
    ...judge(candidate, keywordStems, newestYear),
    ...answerCriteria(criteria, [candidate.abstract ?? "", candidate.title]),
  }));
  const givenSources = new Set(candidates.map(({ source }) => source));
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
        givenSources.has(name)
          ? { name, status: "ok", reason: "Its candidates came with the brief." }
          : { name, status: "skipped", reason: "the baseline agent has no web access" },
      ),
  };
}

/** Judges a candidate. Without a priority, the candidate is dropped. */
function judge(
  candidate: Candidate,
  keywordStems: ReadonlyMap<string, string>,
  newestYear: number,
): { reason: string; priority?: number } {
  const { title, abstract, priority: proposedPriority } = candidate;
  const stems = stemsOf(`${title} ${abstract ?? ""}`);
  const sharedWords = [...keywordStems].filter(([key]) => stems.has(key)).map(([, word]) => word);
  if (keywordStems.size === 0) return { priority: proposedPriority ?? 3, reason: "No keywords to compare with." };
  // A file that could not be read has only its name. It is kept, so that a later reading decides.
  if (abstract == null && contentWords(title).length < 4 && sharedWords.length < 2)
    return { priority: 1, reason: "It has no abstract and hardly a title to judge by, so only reading can decide." };
  const summary = `It shares ${sharedWords.length} of the keywords' ${keywordStems.size} words`;
  if (sharedWords.length < Math.min(2, keywordStems.size)) return { reason: `${summary}.` };
  const isRecent = yearOf(candidate) >= newestYear - 1;
  const priority = Math.min(5, 1 + Math.round((3 * sharedWords.length) / keywordStems.size) + (isRecent ? 1 : 0));
  const reason = `${summary} (${sharedWords.join(", ")})${isRecent ? " and is among the newest" : ""}.`;
  return { priority: proposedPriority ?? priority, reason: clip(reason, 500) };
}

const yearOf = ({ date }: Candidate): number => Number.parseInt(date ?? "", 10);
