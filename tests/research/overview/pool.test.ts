import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { passagesFile, textsFolder } from "../../../src/research/project-files/layout.js";
import { saveText } from "../../../src/research/full-text/text-cache.js";
import type { Paper, Rrd } from "../../../src/research/generated/rrd.js";
import {
  choosePassages,
  openPool,
  maxPassageTokens,
  type Pool,
} from "../../../src/research/overview/questions/pool.js";
import { storedTextOf, storedTexts } from "../../../src/research/overview/questions/stored-pool.js";
import { temporaryFolder } from "../../support/folders.js";
import { paper, rrdWith } from "../../support/projects/research.js";

const filler = (id: string, n: number) =>
  `Sentence ${n} of ${id} speaks of grippers, objects, tables and of how long a trial took in the laboratory of that town.`;
const bodyOf = (id: string, said: string) =>
  [...Array.from({ length: 1_400 }, (_, n) => filler(id, n)), said].join(" ");
const textOf = (id: string, said: string) =>
  buildText([{ label: "§ 1 Results", text: `## 1 Results\n\n${bodyOf(id, said)}` }], {
    kind: "markdown",
    depth: "full",
    title: `On ${id}`,
  });

/** A project whose texts are long enough for their words to be kept, and how often one was read. */
async function project(said: Readonly<Record<string, string>>, over: Partial<Rrd> = {}) {
  const folder = temporaryFolder();
  const rrd = rrdWith(
    Object.keys(said).map((id) => paper(id, { status: "presented" })),
    over,
  );
  for (const [id, words] of Object.entries(said)) await saveText(textsFolder(folder), id, textOf(id, words));
  const read: string[] = [];
  const open = (papers: readonly Paper[] = rrd.papers_pool): Promise<Pool> => {
    read.length = 0;
    return openPool(
      [{ folder, rrd: { ...rrd, papers_pool: [...papers] } }],
      async (place, one) => {
        read.push(one.id);
        return storedTextOf(place, one);
      },
      storedTexts({ readOnly: false }),
    );
  };
  return { folder, rrd, read, open };
}
const said = {
  one: "Cold fluids spoiled the catalyst.",
  two: "Warm fluids mended the enzyme.",
  three: "Randomisation of textures helped transfer.",
};
const best = async (pool: Pool, question: string) => {
  const [hit] = pool.search(pool.query(question), 1).best;
  const place = hit?.passage.paper ?? -1;
  const text = (await pool.textOf(place))?.text.slice(hit?.passage.start, hit?.passage.end) ?? "";
  return [pool.papers[place]?.key, text] as const;
};
const shownOf = (pool: Pool) =>
  ["catalyst", "enzyme", "texture randomization"].map((question) => pool.search(pool.query(question), 9));

