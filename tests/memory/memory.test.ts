import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "../support/runner/fast-check.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chunksOf } from "../../src/memory/chunks.js";
import { type Embedder, embeddingService, lexicalEmbedder } from "../../src/memory/embedder.js";
import { Database } from "../../src/memory/database.js";
import { documentsIndex, longTermIndex, type Memory, openMemory, type Scope } from "../../src/memory/memory.js";
import { isMemoryProblem } from "../../src/memory/problem.js";
import { addSigns, nearestBySigns, signsOf, wordCountOf } from "../../src/memory/sign-bits.js";

let folder: string;
let opened: Memory[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memory-"));
});
afterEach(async () => {
  await Promise.all(opened.map((memory) => memory.close()));
  opened = [];
  rmSync(folder, { recursive: true, force: true });
});

async function open(embedder: Embedder = lexicalEmbedder, path = join(folder, "memory.db")): Promise<Memory> {
  const memory = await openMemory(path, embedder);
  if (typeof memory === "string") throw new Error(memory);
  opened.push(memory);
  return memory;
}
async function idsOf(memory: Memory, ...contents: readonly string[]): Promise<readonly number[]> {
  const added = await memory.add(
    longTermIndex,
    contents.map((content) => ({ content })),
  );
  if ("problem" in added) throw new Error(added.problem);
  return added;
}

