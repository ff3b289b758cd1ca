import { saysMore } from "./sense.js";

/** Longer words in brackets are no insertion, and more than three of them make another sentence. */
const maxInserted = 60;
const maxInsertions = 3;

/** A way to read a quote, and what the text must bear out for it. */
export interface Variant {
  readonly quote: string;
  /** The quote says "°" where the text says "0": the text's sentence must speak of an angle. */
  readonly needsAngle?: true;
}

const quotationMarks = new Set("\"'“”‘’„«»`");
const isTrimmed = (char: string | undefined) => char !== undefined && (quotationMarks.has(char) || /\s/.test(char));

/** Marks of direction and joiners, which a copy may bring along; a soft hyphen is the normaliser's. */
const unseen = /[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Models wrap a quote in quotation marks of their own. */
export function trimQuotationMarks(quote: string): string {
  let [start, end] = [0, quote.length];
  while (start < end && isTrimmed(quote[start])) start += 1;
  while (end > start && isTrimmed(quote[end - 1])) end -= 1;
  return quote.slice(start, end);
}

/**
 * The ways to read a quote, the strictest first: as it stands; without the stop or page that closes a quote cut short; without words set
 * in in brackets; with "°" for a raised 0, and powers of units and numbers of formulas as a text without ranks has them.
 */
export function variantsOf(quote: string, text: string): Variant[] {
  const whole = trimQuotationMarks(quote.replace(unseen, ""));
  const cut = withoutClosing(whole);
  const plain = withoutInsertions(cut, text);
  const written = [...new Set([whole, cut, plain])];
  const lined = written.map(onTheLine);
  const variants: Variant[] = [...new Set([...written, ...lined])].map((each) => ({ quote: each }));
  if (/\p{Nd}\s?[°º˚]/u.test(plain))
    variants.push({ quote: plain.replace(/(?<=\p{Nd})\s?[°º˚]/gu, "0"), needsAngle: true });
  return variants.filter((each) => each.quote !== "");
}

/** "it worked (p. 3)." and "it worked." for "it worked, and so on". A point between digits is no stop. */
function withoutClosing(quote: string): string {
  const tail = quote.slice(-40);
  const page =
    /\s{0,3}[([]\s{0,2}(?:pp?\.|page|pages)\s{0,2}\d{1,5}(?:\s{0,2}[-–]\s{0,2}\d{1,5})?\s{0,2}[)\]]\s{0,2}[.]?$/i.exec(
      tail,
    );
  const unpaged = page === null ? quote : quote.slice(0, quote.length - page[0].length);
  const stop = /\s{0,2}[.,;:!?]$/.exec(unpaged.slice(-3))?.[0].length ?? 0;
  return trimQuotationMarks(unpaged.slice(0, unpaged.length - stop));
}

/** "the hand [of Shadow Robot] reached": words of explanation go, "[t]he" is "the"; what says something of its own or stands in the text stays. */
function withoutInsertions(quote: string, text: string): string {
  let count = 0;
  return quote.replace(/(\s?)\[([^[\]]{1,60})\](?=(\p{L}?))/gu, (whole, space: string, words: string, next: string) => {
    if (/^\p{L}{1,2}$/u.test(words) && next !== "") return space + words;
    const mayGo = count < maxInsertions && words.length <= maxInserted && /\p{L}/u.test(words) && next === "";
    if (!mayGo || saysMore(words) || text.includes(`[${words}]`)) return whole;
    count += 1;
    return "";
  });
}

/** A text made without ranks has "kg/m2" and "CO2"; a quote that raises and lowers them says the same. */
const onTheLine = (quote: string): string =>
  quote
    .replace(/(?<=(?<!\p{L})(?:c|m|k|d|µ|μ|n)?m|(?<!\p{L})s)\^?([²³])/gu, (_, power: string) => power.normalize("NFKC"))
    .replace(/(?<=\p{Lu}\p{Ll}?|\))[₀-₉]{1,3}/gu, (digits) => digits.normalize("NFKC"));
