import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { reportCommand } from "../../../src/commands/inspect/report.js";
import { verifyCommand } from "../../../src/commands/inspect/verify.js";
import { buildText } from "../../../src/engine/documents/text/document-text.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import { stateVersion } from "../../../src/engine/storage/state/format-version.js";
import { hashOf } from "../../../src/research/evidence/check-evidence.js";
import { quotedWords } from "../../../src/research/evidence/quoted.js";
import { lackPassages, withPassages } from "../../../src/research/full-text/old-passages.js";
import { saveText } from "../../../src/research/full-text/text-cache.js";
import type { Evidence, Rrd } from "../../../src/research/generated/rrd.js";
import { textsFolder } from "../../../src/research/project-files/layout.js";
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
  ...{ claim: "It holds.", quote, status: "verified", locator: "p. 1", text_sha256: text.sha256 },
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
      expect(
        evidence()
          ?.slice(0, 2)
          .map(({ passage = "", quoted = [] }) => passage.slice(...(quoted[0] ?? []))),
      ).toEqual(["the soft gripper held 94 percent of the wet spheres", "a soft gripper holds wet spheres"]);
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
      expect(shown(name)).not.toContain("the words around it are not kept");
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
        expect(shown(name).match(/the words around it are not kept/g)).toHaveLength(1);
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
    const lock = await acquireLock(join(folder, ".ralph/lock"), { describe: "test" });
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
    expect(markdown).not.toContain("the words around it are not kept");
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
