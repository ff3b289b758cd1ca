import { tmpdir } from "node:os";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { learnPatterns, patternsNotIn } from "../../../src/research/project-files/lessons.js";
import { patternLines, readNotes, readPatterns } from "../../../src/research/project-files/progress-log.js";
import { temporaryFolder } from "../../support/projects/research.js";

describe("learned patterns", () => {
  test("are read back from progress.txt, and only a person's word takes one into AGENTS.md, once", async () => {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, "progress.txt"),
      ["# Log", ...patternLines("p1", ["Tables are in the appendix.", "Two\nlines"]), "## Next"].join("\n"),
    );
    writeFileSync(join(folder, "AGENTS.md"), "# Mine\n\n## Learned patterns\n\n- Old.\n\n## After\n\nText.\n");
    const patterns = await readPatterns(folder, tmpdir());
    expect(patterns).toEqual([
      { unit: "p1", text: "Tables are in the appendix." },
      { unit: "p1", text: "Two lines" },
    ]);
    expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).not.toContain("appendix");
    await learnPatterns(folder, patterns.slice(0, 1));
    await learnPatterns(folder, patterns.slice(0, 1));
    expect(readFileSync(join(folder, "AGENTS.md"), "utf8")).toBe(
      "# Mine\n\n## Learned patterns\n\n- Old.\n- Tables are in the appendix.\n\n## After\n\nText.\n",
    );
    expect(await patternsNotIn(folder, patterns)).toEqual(patterns.slice(1));
  });

  test("are not added to an AGENTS.md in another encoding, whose letters would be lost", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "AGENTS.md");
    const text = Buffer.from("# Mine\n\nBe naïve.\n", "latin1");
    writeFileSync(path, text);
    await expect(learnPatterns(folder, [{ unit: "p1", text: "Tables." }])).rejects.toThrow(
      `${path} is not UTF-8; save it as UTF-8 in your editor.`,
    );
    expect(readFileSync(path)).toEqual(text);
  });

  test("are one line of what a person can see, also those of a log from before; one without a word is none", async () => {
    const nasty = "\u001b]52;c;ZQ==\u0007Learn\u009b31m this\u202e.\u{e0041}";
    const lines = patternLines("p1", ["\u200b", nasty]);
    expect(lines).toEqual(["**Research Patterns:**", "- (p1) Learn this.", ""]);
    expect(patternLines("p1", ["\u200b"])).toEqual([]);
    const folder = temporaryFolder();
    writeFileSync(join(folder, "progress.txt"), `**Research Patterns:**\n- (p1) \u200b\n- (p1) ${nasty}\n`);
    expect(await readPatterns(folder, tmpdir())).toEqual([{ unit: "p1", text: "Learn this." }]);
  });
});

test("notes of people are what stands behind our own entries and below the head of a new log", async () => {
  const folder = temporaryFolder();
  const log = [
    "# Research-Ralph Progress Log\nStarted: 2026-01-01\nTopic: hands\n\nMind the fingertips.\n\n",
    "---\n\n## 2026-01-02 - Paper: One\n\nIt works.\n\nIteration: 3\n\n",
    "---\n\n## 2026-01-03 - Paper: Two\n\nIteration: 4\n\nTwo is by a rival.\nBe careful.\n\n",
    "---\n\n## 2026-01-04 - Reset\n- p1\n\n",
  ].join("");
  for (const text of [log, log.replaceAll("\n", "\r\n")]) {
    writeFileSync(join(folder, "progress.txt"), text);
    expect((await readNotes(folder, tmpdir())).map((note) => note.replaceAll("\r", ""))).toEqual([
      "Mind the fingertips.",
      "Two is by a rival.\nBe careful.",
    ]);
  }
  writeFileSync(join(folder, "progress.txt"), "# Research Progress Log\n\n---\n\n## 2026-01-01 - Paper: One\nSaid.\n");
  expect(await readNotes(folder, tmpdir())).toEqual([]);
});
