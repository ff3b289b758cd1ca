import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { load } from "../../../scripts/bundle.mjs";
import { writeResearch } from "../../fixture.mjs";
import { inFolder, root, thousands } from "../../measure.mjs";
import { oneAfterAnother, parts, workflowOn } from "../../research-run.mjs";

/** Errors planted in each draft, one of each kind below. */
const kinds = ["number", "swapped number", "quote", "address", "negation"];
const papersToRead = 10;

export const row = {
  name: "think",
  what: `${papersToRead} sample papers read with and without thinking (two rounds at most), ${papersToRead * kinds.length} errors planted in their drafts: those that a scripted critic names, which compares numbers, quotes and addresses with the text; those left in what was accepted; tokens a paper, briefs and results (o200k_base)`,
  hold: "the critic's share is worth what it costs",
  command: "npm run bench -- think",
  async run() {
    const loaded = await load({
      runLoop: "src/engine/loop/run-loop.ts",
      ...parts,
      text: "src/text/documents/text/document-text.ts",
    });
    const plain = await readAll(loaded, {});
    const thought = await readAll(loaded, { think: { rounds: 2 } });
    const all = papersToRead * kinds.length;
    const named = kinds.map((kind) => `${kind} ${thought.named.filter((each) => each.kind === kind).length}`);
    return {
      ours: `${thought.named.length} of ${all} named (${named.join(", ")}; ${thought.false} findings name no error); left in what was accepted: ${thought.left} instead of ${plain.left}; ${thousands(thought.tokens / papersToRead)} tokens a paper in ${(thought.iterations / papersToRead).toFixed(1)} iterations instead of ${thousands(plain.tokens / papersToRead)} in ${(plain.iterations / papersToRead).toFixed(1)}`,
    };
  },
};

const documents = () =>
  readdirSync(join(root, "demo/corpus"))
    .filter((name) => name.endsWith(".md"))
    .slice(0, papersToRead)
    .map((name) => {
      const source = readFileSync(join(root, "demo/corpus", name), "utf8");
      return { id: name.replace(".md", ""), text: source.replace(/^---[\s\S]*?\n---\n/, "") };
    });

async function readAll(loaded, sharing) {
  return await inFolder(async (cwd) => {
    const folder = join(cwd, "researches/bench-2025-01-01");
    const papers = documents();
    const more = papers.map(({ id }) => ({ id, title: `Sample ${id}`, abstract: "", status: "pending", priority: 3 }));
    writeResearch(folder, { papers: 1, more });
    writeFileSync(join(folder, "progress.txt"), "");
    execFileSync("git", ["init", "-q"], { cwd });
    const { openResearch, readResearch } = loaded.research;
    const research = await openResearch(folder, { derive: loaded.derive.derive, git: false, notify: () => {} });
    const texts = new Map(papers.map(({ id, text }) => [id, text]));
    const workflow = workflowOn(loaded, cwd, folder, research, {
      textOf: (id) => loaded.text.buildText([{ text: texts.get(id) }], { kind: "markdown", depth: "full" }),
      sharing,
    });
    const seen = { tokens: 0, iterations: 0, planted: [], named: [], false: 0 };
    const agent = scripted(seen, texts);
    const verdict = await loaded.runLoop.runLoop(workflow, agent, {
      ...oneAfterAnother(agent, loaded.clock.systemClock, ["accepted", "noted"]),
      stopConditions: [
        ({ iterations }) =>
          iterations.filter(({ outcome }) => outcome.outcome === "accepted").length === texts.size
            ? { verdict: "limit", reason: "The papers are read." }
            : undefined,
      ],
    });
    if (verdict.verdict !== "limit") throw new Error(verdict.reason);
    const { rrd } = await readResearch(folder);
    // What a reader of the report would meet: a quote that code did not find is left out of it.
    const left = seen.planted.filter(({ unit, text }) => {
      const { analysis } = rrd.papers_pool.find(({ id }) => id === unit);
      const evidence = analysis.evidence.filter(({ status }) => status !== "not-in-text");
      return JSON.stringify({ ...analysis, evidence }).includes(JSON.stringify(text).slice(1, -1));
    });
    return { ...seen, left: left.length };
  });
}

/** One agent in all parts, that counts what it is given and gives. */
const scripted = (seen, texts) => ({
  name: "bench",
  confinement: "workspace",
  async *run({ text, workspace }) {
    const unit = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(text)[1]);
    if (unit.kind !== "paper") {
      yield { type: "end", message: "", failure: { kind: "crashed", message: "only papers are read" } };
      return;
    }
    const result =
      unit.role === "critic"
        ? critique(unit, materialIn(text), seen)
        : unit.role === "answer"
          ? answer(unit)
          : draft(unit, texts.get(unit.unit), seen);
    writeFileSync(join(workspace, "result.json"), JSON.stringify(result));
    seen.iterations += 1;
    seen.tokens += countTokens(text) + countTokens(JSON.stringify(result));
    yield { type: "usage", usage: { input: 1, cached: 0, output: 1, requests: 1 }, final: true };
    yield { type: "end", message: "Done." };
  },
});

/** The paper, which stands last among what is fenced. */
const materialIn = (brief) =>
  [...brief.matchAll(/<untrusted-text[^>]*>\n([\s\S]*?)\n<\/untrusted-text/g)].at(-1)?.[1] ?? "";

