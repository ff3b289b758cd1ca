/** Languages with the same old charsets, and their most frequent characters outside ASCII. */
interface LanguageGroup {
  readonly charsets: readonly string[];
  readonly frequent: ReadonlySet<string>;
}

/** Frequent characters that are the same in simplified and traditional Chinese. */
const sharedChinese = "一是不在人和我中上到以用大其及可分成行";

/** Charsets with two bytes for most characters. If other texts are decoded in them, few characters are frequent. */
const eastAsian: readonly LanguageGroup[] = [
  { charsets: ["shift_jis", "euc-jp"], frequent: new Set("のにをはがとでしてたれさるこいるすなりま、。ンスルトー") },
  { charsets: ["euc-kr"], frequent: new Set("이다는을에의가고하지로한를은도서기사대으니어나인과와리자있해적정") },
  { charsets: ["gb18030"], frequent: new Set(`的了有为与对这个于数方法进时量，。、${sharedChinese}`) },
  { charsets: ["big5"], frequent: new Set(`的了有為與對這個於數方法進時量，。、${sharedChinese}`) },
];
/** Scripts whose letters are not in the same word as ASCII letters. */
const otherScripts: readonly LanguageGroup[] = [
  { charsets: ["windows-1251", "koi8-u", "ibm866", "iso-8859-5"], frequent: new Set("оеаинтсрвл") },
  { charsets: ["windows-1253"], frequent: new Set("αοιετσνηυρ") },
  { charsets: ["windows-1255"], frequent: new Set("יוהלאתרמבש") },
  { charsets: ["windows-1256"], frequent: new Set("الينمرتوبع") },
  { charsets: ["windows-874"], frequent: new Set("านรอกเงมยลวดท่้") },
];
/** Latin scripts. If several are equally likely, the first one is used. */
const latin: readonly LanguageGroup[] = [
  {
    charsets: ["windows-1252"],
    // Includes the codes of quotation marks and dashes, because some decoders convert them to control characters.
    frequent: new Set(
      "äöüßéèêëàâçîïôûñáíóúãõåæøìòùÄÖÜÉÅÆØÁÍÓÚÑÇ’‘“”–—…•€°±×²³µ§©®«»¿¡\x80\x85\x91\x92\x93\x94\x95\x96\x97",
    ),
  },
  // Icelandic comes before Turkish: its ð, ý and þ have the same codes as ğ, ı and ş.
  { charsets: ["windows-1252"], frequent: new Set("áéíóúýðþæöÁÉÍÓÚÝÐÞÆÖ’„“–") },
  { charsets: ["windows-1254"], frequent: new Set("şğıçöüİŞÇÖÜ’“”–") },
  { charsets: ["windows-1250", "iso-8859-2"], frequent: new Set("ąćęłńóśźżáčďéěíňřšťúůýžőűöüäîâ’„”–") },
];

/** Minimum score of an East Asian charset. */
const minEastAsianScore = 0.15;
/** Minimum score of a charset for another script that is not Latin. */
const minOtherScore = 0.45;
/** A Latin charset is only used instead of an earlier one if its score is better by more than this. */
const minLatinGain = 0.1;

/** With fewer characters outside ASCII, the score is 0. */
const minCharacters = 12;
/** Number of bytes that are decoded for the guess, from the first one outside ASCII. */
const sampleBytes = 65_536;

/**
 * Guesses the charset of a text that states none and is not UTF-8. It is the charset in which most characters outside
 * ASCII are frequent ones. Windows-1252 if there are too few of them.
 */
export function guessCharset(bytes: Uint8Array): string {
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const sample = bytes.subarray(Math.max(0, first - 1), first + sampleBytes);
  return (
    bestCharset(eastAsian, sample, minEastAsianScore, false) ??
    bestCharset(otherScripts, sample, minOtherScore, false) ??
    bestCharset(latin, sample, Number.NEGATIVE_INFINITY, true) ??
    "windows-1252"
  );
}

/** The charset with the highest score. Undefined if all scores are below `minScore`. */
function bestCharset(
  groups: readonly LanguageGroup[],
  bytes: Uint8Array,
  minScore: number,
  isLatin: boolean,
): string | undefined {
  let best: { readonly charset: string; readonly score: number } | undefined;
  for (const { charsets, frequent } of groups)
    for (const charset of charsets) {
      const score = scoreOf(decodeOrEmpty(charset, bytes), frequent, isLatin);
      if (score < minScore || (best !== undefined && score <= best.score + (isLatin ? minLatinGain : 0))) continue;
      best = { charset, score };
    }
  return best?.charset;
}

/** The decoded text; empty if this Node does not have the charset. */
function decodeOrEmpty(charset: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return "";
  }
}

const isAsciiLetter = (character: string | undefined): boolean =>
  character !== undefined && /^[A-Za-z]$/.test(character);

/**
 * The share of frequent characters among the characters outside ASCII, minus the share of wrong ones: characters that
 * could not be decoded, and letters of a script that is not Latin beside ASCII letters.
 */
function scoreOf(text: string, frequent: ReadonlySet<string>, isLatin: boolean): number {
  let [count, frequentCount, wrongCount] = [0, 0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? "";
    if (character < "\u0080") continue;
    count += 1;
    const isMixed = !isLatin && (isAsciiLetter(text[index - 1]) || isAsciiLetter(text[index + 1]));
    if (character === "\ufffd" || isMixed) wrongCount += 1;
    else if (frequent.has(character)) frequentCount += 1;
  }
  return count < minCharacters ? 0 : (frequentCount - wrongCount) / count;
}
