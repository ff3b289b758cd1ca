import { normalTitle } from "../papers/normalise-title.js";

const stop = new Set(
  (
    "a about above after all also among an and any are as at be been before being between both but by can could did do does during each either for from " +
    "had has have how if in into is it its itself may might more most must no nor not of off on once only or other our out over own per same should so " +
    "some such than that the their them then there these they this those through to too toward towards under until up upon us use used using very via " +
    "was we were what when where whether which while who why will with within without would yet based study paper"
  ).split(" "),
);

/** The telling words of a text, each cut down so that "manipulating" and "manipulation" are one. Order and repetitions stay. */
export const stemsOf = (text: string): string[] =>
  normalTitle(text)
    .split(" ")
    .filter((word) => word.length > 1 && !stop.has(word))
    .map(stem);

/** Cuts the commonest English endings; what is left need not be a word. */
const stem = (word: string): string =>
  word.length > 5 ? word.replace(/(?:ations?|ating|ated|ings?|ions?|ers?|ors?|ies|ied|ed|es|e|s|y)$/, "") : word.replace(/(?<=..)s$/, "");
