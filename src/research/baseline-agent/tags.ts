import { contentWords, phrases, stem, stemsOf } from "./text.js";

/** A tag that says what kind of sentence it was, not what it is about; it makes no group. */
export const limitation = "limitation";

/** Words that come back in every paper of every field and tell none of them apart. */
const generic = new Set(
  "approach because data error every first experiment method model number object policy problem real reference result sample success system test time trial value work".split(
    " ",
  ),
);

/** What a paper is about, in its own words: pairs of words of its title, then words of the title, then words that come back often. */
export function themesOf(title: string, sentences: readonly string[]): string[] {
  const count = new Map<string, number>();
  for (const word of sentences.flatMap((sentence) => [...new Set(contentWords(sentence).map(singular))])) {
    if (!/^\d/.test(word) && word.length > 3 && !generic.has(word)) count.set(word, (count.get(word) ?? 0) + 1);
  }
  const pairs = phrases(title).flatMap((run) => run.slice(1).map((word, index) => `${run[index]} ${singular(word)}`));
  const inTitle = stemsOf(title);
  const rank = ([word, times]: [string, number]) => times + (inTitle.has(stem(word)) ? 1000 : 0);
  const words = [...count].toSorted((a, b) => rank(b) - rank(a) || a[0].localeCompare(b[0])).map(([word]) => word);
  return [...pairs, ...words.slice(0, 20)];
}

/** Up to three themes that stand in a sentence; those of the paper where none does. */
export function tagsOf(sentence: string, themes: readonly string[]): string[] {
  const words = stemsOf(sentence);
  const inText = themes.filter((theme) => theme.split(" ").every((word) => words.has(stem(word))));
  // A word that is already there, in a pair or in another form, says nothing more.
  const distinct = inText.filter((theme, index) => !stemsOf(inText.slice(0, index).join(" ")).has(stem(theme)));
  return (distinct.length > 0 ? distinct : themes).slice(0, 3).map((tag) => tag.slice(0, 60));
}

/** Insights by tag, largest group first; an insight is in the group of its most frequent tag alone, one without a tag under "untagged". */
export function groupByTag<Insight extends { readonly tags?: readonly string[] }>(
  insights: readonly Insight[],
): Map<string, Insight[]> {
  const themesIn = ({ tags = [] }: Insight) => tags.filter((tag) => tag !== limitation);
  const count = new Map<string, number>();
  for (const tag of insights.flatMap(themesIn)) count.set(tag, (count.get(tag) ?? 0) + 1);
  const groups = new Map<string, Insight[]>();
  for (const insight of insights) {
    const [tag = "untagged"] = themesIn(insight).toSorted(
      (a, b) => (count.get(b) ?? 0) - (count.get(a) ?? 0) || a.localeCompare(b),
    );
    groups.set(tag, [...(groups.get(tag) ?? []), insight]);
  }
  return new Map([...groups].toSorted((a, b) => b[1].length - a[1].length || a[0].localeCompare(b[0])));
}

const singular = (word: string): string => (/[^su]s$/.test(word) && word.length > 4 ? word.slice(0, -1) : word);
