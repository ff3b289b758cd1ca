import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { workOnBrief } from "../../../src/research/baseline-agent/answer.js";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { briefOf, problemsOf } from "./brief-of.js";

const paper = { kind: "paper", unit: "p1", title: "Rotating cubes", rubrics: ["execution"] };
const results = "## 3 Results\n\nThe hand reached 87 % in 600 trials.";

/** A workspace in a folder that holds a file of somebody else. */
function workspace(): string {
  const around = mkdtempSync(join(tmpdir(), "baseline-"));
  onTestFinished(() => rmSync(around, { recursive: true, force: true }));
  writeFileSync(join(around, "secret.txt"), "The secret is 4711.");
  mkdirSync(join(around, "workspace", "paper"), { recursive: true });
  return join(around, "workspace");
}
const resultIn = (folder: string): unknown => JSON.parse(readFileSync(join(folder, "result.json"), "utf8"));

it("leaves a valid result.json in the workspace and says what it is and what it did", () => {
  const folder = workspace();
  const said = workOnBrief(folder, briefOf(paper, results));
  expect(said).toContain("extractive, no model");
  expect(said).toContain("1 evidence, 1 insights");
  expect(problemsOf("analysis", resultIn(folder))).toEqual([]);
});

it("says the sentinel last where the brief asks for it, and else never", () => {
  expect(
    workOnBrief(workspace(), briefOf(paper, undefined, true))
      .trimEnd()
      .split("\n")
      .at(-1),
  ).toBe("<promise>COMPLETE</promise>");
  expect(workOnBrief(workspace(), briefOf(paper))).not.toContain("COMPLETE");
});

it("reads the text files of its workspace and none outside of it", () => {
  const folder = workspace();
  writeFileSync(join(folder, "paper", "01.txt"), results);
  workOnBrief(folder, briefOf({ ...paper, text_files: ["paper/01.txt"] }));
  expect(JSON.stringify(resultIn(folder))).toContain("87 %");
  expect(() => workOnBrief(folder, briefOf({ ...paper, text_files: ["../secret.txt"] }))).toThrow(ExpectedError);
});

it("refuses a brief without a unit, and leaves no result", () => {
  const folder = workspace();
  expect(() => workOnBrief(folder, "hello")).toThrow(ExpectedError);
  expect(() => workOnBrief(folder, briefOf({ kind: "poem", unit: "x" }))).toThrow('"poem"');
  expect(existsSync(join(folder, "result.json"))).toBe(false);
});
