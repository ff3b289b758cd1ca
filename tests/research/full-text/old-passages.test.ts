import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { reportCommand } from "../../../src/commands/inspect/report.js";
import { verifyCommand } from "../../../src/commands/inspect/verify.js";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import { stateVersion } from "../../../src/engine/storage/state/format-version.js";
import { hashOf } from "../../../src/text/evidence/check-evidence.js";
import { quotedWords } from "../../../src/text/evidence/quoted.js";
import { lackPassages, withPassages } from "../../../src/research/full-text/old-passages.js";
import { saveText } from "../../../src/research/full-text/text-cache.js";
import type { Evidence, Paper, Rrd } from "../../../src/research/generated/rrd.js";
import { textsFolder } from "../../../src/research/project-files/layout.js";
import { withFoundPassages } from "../../../src/research/workflow/keep-passages.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

const abstract = "In nine hours of work a soft gripper holds wet spheres, but it drops dry ones.";
const text = buildText(
  [
    {
      label: "p. 1",
      text: "Under water the soft gripper held 94 percent of the wet spheres, but no cubes. It took long.",
    },
  ],
  { kind: "text", depth: "full" },
);
const before = (quote: string, over: Partial<Evidence> = {}): Evidence => ({
  claim: "It holds.",
  quote,
  status: "verified",
  locator: "p. 1",
  text_sha256: text.sha256,
  ...over,
});
/** As an earlier version kept them: what the agent wrote, in its own spelling. */
const old = [
  before("the soft  gripper held 94 percent of the wet [and slippery] spheres"),
  before("a soft gripper holds wet spheres", { locator: "abstract", text_sha256: hashOf(abstract) }),
  before("held all of the dry cubes", { status: "not-in-text", locator: null }),
];
const passages = [
  "Under water the soft gripper held 94 percent of the wet spheres, but no cubes.",
  "In nine hours of work a soft gripper holds wet spheres, but it drops dry ones.",
];

async function project({ kept = text as typeof text | "none", evidence = old } = {}) {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "a-2026-03-01", {
    papers_pool: [
      paper("x", "presented", { abstract, text_sha256: text.sha256, analysis: { summary: "s", evidence } }),
    ],
  });
  if (kept !== "none") await saveText(textsFolder(folder), "x", kept);
  const io = fakeIo({ cwd: freshFolder() });
  return {
    folder,
    io,
    evidence: () =>
      (JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd).papers_pool[0]?.analysis?.evidence,
    rrd: () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd,
    report: () => reportCommand({ folder, json: false, check: false, flags: { git: false } }, io),
    verify: () => verifyCommand({ folder, json: false, fetch: false }, io),
    shown: (name: string) => readFileSync(join(folder, name), "utf8"),
  };
}

describe("records of before quotes had passages", () => {
  test.each(["report", "verify"] as const)(
    "get theirs from the stored text and the abstract at the next %s",
    async (command) => {
      const { evidence, rrd, ...run } = await project();
      expect(await run[command]()).toBe(0);
      expect(evidence()?.map(({ passage }) => passage)).toEqual([...passages, undefined]);
      expect(evidence()?.map(({ quote }) => quote)).toEqual([undefined, undefined, old[2]?.quote]);
      expect(evidence()?.slice(0, 2).map(quotedWords)).toEqual([
        "the soft gripper held 94 percent of the wet spheres",
        "a soft gripper holds wet spheres",
      ]);
      expect(rrd().format).toBe(stateVersion);
    },
  );

  test("are shown with them in Markdown and page, and nowhere as the agent spelt them", async () => {
    const { report, shown } = await project();
    await report();
    expect(shown("research-report.md")).toContain(
      "Under water <b>the soft gripper held 94 percent of the wet spheres</b>, but no cubes.",
    );
    expect(shown("report.html")).toContain(
      "Under water <mark>the soft gripper held 94 percent of the wet spheres</mark>, but no cubes.",
    );
    for (const name of ["research-report.md", "report.html"]) {
      expect(shown(name)).not.toContain("slippery");
      expect(shown(name)).not.toContain("the words around it are not stored");
    }
  });

  test("keep what they have where the text is gone or is another by now, and say so", async () => {
    const other = buildText([{ label: "p. 1", text: `${text.text} And more.` }], { kind: "text", depth: "full" });
    for (const kept of ["none", other] as const) {
      const { report, shown, evidence } = await project({ kept });
      expect(await report()).toBe(0);
      expect(evidence()?.[0]).toEqual(old[0]);
      expect(evidence()?.[1]?.passage).toBe(passages[1]);
      for (const name of ["research-report.md", "report.html"])
        expect(shown(name).match(/the words around it are not stored/g)).toHaveLength(1);
    }
  });

  test("are left alone where the words are not in the stored text after all", async () => {
    const { folder, rrd } = await project({
      evidence: [before("the hard gripper held 12 percent of the wet spheres")],
    });
    expect((await withPassages(textsFolder(folder), rrd())).papers_pool).toEqual(rrd().papers_pool);
  });

  test("are not written while a run holds the project, and shown with their passages all the same", async () => {
    const { folder, verify, rrd } = await project();
    const lock = await acquireLock(join(folder, ".ralph/lock"), { subject: "test" });
    try {
      const held = rrd();
      expect(await verify()).toBe(0);
      expect(rrd()).toEqual(held);
      expect((await withPassages(textsFolder(folder), held)).papers_pool[0]?.analysis?.evidence?.[0]?.passage).toBe(
        passages[0],
      );
    } finally {
      await lock.release();
    }
  });

  test("of a frozen project of that version all stand in its next report with their sentences", async () => {
    const folder = join(freshFolder(), "grasping-2026-11-22");
    cpSync(packageFile("tests/fixtures/formats/2026-11-26/complete"), folder, { recursive: true });
    const io = fakeIo({ cwd: freshFolder() });
    expect(await reportCommand({ folder, json: false, check: false, flags: { git: false } }, io)).toBe(0);
    const { papers_pool: papers } = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
    const found = papers
      .flatMap(({ analysis }) => analysis?.evidence ?? [])
      .filter(({ status }) => status === "verified");
    expect(found.length).toBeGreaterThan(10);
    for (const each of found) {
      expect(each).not.toHaveProperty("quote");
      expect(each.passage).toContain(quotedWords(each));
    }
    const markdown = readFileSync(join(folder, "research-report.md"), "utf8");
    expect(markdown.match(/^ {2}> .*<b>/gm)?.length).toBeGreaterThan(10);
    expect(markdown).not.toContain("the words around it are not stored");
  });

  test("once written are not looked for again: the second report changes no record", async () => {
    const { report, rrd } = await project();
    await report();
    const kept = rrd();
    expect(lackPassages(kept)).toBe(false);
    await report();
    expect(rrd().papers_pool).toEqual(kept.papers_pool);
  });
});

