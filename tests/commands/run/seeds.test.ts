import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder } from "../../support/projects/research-folder.js";
import { atom, hand, scholarly, works } from "../../support/network/scholarly.js";

const topic = "sim2real transfer for dexterous manipulation";
const rrdOf = (cwd: string, folder: string): Rrd =>
  JSON.parse(readFileSync(join(cwd, folder.trim(), "rrd.json"), "utf8")) as Rrd;

test("seeds are read from references and files, looked up where they are bare, and kept where no source knows them", async () => {
  const { cwd } = await scholarly(atom, works);
  writeFileSync(
    join(cwd, "mine.bib"),
    "@article{good, title={Tools for hands}, author={Kim, Bo}, year=2023, doi={10.1000/tools}}\n@article{bad, year={2001}}\n",
  );
  const seeds = ["--seed", `arXiv:${hand.arxiv}`, "--seed", "10.1000/nowhere", "--seed", "mine.bib"];
  const { code, out, err } = await cli(["new", topic, "--agent", "baseline", "--no-git", ...seeds], cwd);
  expect(code).toBe(0);
  expect(err.replace(/\s+/g, " ")).toContain("mine.bib: 1 entry was read, 1 could not be read: line 2 (bad):");
  expect(err).toContain("Seed 10.1000/nowhere: no source knows it; it stays in the project");
  expect(rrdOf(cwd, out).seeds).toEqual([
    {
      reference: `arXiv:${hand.arxiv}`,
      title: hand.title,
      authors: ["Ann Lee"],
      date: "2024-01-31",
      abstract: "We study hands and the tools they hold.",
      venue: "arXiv",
      identifiers: { arxiv: hand.arxiv, doi: hand.doi },
    },
    { reference: "10.1000/nowhere", not_known: expect.stringContaining("10.1000/nowhere") },
    {
      reference: "10.1000/tools",
      title: "Tools for hands",
      authors: ["Kim, Bo"],
      date: "2023",
      identifiers: { doi: "10.1000/tools" },
      from: "mine.bib",
    },
  ]);
  expect((await cli(["validate", out.trim()], cwd)).code).toBe(0);
  expect((await cli(["status", out.trim()], cwd)).out).toContain("Seeds      3, not looked for yet");
});

test("a seed whose service is not reached is kept, and nobody says that no source knows it", async () => {
  const { cwd } = await scholarly(atom, works);
  const file = join(cwd, "ralph.config.yaml");
  const config = readFileSync(file, "utf8");
  writeFileSync(file, config.replace(/(crossref: \{ endpoint: ")[^"]*/, "$1http://127.0.0.1:9"));
  const { code, out, err } = await cli(["new", topic, "--agent", "baseline", "--no-git", "--seed", "10.1000/far"], cwd);
  expect(code).toBe(0);
  expect(err).toContain("Seed 10.1000/far: it could not be looked up; it stays in the project");
  expect(rrdOf(cwd, out).seeds).toEqual([{ reference: "10.1000/far" }]);
});

test.each([
  ["a file that is not there", "gone.bib", /there is no file/],
  ["a document that is not there", "gone.pdf", /there is no file/],
  ["a file that lists nothing", "empty.bib", /contains no work that can be read/],
  ["what is no reference", "something else", /is neither an arXiv id, a DOI, a PubMed id, a URL nor a document/],
])("a seed that is %s ends it before an agent is started", async (_, seed, reason) => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "empty.bib"), "nothing\n");
  const { code, err } = await cli(["new", topic, "--agent", "baseline", "--seed", seed], cwd);
  expect(code).toBe(2);
  expect(err).toMatch(reason);
  expect(existsSync(join(cwd, "researches"))).toBe(false);
});