const sentencesOf = (text) =>
  text
    .split(/\n+/)
    .filter((line) => !/^[#>[|]/.test(line))
    .flatMap((line) => line.match(/[A-Z][^.!?]*(?:\.\d[^.!?]*)*[.!?]/g) ?? [])
    .map((sentence) => sentence.trim());
const numbersIn = (sentence) => sentence.match(/\d+(?:[.,]\d+)*/g) ?? [];
const wordsIn = (sentence) => new Set(sentence.toLowerCase().match(/[a-z]{4,}/g) ?? []);
const shared = (a, b) => [...a].filter((word) => b.has(word)).length / Math.max(1, a.size);

/** A reading that holds to the text, with one error of each kind planted. */
function draft({ unit }, text, seen) {
  const facts = sentencesOf(text).filter((sentence) => numbersIn(sentence).length > 0 && sentence.length > 60);
  const [summary, results, method, limit, ...others] = facts;
  const quoted = [...others, ...facts].slice(0, 6);
  const plant = (kind, right, wrong) => {
    if (right === wrong) throw new Error(`no ${kind} could be planted in ${unit}: ${right}`);
    seen.planted.push({ unit, kind, text: wrong });
    return wrong;
  };
  const [, elsewhere] = numbersIn(others.join(" ")).filter((number) => !numbersIn(summary).includes(number));
  const quote = quoted[0].replace(/[a-z]{7,}/, (word) => `un${word}`);
  const negated = negate(quoted[1]);
  const code = [...text.matchAll(/https:\/\/example\.org\/[\w/-]+/g)].map(([address]) => address);
  const points = { novelty: 3, feasibility: 4, time_to_poc: 3, value_market: 3, defensibility: 2, adoption: 3 };
  return {
    unit,
    summary: plant("swapped number", summary, summary.replace(numbersIn(summary)[0], elsewhere)),
    methodology: method,
    results: plant(
      "number",
      results,
      results.replace(numbersIn(results)[0], (number) => `${number}9`),
    ),
    limitations: limit,
    implementations_found: [...code, plant("address", "", `https://example.org/invented/${unit}`)],
    commercialized: null,
    scores: {
      execution: points,
      blue_ocean: { market_creation: 2, first_mover_window: 2, network_effects: 2, strategic_clarity: 3 },
    },
    evidence: quoted.map((sentence, index) => ({
      claim: index === 1 ? plant("negation", sentence, negated) : `It says so: ${sentence}`.slice(0, 400),
      quote: index === 0 ? plant("quote", sentence, quote) : sentence,
    })),
    insights: [],
    notes: "Judged by the bench.",
  };
}

/** The opposite in words that the text may hold: no comparison of words tells it. */
const negate = (sentence) => `It is not the case that ${sentence[0].toLowerCase()}${sentence.slice(1)}`;

/**
 * What a comparison with the text tells: numbers of another sentence or of none, quotes and addresses that are not
 * there.
 */
function critique({ unit, draft: written }, material, seen) {
  const reading = JSON.parse(written);
  const sentences = sentencesOf(material).map((text) => ({ text, words: wordsIn(text), numbers: numbersIn(text) }));
  const flat = material.replace(/\s+/g, " ");
  const findings = [];
  for (const where of ["summary", "methodology", "results", "limitations"]) {
    for (const sentence of sentencesOf(reading[where])) {
      const about = wordsIn(sentence);
      const [nearest] = sentences.toSorted((a, b) => shared(about, b.words) - shared(about, a.words));
      const missing = numbersIn(sentence).filter((number) => !nearest.numbers.includes(number));
      if (missing.length > 0)
        findings.push({ where, problem: `The text does not say ${missing.join(", ")} here.`, quote: nearest.text });
    }
  }
  reading.evidence.forEach(({ quote }, index) => {
    // One that is in the text is shown as its passage.
    if (quote === undefined) return;
    if (!flat.includes(quote.replace(/\s+/g, " ")))
      findings.push({ where: `evidence[${index}]`, problem: "The quote is not in the text.", quote: null });
  });
  for (const address of reading.implementations_found)
    if (!flat.includes(address))
      findings.push({ where: "implementations_found", problem: `${address} is not in the text.`, quote: null });
  for (const { where } of findings) {
    const index = Number(/\d+/.exec(where)?.[0] ?? -1);
    const value = index >= 0 ? JSON.stringify(reading.evidence[index]) : JSON.stringify(reading[where.split("[")[0]]);
    const error = seen.planted.find(
      (each) =>
        each.unit === unit && value.includes(JSON.stringify(each.text).slice(1, -1)) && !seen.named.includes(each),
    );
    if (error === undefined) seen.false += 1;
    else seen.named.push(error);
  }
  return { unit, findings: findings.slice(0, 12) };
}

/** Mends what it is told: the text's own sentence in place of a wrong one, nothing in place of what is not there. */
function answer({ draft: written, findings }) {
  const reading = JSON.parse(written);
  const gone = new Set();
  for (const { where, problem, quote } of findings) {
    const index = /^evidence\[(\d+)\]/.exec(where)?.[1];
    if (index !== undefined) gone.add(Number(index));
    else if (where === "implementations_found")
      reading[where] = reading[where].filter((address) => !problem.includes(address));
    else if (quote !== undefined) reading[where] = quote;
  }
  return { ...reading, evidence: reading.evidence.filter((_, index) => !gone.has(index)) };
}
