// Questions whose answer people marked in articles, and how well they are answered. A folder holds nxml/PMC<id>.nxml
// and quotes.csv (pmcid, quote; where there are any, outcome, intervention and comparator, or question). Without these
// the question is made of what the quote speaks of, the words before its first verb, and the first words of the title.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { csvRows } from "./csv.mjs";

/** The articles of a folder, read by our own reader: id and text. */
export async function articlesOf(data, readJats) {
  const folder = join(data, "nxml");
  const articles = [];
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const read = await readJats(readFileSync(join(folder, name), "utf8"));
    if (read.status === "ok") articles.push({ id: name.replace(/^PMC|\.nxml$/g, ""), text: read.text });
  }
  return articles;
}

/** Each question once, with the spans that people marked for it in the text of its article. */
export function questionsOf(data, articles, findQuote) {
  const byId = new Map(articles.map((article) => [article.id, article]));
  const questions = new Map();
  let notFound = 0;
  for (const row of csvRows(readFileSync(join(data, "quotes.csv"), "utf8"))) {
    const article = byId.get(row.pmcid);
    if (article === undefined) continue;
    const question = questionOf(row, article.text.title ?? "");
    if (question === undefined) continue;
    const match = findQuote(article.text, row.quote);
    if (!match.found) {
      notFound += 1;
      continue;
    }
    const key = `${row.pmcid}\n${question}`;
    const known = questions.get(key) ?? { id: row.pmcid, question, spans: [] };
    known.spans.push({ start: match.start, end: match.end });
    questions.set(key, known);
  }
  return { questions: [...questions.values()], notFound };
}

function questionOf({ question, outcome, intervention, comparator, quote }, title) {
  if (question) return question;
  if (outcome) return `effect of ${intervention} versus ${comparator} on ${outcome}`;
  const subject = subjectOf(quote);
  if (subject === undefined) return undefined;
  const known = new Set(subject.toLowerCase().split(" "));
  const study = (title.match(telling) ?? []).filter((word) => !known.has(word.toLowerCase())).slice(0, titleWords);
  return `effect of ${study.join(" ")} on ${subject}`;
}

/** Words of an article's title that stand for intervention and comparator. */
const titleWords = 5;

const verbs =
  /\s(?:was|were|is|are|did|does|do|had|has|have|showed|shows|show|increased|decreased|improved|reduced|remained|occurred|differed|tended|reported|resulted|ranged|declined|rose|fell|became|appeared|experienced|demonstrated|revealed|reached|received|failed)\s/;
const telling = /\p{L}{4,}/gu;

/**
 * What a sentence speaks of: the words before its first verb, without numbers; undefined where that tells too little.
 */
function subjectOf(quote) {
  const sentence = quote
    .replace(
      /^(?:There (?:was|were) (?:no |a )?(?:statistically )?(?:significant )?(?:differences?|change) (?:in|of|for|between))\s/i,
      "",
    )
    .split(/\.\s/)[0];
  const [subject = ""] = sentence.split(verbs);
  const words = subject.replace(/\([^)]*\)|[\d.,;:%=<>±]+/g, " ").match(telling) ?? [];
  return subject.length < sentence.length * 0.8 && words.length >= 2 && words.length <= 14
    ? words.join(" ")
    : undefined;
}

/** A question without the words that fewest passages have. */
export function withoutRarest(question, weights, count) {
  const rarest = new Set(
    Object.entries(weights)
      .sort(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([word]) => word),
  );
  return question
    .split(/([\p{L}\p{N}]+)/u)
    .filter((part) => !rarest.has(part.toLowerCase()))
    .join("");
}

/** A pool as it would be without one of its papers. */
export function withoutPaper(pool, id) {
  const gone = pool.papers.findIndex(({ key }) => key === id);
  const stays = ({ passage }) => passage.paper !== gone;
  return {
    ...pool,
    passages: pool.passages.filter(({ paper }) => paper !== gone),
    search(query, most) {
      const { perPaper, best } = pool.search(query, most + 400);
      return { perPaper: perPaper.filter(stays), best: best.filter(stays).slice(0, most) };
    },
  };
}

/** Whether at least half of a marked span is covered by passages of its article. */
export function isHit(spans, shown) {
  return spans.some(({ start, end }) => {
    let covered = 0;
    for (const passage of shown) covered += Math.max(0, Math.min(end, passage.end) - Math.max(start, passage.start));
    return covered * 2 >= end - start;
  });
}
