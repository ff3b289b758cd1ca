/** Abbreviations behind whose point a sentence goes on, and the initials of a name: "S. M. Lee". */
const abbreviation =
  /(?:^|[\s([])(?:[A-Z]\.\s[A-Z]|e\.g|i\.e|et al|al|fig|figs|eq|eqs|ref|refs|sec|tab|vs|cf|nos|vol|pp|approx|Dr|Prof|Mr|Mrs|St|resp|ca|viz|jr|incl|E\.g|I\.e|Fig|Figs|Eq|Eqs|Ref|Refs|Sec|Tab|Vol)$/;
/** Abbreviations that end a sentence as often as not: a capital behind them begins the next. */
const either = /(?:^|[\s([])(?:no|No|p|etc|inc|Inc|Ltd|ed|eds)$/;
/** A citation's number set on the line behind a stop: "trials.12 In". */
const onLine = "\\d{1,3}(?:[,–-]\\d{1,3}){0,5}";
/** What may stand between a sentence's end and the white space behind it: quotation marks, brackets, citations. */
const closers = /^(?:["'”’»)\]]|\s?\[[\d,;–\- ]{1,40}\]|[¹²³⁰-⁹*†‡]){0,6}/u;
const numberBehind = new RegExp(`^${onLine}(?=\\s)`, "u");
const stopBefore = new RegExp(
  `[.!?。！？](?:["'”’»)\\]]|\\s?\\[[\\d,;–\\- ]{1,40}\\]|[¹²³⁰-⁹*†‡]){0,6}$|(?<=[^\\d\\s])[.!?](?:["'”’»)\\]]){0,2}${onLine}$`,
  "u",
);

/** Characters looked at on each side of a place; a sentence's ends are seen within them. */
const reach = 60;

/**
 * Whether a sentence, a table's row, a heading or a list's point ends before offset `at`, which stands at white space
 * or a new word.
 */
function endsBefore(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - reach), at);
  const spaces = /\s{0,40}$/.exec(before)?.[0] ?? "";
  const words = before.slice(0, before.length - spaces.length);
  if (at === 0 || words === "") return true;
  const stop = stopBefore.exec(words);
  if (stop !== null) {
    if (stop[0][0] !== ".") return true;
    // "(1 mg, i.v.) was given": no sentence begins with a small word.
    if (smallWord.test(text.slice(at, at + reach)) && !/\n\s{0,10}\n/.test(spaces)) return false;
    const stopped = words.slice(0, stop.index);
    return !abbreviation.test(stopped) && !(either.test(stopped) && !/^\p{Lu}/u.test(text.slice(at, at + 2)));
  }
  // A page may end within a sentence.
  const next = text.slice(at, at + reach).replace(/^\[p\. ?\d{1,5}\]\s{0,9}/, "");
  if (/\n\s{0,10}\n/.test(spaces)) return !/^\p{Ll}/u.test(next) || words.endsWith(":");
  if (!spaces.includes("\n")) return false;
  const line = words.slice(words.lastIndexOf("\n") + 1);
  // A row of a table, a heading, a point of a list.
  return (
    / \| /.test(line) || /^#{1,6} /.test(line) || /^\s{0,8}(?:[-*•+]|\(?\d{1,2}[.)]) /.test(text.slice(at, at + 14))
  );
}

const smallWord = /^\p{Ll}{2,30}(?![\p{L}\p{N}-])/u;
/** Not the "05) " of "(P = 0.05) was". */
const marksBefore = /(?:["'“‘«(*_[]|\[p\. ?\d{1,5}\]\s{0,4}|(?:[-*•+#]{1,6}|(?<![\d.,])\(?\d{1,2}[.)])\s{1,4}){0,4}$/u;

/** Whether a sentence begins at offset `at`. */
export function beginsSentence(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - reach), at);
  const marks = marksBefore.exec(before)?.[0].length ?? 0;
  return endsBefore(text, at) || endsBefore(text, at - marks);
}

/** Whether a sentence ends at offset `at`, its stop being before or right behind. */
export function endsSentence(text: string, at: number): boolean {
  const after = text.slice(at, at + reach);
  const stop = /^["'”’»)\]]{0,3}(?:\s?\[[\d,;–\- ]{1,40}\])?[.!?。！？]/u.exec(after)?.[0].length ?? 0;
  const closed = closers.exec(after.slice(stop))?.[0].length ?? 0;
  const noted =
    /\d/.test(text[at + stop - 2] ?? "") || !/[.!?]/.test(text[at + stop - 1] ?? "")
      ? 0
      : (numberBehind.exec(after.slice(stop + closed))?.[0].length ?? 0);
  const end = at + stop + closed + noted;
  if (end >= text.length) return true;
  if (!/\s/.test(text[end] as string) && !/[。！？]/u.test(text[end - 1] ?? "")) return false;
  const next = end + (/^\s{0,40}/.exec(text.slice(end, end + 40))?.[0].length ?? 0);
  return next >= text.length || endsBefore(text, next);
}

/** Whether a sentence ends between two offsets that both stand at the edge of words. */
export function crossesSentence(text: string, from: number, to: number): boolean {
  if (endsSentence(text, from)) return true;
  for (let at = from; at < to; at += 1) {
    const char = text[at] as string;
    if ((/[.!?\n]/.test(char) && endsSentence(text, at + 1)) || /[。！？]/u.test(char)) return true;
  }
  return endsBefore(text, to);
}

/** The beginning of the sentence that offset `at` stands in, at most 400 characters before it. */
export function sentenceBefore(text: string, at: number): string {
  const earliest = Math.max(0, at - 400);
  for (let start = at; start > earliest; start -= 1)
    if (/[.!?\n]/.test(text[start - 1] as string) && beginsSentence(text, start)) return text.slice(start, at);
  return text.slice(earliest, at);
}
