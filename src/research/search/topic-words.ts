import type { RequirementsResult } from "../generated/result-requirements.js";

/** Common words of titles and topics that say nothing about the subject. */
export const commonWords: readonly string[] = (
  "a about above after all also among an and any are as at be been before being between both but by can could did do does during each either for from " +
  "had has have how if in into is it its itself may might more most much must no nor not of off on once only or other our out over own per same " +
  "she should so some such than that the their them then there these they this those through to too under until up upon us use used using very via " +
  "was we were what when where whether which while who whose why will with within without would yet you your toward towards based"
).split(" ");
/** Words for measurements, which occur in every paper and are never its subject. */
const measurementWords = (
  "two three four five seven eight nine second third half seconds minutes hours days weeks percentage points times mean median average rose fell " +
  "reached took showed shows found made give given"
).split(" ");
const stopWords = new Set([...commonWords, ...measurementWords]);

/** Words of a topic that name papers and not a subject: "papers on hands". */
const kindsOfWork = new Set("study research paper papers".split(" "));

/** Lower-case words that carry meaning, in the order of the text. A hyphen inside a word stays. */
export const contentWords = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu) ?? []).filter(
    (word) => word.length > 1 && !stopWords.has(word) && !kindsOfWork.has(word),
  );

/**
 * Sequences of adjacent meaningful words in `text`, such as "dexterous manipulation". `isTopic`: words such as "papers"
 * count if they follow another word, as in "agents that search papers".
 */
export function phrases(text: string, isTopic = false): string[][] {
  const runs: string[][] = [[]];
  for (const token of text.toLowerCase().match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*|[^\s\p{L}\p{N}-]/gu) ?? []) {
    const isKeptWord = isTopic && kindsOfWork.has(token) && runs.at(-1)?.length !== 0;
    const word = isKeptWord ? token : contentWords(token)[0];
    if (word === undefined) runs.push([]);
    else runs.at(-1)?.push(word);
  }
  return runs.filter((run) => run.length > 0);
}

/** `text` on one line with at most `max` characters, cut between words. */
export function clip(text: string, max: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= max) return line;
  const cut = line.slice(0, max - 2);
  const space = cut.lastIndexOf(" ");
  return `${space > max / 2 ? cut.slice(0, space) : cut} …`;
}

export const titleCase = (words: readonly string[]): string =>
  words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");

type TopicRequirements = Required<Pick<RequirementsResult, "name" | "description" | "focus_area" | "keywords">>;

/** Maximum number of words in a keyword, because services require all of them. */
const maxKeywordWords = 6;

/** Name, description, field and keywords of a project, from the words of its topic. */
export function requirementsOfTopic(topic: string): TopicRequirements {
  const runs = phrases(topic, true);
  const words = [...new Set(runs.flat())].map((word) => word.slice(0, 30));
  const longestRun = runs.toSorted((a, b) => b.length - a.length)[0] ?? [topic.trim() || "research"];
  const focusArea = clip(longestRun.slice(0, 3).join(" "), 60);
  const terms = [words, ...runs.filter((run) => run.length > 1)].map((run) =>
    clip(run.slice(0, maxKeywordWords).join(" "), 80),
  );
  const keywords = [...new Set(terms)].filter((term) => term !== "").slice(0, 8);
  return {
    name: clip(topic, 80) || focusArea,
    description: clip(topic, 1500),
    focus_area: focusArea,
    keywords: keywords.length === 0 ? [focusArea] : keywords,
  };
}
