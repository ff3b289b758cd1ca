import { once } from "node:events";
import { createServer } from "node:http";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { load } from "../../../scripts/bundle.mjs";
import { median, ms, size, thousands } from "../../measure.mjs";

const iterations = size(100, 20);
/** A brief without the history and without the paper's text, as `bench -- brief` measures it for few papers. */
const restOfBrief = 3_000;
/** What a historian's model reads besides the material. */
const historianFloor = 1_200;

/**
 * What a model that reads a token in so many milliseconds takes to answer: a local one reads some 10,000 tokens a
 * second.
 */
const msPerToken = 0.1;
/** A reason that one iteration alone met; the brief of the last iteration must still tell it. */
const fact = "the table of wheel diameters is in inches, not in millimetres";

const reasons = [
  "fewer than half of the quotes were found in the text",
  "/scores/execution/novelty must be at most 5",
  "result.json was not written",
  "the unit is paper_7, asked for was paper_8",
];

export const row = {
  name: "history",
  what: `${iterations} iterations: brief tokens against briefs that carry every observation whole; with code, with a model as historian (its own tokens counted); the answer of a server on 127.0.0.1 that waits ${msPerToken} ms for each token of the last ten briefs; whether a fact of iteration 3 is in the last brief`,
  hold: "≥ 43 % fewer, and a plateau",
  command: "npm run bench -- history",
  async run() {
    const loaded = await load({
      summarise: "src/engine/loop/history/summarise.ts",
      memory: "src/engine/loop/run-record/loop-memory.ts",
      limits: "src/engine/lib/history-limits.ts",
      notes: "src/engine/loop/notes.ts",
    });
    const { createSummariser, withSummary } = loaded.summarise;
    const { boundedObservations } = loaded.memory;
    const { defaultHistoryLimits: limits } = loaded.limits;
    const { memoryNotes } = loaded.notes;
    const model = {
      name: "model",
      run: async (brief) => ({ summary: wordsOf(480), tokens: historianFloor + countTokens(brief) + 480 }),
    };
    const found = [];
    for (const [name, ask] of [
      ["code", undefined],
      ["model", model],
    ]) {
      const compress = createSummariser({
        every: 5,
        tell: async () => {},
        now: Date.now,
        ...(ask === undefined ? {} : { ask }),
      });
      let memory = { limits, since: 0, observations: [], ledger: [], steering: [] };
      const late = { ours: [], whole: [] };
      let [ours, whole, carried] = [0, 0, 0];
      const notes = [];
      for (let iteration = 1; iteration <= iterations; iteration += 1) {
        notes.push(countTokens(memoryNotes(memory).history ?? ""));
        const brief = { ours: restOfBrief + notes.at(-1), whole: restOfBrief + carried };
        ours += brief.ours;
        whole += brief.whole;
        if (iteration > iterations - 10) for (const kind of ["ours", "whole"]) late[kind].push(brief[kind]);
        carried += countTokens(JSON.stringify(observation(iteration)));
        const line = {
          iteration,
          at: "2026-01-01T00:00:00Z",
          unit: `p${iteration}`,
          phase: "ANALYSIS",
          outcome: "accepted",
        };
        memory = {
          ...memory,
          observations: boundedObservations([...memory.observations, observation(iteration)], limits, memory.metrics),
          ledger: [...memory.ledger, line].slice(-5),
        };
        const value = await compress(memory);
        if (value !== undefined) {
          const { loop } = withSummary({ loop: { rch_metrics: memory.metrics } }, value);
          memory = { ...memory, historySummary: value.summary, metrics: loop.rch_metrics };
        }
      }
      ours += memory.metrics.historian_tokens ?? 0;
      const answers = {};
      for (const kind of ["ours", "whole"]) answers[kind] = median(await answerTimes(late[kind]));
      const isKept = (memoryNotes(memory).history ?? "").includes(fact);
      const fewer = Math.round((1 - ours / whole) * 1000) / 10;
      const longest = (from, to) => Math.max(...notes.slice(from, to));
      found.push(
        `${name}: ${fewer} % fewer (${thousands(ours)} against ${thousands(whole)}), note ≤ ${longest(20, 60)} tokens up to #60, ≤ ${longest(60, 100)} after, answers in ${ms(answers.ours)} against ${ms(answers.whole)}${ask === undefined ? `, the fact of #3 is ${isKept ? "there" : "LOST"}` : ""}`,
      );
    }
    return { ours: found.join("; ") };
  },
};

/** Milliseconds from a request to its answer, for briefs of so many tokens. */
async function answerTimes(briefs) {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    setTimeout(() => response.end("{}"), JSON.parse(body).tokens * msPerToken);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const times = [];
  for (const tokens of briefs) {
    const from = performance.now();
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/`, {
      method: "POST",
      body: JSON.stringify({ tokens }),
    });
    await answer.text();
    times.push(performance.now() - from);
  }
  server.closeAllConnections();
  server.close();
  return times;
}

const wordsOf = (tokens) => "the work went on after that ".repeat(Math.ceil(tokens / 6));

/** What came of an iteration: one in four refused; a digest as real runs leave them, some 600 characters. */
function observation(iteration) {
  const refused = iteration % 4 === 3;
  const parts = Array.from(
    { length: (iteration % 5) + 2 },
    (_, n) => `Read /state/workspaces/a-research/${iteration}/paper/0${n + 1}.txt`,
  );
  const digest = `Said first: I will read the paper on matter ${iteration} and score it by both rubrics.\nSaid last: The result is written; ${iteration % 7} quotes stand in it.\nDid: ${parts.join("; ")}; Write /state/workspaces/a-research/${iteration}/result.json`;
  const said =
    iteration === 3
      ? fact
      : refused
        ? reasons[iteration % reasons.length]
        : `EXTRACT_INSIGHTS with ${iteration % 50} of 50`;
  return { iteration, unit: `paper_${iteration}`, outcome: refused ? "refused" : "accepted", said, digest };
}
