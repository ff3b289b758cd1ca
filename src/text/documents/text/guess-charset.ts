/** A way of writing, the old charsets that have it, and its most frequent characters beyond ASCII. */
interface Writing {
  readonly charsets: readonly string[];
  readonly frequent: ReadonlySet<string>;
}

const shared = "一是不在人和我中上到以用大其及可分成行";

/** Two bytes for most characters: of other texts they have hardly any that are frequent. */
const eastAsian: readonly Writing[] = [
  { charsets: ["shift_jis", "euc-jp"], frequent: new Set("のにをはがとでしてたれさるこいるすなりま、。ンスルトー") },
  { charsets: ["euc-kr"], frequent: new Set("이다는을에의가고하지로한를은도서기사대으니어나인과와리자있해적정") },
  { charsets: ["gb18030"], frequent: new Set(`的了有为与对这个于数方法进时量，。、${shared}`) },
  { charsets: ["big5"], frequent: new Set(`的了有為與對這個於數方法進時量，。、${shared}`) },
];
/** Letters that never stand next to those of ASCII within words. */
const otherScripts: readonly Writing[] = [
  { charsets: ["windows-1251", "koi8-u", "ibm866", "iso-8859-5"], frequent: new Set("оеаинтсрвл") },
  { charsets: ["windows-1253"], frequent: new Set("αοιετσνηυρ") },
  { charsets: ["windows-1255"], frequent: new Set("יוהלאתרמבש") },
  { charsets: ["windows-1256"], frequent: new Set("الينمرتوبع") },
  { charsets: ["windows-874"], frequent: new Set("านรอกเงมยลวดท่้") },
];
/** The first of those that fit equally well is taken. */
const latin: readonly Writing[] = [
  {
    charsets: ["windows-1252"],
    // With the codes of its quotation marks and dashes, of which some decoders make control characters.
    frequent: new Set(
      "äöüßéèêëàâçîïôûñáíóúãõåæøìòùÄÖÜÉÅÆØÁÍÓÚÑÇ’‘“”–—…•€°±×²³µ§©®«»¿¡\x80\x85\x91\x92\x93\x94\x95\x96\x97",
    ),
  },
  // Icelandic: its ð, ý and þ are the ğ, ı and ş of Turkish.
  { charsets: ["windows-1252"], frequent: new Set("áéíóúýðþæöÁÉÍÓÚÝÐÞÆÖ’„“–") },
  { charsets: ["windows-1254"], frequent: new Set("şğıçöüİŞÇÖÜ’“”–") },
  { charsets: ["windows-1250", "iso-8859-2"], frequent: new Set("ąćęłńóśźżáčďéěíňřšťúůýžőűöüäîâ’„”–") },
];

/** Share that the frequent ones make up of a text's characters beyond ASCII, at least. */
const [leastEastAsian, leastOther] = [0.15, 0.45];
/** By so much another writing in Latin letters has to fit better than one before it. */
const margin = 0.1;

/** Of fewer characters beyond ASCII nothing can be said. */
const minCharacters = 12;
/** Bytes that are looked at, from the first one beyond ASCII on. */
const sampleSize = 65_536;

/**
 * The charset of a text that names none and is not UTF-8: the one in which its characters beyond ASCII are those that
 * are most frequent in its way of writing. Windows-1252 where nothing tells.
 */
export function guessedCharset(bytes: Uint8Array): string {
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const sample = bytes.subarray(Math.max(0, first - 1), first + sampleSize);
  const usual = "windows-1252";
  return (
    bestOf(eastAsian, sample, leastEastAsian, false) ??
    bestOf(otherScripts, sample, leastOther, false) ??
    bestOf(latin, sample, Number.NEGATIVE_INFINITY, true) ??
    usual
  );
}

function bestOf(writings: readonly Writing[], bytes: Uint8Array, least: number, isLatin: boolean): string | undefined {
  let best: { readonly charset: string; readonly score: number } | undefined;
  for (const { charsets, frequent } of writings)
    for (const charset of charsets) {
      const score = scoreOf(decodedOr(charset, bytes), frequent, isLatin);
      if (score < least || (best !== undefined && score <= best.score + (isLatin ? margin : 0))) continue;
      best = { charset, score };
    }
  return best?.charset;
}

function decodedOr(charset: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // A Node without it.
    return "";
  }
}

const isAscii = (character: string | undefined): boolean => character !== undefined && /^[A-Za-z]$/.test(character);

/** Share of a text's characters beyond ASCII that are frequent, less those that cannot stand where they do. */
function scoreOf(text: string, frequent: ReadonlySet<string>, isLatin: boolean): number {
  let [all, right, wrong] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (character < "\u0080") continue;
    all += 1;
    const isMixed = !isLatin && (isAscii(text[at - 1]) || isAscii(text[at + 1]));
    if (character === "\ufffd" || isMixed) wrong += 1;
    else if (frequent.has(character)) right += 1;
  }
  return all < minCharacters ? 0 : (right - wrong) / all;
}
