import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { lastGoodFile } from "../../../src/research/project-files/layout.js";
import { read } from "../../support/documents/citation-reader.js";
import { main } from "../../../src/commands/main.js";
import { cli, ioIn } from "../../support/processes/in-process.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

const pool = [
  { ...paper("a", "presented"), title: "Hands & {tools}", authors: ["Jan van der Berg"], date: "2024-02-03" },
  { ...paper("b", "rejected"), title: "Feet", authors: ["Ann Lee"], date: "2023" },
];

test("papers go to stdout in each format, and the project stays as it is", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-01-14", { papers_pool: pool });
  const before = readFileSync(join(folder, "rrd.json"), "utf8");
  for (const format of ["bibtex", "ris", "csl"] as const) {
    const { code, out, err } = await cli(["export", "--as", format], cwd);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(read(out, format).map(({ title }) => title)).toEqual(["Hands & {tools}", "Feet"]);
  }
  const { out } = await cli(["export", "hands", "--as", "csv", "--only", "included"], cwd);
  expect(out.split("\r\n").slice(1, -1)).toEqual([
    expect.stringMatching(/^a,berg2024,[^,]*,Hands & {tools},Jan van der Berg/),
  ]);
  expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe(before);
});

test("on a terminal it says how to write a file, and how to leave out what is not included", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "hands-2026-01-14", { papers_pool: pool });
  const io = ioIn(cwd, {}, { isShown: true });
  expect(await main(["report", "--as", "ris"], io, "0.0.0")).toBe(0);
  expect(io.err()).toContain("--as ris --to hands-2026-01-14.ris' writes a file.");
  expect(io.err()).toContain("--only included");
  const flow = ioIn(cwd, {}, { isShown: true });
  expect(await main(["report", "--as", "prisma"], flow, "0.0.0")).toBe(0);
  expect(flow.err()).toContain("PRISMA2020");
  expect(flow.err()).toContain("--to hands-2026-01-14.flow.csv'");
  expect(flow.err()).not.toContain("--only");
  expect(flow.out().split("\n").slice(0, 2)).toEqual([
    "Records known: 2 (2 left out since, source not recorded)",
    "Records screened: 2",
  ]);
});

test("of a rrd.json that is broken the path is told from the folder of the command", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-01-14", { papers_pool: pool });
  mkdirSync(join(folder, ".ralph"), { recursive: true });
  copyFileSync(join(folder, "rrd.json"), lastGoodFile(folder));
  writeFileSync(join(folder, "rrd.json"), "{");
  const io = ioIn(cwd);
  expect(await main(["show", "hands"], io, "0.0.0")).toBe(1);
  expect(io.err()).toContain("research-ralph: researches/hands-2026-01-14/rrd.json:1:2: ");
  expect(io.err()).not.toContain(cwd);
});

test("a file is written where --to says, and --json says what was written", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-01-14", { papers_pool: pool });
  const { code, out, err } = await cli(["export", "--as", "ris", "-o", "hands.ris"], cwd);
  expect({ code, out, err }).toEqual({
    code: 0,
    out: "",
    err: "2 records of researches/hands-2026-01-14 as ris: hands.ris\n",
  });
  expect(read(readFileSync(join(cwd, "hands.ris"), "utf8"), "ris")).toHaveLength(2);
  const json = await cli(["export", "--as", "ris", "--only", "included", "--json"], cwd);
  expect(JSON.parse(json.out)).toMatchObject({
    folder,
    as: "ris",
    records: 1,
    text: expect.stringContaining("TY  - "),
  });
});

test.each([
  [["--as", "endnote"], "There is no format 'endnote'; --as takes ris for reference managers"],
  [[], "--as"],
  [["--as", "ris", "--to", "no/such/folder.ris"], "There is no folder"],
  [["--as", "ris", "--to", "there"], "there is a folder"],
  [["--as", "ris", "--to", "researches/hands-2026-01-14/rrd.json"], "a file of the project itself"],
  [["--as", "ris", "--only", "bad"], "kept_for_insights"],
  [["--as", "prisma", "--only", "included"], "the flow counts all records"],
])("export %j is refused with a sentence, and writes nothing", async (args, words) => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-01-14", { papers_pool: pool });
  mkdirSync(join(cwd, "there"));
  const before = readFileSync(join(folder, "rrd.json"), "utf8");
  const { code, out, err } = await cli(["export", ...args], cwd);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(words);
  expect(readFileSync(join(folder, "rrd.json"), "utf8")).toBe(before);
  expect(existsSync(join(cwd, "no"))).toBe(false);
});

test("of a broken rrd.json the last good version is written, and that is said", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-01-14", { papers_pool: [paper("a", "presented")] });
  const rrd = join(folder, "rrd.json");
  const broken = readFileSync(rrd, "utf8").slice(0, 60);
  mkdirSync(dirname(lastGoodFile(folder)), { recursive: true });
  renameSync(rrd, lastGoodFile(folder));
  writeFileSync(rrd, broken);
  const { code, out, err } = await cli(["export", "--as", "ris"], cwd);
  expect([code, out.split("\r\n")[0]]).toEqual([0, "TY  - GEN"]);
  expect(err).toContain("rrd.json can't be read, so this is made from its last good version");
  rmSync(lastGoodFile(folder));
  expect(await cli(["export", "--as", "ris"], cwd)).toMatchObject({ code: 1, out: "" });
});

test("a project without papers is an empty file, and that is said", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "hands-2026-01-14", {});
  expect(await cli(["export", "--as", "csl"], cwd)).toMatchObject({
    code: 0,
    out: "[]\n",
    err: expect.stringContaining("no records"),
  });
});

test("the flow has the reasons that a person typed, equal ones together, and many of them bounded", async () => {
  const cwd = freshFolder();
  const excluded = (id: string, why: string) => ({
    ...paper(id, "rejected", { read_depth: "full", analysis: { summary: "It is." } }),
    source: "arXiv",
    override: { decision: "exclude" as const, why, at: "2026-01-14T00:00:00.000Z" },
  });
  makeResearch(cwd, "hands-2026-01-14", {
    papers_pool: [
      ...["Feet, not hands.", "Feet, not hands"].map((why, index) => excluded(`a${index}`, why)),
      ...Array.from({ length: 20 }, (_, index) => excluded(`b${index}`, `Reason ${index}`)),
    ],
  });
  const { out } = await cli(["export", "--as", "prisma"], cwd);
  const [, reasons = ""] = /^dbr_excluded,.*?\.html,"([^"]*)"/m.exec(out) ?? [];
  expect(reasons).toMatch(/^by a person: Feet not hands, 2; by a person: Reason 0, 1; /);
  expect(reasons.split("; ")).toHaveLength(9);
  expect(reasons).toMatch(/by a person for other reasons, 13$/);
});

test("the flow for R counts what each database gave apart from pages of the web", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "hands-2026-01-14", {
    papers_pool: [
      { ...paper("a", "presented"), source: "arXiv" },
      { ...paper("b", "rejected"), source: "arXiv" },
      { ...paper("c", "pending"), source: "web" },
    ],
  });
  const { out, code } = await cli(["export", "--as", "prisma"], cwd);
  const numberOf = (name: string) => new RegExp(`^${name},.*?(?:\\.html|NA),("[^"]*"|\\d+)\r$`, "m").exec(out)?.[1];
  expect(code).toBe(0);
  expect(["database_results", "database_specific_results", "website_results", "new_studies"].map(numberOf)).toEqual([
    "2",
    '"arXiv, 2"',
    "1",
    "1",
  ]);
});