describe("words of texts that are kept", () => {
  test("answer as the texts do, and no text is read again", async () => {
    const { folder, open, read } = await project(said);
    const first = shownOf(await open());
    expect(read.toSorted()).toEqual(["one", "three", "two"]);
    const written = statSync(passagesFile(folder)).mtimeMs;
    expect(shownOf(await open())).toEqual(first);
    expect(read).toEqual([]);
    expect(statSync(passagesFile(folder)).mtimeMs).toBe(written);
  });

  test("of a text that changed are dropped, and of that one alone", async () => {
    const { folder, open, read } = await project(said);
    await open();
    await saveText(textsFolder(folder), "two", textOf("two", "Frost cracked the manifold."));
    const pool = await open();
    expect(read).toEqual(["two"]);
    expect((await best(pool, "manifold"))[1]).toContain("Frost cracked the manifold.");
    expect(pool.search(pool.query("enzyme"), 9).best).toEqual([]);
  });

  test("of a record that changed are dropped too, and a paper that left the pool is in no answer", async () => {
    const { rrd, open, read } = await project(said);
    await open();
    const [one, two] = rrd.papers_pool as [Paper, Paper, Paper];
    const pool = await open([{ ...one, title: "On zirconium" }, two]);
    expect(read).toEqual(["one"]);
    expect((await best(pool, "zirconium"))[0]).toBe("one");
    expect(pool.search(pool.query("texture randomization"), 9).best).toEqual([]);
  });

  test("of a text that is gone are in no answer", async () => {
    const { folder, open } = await project(said);
    await open();
    writeFileSync(join(textsFolder(folder), "one.json"), "{");
    const pool = await open();
    expect(pool.withoutText).toEqual(["one"]);
    expect(pool.search(pool.query("catalyst"), 9).best).toEqual([]);
  });

  test.each([
    ["cut short", (file: Buffer) => file.subarray(0, file.length - 7)],
    [
      "with one byte changed",
      (file: Buffer) => Buffer.from(file.map((byte, at) => (at === file.length - 9 ? byte ^ 1 : byte))),
    ],
    ["with its first line changed", (file: Buffer) => Buffer.concat([Buffer.from("{"), file])],
    ["empty", () => Buffer.alloc(0)],
    [
      "of a later format",
      (file: Buffer) => Buffer.from(file.toString("latin1").replace(/"format":\d+/, '"format":99'), "latin1"),
    ],
  ])("%s are made anew", async (_, damage) => {
    const { folder, open, read } = await project(said);
    const first = shownOf(await open());
    writeFileSync(passagesFile(folder), damage(readFileSync(passagesFile(folder))));
    expect(shownOf(await open())).toEqual(first);
    expect(read).toHaveLength(3);
    await open();
    expect(read).toEqual([]);
  });
});

describe("a question is put", () => {
  test("with British and American endings as one, either way round", async () => {
    const { open } = await project({ ...said, four: "We analyzed how parameterization behaves." });
    const pool = await open();
    expect((await best(pool, "Does texture randomization help?"))[1]).toContain("Randomisation");
    expect((await best(pool, "analysed parameterisation"))[1]).toContain("parameterization");
  });

  test("with the other side of the glossary, from the term to its meaning and back", async () => {
    const glossary = { domain_glossary: { terms: { MOF: "metal-organic framework" } } };
    const { open } = await project(
      { one: "The metal-organic framework adsorbed it.", two: "A MOF was cheap.", three: "Nothing of it." },
      glossary,
    );
    const pool = await open();
    const papersOf = (question: string) =>
      new Set(pool.search(pool.query(question), 9).best.map(({ passage }) => pool.papers[passage.paper]?.key));
    expect(papersOf("MOF adsorption")).toEqual(new Set(["one", "two"]));
    expect(papersOf("metal-organic framework")).toEqual(new Set(["one", "two"]));
    const bare = await (
      await project({ one: "The metal-organic framework adsorbed it.", two: "A MOF was cheap." })
    ).open();
    expect(bare.search(bare.query("MOF"), 9).perPaper).toHaveLength(1);
  });

  test("to as many papers as there are: half of the room is for the best passage of each", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`p${n}`, n === 0 ? said.one.repeat(3) : "The catalyst."]),
    );
    const { open } = await project(many);
    const pool = await open();
    const chosen = choosePassages(pool, pool.query("grippers and the catalyst"), 4_000);
    expect(new Set([...chosen].map((passage) => passage.paper)).size).toBe(12);
    const tokens = [...chosen].reduce((sum, { start, end }) => sum + (end - start) / 4, 0);
    expect(tokens).toBeLessThanOrEqual(4_000);
    expect(maxPassageTokens).toBe(20_000);
  });

  test("without a shared word the beginnings of the papers, within the limit too", async () => {
    const { open } = await project(
      Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`a_2020_0${10 + n}`, `Trial ${n}.`])),
    );
    const pool = await open();
    const chosen = [...choosePassages(pool, pool.query("Помогает ли рандомизация?"), 20_000)];
    expect(new Set(chosen.map((passage) => passage.paper)).size).toBe(12);
    expect(chosen).toHaveLength(24);
    expect([...choosePassages(pool, pool.query("Помогает ли рандомизация?"), 1_000)].length).toBeLessThan(5);
  });
});
