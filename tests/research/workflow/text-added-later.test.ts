import { mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type { Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { reopenReadable } from "../../../src/research/workflow/steering/readable-again.js";
import { goodAgent, library, paper, paperText, researchFolder, rrdWith } from "../../support/projects/research.js";

test("a paper that was read from its abstract is read again once for each file that is put in its place", async () => {
  const asked: string[] = [];
  const agent = goodAgent((unit) => {
    if (unit["kind"] === "paper") asked.push(String(unit["unit"]));
    return undefined;
  });
  let isReadable = false;
  const texts = library({
    text: async ({ id }) => (isReadable ? { text: paperText(id) } : { unavailable: "the file is a scan without text" }),
  });
  const { run, folder } = researchFolder(rrdWith([paper("p1", { abstract: paperText("p1").text })]), texts);
  await run(agent);
  expect((await run(agent)).rrd.papers_pool[0]).toMatchObject({
    read_depth: "abstract",
    iteration: expect.any(Number),
  });
  expect(asked).toEqual(["p1"]);

  const file = join(folder, "scan.pdf");
  writeFileSync(file, "%PDF-1.4");
  const rrd = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
  const pool = rrd.papers_pool.map((each) => ({ ...each, pdf_url: pathToFileURL(file).href }));
  writeFileSync(join(folder, "rrd.json"), JSON.stringify({ ...rrd, papers_pool: pool }));
  for (let runs = 0; runs < 2; runs++) await run(agent);
  expect(asked).toEqual(["p1", "p1"]);

  // As in a copy of the project without the documents.
  renameSync(file, `${file}.away`);
  await run(agent);
  renameSync(`${file}.away`, file);
  await run(agent);
  expect(asked).toEqual(["p1", "p1"]);

  isReadable = true;
  writeFileSync(join(folder, "scan.ocr.pdf"), "%PDF-1.4");
  for (let runs = 0; runs < 2; runs++) expect((await run(agent)).rrd.papers_pool[0]).not.toHaveProperty("text_tried");
  expect(asked).toEqual(["p1", "p1", "p1"]);
});

test("what a classic run's agent read from an abstract stays read, as the program does not know what it tried", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "scan-")), "scan.pdf");
  writeFileSync(file, "%PDF-1.4");
  const read = paper("p1", { status: "presented", read_depth: "abstract", abstract: "About hands.", score: 40 });
  const rrd = rrdWith([{ ...read, pdf_url: pathToFileURL(file).href }]);
  const research = { nextIteration: () => 1, fold: async () => undefined };
  const options = { now: () => 0, tell: async () => undefined };
  expect(await reopenReadable(research, rrd, options)).toBe(false);
  const [own] = rrd.papers_pool as [Paper];
  expect(await reopenReadable(research, rrdWith([{ ...own, iteration: 3 }]), options)).toBe(true);
});
