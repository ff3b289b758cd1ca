import { wordsOf } from "./nearest-passage.js";

/** What turns a statement round. */
const negations =
  "not no never none neither nor nobody nothing nowhere without cannot hardly barely scarcely rarely seldom fail fails failed failing " +
  "failure lack lacks lacked lacking absence absent unable unlikely untrue false instead except excluding excluded rather contrary " +
  "unlike deny denies denied refuse refuses refused prevent prevents prevented avoid avoids avoided inability impossible insufficient " +
  "non nicht kein keine keinen keiner ohne nie ne pas jamais sans ni aucun aucune nunca sin ningún ninguna não nem sem senza mai не нет без";
/** What ties a statement to something else. */
const conditions =
  "if unless whether when whenever until provided providing assuming assumed suppose supposing only solely otherwise although though " +
  "despite however but except where hypothetically theoretically wenn falls nur si sauf seulement sólo solo se apenas если только";
/** What says of how many, how often or how surely a statement holds. */
const quantifiers =
  "all some most many few fewer every each any both several half majority minority partly partially mostly mainly sometimes usually " +
  "often always occasionally generally may might could would possibly perhaps potentially probably likely apparently seemingly appears " +
  "appear seems seem almost nearly approximately about roughly alle einige manche viele wenige tous quelques todos algunos";
/** What sets one thing against another. */
const relations =
  "less more least than lower higher greater smaller larger better worse fewer below above under over within exceeds exceed minus up equal";
/** A sentence that begins with one of these takes back or bounds what stands before it. */
const contrasts = "however but although though nevertheless nonetheless conversely contrary unless except yet";

const setOf = (...lists: string[]): ReadonlySet<string> => new Set(lists.join(" ").split(" "));
const withinSentence = setOf(negations, conditions, quantifiers, relations);
const betweenSentences = setOf(negations, contrasts, "if whether only");
const signs = /[<>≤≥≠≪≫≮≯∉∌⊄±∄¬⩽⩾≲≳]/u;
/** Scripts without spaces have no words to look up: signs of negation and of condition. */
const unspacedNegation = /[不没沒無无非未勿莫]|ない|ません|なく|ず|없|않|아니|못/u;

const normal = (text: string): string => text.replaceAll("’", "'").toLowerCase();
const isContraction = (word: string): boolean => word.endsWith("n't");

/** The word or sign of a stretch of a sentence that may not be left out of it; undefined where there is none. */
export const weighty = (skipped: string): string | undefined => weightyOf(skipped, withinSentence, signs);

/** The same for whole sentences left out between whole sentences: they may say how many, but nothing to the contrary. */
export const weightySentence = (skipped: string): string | undefined => weightyOf(skipped, betweenSentences);

function weightyOf(skipped: string, words: ReadonlySet<string>, sign?: RegExp): string | undefined {
  const text = normal(skipped);
  return (
    wordsOf(text).find((word) => words.has(word) || isContraction(word)) ??
    sign?.exec(text)?.[0] ??
    unspacedNegation.exec(text)?.[0]
  );
}

/** Whether words set into a quote in brackets say something of their own: a negation, a number, a relation. */
export const saysMore = (inserted: string): boolean =>
  /[\p{N}=%~≈+−-]/u.test(inserted.replace(/(?<=\p{L})-(?=\p{L})/gu, "")) || weighty(inserted) !== undefined;

const reporting =
  /^(?:claim|claims|claimed|claiming|argue|argues|argued|assume|assumes|assumed|assumption|hypothesi[sz]e[sd]?|hypothesis|hypotheses|speculate[sd]?|conjecture[sd]?|suppose[sd]?|believe[sd]?|belief|doubt|doubts|doubted|den(?:y|ies|ied)|allege[sd]?|contend|contends|contended|pretend|pretends|myth|notion|clear|unclear|evidence|true|unlikely|possible|question|questioned|case|false|untrue)$/;
const beforeTo =
  /^(?:fail|fails|failed|failing|failure|unable|unlikely|not|refuse[sd]?|inability|insufficient|hypothesi[sz]ed|assumed|supposed|claimed|alleged|believed|thought|expected)$/;
const beforeOf = /^(?:lack|absence|instead|devoid|free|failure|lieu|short|none|few|exception)$/;
const last =
  /^(?:not|no|never|nor|neither|without|cannot|hardly|barely|scarcely|rarely|seldom|whether|if|unless|except|less|least|lacks|lacked|lacking|lack|non|only|nicht|kein|keine|keinen|ohne|ob|wenn|pas|sans|sin|senza|не|без)$/;

/**
 * The words right before a passage that turn its sense round or make it another's: "does not", "whether", "claims that". `before` is
 * what stands there, up to the sentence's beginning.
 */
export function turnedBy(before: string): string | undefined {
  const tail = normal(before).slice(-80);
  if (/[不没沒無无未]$/u.test(tail.trimEnd())) return tail.trimEnd().slice(-1);
  const words =
    /(?:[^\s.!?;:]{1,40}[\s,("“‘]{1,4}){0,3}$/u.exec(` ${tail}`.endsWith(" ") ? tail : `${tail} `)?.[0] ?? "";
  const [third, second, first] = [...["", "", ""], ...words.split(/[\s,("“‘]+/).filter(Boolean)].slice(-3) as [
    string,
    string,
    string,
  ];
  const shown = (count: number) => [third, second, first].slice(-count).filter(Boolean).join(" ");
  if (last.test(first) || isContraction(first)) return shown(2);
  if (first === "that" && reporting.test(second)) return shown(3);
  if (/^claim(?:s|ed)?$/.test(first)) return shown(1);
  if (first === "to" && beforeTo.test(second)) return shown(2);
  if (first === "of" && beforeOf.test(second)) return shown(2);
  if (first === "than" && /^(?:rather|other)$/.test(second)) return shown(2);
  if (first === "from" && second === "far") return shown(2);
  return undefined;
}
