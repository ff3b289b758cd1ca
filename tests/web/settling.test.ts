import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acquireLock } from "../../src/engine/storage/lock.js";
import type { Field, Rrd } from "../../src/research/generated/rrd.js";
import { screeningProject } from "../fixtures/screening-project.js";
import { saveText } from "../../src/research/full-text/text-cache.js";
import { textsFolder } from "../../src/research/project-files/layout.js";
import { buildText } from "../../src/text/documents/text/document-text.js";
import { freshFolder, makeResearch } from "../support/projects/research-folder.js";
import { served } from "./served.js";

const name = "hands-2026-03-01";
const at = `/p/${name}/settle`;
const field: Field = { id: "size", name: "sample size", type: "number" };
const valueOf = (value: string) => [
  {
    field: "size",
    value,
    status: "verified" as const,
    evidence: [{ claim: value, quote: `${value} hands`, status: "verified" as const }],
  },
];

/** A project with one paper on whose sample size two agents differ. */
async function opened() {
  const cwd = freshFolder();
  const [first] = screeningProject.papers_pool;
  if (first === undefined) throw new Error("no paper");
  const paper = {
    ...first,
    abstract: "We tried 24 hands, and 30 <hands> later.",
    status: "presented" as const,
    analysis: { summary: "Hands." },
    extracted: valueOf("24"),
    extracted_again: valueOf("30"),
  };
  const requirements = { ...screeningProject.requirements, fields: [field] };
  const folder = makeResearch(cwd, name, { ...screeningProject, requirements, papers_pool: [paper] });
  const settled = () => (JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd).papers_pool[0]?.settled;
  await saveText(
    textsFolder(folder),
    paper.id,
    buildText([{ label: "abstract", text: paper.abstract }], { kind: "text", depth: "abstract" }),
  );
  const browser = await served(cwd);
  const settle = async (form: Record<string, string>) => {
    const answer = await browser.post(at, { paper: paper.id, field: "size", ...form });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, at]);
    return (await browser.get(at)).text();
  };
  return { folder, browser, settled, settle };
}

test("the page lists what two agents differ on and settles it as the command does, also by the person's own value", async () => {
  const { browser, settled, settle } = await opened();
  expect(await (await browser.get(`/p/${name}/`)).text()).toContain("Settle 1 difference of two agents");
  expect(await (await browser.get(at)).text()).toContain("1 of 1 open");
  expect(await settle({ take: "second", why: "It counts all." })).toContain("0 of 1 open");
  expect(settled()).toMatchObject([{ field: "size", take: "second", why: "It counts all." }]);
  expect(await settle({ take: "own", value: "26", quote: "We tried 24 hands" })).toContain(
    "number not in the passage: 26",
  );
  expect(await settle({ take: "own", value: "many", quote: "" })).toContain("It is not a number.");
  expect(settled()).toMatchObject([{ take: "second" }]);
  expect(await settle({ take: "own", value: "24", quote: "We tried 24 hands" })).toContain("24 counts.");
  expect(settled()).toMatchObject([{ take: "own", own: { value: "24", status: "verified", by: "a person" } }]);
  expect(await settle({ take: "own", value: "25", quote: "" })).toContain("without a passage");
  expect(settled()).toMatchObject([{ own: { value: "25", status: "could-not-check" } }]);
});

test("while a run holds the project, it is left for the run", async () => {
  const { folder, settled, settle } = await opened();
  mkdirSync(join(folder, ".ralph"), { recursive: true });
  const lock = await acquireLock(join(folder, ".ralph/lock"), { subject: "It" });
  expect(await settle({ take: "second" })).toContain("takes this before its next iteration");
  expect(settled()).toBeUndefined();
  await lock.release();
});
