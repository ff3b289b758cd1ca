// How well quotes are told from text that is not a quote, on articles and quotes that people marked in them. `--data`
// names a folder with quotes.csv (pmcid, quote, start, end, label), nxml/PMC<id>.nxml and txt/PMC<id>.txt, as
// evidence-inference has them.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { csvRows } from "../../csv.mjs";
import { thousands } from "../../measure.mjs";

export const row = {
  name: "evidence",
  what: "quotes that people marked, found in our text of the article; of misquotations how many are refused, and of those accepted how many stand beside a sentence that shows what they left out",
  hold: "≥ 99.5 % of those that begin and end at a word; foreign and changed ones 0; accepted and not shown 0",
  command: "npm run bench -- evidence --data <folder>",
  async run({ data } = {}) {
    if (data === undefined) return { ours: "not measured: name a folder with --data" };
    if (!existsSync(join(data, "quotes.csv"))) return { ours: `not measured: ${data} has no quotes.csv` };
    const { finder, reader } = await load({
      finder: "src/text/evidence/find-quote.ts",
      reader: "src/text/documents/jats/read-jats.ts",
    });
    const { scores, missed } = await measure(data, finder.findQuote, reader.readJats);
    if (process.env.RR_MISSED !== undefined) for (const each of missed) console.error(JSON.stringify(each));
    return { ours: scores.map(([name, found, of]) => `${name} ${thousands(found)}/${thousands(of)}`).join("; ") };
  },
};

async function measure(data, findQuote, readJats) {
  const quotes = csvRows(readFileSync(join(data, "quotes.csv"), "utf8")).map(({ pmcid, quote, start, end }) => ({
    id: pmcid,
    quote,
    start: Number(start),
    end: Number(end),
  }));
  const articles = new Map();
  for (const { id } of quotes) if (!articles.has(id)) articles.set(id, await articleOf(data, id, readJats));
  const readable = quotes.filter(({ id }) => articles.get(id) !== undefined);
  const ids = [...articles.keys()].filter((id) => articles.get(id) !== undefined);
  const scores = new Map();
  const missed = [];
  const ask = (name, id, quote, wanted) => {
    const match = findQuote(articles.get(id).text, quote);
    const [found = 0, of = 0] = scores.get(name) ?? [];
    scores.set(name, [found + (match.found ? 1 : 0), of + 1]);
    if (match.found !== wanted) missed.push({ name, id, quote, why: match.why, nearest: match.nearest });
  };
  // A misquotation is refused, or the passage has the whole of what it was made from.
  const forge = (name, id, quote, sentences) => {
    const match = findQuote(articles.get(id).text, quote);
    const isShown = match.found && sentences.every((each) => flat(match.passage).includes(flat(each)));
    const [refused = 0, shown = 0, of = 0] = forged.get(name) ?? [];
    forged.set(name, [refused + (match.found ? 0 : 1), shown + (isShown ? 1 : 0), of + 1]);
    if (match.found && !isShown) missed.push({ name, id, quote, passage: match.passage });
  };
  const forged = new Map();
  for (const marked of readable) {
    const plain = articles.get(marked.id).plain;
    const name = !isWhole(plain, marked)
      ? "cut inside a word"
      : isRow(articles.get(marked.id).text.text, marked.quote)
        ? "marked, in a table"
        : "marked";
    ask(name, marked.id, marked.quote, true);
    const next = ids[(ids.indexOf(marked.id) + 1) % ids.length];
    const same = articles.get(next).text.text.includes(marked.quote);
    if (next !== marked.id && !same) ask("foreign", next, marked.quote, false);
    const changed = withOtherDigit(marked.quote);
    if (changed !== undefined) ask("a digit changed", marked.id, changed, false);
  }
  for (const id of ids)
    for (const { sentence, next } of sentencesOf(articles.get(id).text.text)) {
      ask("sentences as they stand", id, sentence, true);
      for (const [name, quote] of disguises(sentence, next)) ask(`true: ${name}`, id, quote, true);
      for (const [name, quote] of forgeries(sentence, next))
        if (!isSaid(articles.get(id).text.text, quote, name.endsWith("out of order")))
          forge(name, id, quote, name.startsWith("pieces of two") ? [sentence, next] : [sentence]);
    }
  for (const id of ids)
    for (const cells of rowsOf(articles.get(id).text.text))
      for (const [name, between] of [
        ["spaces", " "],
        ["line ends", "\n"],
      ])
        ask(`true: a table's row joined by ${name}`, id, cells.join(between), true);
  scores.set("articles", [ids.length, articles.size]);
  return {
    scores: [
      ...[...scores].map(([name, [found, of]]) => [name, found, of]),
      ...[...forged].flatMap(([name, [refused, shown, of]]) => [
        [`${name}, refused`, refused, of],
        ...(refused === of ? [] : [[`${name}, accepted and shown`, shown, of - refused]]),
      ]),
    ],
    missed,
  };
}

