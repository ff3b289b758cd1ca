import { load } from "cheerio";
import { expect, test } from "vitest";
import { saveText } from "../../src/research/full-text/text-cache.js";
import type { Checked } from "../../src/research/generated/rrd.js";
import { textsFolder } from "../../src/research/project-files/layout.js";
import { reportModel } from "../../src/research/report/model.js";
import { readingPage } from "../../src/web/page/reading.js";
import { passagesProject, passageTexts } from "../fixtures/passages-project.js";
import { temporaryFolder } from "../support/folders.js";

/** The page on which a paper's quotes stand next to its text. */
async function reading(id: string, check?: Checked) {
  const folder = temporaryFolder();
  await saveText(textsFolder(folder), id, passageTexts[id] as NonNullable<(typeof passageTexts)[string]>);
  const { rrd, ...input } = passagesProject();
  const model = reportModel({ rrd, ...input });
  const paper = rrd.papers_pool.find((each) => each.id === id);
  const row = model.row(id);
  if (paper === undefined || row === undefined) throw new Error(`There is no ${id}.`);
  const found = model.entry(row);
  const entry =
    check === undefined ? found : { ...found, evidence: found.evidence.map((each) => ({ ...each, check })) };
  const { parts } = await readingPage(folder, "one", { paper, entry, checkers: {} });
  return load(parts.map(({ text }) => text).join(""));
}

test("a quote stands in its sentence, its words marked, and leads to the same words in the text", async () => {
  const page = await reading("negated");
  const quote = page("#e1");
  expect(quote.find("q").text()).toBe(
    "We found no evidence that, at a dose of 0.1 mg, the drug lowered the mortality of any patient.",
  );
  expect(quote.find("q mark").text()).toBe("the drug lowered the mortality of any patient");
  expect(quote.text()).toContain("the sentence begins before the quoted words");
  expect(quote.find("a[href='#q1']").text()).toBe("show in the text");
  expect(page(".text mark").text()).toBe("the drug lowered the mortality of any patient");
});

test("a row of a table has its caption and head above it, a line each", async () => {
  const page = await reading("row");
  expect(page("#e1 q").text().split("\n")).toHaveLength(3);
  expect(page("#e1 q mark").text()).toBe("Hard · 51 · 93");
});

test("what another reader says of a claim stands behind it", async () => {
  const page = await reading("negated", { verdict: "not-supported", by: ["codex"], why: "it is denied" });
  expect(page("#e1").text()).toContain("not supported, says codex, which does not count: it is denied");
});
