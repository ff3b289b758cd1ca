import { sentenceBefore } from "./sentences.js";
import { turnedBy, turnedByList } from "./turned-by.js";
import { isUnit } from "./units.js";

/** A passage of a text by its offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Characters looked at on each side of a passage; a number with its sign and unit is shorter. */
const reach = 48;
const flat = (text: string): string => text.replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "");

/** Words and signs before a number that say on which side of it the truth lies. */
const relationBefore =
  /(?:\b(?:c\.|some|close to|upwards? of|as (?:many|few|little|much|low|high) as|in excess of|shy of|short of|beyond|past|until|down to|(?:max|min)imum of|at the (?:most|least)|maximal|minimal|max\.|min\.|than|at least|at most|up to|below|above|under|over|minus|plus|almost|nearly|about|approximately|approx\.|roughly|around|circa|ca\.|exceed(?:s|ed|ing)?|within|not|als|mindestens|höchstens|etwa|ungefähr|knapp|unter|über|bis zu|environ|moins de|plus de|más de|menos de|hasta|casi|cerca de|près de|plus de|presque|quasi|meno di|più di|fino a|menos que|mais de|bijna|minder dan|meer dan|minst|mer än|rund)|(?<!\p{L})(?:более|менее|около|до|почти)|超过|不到|约|[-−–⁻+±∓<>＜＞﹤﹥≧≦≤≥≠=≈~∼≃≅≪≫⩽⩾≲≳×^/$€£¥])\s{0,9}$/iu;
/** A dash that joins words or ends a phrase is not a minus: "GPT-4", "the hands — 5 of them". */
const dashOnly = /(?:\u2014|\n\s{0,9}[-*+•])\s{0,9}$/u;

/**
 * Why a passage cannot stand for itself although its words are in the text: its number belongs to a sign, relation or
 * unit outside it, or its sense to a word before it. Undefined where it can. `isFirst` is false for the later fragments
 * of an elided quote.
 */
export function edgeProblem(text: string, { start, end }: Span, isFirst: boolean): string | undefined {
  const isInRow = (text.slice(start, end + reach).split("\n", 1)[0] ?? "").includes(" | ");
  const outside = flat(text.slice(Math.max(0, start - reach), start));
  // What stands in another cell, or in the row before, is nothing of this cell's.
  const before = outside.slice(
    Math.max(outside.lastIndexOf(" | ") + 2, isInRow ? outside.lastIndexOf("\n") + 1 : 0, 1) - 1,
  );
  const after = flat(text.slice(end, end + reach));
  const head = flat(text.slice(start, Math.min(end, start + reach)));
  const tail = flat(text.slice(Math.max(start, end - reach), end));
  return (
    beginProblem(before, head) ??
    endProblem(tail, cellOf(after)) ??
    (isFirst ? senseProblem(text, start, end) : undefined)
  );
}

/** What stands behind a passage up to the end of its paragraph, or of its row in a table. */
const cellOf = (after: string): string => {
  const end = after.search(/\n\s{0,9}\n|\n[^\n]{0,40}\|| \| /);
  return end === -1 ? after : after.slice(0, end);
};

const relationBegun = /\b(?:at|up|less|more|fewer|greater|lower|higher|smaller|larger|better|worse)\s{1,9}$/i;

function beginProblem(before: string, head: string): string | undefined {
  if (/^[.,]?\p{Nd}/u.test(head)) {
    const relation = relationBefore.exec(before)?.[0].trim();
    if (relation !== undefined && !dashOnly.test(before)) return `its first number stands behind "${relation}"`;
    if (
      /(?:^|[^\p{Nd}.,])\p{Nd}{1,3}(?:[\s'’]\p{Nd}{3}){0,3}(?:\s{1,9}|['’])$/u.test(before) &&
      /^\p{Nd}{3}(?!\p{Nd})/u.test(head)
    )
      return "it begins within a number";
    if (
      /\p{Nd}\s{0,9}(?:to|[–-]|bis|à|…|\.\.\.?)\s{0,9}$/u.test(before) ||
      (/\p{Nd}\s{0,9}and\s{1,9}$/u.test(before) && /\bbetween\s{1,9}\p{Nd}/u.test(before))
    )
      return "it begins within a range";
  }
  const relation = /^(?:most|least|to|than)\s{1,9}\p{Nd}/iu.test(head) && relationBegun.exec(before)?.[0].trim();
  if (typeof relation === "string") return `it begins behind the "${relation}" of its number`;
  if (/^\p{Ll}/u.test(head) && brokenBefore.test(before)) return "it begins inside a word that is broken there";
  const unit = firstWord(head);
  if (/\p{Nd}\s{0,9}$/u.test(before) && unit !== "" && isUnit(unit) && !/^(?:per|times|points?|[kcfat])$/i.test(unit))
    return "it begins between a number and its unit";
  return undefined;
}