const flat = (text) => text.replace(/\s+/g, " ").trim();

async function articleOf(data, id, readJats) {
  const [xml, plain] = [join(data, `nxml/PMC${id}.nxml`), join(data, `txt/PMC${id}.txt`)];
  if (!existsSync(xml)) return undefined;
  const read = await readJats(readFileSync(xml, "utf8"));
  if (read.status !== "ok") return undefined;
  return { text: read.text, plain: existsSync(plain) ? readFileSync(plain, "utf8") : read.text.text };
}

const isWordy = (char) => char !== undefined && /[\p{L}\p{N}]/u.test(char);

/** Whether a marked quote begins and ends at a word of the text that it was marked in. */
function isWhole(plain, { quote, start, end }) {
  const cut = (before, after) => isWordy(before) && isWordy(after);
  return !cut(plain[start - 1], quote[0]) && !cut(quote.at(-1), plain[end]);
}

/** Whether a quote runs over the cells of a table, which the text writes with borders. */
function isRow(text, quote) {
  const words = quote.match(/[\p{L}\p{N}.]+/gu) ?? [];
  return text
    .split("\n")
    .some((line) => line.includes(" | ") && words.length > 2 && words.every((word) => line.includes(word)));
}

function withOtherDigit(quote) {
  const digits = [...quote.matchAll(/\d/g)];
  if (digits.length === 0) return undefined;
  const { index } = digits[digits.length >> 1];
  return `${quote.slice(0, index)}${(Number(quote[index]) + 1) % 10}${quote.slice(index + 1)}`;
}

