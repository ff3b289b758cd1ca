// Searching the assistant's memory: 100,000 chunks with vectors of 384 numbers in 500 clusters.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { inFolder, size } from "../../measure.mjs";

const [chunks, dimension, clusters, queries] = [size(100_000, 2_000), 384, 500, 20];

export const row = {
  name: "recall",
  what: "hybrid search over 100,000 chunks × 384, CPU; recall@5 against measuring all; the first search after opening as a multiple of reading the same file",
  hold: "< 50 ms, ≥ 0.98, ≤ 1.5 ×",
  command: 'ralph "…" with a memory',
  async run() {
    const { memory } = await load({ memory: "src/memory/memory.ts" });
    return { ours: await inFolder((folder) => measured(memory, join(folder, "memory.db"))) };
  },
};

async function measured({ openMemory }, path) {
  const random = generator(7);
  const normal = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
  const centres = Array.from({ length: clusters }, () => Array.from({ length: dimension }, normal));
  const near = (cluster) => {
    const vector = Float32Array.from(centres[cluster], (value) => value + 0.6 * normal());
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  };
  const vectors = new Map();
  const embedder = { model: "bench", embed: async (texts) => texts.map((text) => vectors.get(text)) };
  const open = async () => {
    const memory = await openMemory(path, embedder);
    if (typeof memory === "string") throw new Error(memory);
    return memory;
  };
  const writer = await open();
  for (let at = 0; at < chunks; at += 1000) {
    const batch = Array.from({ length: 1000 }, (_, place) => {
      const words = Array.from({ length: 20 }, () => `w${Math.floor(random() ** 3 * 20_000).toString(36)}`);
      const content = `the ${words.join(" ")} ${at + place}`;
      vectors.set(content, near(Math.floor(random() * clusters)));
      return { content };
    });
    await writer.add("long_term_memory", batch);
  }
  await writer.close();
  const stored = [...vectors];
  const memory = await open();
  const cpuOf = async (work) => {
    const before = process.cpuUsage();
    const value = await work();
    const { user, system } = process.cpuUsage(before);
    return { ms: (user + system) / 1000, value };
  };
  const read = await cpuOf(() => readFileSync(path).length);
  vectors.set("first", near(0));
  const first = await cpuOf(() => memory.search("first", 5));
  const times = [];
  let found = 0;
  for (let query = 0; query < queries; query += 1) {
    const vector = near((query * 7) % clusters);
    const text = `query${query}`;
    vectors.set(text, vector);
    const { ms, value } = await cpuOf(() => memory.search(text, 5));
    times.push(ms);
    const exact = stored
      .map(([content, other]) => ({ content, score: other.reduce((sum, number, at) => sum + number * vector[at], 0) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 5);
    found += exact.filter(({ content }) => value.some((chunk) => chunk.content === content)).length;
  }
  await memory.close();
  rmSync(path, { force: true });
  times.sort((a, b) => a - b);
  return `${times[queries / 2].toFixed(0)} ms, ${(found / (5 * queries)).toFixed(2)}, ${first.ms.toFixed(0)} ms of ${read.ms.toFixed(0)} ms (${(first.ms / read.ms).toFixed(1)} ×)`;
}

/** A sequence that is the same in every run (Numerical Recipes' generator). */
function generator(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