/** The first half of a word that a line's or page's end broke, or a prefix that a reader set apart. */
const brokenBefore =
  /\p{L}[-‐‑¬–]\s{0,9}\n\s{0,9}$|(?:^|\s)(?:un|in|im|ir|il|non|dis|mis|anti|a|ab|de|counter|mal|ill|hypo|hyper|sub|over|under)[-‐‑¬]\s{1,9}$|\p{L}[-‐¬]\s{0,9}\n(?:[^\n]{0,80}\n){0,3}\s{0,9}\[p\. ?\d{1,5}\]\s{0,9}(?:[^\n]{0,80}\n)?\s{0,9}$/u;

/** The word or sign that a stretch begins with. */
const firstWord = (text: string): string => /^(?:[%％‰‱°℃℉′″σ½¼¾⅓⅔]|[\p{L}µ]{1,12})/u.exec(text)?.[0] ?? "";

function endProblem(tail: string, after: string): string | undefined {
  // A sign left without its number shows that something is left out; of a dash nobody sees it.
  if (/\p{Nd}\s{0,9}[-−–]\s{0,9}$/u.test(tail) && /^\s{0,9}\p{Nd}/u.test(after)) return "it ends within a range";
  if (!/\p{N}$/u.test(tail)) return undefined;
  if (
    /^\s{0,9}(?:[%％‰‱°℃℉′″º˚²³¹⁰-⁹⁻^±σ½¼¾⅓⅔€$£¥¢]|1\/[2-9](?!\p{Nd})|\+\/-|\(\s?±|per\s?cent\b|per\s\p{Nd})/iu.test(
      after,
    )
  )
    return "it ends between a number and what belongs to it";
  const isBounded = /\b(?:from|between|von|de)\s[^\s]{0,3}\p{Nd}[\p{Nd}.,]{0,9}$/iu.test(tail);
  if (/^\s{0,9}(?:[-−–…]|\.\.\.?)\s{0,9}\p{Nd}/u.test(after) || (!isBounded && /^\s{1,9}to\s{1,9}\p{Nd}/u.test(after)))
    return "it ends within a range";
  if (/^\s{0,9}[×x·]\s{0,9}10/u.test(after)) return "it ends within a number";
  if (
    /(?:^|[^\p{Nd}.,])\p{Nd}{1,3}(?:[\s'’]\p{Nd}{3}){0,3}$/u.test(tail) &&
    /^(?:\s{1,9}|['’])\p{Nd}{3}(?![\p{Nd}])/u.test(after)
  )
    return "it ends within a number";
  const unit = firstWord(after.replace(/^\s{0,9}-?\s{0,9}/u, ""));
  const isGlued = /^\s{0,9}-?\s{0,9}[\p{L}µ%‰°]/u.test(after);
  // "Table 2 points to it"
  const isVerb = /^\s{0,9}points?\s{1,9}(?:to|out|towards?|up|at)\b/i.test(after);
  return isGlued && unit !== "" && (isUnit(unit) || /^points?$/i.test(unit)) && !isVerb && !/^(?:per|a)$/i.test(unit)
    ? "it ends between a number and its unit"
    : undefined;
}

function senseProblem(text: string, start: number, end: number): string | undefined {
  const turned =
    turnedBy(flat(sentenceBefore(text, start)), text.slice(start, start + reach)) ??
    turnedByList(text.slice(Math.max(0, start - maxList), start));
  if (turned === undefined) return undefined;
  const whole = `${turned} ${text.slice(start, Math.min(end, start + 120))}`.replace(/\s+/g, " ");
  return `in the text it stands behind "${turned}": "${whole}${end > start + 120 ? " …" : ""}"`;
}

/** Characters of a list before a passage in which the line above it is looked for. */
const maxList = 1500;