/** Sentences of the body on one line, with at least eight words, some of each article; with the one behind it. */
function sentencesOf(text) {
  const body = text.slice(0, text.search(/\n## References/) >>> 0);
  const all = body
    .split("\n")
    .filter((line) => !/^#|\|/.test(line))
    .flatMap((line) => {
      const found = line.match(/(?<=^|[.!?] )[A-Z](?:[^.!?]|\.(?=\d)){40,300}[.](?= [A-Z]|$)/g) ?? [];
      return found.map((sentence, index) => {
        const next = found[index + 1];
        return { sentence, next: next !== undefined && line.includes(`${sentence} ${next}`) ? next : undefined };
      });
    })
    .filter(({ sentence }) => sentence.split(" ").length >= 8 && !/…|\.\.\.|\bet al\.$/.test(sentence));
  return all.filter((_, index) => index % Math.max(1, Math.floor(all.length / maxSentences)) === 0);
}

/** Rows of tables with at least three cells and five words, some of each article. */
function rowsOf(text) {
  const all = text.split("\n").flatMap((line) => {
    const cells = line.split(" | ").map((cell) => cell.trim());
    const words = cells.filter((cell) => /[\p{L}\p{N}]/u.test(cell));
    return cells.length >= 3 && words.length >= 3 && line.split(/\s+/).length >= 8
      ? [cells.filter((cell) => cell !== "")]
      : [];
  });
  return all.filter((_, index) => index % Math.max(1, Math.floor(all.length / maxRows)) === 0);
}

const maxRows = 20;
/** Sentences looked for in each article, in every form. */
const maxSentences = 40;

/**
 * Whether a text has a quote, or two whole sentences in the order that was forged, at a second place: what it says
 * there is not forged.
 */
function isSaid(text, quote, isOrder) {
  const plain = (words) => words.toLowerCase().replace(/[-‐–]/g, " ");
  const said = plain(text);
  const [first, second] = plain(quote).replace(/\.$/, "").split(" … ");
  if (isOrder) return said.indexOf(second, said.indexOf(first) + first.length) !== -1;
  const begins = first.slice(0, 60);
  return said.indexOf(begins) !== said.lastIndexOf(begins);
}

const weights = new RegExp(
  `(?<= )(?:${[
    "not|no|never|without|neither|nor|hardly|rarely|unable to|fails? to|failed to|except|rather than|instead of",
    "only|if|unless|whether|until|provided that|as long as|some|most|all|few|several|almost|nearly|approximately|about",
    "less|more|fewer|at least|at most|up to|versus|vs\\.?|compared with|may|might|could|can|should|probably|possibly",
  ].join("|")})(?= )`,
);
const number = /(?<![\d.,\p{L}\p{Pd}−[])\d+(?:\.\d+)?(?![\d.,])/u;

/** What a sentence does not say, each with the kind of the forgery; `next` is the sentence behind it in the text. */
function* forgeries(sentence, next) {
  const words = sentence.split(" ");
  const weight = weights.exec(sentence);
  if (weight !== null) {
    const behind = sentence.slice(weight.index + weight[0].length + 1);
    const negates =
      /^(?:not|no|never|without|neither|nor|hardly|rarely|unable|if|unless|whether|fail)(?![a-z])|^fail/.test(
        weight[0],
      );
    yield [
      negates && weight[0] !== "if" && weight[0] !== "whether"
        ? "negation left out by an ellipsis"
        : "weight left out by an ellipsis",
      `${sentence.slice(0, weight.index)}… ${behind}`,
    ];
    if (negates && behind.split(" ").length > 5) yield ["begun behind a negation or condition", behind];
  }
  if (next !== undefined) {
    const others = next.split(" ");
    yield ["pieces of two sentences joined", `${words.slice(0, -3).join(" ")} … ${others.slice(3).join(" ")}`];
    yield ["fragments out of order", `${next} … ${sentence}`];
  }
  const at = words.length >> 1;
  for (const inserted of ["[not]", "[of 12]", "[more than]", "[p. 99]", "[on active drug]", "[severe]"])
    yield [`inserted ${inserted}`, [...words.slice(0, at), inserted, ...words.slice(at)].join(" ")];
  const joined =
    /(?<= )(?:in|un|im|non|a)(?:significant|effective|sufficient|adequate|stable|changed|symptomatic|related|balanced|able|treated|blinded)(?= )/.exec(
      sentence,
    );
  if (joined !== null)
    yield [
      "a space that makes another word",
      sentence.replace(joined[0], joined[0].replace(/^(in|un|im|non|a)/, "$1 ")),
    ];
  const unit = /(?<=\d ?)(?:mg|ml|mL|mm|nm|ms|kB|MB|mW|Gb|mM|nM|MPa|g|h|min|kg|cm)(?![\p{L}\p{N}])/u.exec(sentence);
  if (unit !== null) {
    const other = unit[0].replace(/[a-zA-Z]/, (char) =>
      char === char.toLowerCase() ? char.toUpperCase() : char.toLowerCase(),
    );
    if (/^(?:mg|mm|nm|ms|mW|Gb|mM|nM|MPa|g|h)$/.test(unit[0]))
      yield [
        "a unit in another case",
        sentence.slice(0, unit.index) + other + sentence.slice(unit.index + unit[0].length),
      ];
    const head = sentence.slice(0, unit.index).trimEnd();
    if (head.split(" ").length > 4) yield ["ended before a unit", head];
  }
  const percent = /(?<=\d) ?%/.exec(sentence);
  if (percent !== null) {
    if (sentence.slice(0, percent.index).split(" ").length > 4)
      yield ["ended before %", sentence.slice(0, percent.index)];
    yield ["% dropped", sentence.replace(percent[0], "")];
  }
  const sign = /(?<=[\s(])([−–<>≤≥±=-])\s?(?=\d)/u.exec(sentence);
  if (sign !== null) {
    const rest = sentence.slice(sign.index + sign[0].length);
    if (sign[1] !== "=" && rest.split(" ").length > 4) yield ["begun behind a sign", rest];
    yield ["a sign dropped", sentence.slice(0, sign.index) + rest];
  }
  const range = /\d[–-]\d/.exec(sentence);
  if (range !== null) {
    const rest = sentence.slice(range.index + 2);
    if (rest.split(" ").length > 4) yield ["begun within a range", rest];
    if (sentence.slice(0, range.index + 1).split(" ").length > 4)
      yield ["ended within a range", sentence.slice(0, range.index + 1)];
  }
  const value = number.exec(sentence);
  if (value !== null) {
    const put = (text) => sentence.slice(0, value.index) + text + sentence.slice(value.index + value[0].length);
    yield ["number edited", put(String(Number(value[0]) + 1))];
    yield ["number edited", put(`-${value[0]}`)];
    yield ["number edited", put(`${value[0]}0`)];
    if (value[0].includes(".")) yield ["number edited", put(value[0].replace(".", ""))];
  }
  const compound = /(?<=\p{L}{2}-)\p{L}{4,}(?: \S+){5,}/u.exec(sentence);
  if (compound !== null) yield ["begun inside a compound", compound[0]];
}

/** The beginning of a sentence. Cut behind a number, within a citation or behind a sign it would be a forgery. */
function beginningOf(words) {
  let end = words.length - 2;
  while (end > 4 && /\d\S{0,3}$|[±×<>≤≥=([]$/.test(words[end - 1])) end -= 1;
  return words
    .slice(0, end)
    .join(" ")
    .replace(/[,;:(]$/, "");
}

/** What a sentence says in another dress. */
function* disguises(sentence, next) {
  const words = sentence.split(" ");
  const at = words.length >> 1;
  yield ["cut and closed with a stop", `${beginningOf(words)}.`];
  yield ["cut, with its page", `${beginningOf(words)} (p. 3).`];
  const listed = words.findIndex((word, index) => index > 3 && word.endsWith(","));
  if (listed !== -1 && /^\p{L}/u.test(words[listed + 1] ?? ""))
    yield ["a list's mark added", [...words.slice(0, listed + 1), "•", ...words.slice(listed + 1)].join(" ")];
  yield ["words inserted", [...words.slice(0, at), "[the authors]", ...words.slice(at)].join(" ")];
  yield [
    "invisible marks",
    [...words.slice(0, at), `\u200b\u202a${words[at]}\u202c`, ...words.slice(at + 1)].join(" "),
  ];
  yield ["other white space", words.join("\n")];
  if (/ ?\[[\d,;– -]+\]/.test(sentence)) yield ["citations left out", sentence.replace(/ ?\[[\d,;– -]+\]/g, "")];
  if (/[−≤≥×±α-ωµ⁰-⁹²³]/u.test(sentence))
    yield [
      "signs retyped",
      sentence
        .replaceAll("−", "-")
        .replaceAll("≤", "<=")
        .replaceAll("≥", ">=")
        .replaceAll("±", "+/-")
        .replace(/(?<=\d ?)×(?= ?\d)/g, "x")
        .replace(/(?<![α-ω])α(?![α-ω])/g, "alpha")
        .replace(/(?<![α-ω])β(?![α-ω])/g, "beta")
        .replace(/[⁻]?[⁰¹²³⁴-⁹]+/g, (power) => `^${power.normalize("NFKC").replace("−", "-")}`),
    ];
  if (next !== undefined) yield ["two whole sentences", `${sentence} … ${next}`];
}