describe("a memory", () => {
  it("finds what was remembered by other forms of its words, also after it was closed", async () => {
    const first = await open();
    await idsOf(first, "The user prefers tabs for indentation.", "Worn fingertips lower the success rate of grasping.");
    await first.close();
    const [best] = await (await open()).search("what about wearing of a fingertip", 1);
    expect(best?.content).toContain("fingertips");
    expect(best?.similarity).toBeGreaterThan(0);
  });

  it("keeps type, source and importance, and breaks ties by importance", async () => {
    const memory = await open();
    const same = "Deploys happen on Fridays";
    const added = await memory.add(longTermIndex, [
      { content: `${same}.`, importance: "low" },
      { content: `${same}!`, importance: "critical", type: "instruction", source: "the user" },
      { content: same },
      { content: ` ${same} ` },
    ]);
    expect(added).toHaveLength(4);
    const found = await memory.search("deploys on fridays", 4);
    // One of each text.
    expect(found.map(({ importance }) => importance)).toEqual(["critical", "normal", "low"]);
    expect(found[0]).toMatchObject({ type: "instruction", source: "the user", index: longTermIndex });
  });

  it("leaves out of a query the words that stand everywhere", async () => {
    const memory = await open();
    await idsOf(
      memory,
      ...Array.from({ length: 60 }, (_, at) => `the report number ${at} mentions ${at === 7 ? "osmosis" : "nothing"}`),
    );
    const [best] = await memory.search("the report that mentions osmosis", 1);
    expect(best?.content).toContain("osmosis");
  });

  it("searches the indices that are named, and documents of this folder next to memories", async () => {
    const memory = await open();
    await idsOf(memory, "grippers are soft");
    await memory.addDocument(documentsIndex, { title: "On grippers", folder: "/w/a" }, [
      { content: "grippers are rigid" },
    ]);
    expect((await memory.search("grippers", 5)).map(({ index }) => index).sort()).toEqual([
      documentsIndex,
      longTermIndex,
    ]);
    const of = async (scope: Scope) => (await memory.search("grippers", 5, scope)).map(({ content }) => content);
    expect(await of({ indices: [longTermIndex] })).toEqual(["grippers are soft"]);
    for (const near of ["/w/a", "/w/a/deep", "/w"]) expect(await of({ folder: near })).toHaveLength(2);
    for (const far of ["/w/b", "/w/a2"]) expect(await of({ folder: far })).toEqual(["grippers are soft"]);
    expect(await memory.documentsOf(documentsIndex)).toEqual([{ id: 1, title: "On grippers", chunks: 1 }]);
  });

  it("finds nothing for what has nothing to do with it", async () => {
    const memory = await open();
    await idsOf(memory, "our staging server is called hermes", "The user prefers tabs for indentation.");
    expect(await memory.search("hello, how are you?", 5)).toEqual([]);
    expect(await memory.search("is it ok?", 5)).toEqual([]);
    expect(await memory.search("what is the staging server called?", 5)).toHaveLength(1);
  });

  it("finds chunks by type, importance and source where metadata are asked for", async () => {
    const memory = await open();
    await memory.add(longTermIndex, [
      { content: "Cut releases on Thursday.", type: "instruction", importance: "critical", source: "Handbook of Ada" },
      { content: "Tabs." },
    ]);
    for (const word of ["instruction", "critical", "handbook"]) {
      expect(await memory.search(word, 5)).toEqual([]);
      expect(await memory.search(word, 5, { metadata: true })).toMatchObject([
        { content: "Cut releases on Thursday." },
      ]);
    }
  });

  it("searches the words where the embedding service is down, and rejects where they find nothing", async () => {
    const before = await open();
    await idsOf(before, "an apple a day");
    await before.close();
    const down = await open({ model: "service", embed: async () => await Promise.reject(new Error("refused")) });
    expect(await down.search("apple", 1)).toMatchObject([{ content: "an apple a day" }]);
    await expect(down.search("pear", 1)).rejects.toThrow("refused");
  });

  it("of an earlier version takes documents with their folder", async () => {
    await (await open()).close();
    const database = await Database.at(join(folder, "memory.db"));
    await database.rows("ALTER TABLE documents DROP COLUMN folder");
    await database.rows("INSERT INTO documents (index_name, title, created_at) VALUES ('documents', 'old', '')");
    database.close();
    const memory = await open();
    expect(await memory.addDocument(documentsIndex, { title: "new", folder: "/w" }, [{ content: "x" }])).toEqual({
      document: 2,
    });
  });

  it("shows, edits and forgets a chunk; an edited one is found by its new words alone", async () => {
    const memory = await open();
    const [id = 0] = await idsOf(memory, "The server is called athena.");
    expect(await memory.edit(id, "content", "The server is called hermes.")).toMatchObject({
      content: expect.stringContaining("hermes"),
    });
    expect(await memory.edit(id, "importance", "high")).toMatchObject({ importance: "high" });
    expect((await memory.search("hermes", 1))[0]?.id).toBe(id);
    expect((await memory.search("athena", 5)).some(({ content }) => content.includes("athena"))).toBe(false);
    expect(await memory.forget(id)).toMatchObject({ id });
    expect(await memory.search("hermes", 5)).toEqual([]);
    expect(await memory.get(id)).toMatchObject({ code: "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND" });
  });

  it.each([
    [
      "an empty content",
      async (memory: Memory) => memory.add(longTermIndex, [{ content: "  " }]),
      "VECTOR_DB_ERROR_INVALID_PARAM",
    ],
    [
      "an index that is not there",
      async (memory: Memory) => memory.add("nowhere", [{ content: "x" }]),
      "VECTOR_DB_ERROR_INDEX_NOT_FOUND",
    ],
    [
      "a type that is none",
      async (memory: Memory) => memory.edit((await idsOf(memory, "x"))[0] ?? 0, "type", "wish"),
      "VECTOR_DB_ERROR_INVALID_PARAM",
    ],
    [
      "a name that leads elsewhere",
      async (memory: Memory) => memory.createIndex("../x", "memory"),
      "VECTOR_DB_ERROR_INVALID_PARAM",
    ],
    ["a chunk that is not there", async (memory: Memory) => memory.forget(99), "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND"],
  ] as const)("says what is wrong with %s", async (_, act, code) => {
    const answer = await act(await open());
    expect(isMemoryProblem(answer)).toBe(true);
    expect(answer).toMatchObject({ code });
  });

  it("makes and deletes an index with all that is in it", async () => {
    const memory = await open();
    expect(await memory.createIndex("notes", "memory")).toMatchObject({
      name: "notes",
      chunks: 0,
      maxElements: 100_000,
    });
    await memory.add("notes", [{ content: "a note" }]);
    expect(await memory.deleteIndex("notes")).toEqual({ deleted: 1 });
    expect(await memory.search("note", 5)).toEqual([]);
    expect((await memory.indices()).map(({ name }) => name)).toEqual([documentsIndex, longTermIndex]);
  });

  it("reads what another connection adds meanwhile, past a thousand packed vectors", async () => {
    const [reader, writer] = [await open(), await open()];
    await idsOf(reader, "the first one");
    expect((await reader.search("first", 1))[0]?.content).toBe("the first one");
    const contents = Array.from({ length: 2100 }, (_, at) => `entry ${at} of a long list`);
    await writer.add(
      longTermIndex,
      contents.map((content) => ({ content })),
    );
    await idsOf(writer, "a needle called quixotic");
    expect((await reader.search("quixotic needles", 1))[0]?.content).toBe("a needle called quixotic");
    expect((await reader.indices()).find(({ name }) => name === longTermIndex)?.chunks).toBe(2102);
  });

  it("gives all chunks new vectors where the model changes, and finds them by their words until then", async () => {
    const before = await open();
    await idsOf(before, "an apple a day", "a pear a day");
    await before.close();
    const other: Embedder = {
      model: "other",
      embed: async (texts) => texts.map((text) => Float32Array.from([text.length, 1])),
    };
    const after = await open(other);
    expect((await after.indices()).find(({ name }) => name === longTermIndex)).toMatchObject({
      model: "other",
      waiting: 2,
    });
    expect((await after.search("apple", 1))[0]).toMatchObject({ content: "an apple a day" });
    expect(await after.embedAgain(new AbortController().signal)).toBe(2);
    expect((await after.indices()).find(({ name }) => name === longTermIndex)?.waiting).toBe(0);
  });

  it("gives new vectors to chunks whose service has changed their length, and keeps them apart until then", async () => {
    const of = (length: number): Embedder => ({
      model: "service",
      embed: async (texts) => texts.map(() => new Float32Array(length).fill(1 / Math.sqrt(length))),
    });
    const before = await open(of(8));
    await idsOf(before, "an apple a day");
    await before.close();
    for (const again of [1, 0]) {
      const after = await open(of(40));
      const [found] = await after.search("apple", 1);
      expect(found?.content).toBe("an apple a day");
      expect("similarity" in (found ?? {})).toBe(again === 0);
      expect(await after.embedAgain(new AbortController().signal)).toBe(again);
      expect((await after.search("another", 1))[0]?.similarity).toBeCloseTo(1);
      await after.close();
    }
    // Also before the service is asked again.
    const unasked = await open(of(40));
    expect((await unasked.indices()).find(({ name }) => name === longTermIndex)).toMatchObject({
      model: "service/40",
      waiting: 0,
    });
  });

  it.each([
    ["something else", (path: string) => writeFileSync(path, "not a database ".repeat(200))],
    ["a folder without permission", (path: string) => chmodSync(join(path, ".."), 0o500)],
  ])("that can't be opened, as %s, is one sentence and no crash", async (title, spoil) => {
    if (title.startsWith("a folder") && process.getuid?.() === 0) return;
    const path = join(folder, "memory.db");
    spoil(path);
    const answer = await openMemory(path, lexicalEmbedder);
    chmodSync(folder, 0o700);
    expect(answer).toMatch(/^The memory .* can't be opened \(.*\)(?:; [^;]+)?\.$/);
  });

  it("of a later version is left as it is", async () => {
    const memory = await open();
    await memory.close();
    const { createClient } = await import("@libsql/client");
    const client = createClient({ url: `file:${join(folder, "memory.db")}` });
    await client.execute("UPDATE meta SET value = '99' WHERE key = 'format'");
    client.close();
    const before = readFileSync(join(folder, "memory.db"));
    await expect(openMemory(join(folder, "memory.db"), lexicalEmbedder)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining("memory.db was written in format 99 by a later version"),
    });
    expect(readFileSync(join(folder, "memory.db")).equals(before)).toBe(true);
  });
});