describe("what else an earlier version kept", () => {
  test("gets its passage too: near quotes and answers to criteria, and claims get their numbers", async () => {
    const answer = (quote: string, locator: string, over: object = {}) => ({
      criterion: locator,
      stage: "full_text" as const,
      answer: "yes" as const,
      quote,
      locator,
      ...over,
    });
    const title = "A soft gripper for wet and dry spheres";
    const folder = makeResearch(freshFolder(), "a-2026-03-01", {
      papers_pool: [
        paper("x", "presented", {
          title,
          abstract,
          text_sha256: text.sha256,
          answers: [
            answer("held 94 percent of the wet spheres", "p. 1"),
            answer("a soft gripper holds wet spheres", "abstract"),
            answer("gripper for wet and dry", "title"),
            answer("held 94 percent of the wet spheres", "p. 1", { answer: "unclear" }),
          ],
          analysis: {
            summary: "s",
            evidence: [
              before("the soft gripper held 94 percent of the wet", { claim: "It held 77 percent." }),
              before("the soft gripper held 0.94 of the wet spheres", { status: "near" }),
            ],
          },
        }),
      ],
    });
    await saveText(textsFolder(folder), "x", text);
    const rrd = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
    expect(lackPassages({ ...rrd, papers_pool: rrd.papers_pool.map((each) => ({ ...each, analysis: null })) })).toBe(
      true,
    );
    const [found] = (await withPassages(textsFolder(folder), rrd)).papers_pool;
    expect(found?.answers?.map((each) => [each.passage, each.quote !== undefined])).toEqual([
      [passages[0], false],
      [passages[1], false],
      [title, false],
      [undefined, true],
    ]);
    expect(found?.analysis?.evidence).toMatchObject([
      { passage: passages[0], numbers: [{ number: "77 percent", stands: "nowhere" }] },
      { passage: passages[0], status: "near" },
    ]);
  });

  test("is replaced only where it is still what was looked for", async () => {
    const { folder, rrd } = await project({ evidence: [...old, before("held 94 percent of the wet spheres")] });
    const [searched] = rrd().papers_pool as [Paper];
    const [found] = (await withPassages(textsFolder(folder), rrd())).papers_pool;
    expect(withFoundPassages(searched, searched, found)).toEqual(found);
    const edited = { ...before("held 94 percent of the wet spheres"), claim: "Edited by hand." };
    const evidence = [...(searched.analysis?.evidence ?? []).slice(0, 3), edited];
    const now = { ...searched, notes: "New.", analysis: { ...searched.analysis, evidence } } as Paper;
    const after = withFoundPassages(now, searched, found);
    expect(after.notes).toBe("New.");
    expect(after.analysis?.evidence?.map(({ passage }) => passage)).toEqual([...passages, undefined, undefined]);
    expect(after.analysis?.evidence?.[3]).toEqual(edited);
    const readAnew = { ...searched, text_sha256: "0".repeat(64) };
    expect(withFoundPassages(readAnew, searched, found)).toEqual(readAnew);
  });
});
