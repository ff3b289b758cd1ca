// Pairs of a claim and a passage with the right answer: those of a CSV file that people labelled, or a set made here. It
// takes sentences of papers as claims, since a passage surely bears out its own words, and makes twins of them by rule.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { articlesOf } from "./labelled-questions.mjs";
import { csvRows } from "./csv.mjs";
import { root } from "./measure.mjs";

/** What a pair is called whose passage bears out its claim; any other label means that it does not. */
export const bornOut = "supported";

/** A claim with one digit of one number changed. */
function otherNumber(claim) {
  const numbers = [...claim.matchAll(/(?<![\p{L}\d.,-])\d{2,}(?:\.\d+)?/gu)];
  const found = numbers.at(-1);
  if (found === undefined) return undefined;
  const [number] = found;
  const changed = `${(Number(number[0]) % 9) + 1}${number.slice(1)}`;
  return claim.slice(0, found.index) + changed + claim.slice(found.index + number.length);
}

/** Words that make a claim less sure, and what stands there without them. */
const hedges = [
  [/\b(?:may|might) be\b/i, "is"],
  [/\b(?:may|might) (?:have )?/i, "will "],
  [/\bsuggest(s|ed)? that\b/i, "prove$1 that"],
  [/\b(?:appear|seem)(?:s|ed)? to\b/i, "did always"],
  [/\b(?:probably|possibly|perhaps|likely) /i, ""],
  [/\b(?:tended|tend|tends) to\b/i, "did always"],
  [/\b(?:not (?:statistically )?significant(?:ly)?|no (?:statistically )?significant)\b/i, "a proven"],
];

function withoutHedge(claim) {
  const [pattern, plain] = hedges.find(([each]) => each.test(claim)) ?? [];
  return pattern === undefined ? undefined : claim.replace(pattern, plain);
}

/** A claim of some, said of all. */
function widened(claim) {
  const scope =
    /\b(?:in|among|for) (?:the |our |these )?(?!all\b|both\b|every|comparison|order|addition|terms)(?:\p{L}[\p{L}-]* ){0,5}(?:groups?|arms?|patients|participants|subjects|women|men|children|adults|individuals|infants|neonates|mice|rats|trials?|hands?|robots?|objects?|simulators?|simulation|fingers?)\b/iu;
  return scope.test(claim) ? claim.replace(scope, "in everybody and everywhere") : undefined;
}

/** Twins by the name of their rule. Only `number` is one that code sees by itself. */
export const rulesOf = ({ reverseDirection, swapNumbers }) => ({
  direction: reverseDirection,
  group: swapNumbers,
  number: otherNumber,
  hedge: withoutHedge,
  scope: widened,
});

/** The passages of the sample research, as agents and people read them. */
function samplePassages() {
  const folder = join(root, "researches");
  return readdirSync(folder).flatMap((name) => {
    const { papers_pool } = JSON.parse(readFileSync(join(folder, name, "rrd.json"), "utf8"));
    return papers_pool.flatMap(({ analysis }) =>
      (analysis?.evidence ?? []).flatMap(({ passage }) => (passage === undefined ? [] : [{ claim: passage, passage }])),
    );
  });
}

/** Quotes that people marked in articles, each with the passage that this program keeps of it. */
async function markedQuotes(data, { readJats, findQuote }) {
  const byId = new Map((await articlesOf(data, readJats)).map(({ id, text }) => [id, text]));
  return csvRows(readFileSync(join(data, "quotes.csv"), "utf8")).flatMap(({ pmcid, quote }) => {
    const text = byId.get(pmcid);
    const found = text === undefined ? undefined : findQuote(text, quote);
    return found?.found === true && !found.passage.includes("\n")
      ? [{ claim: quote.trim(), passage: found.passage }]
      : [];
  });
}

/**
 * Labelled pairs. `data`: a CSV file (claim, passage, label), or a folder with quotes that people marked; undefined for
 * the passages of the sample research. Of a set made here at most `most` pairs, half of them supported.
 */
export async function judgedPairs(data, modules, most) {
  if (data !== undefined && statSync(data).isFile())
    return { pairs: csvRows(readFileSync(data, "utf8")), isMade: false };
  const hasQuotes = data !== undefined && existsSync(join(data, "quotes.csv"));
  const found = hasQuotes ? await markedQuotes(data, modules) : samplePassages();
  const right = [...new Map(found.map((each) => [each.claim, each])).values()];
  const rules = Object.entries(rulesOf(modules));
  const twins = [];
  const made = new Set();
  // By turns, so that each rule comes to its share.
  let added = true;
  while (added && twins.length < most / 2) {
    added = false;
    for (const [label, rule] of rules) {
      const isFree = ({ claim }) => !made.has(`${label}\n${claim}`) && rule(claim) !== undefined;
      // From another place each time: a claim is used by one rule before it is used by a second one.
      const source =
        right.find((each) => isFree(each) && rules.every(([other]) => !made.has(`${other}\n${each.claim}`))) ??
        right.find(isFree);
      if (source === undefined || twins.length >= most / 2) continue;
      made.add(`${label}\n${source.claim}`);
      twins.push({ claim: rule(source.claim), passage: source.passage, label });
      added = true;
    }
  }
  const kept = right.slice(0, Math.floor(most / 2)).map((each) => ({ ...each, label: bornOut }));
  return { pairs: [...kept, ...twins], isMade: true };
}

/**
 * How answers compare with labels. A pair is flagged where the checker does not let it pass; `cannot-tell` lets it pass,
 * as a report keeps such a sentence.
 */
export function comparison(judged) {
  const isFlagged = ({ verdict }) => !["supported", "cannot-tell"].includes(verdict);
  const count = (isWrong, flagged) =>
    judged.filter((each) => (each.label !== bornOut) === isWrong && isFlagged(each) === flagged).length;
  const [caught, missed, falseAlarms, passed] = [
    count(true, true),
    count(true, false),
    count(false, true),
    count(false, false),
  ];
  const all = judged.length;
  const agreed = (caught + passed) / all;
  const byChance =
    ((caught + missed) * (caught + falseAlarms) + (passed + falseAlarms) * (passed + missed)) / (all * all);
  return {
    ...{ all, caught, missed, falseAlarms, passed, accuracy: agreed },
    precision: caught / (caught + falseAlarms),
    recall: caught / (caught + missed),
    f1: (2 * caught) / (2 * caught + falseAlarms + missed),
    kappa: byChance === 1 ? 0 : (agreed - byChance) / (1 - byChance),
    cannotTell: judged.filter(({ verdict }) => verdict === "cannot-tell").length,
  };
}
