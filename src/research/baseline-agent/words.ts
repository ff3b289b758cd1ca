/** Words without meaning of their own, in titles and topics. */
const STOP = new Set(
  (
    "a about above after all also among an and any are as at be been before being between both but by can could did do does during each either for from " +
    "had has have how if in into is it its itself may might more most much must no nor not of off on once only or other our out over own per same " +
    "she should so some such than that the their them then there these they this those through to too under until up upon us use used using very via " +
    "was we were what when where whether which while who whose why will with within without would yet you your toward towards based study research " +
    "paper papers " +
    // Words of measurements: they come back in every paper and are nobody's theme.
    "two three four five seven eight nine second third half seconds minutes hours days weeks percentage points times mean median average rose fell " +
    "reached took showed shows found made give given"
  ).split(" "),
);

/** Lower-case words that carry meaning, in the order of the text. A hyphen inside a word stays. */
export const contentWords = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu) ?? []).filter(
    (word) => word.length > 1 && !STOP.has(word),
  );

/** Runs of meaningful words that stand side by side in `text`, such as "dexterous manipulation". */
export function phrases(text: string): string[][] {
  const runs: string[][] = [[]];
  for (const token of text.toLowerCase().match(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*|[^\s\p{L}\p{N}-]/gu) ?? []) {
    const [word] = contentWords(token);
    if (word === undefined) runs.push([]);
    else runs.at(-1)?.push(word);
  }
  return runs.filter((run) => run.length > 0);
}

/** A crude stem, so that "manipulating" and "manipulation" count as the same word. */
export const stem = (word: string): string =>
  word.length > 5
    ? word.replace(/(?:ations?|ating|ated|ings?|ion|ions|ers?|ies|ed|es|s|y)$/u, "")
    : word.replace(/s$/u, "");

export const stemsOf = (text: string): Set<string> => new Set(contentWords(text).map(stem));

/** `text` on one line and at most `max` characters long, cut at a word. */
export function clip(text: string, max: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= max) return line;
  const cut = line.slice(0, max - 2);
  const space = cut.lastIndexOf(" ");
  return `${space > max / 2 ? cut.slice(0, space) : cut} …`;
}

export const titleCase = (words: readonly string[]): string =>
  words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