describe("chunks of a text", () => {
  const prose = fc
    .array(fc.string({ minLength: 1, maxLength: 1500 }), { maxLength: 12 })
    .map((parts) => parts.join(". "));

  it("hold all of it in order, none longer than 1,000 characters", () => {
    fc.assert(
      fc.property(prose, (text) => {
        const chunks = chunksOf(text);
        let at = 0;
        const plain = text.replace(/\s+/g, "");
        for (const chunk of chunks) {
          expect(chunk.length).toBeLessThanOrEqual(1000);
          const squeezed = chunk.replace(/\s+/g, "");
          const found = plain.indexOf(squeezed, Math.max(0, at - 300));
          expect(found).toBeGreaterThanOrEqual(0);
          expect(found).toBeLessThanOrEqual(at);
          at = Math.max(at, found + squeezed.length);
        }
        expect(at).toBe(plain.length);
      }),
      { numRuns: 100 },
    );
  });

  it("repeat the last sentence of the one before", () => {
    const sentence = (at: number) =>
      `Sentence number ${at} says a thing that is worth a hundred characters of text, more or less, here.`;
    const [first = "", second = ""] = chunksOf(Array.from({ length: 20 }, (_, at) => sentence(at)).join(" "));
    expect(second.startsWith(first.slice(first.lastIndexOf("Sentence")))).toBe(true);
  });
});

describe("sign bits", () => {
  it("give the nearest by counted distance", () => {
    const vector = fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 70, maxLength: 70 });
    fc.assert(
      fc.property(fc.array(vector, { minLength: 1, maxLength: 30 }), vector, (vectors, query) => {
        const held = { ids: [] as number[], bits: new Uint32Array(0), wordsPerVector: wordCountOf(70) };
        for (const [id, each] of vectors.entries()) addSigns(held, [id], signsOf(Float32Array.from(each)));
        const distance = (id: number) =>
          (vectors[id] ?? []).filter((value, at) => value > 0 !== (query[at] ?? 0) > 0).length;
        const found = nearestBySigns(held, signsOf(Float32Array.from(query)), 5);
        const expected = vectors
          .map((_, id) => id)
          .sort((a, b) => distance(a) - distance(b) || a - b)
          .slice(0, 5);
        expect(found).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});

describe("an embedding service", () => {
  const service = (answer: () => Response) =>
    embeddingService({ url: "http://127.0.0.1:1/v1/embeddings", model: "m", fetch: async () => answer() });

  it("gives vectors of length one", async () => {
    const answer = () => Response.json({ data: [{ embedding: [3, 4] }] });
    const [vector] = await service(answer).embed(["x"]);
    expect(Array.from(vector ?? []).map((value) => Math.round(value * 10) / 10)).toEqual([0.6, 0.8]);
  });

  it.each([
    ["an error", () => new Response("no", { status: 500 })],
    ["no vectors", () => Response.json({ data: [] })],
    ["vectors of two lengths", () => Response.json({ data: [{ embedding: [1] }, { embedding: [1, 2] }] })],
    ["what is no number", () => Response.json({ data: [{ embedding: ["a"] }] })],
  ])("that answers with %s is refused", async (title, answer) => {
    await expect(service(answer).embed(title.includes("two") ? ["x", "y"] : ["x"])).rejects.toThrow(
      /embedding service/,
    );
  });
});
