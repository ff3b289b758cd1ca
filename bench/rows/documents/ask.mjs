// Questions to a pool of papers: whether the right passage and the right article come first, what the baseline agent
// answers, with and without the article that holds the answer, and what the index costs. `--data` names a folder with
// nxml/*.nxml, articles in JATS, which are repeated up to the sizes measured, and quotes.csv.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { load } from "../../../scripts/bundle.mjs";
import { articlesOf, isHit, questionsOf, withoutPaper, withoutRarest } from "../../labelled-questions.mjs";
import { ms, size, thousands } from "../../measure.mjs";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

/** Memory of arrays is given back by a thread of its own, some time after they are collected. */
async function collected() {
  for (let round = 0; round < 3; round += 1) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const sizes = [size(300, 10), size(3000, 20)];
const timed = 20;

export const row = {
  name: "ask",
  what: "a question to papers: the marked passage in 20,000 tokens of passages, the right article first, what the baseline answers; processor time of the index of 300 and 3,000 papers, anew and from what is kept, its memory, one search, estimated tokens",
  hold: "≥ 99 %, without the three rarest words ≥ 92 %; article first ≥ 98.5 %; baseline ≥ 90 %, without the paper ≤ 6 %; ≤ 1.5 s and ≤ 12 s, again ≤ 2 s; ≤ 100 MB at 3,000; ≤ 50 ms; ≤ 26,000 tokens",
  command: "npm run bench -- ask --data <folder>",
  async run({ data } = {}) {
    if (data === undefined) return { ours: "not measured: name a folder with --data" };
    if (!existsSync(join(data, "nxml"))) return { ours: `not measured: ${data} has no folder nxml` };
    const modules = await load({
      pools: "src/research/overview/questions/pool.ts",
      briefs: "src/research/overview/questions/brief-question.ts",
      kept: "src/research/overview/questions/stored-words.ts",
      prompts: "src/research/workflow/brief/prompt-file.ts",
      parser: "src/research/baseline-agent/brief.ts",
      baseline: "src/research/baseline-agent/question.ts",
      finder: "src/text/evidence/find-quote.ts",
      reader: "src/text/documents/jats/read-jats.ts",
      tokens: "src/engine/lib/tokens.ts",
    });
    const articles = await articlesOf(data, modules.reader.readJats);
    const lines = existsSync(join(data, "quotes.csv")) ? await scores(data, articles, modules) : [];
    for (const count of sizes) lines.push(await costs(count, articles, modules));
    return { ours: lines.join("<br>") };
  },
};

const projectOf = (papers) => ({
  folder: "/p",
  rrd: { project: "p", requirements: {}, phase: "COMPLETE", papers_pool: papers },
});
const paperOf = (id, { title = "", abstract = "" }) => ({ id, title, abstract, status: "presented" });

/** How often the right place is found, and what the baseline agent makes of the briefs. */
async function scores(data, articles, { pools, briefs, prompts, parser, baseline, finder, tokens }) {
  const texts = new Map(articles.map(({ id, text }) => [id, text]));
  const pool = await pools.openPool([projectOf(articles.map(({ id, text }) => paperOf(id, text)))], async (_, { id }) =>
    texts.get(id),
  );
  const { questions, notFound } = questionsOf(data, articles, finder.findQuote);
  const prompt = await prompts.loadPrompt("/nowhere", "/nowhere");
  const places = new Map(pool.papers.map(({ key }, place) => [key, place]));
  const counts = { passage: 0, bare: 0, article: 0, answered: 0, foreign: 0, marked: 0 };
  let most = 0;
  const answer = async (from, question) => {
    const brief = await briefs.questionBrief({
      pool: from,
      question,
      unit: "answer-1",
      project: "p",
      prompt,
      resultFile: "result.json",
    });
    most = Math.max(most, tokens.estimateTokens(brief));
    const { unit, text } = parser.parseBrief(brief);
    return baseline.answerQuestion(unit, text);
  };
  const isShown = (place, spans, question) => {
    const shown = [...pools.choosePassages(pool, pool.query(question), pools.maxPassageTokens)];
    return isHit(
      spans,
      shown.filter(({ paper }) => paper === place),
    );
  };
  for (const { id, question, spans } of questions) {
    const place = places.get(id);
    const query = pool.query(question);
    const miss = (what) => process.env.RR_MISSED === undefined || console.error(JSON.stringify({ what, id, question }));
    if (isShown(place, spans, question)) counts.passage += 1;
    else miss("passage");
    if (isShown(place, spans, withoutRarest(question, query.weights, 3))) counts.bare += 1;
    if (pool.search(query, 1).perPaper[0]?.passage.paper === place) counts.article += 1;
    else miss("article");
    const said = await answer(pool, question);
    if (said.statements.length > 0) counts.answered += 1;
    else miss("answer");
    const quoted = said.quotes
      .filter(({ paper }) => paper === id)
      .map(({ quote }) => finder.findQuote(texts.get(id), quote));
    if (
      isHit(
        spans,
        quoted.filter(({ found }) => found),
      )
    )
      counts.marked += 1;
    const other = await answer(withoutPaper(pool, id), question);
    if (other.statements.length > 0) counts.foreign += 1;
    if (other.statements.length > 0) miss("foreign");
  }
  const of = (name) => `${counts[name]}/${questions.length}`;
  return [
    `questions to ${thousands(articles.length)} articles whose marked passage is among 20,000 tokens ${of("passage")}`,
    `the same without the three rarest words of the question ${of("bare")}`,
    `the right article first ${of("article")}`,
    `answered by the baseline ${of("answered")}`,
    `answered by the baseline with the marked place ${of("marked")}`,
    `answered by the baseline with the paper taken away ${of("foreign")}`,
    `marks that our text does not have ${notFound}`,
    `estimated tokens of the longest brief ${thousands(most)}`,
  ];
}

/** What the index of so many papers costs, made anew and from the words kept of each text. */
async function costs(count, articles, { pools, kept, tokens }) {
  const texts = Array.from({ length: count }, (_, index) => articles[index % articles.length].text);
  const papers = texts.map((text, index) => paperOf(`p${index}`, text));
  const read = async (_, { id }) => texts[Number(id.slice(1))];
  const folder = mkdtempSync(join(tmpdir(), "bench-ask-"));
  const keeping = {
    words: kept.wordStore(() => join(folder, "passages.bin"), { readOnly: false }),
    stampOf: (_, { id }) => id,
  };
  try {
    const open = async () => {
      await collected();
      const before = process.memoryUsage();
      const begun = process.cpuUsage();
      const pool = await pools.openPool([projectOf(papers)], read, keeping);
      const { user, system } = process.cpuUsage(begun);
      await collected();
      const after = process.memoryUsage();
      const held = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
      return { pool, cpu: (user + system) / 1000, held };
    };
    const first = await open();
    const { pool, cpu: again } = await open();
    const queries = articles.slice(0, timed).map(({ text: { title = "" } }) => pool.query(title));
    for (const query of queries) pool.search(query, 1000);
    const from = process.cpuUsage();
    for (const query of queries) pool.search(query, 1000);
    const searched = process.cpuUsage(from);
    const each = (searched.user + searched.system) / 1000 / queries.length;
    let most = 0;
    for (const query of queries) {
      const shown = await pools.passagesFor(pool, query, pools.maxPassageTokens);
      const text = shown.map(({ key, locator, text: said }) => `@@ ${key} | ${locator}\n${said}`).join("\n\n");
      most = Math.max(most, tokens.estimateTokens(text));
    }
    return `${thousands(count)} papers, ${thousands(pool.passages.length)} passages: ${ms(first.cpu)}, again ${ms(again)}, ${Math.round(first.held / 1e6)} MB; a search ${ms(each)}; ${thousands(most)} tokens of passages at most`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
