import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { statusCommand } from "../../../src/commands/inspect/status.js";
import { verifyCommand } from "../../../src/commands/inspect/verify.js";
import { findText } from "../../../src/research/full-text/find-text.js";
import { textsFolder } from "../../../src/research/project-files/layout.js";
import { checkEvidence } from "../../../src/text/evidence/check-evidence.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { readingFrom } from "../../support/network/network.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

const note = "# A night in the fridge\n\nThe loaf of 12 hours was 10.6 cm high. The crust had more small blisters.\n";
const quotes = ["was 10.6 cm high", "had more small blisters"].map((quote) => ({ claim: "a claim", quote }));

/** A project that read one note beside it. */
async function project() {
  const cwd = freshFolder();
  const file = join(cwd, "cold-retard.md");
  writeFileSync(file, note);
  const own = paper("file_1", "presented", { url: pathToFileURL(file).href, key: "night-fridge" });
  const folder = makeResearch(cwd, "bread", { papers_pool: [own] });
  const read = await findText(own, { cacheDir: textsFolder(folder), ...readingFrom("http://127.0.0.1:1") });
  if (read.status !== "ok") throw new Error(read.reason);
  const { evidence } = checkEvidence(quotes, read.text, "");
  const text_sha256 = read.text.sha256;
  makeResearch(cwd, "bread", { papers_pool: [{ ...own, text_sha256, analysis: { evidence } }] });
  return { cwd, file };
}

async function outputs(cwd: string) {
  const [status, verify] = [fakeIo({ cwd, columns: 300 }), fakeIo({ cwd })];
  await statusCommand({ json: false }, status);
  const exitCode = await verifyCommand({ json: false, fetch: false }, verify);
  return { status: status.out(), verify: verify.out(), exitCode };
}

test("a document that was saved again without a change is not named", async () => {
  const { cwd, file } = await project();
  writeFileSync(file, note);
  const { status, verify, exitCode } = await outputs(cwd);
  expect(status).not.toContain("cold-retard.md");
  expect([verify, exitCode]).toEqual(["2 quotes: 2 as recorded, 0 fail, 0 could not be checked\n", 0]);
});

test("a changed document is named, and only the quotes that it no longer holds fail", async () => {
  const { cwd, file } = await project();
  writeFileSync(file, note.replace("10.6", "11.9"));
  const { status, verify, exitCode } = await outputs(cwd);
  const sentence =
    "cold-retard.md has changed since it was read; 'research-ralph reset bread --paper night-fridge' and a run read it again.";
  expect(status).toContain(`Documents  ${sentence}`);
  expect(verify).toContain(`${sentence}\nfails: night-fridge, quote 1, recorded as verified: `);
  expect(verify).toContain("2 quotes: 1 as recorded, 1 fails, 0 could not be checked");
  expect(exitCode).toBe(1);
});

test("a missing document is named with the place where it was, and its stored text is searched", async () => {
  const { cwd, file } = await project();
  rmSync(file);
  const { status, verify, exitCode } = await outputs(cwd);
  const sentence = `cold-retard.md is missing: it was read at ${file}; put it back there.`;
  expect(status).toContain(sentence);
  expect(verify).toBe(`${sentence}\n2 quotes: 2 as recorded, 0 fail, 0 could not be checked\n`);
  expect(exitCode).toBe(0);
});

test.each(["overnight.md", "nights/overnight.md"])(
  "a document that was renamed to %s is still the same, and another text in its folder is not",
  async (name) => {
    const { cwd, file } = await project();
    const [other, place] = [join(cwd, "other.md"), join(cwd, name)];
    mkdirSync(join(cwd, "nights"));
    renameSync(file, other);
    writeFileSync(other, note.replace("10.6", "11.9"));
    expect((await outputs(cwd)).status).toContain("cold-retard.md is missing");
    writeFileSync(place, note);
    const { status, verify, exitCode } = await outputs(cwd);
    expect(status).not.toContain("Documents");
    expect([verify, exitCode]).toEqual(["2 quotes: 2 as recorded, 0 fail, 0 could not be checked\n", 0]);
  },
);
