import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import type { ReportFile } from "../../../src/research/generated/report.js";
import { cli } from "../../support/processes/built-cli.js";
import { freshFolder } from "../../support/projects/research-folder.js";

const checker = fileURLToPath(new URL("../crash/check-agent.mjs", import.meta.url));
const byChecker = ["--agent", `cmd:${process.execPath} ${checker}`, "--unconfined", "--quiet"];

test("a report that was written without a check is checked later, once, and by an agent with a model alone", async () => {
  const cwd = freshFolder();
  expect((await cli(["demo", "--quiet"], cwd)).code).toBe(0);
  const [name = ""] = readdirSync(join(cwd, "researches"));
  const report = () => JSON.parse(readFileSync(join(cwd, "researches", name, "report.json"), "utf8")) as ReportFile;
  expect(report()).not.toHaveProperty("check.by");

  const free = await cli(["verify", "--meaning", "--agent", "baseline"], cwd);
  expect(free).toMatchObject({ code: 2, err: expect.stringContaining("Only a model can check") });
  expect(report()).not.toHaveProperty("check.by");

  expect((await cli(["verify", "--meaning", ...byChecker], cwd)).code).toBe(0);
  expect(report().check).toMatchObject({ by: [expect.stringContaining("check-agent.mjs")] });
  expect(report().findings.every(({ check }) => check?.verdict === "supported")).toBe(true);

  const again = await cli(["verify", "--meaning", ...byChecker], cwd);
  expect(again).toMatchObject({ code: 0, err: expect.stringContaining("was checked already") });

  // Where a sentence stands that its passages do not carry, a script learns it by the exit code.
  expect((await cli(["report", name, "--check"], cwd)).code).toBe(0);
  const { answer = [], ...rest } = report();
  const doubted = answer.map((sentence) => ({ ...sentence, check: { ...sentence.check, verdict: "not-supported" } }));
  writeFileSync(join(cwd, "researches", name, "report.json"), JSON.stringify({ ...rest, answer: doubted }));
  const looked = await cli(["report", name, "--check"], cwd);
  expect(looked).toMatchObject({ code: 1, out: expect.stringContaining("not supported, says cmd:") });
});

test("a report that is not written yet can't be checked", async () => {
  const cwd = freshFolder();
  const made = await cli(["new", "robot hands in simulation", "--agent", "baseline", "--quiet"], cwd);
  expect(made.code).toBe(0);
  const refused = await cli(["verify", "--meaning", ...byChecker], cwd);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("is not finished") });
});

const fixtures = packageFile("tests/fixtures/formats");
// Earlier ones wrote the report as text, whose sentences have no list of what they rest on.
const formats = readdirSync(fixtures).filter((name) => existsSync(join(fixtures, name, "complete/report.json")));

test.each(["1", "ac64460"])("a report that format %s kept as text is not called unfinished", async (format) => {
  const cwd = freshFolder();
  const folder = join(cwd, "researches", "grasping-2026-11-22");
  cpSync(join(fixtures, format, "complete"), folder, { recursive: true });
  const refused = await cli(["verify", folder, "--meaning", ...byChecker], cwd);
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringContaining("An earlier version of the program wrote the report"),
  });
  expect(refused.err).toContain("reset grasping-2026-11-22 --unit report");
});

test.each(formats)(
  "a project of format %s was complete without a check, stays so, and gets one when asked",
  async (format) => {
    const cwd = freshFolder();
    const folder = join(cwd, "researches", "grasping-2026-11-22");
    cpSync(join(fixtures, format, "complete"), folder, { recursive: true });
    const ledger = () => readFileSync(join(folder, "ledger.jsonl"), "utf8");
    const before = ledger();

    const run = await cli(["run", folder, ...byChecker.slice(0, -1), "--json", "--no-git"], cwd);
    expect([run.code, run.out.includes("iteration-started")]).toEqual([0, false]);
    expect(ledger()).toBe(before);

    const verified = await cli(["verify", folder, "--meaning", ...byChecker], cwd);
    expect([verified.code, verified.err.slice(-600)]).toEqual([0, expect.any(String)]);
    const units = ledger()
      .slice(before.length)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).unit);
    expect(["check", "mend"]).toEqual(expect.arrayContaining(units));
    const { check, findings } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as ReportFile;
    expect(check).toMatchObject({ by: [expect.stringContaining("check-agent.mjs")] });
    expect(findings.every((each) => each.check?.verdict === "supported")).toBe(true);
  },
);
