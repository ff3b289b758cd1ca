import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { baseline } from "../../../src/research/baseline-agent/definition.js";
import { compileEntries } from "../../support/processes/compiled.js";
import { briefOf, problemsOf } from "../../research/baseline-agent/brief-of.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
let built: string;
let program: string;
let workspace: string;

// Built on its own from the sources, so that the test never runs an old dist/.
beforeAll(async () => {
  built = mkdtempSync(join(tmpdir(), "baseline-built-"));
  program = join(
    await compileEntries(built, { "baseline-agent": "src/research/baseline-agent/baseline-agent-main.ts" }),
    "baseline-agent.js",
  );
});
beforeEach(() => {
  workspace = mkdtempSync(join(built, "workspace-"));
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

const run = (brief: string) =>
  spawnSync(process.execPath, [program], { cwd: workspace, input: brief, encoding: "utf8" });
const result = (): unknown => JSON.parse(readFileSync(join(workspace, "result.json"), "utf8"));
const paper = { kind: "paper", unit: "p1", title: "Rotating cubes", rubrics: ["execution"] };

describe("the baseline program", () => {
  it("writes a valid result.json into its folder and says what it is and what it did", () => {
    const { status, stdout } = run(briefOf(paper, "## 3 Results\n\nThe hand reached 87 % in 600 trials."));
    expect(status).toBe(0);
    expect(stdout).toContain("extractive, no model");
    expect(stdout).toContain("1 evidence, 1 insights");
    expect(problemsOf("analysis", result())).toEqual([]);
  });

  it("prints the sentinel as its last line when the brief asks for it, and else never", () => {
    expect(
      run(briefOf(paper, undefined, true))
        .stdout.trimEnd()
        .split("\n")
        .at(-1),
    ).toBe("<promise>COMPLETE</promise>");
    expect(run(briefOf(paper)).stdout).not.toContain("COMPLETE");
  });

  it("reads text files of its folder and none outside of it", () => {
    mkdirSync(join(workspace, "paper"));
    writeFileSync(join(workspace, "paper/01.txt"), "## 3 Results\n\nThe hand reached 87 % in 600 trials.");
    expect(run(briefOf({ ...paper, text_files: ["paper/01.txt"] })).status).toBe(0);
    expect(JSON.stringify(result())).toContain("87 %");

    writeFileSync(join(workspace, "secret.txt"), "The secret is 4711.");
    const { status, stderr } = run(briefOf({ ...paper, text_files: ["secret.txt", "../../secret.txt"] }));
    expect(status).toBe(1);
    expect(stderr).toContain("can't be read");
  });

  it("exits 1 with one sentence and no result when the brief has no unit", () => {
    const { status, stderr } = run("hello");
    expect(status).toBe(1);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(existsSync(join(workspace, "result.json"))).toBe(false);
  });
});

describe("the baseline definition", () => {
  it("starts this Node with the program of dist/, in plain text and confined", () => {
    const invocation = baseline.invoke(
      { iteration: 1, text: "", tokens: 0, workspace, access: { web: false, read: false, everything: false } },
      {} as never,
    );
    expect(invocation).toEqual({ command: process.execPath, args: [join(root, "dist/baseline-agent.js")] });
    expect(baseline.confinement).toBe("workspace");
  });
});
