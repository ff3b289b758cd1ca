import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifyCommand } from "../../../src/commands/inspect/verify.js";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { checkEvidence } from "../../../src/text/evidence/check-evidence.js";
import { textsFolder } from "../../../src/research/project-files/layout.js";
import { lastCachedText, saveText } from "../../../src/research/full-text/text-cache.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

const text = buildText(
  [{ label: "p. 1", text: "The soft gripper held 94 percent of the wet spheres. It needed 4873 ms for each of them." }],
  { kind: "text", depth: "full" },
);
const abstract = "A soft gripper holds wet spheres in nine hours of work.";
const claims = [
  { claim: "it holds", quote: "held 94 percent of the wet spheres" },
  { claim: "its time", quote: "It needed 4.9 s for each of them" },
  { claim: "in short", quote: "holds wet spheres in nine hours" },
  { claim: "invented", quote: "held all of the dry cubes at once" },
];

/** A project whose one paper was read, with the text that it was read from. */
async function project(kept: typeof text | "none" = text) {
  const { evidence } = checkEvidence(claims, text, abstract);
  const folder = makeResearch(freshFolder(), "a-2026-03-01", {
    papers_pool: [paper("x", "presented", { abstract, text_sha256: text.sha256, analysis: { evidence } })],
  });
  if (kept !== "none") await saveText(textsFolder(folder), "x", kept);
  return folder;
}

async function verify(folder: string, json = false, fetch = false) {
  const io = fakeIo({ cwd: freshFolder() });
  const exitCode = await verifyCommand({ folder, json, fetch }, io);
  return { exitCode, out: io.out() };
}

const edit = (folder: string, from: string, to: string) => {
  const path = join(folder, "rrd.json");
  const before = readFileSync(path, "utf8");
  const after = before.replaceAll(from, to);
  expect(after).not.toBe(before);
  writeFileSync(path, after);
};

test("quotes that are as the records say hold: found, near, in the abstract, and missing", async () => {
  const folder = await project();
  expect(JSON.parse((await verify(folder, true)).out)).toMatchObject({
    holds: 4,
    fails: 0,
    could_not_check: 0,
    quotes: [
      { paper: "x", number: 1, recorded: "verified", result: "holds" },
      { recorded: "near", result: "holds" },
      { recorded: "verified", result: "holds" },
      { recorded: "not-in-text", result: "holds" },
    ],
  });
  expect(await verify(folder)).toEqual({
    exitCode: 0,
    out: expect.stringMatching(/^near: 1 quote: .*\n4 quotes: 4 as recorded, 0 fail, 0 could not be checked\n$/),
  });
});

test("a quote that was changed since fails with its reason, and the exit code is 1", async () => {
  const folder = await project();
  edit(folder, "held 94 percent", "held 96 percent");
  edit(folder, "not-in-text", "verified");
  const { exitCode, out } = await verify(folder);
  expect(exitCode).toBe(1);
  expect(out).toContain(
    "fails: paper, quote 1, recorded as verified: not found in the text: The soft gripper “held 96 percent of the wet spheres”.",
  );
  expect(out).toContain("fails: paper, quote 4, recorded as verified:");
  expect(out).toMatch(/4 quotes: 2 as recorded, 2 fail, 0 could not be checked\n$/);
});

test("without the text that was searched nothing fails: what is not in the abstract could not be checked", async () => {
  const missing = await verify(await project("none"), true);
  expect(missing.exitCode).toBe(0);
  expect(JSON.parse(missing.out)).toMatchObject({ holds: 1, fails: 0, could_not_check: 3 });

  const other = buildText([{ text: `${text.text} And more.` }], { kind: "text", depth: "full" });
  const { exitCode, out } = await verify(await project(other));
  expect(exitCode).toBe(0);
  expect(out).toContain("could not check: 3 quotes of paper: the stored text is not the one that was searched\n");
});

test.each([
  ["another text", (file: string) => file.replace("94 percent", "96 percent")],
  ["half of the file", (file: string) => file.slice(0, 40)],
])("a stored text that was changed since says so and what to do: %s", async (_, change) => {
  const folder = await project();
  const [name = ""] = readdirSync(textsFolder(folder));
  const path = join(textsFolder(folder), name);
  const before = readFileSync(path, "utf8");
  writeFileSync(path, change(before));
  const { exitCode, out } = await verify(folder);
  expect(exitCode).toBe(0);
  expect(out).toContain(
    "could not check: 3 quotes of paper: the stored text was changed since it was read; run the command with --fetch to get the paper again\n",
  );
  writeFileSync(path, before);
  expect(JSON.parse((await verify(folder, true)).out)).toMatchObject({ holds: 4, could_not_check: 0 });
});

test("what could not be checked names its papers, with --fetch why their text is not to be had, and a later format is left alone", async () => {
  const folder = await project("none");
  expect((await verify(folder)).out).toMatch(/could not check: \d quotes? of paper: the text is not stored\n/);
  edit(folder, '"id": "x"', '"id": "x", "url": "http://127.0.0.1:1/x"');
  expect((await verify(folder, false, true)).out).toMatch(
    /could not check: \d quotes? of paper: (?!the text is not stored)\S/,
  );
  edit(folder, '"project"', '"format": 999, "project"');
  await expect(verify(folder, false, true)).rejects.toMatchObject({ exitCode: 5 });
});

test("a text that is not stored is fetched only where that is asked for, and stored", async () => {
  const document = join(freshFolder(), "gripper.txt");
  writeFileSync(document, `${text.text}\n\nIt was built by two people. `.repeat(20));
  const anyText = "0".repeat(64);
  const folder = makeResearch(freshFolder(), "a-2026-03-01", {
    papers_pool: [
      paper("x", "presented", {
        url: document,
        analysis: {
          evidence: [{ claim: "c", quote: claims[0]?.quote ?? "", status: "verified", text_sha256: anyText }],
        },
      }),
    ],
  });
  expect((await verify(folder)).out).toContain("the text is not stored");
  expect(await lastCachedText(textsFolder(folder), "x")).toBeUndefined();
  // It is stored now, and is not the text that the record names.
  expect((await verify(folder, false, true)).out).toContain("the stored text is not the one that was searched");
  const kept = await lastCachedText(textsFolder(folder), "x");
  edit(folder, anyText, kept?.sha256 ?? "");
  expect(JSON.parse((await verify(folder, true)).out)).toMatchObject({ holds: 1, fails: 0, could_not_check: 0 });
});

const differs = "the sentence differs from the paper's";

test.each([
  ["other words around the quoted ones", "The soft gripper held", "The hard gripper held"],
  ["words that were taken away", "It needed 4873 ms for each of them.", "It needed 4873 ms for each of them"],
])("a passage that was edited by hand fails: %s", async (_, from, to) => {
  const folder = await project();
  edit(folder, from, to);
  const { exitCode, out } = await verify(folder);
  expect(exitCode).toBe(1);
  expect(out).toContain(differs);
  expect(out).toMatch(/4 quotes: 3 as recorded, 1 fails/);
});

test("a passage of another place where its words stand too holds, in lines and cut, and places outside of one fail", async () => {
  const twice = buildText(
    [
      {
        label: "p. 1",
        text: "In air it held 94 percent of the wet spheres. Under water\nit held 94 percent of the wet spheres too, and no cubes.",
      },
    ],
    { kind: "text", depth: "full" },
  );
  const second = "it held 94 percent of the wet spheres too";
  const results = async (passage: string, quoted: string) => {
    const evidence = [
      { claim: "c", passage, quoted, status: "verified" as const, locator: "p. 1", text_sha256: twice.sha256 },
    ];
    const folder = makeResearch(freshFolder(), "a-2026-03-01", {
      papers_pool: [paper("x", "presented", { text_sha256: twice.sha256, analysis: { evidence } })],
    });
    await saveText(textsFolder(folder), "x", twice);
    const { quotes } = JSON.parse((await verify(folder, true)).out) as { quotes: { reason?: string }[] };
    return quotes[0]?.reason;
  };
  expect(await results(`Under water ${second}, and no cubes.`, "12-49")).toBeUndefined();
  expect(await results(`Under water\n${second} […]`, "12-49")).toBeUndefined();
  expect(await results(`Under oil ${second}, and no cubes.`, "10-47")).toBe(differs);
  expect(await results("it held 94 percent of the wet spheres", "0-37")).toBe(differs);
  expect(await results(`Under water ${second}, and no cubes.`, "12-49, 90-120")).toBe(differs);
});
