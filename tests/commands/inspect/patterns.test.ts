import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli } from "../../support/processes/in-process.js";
import { withUnitAgent } from "../../support/processes/command-agents.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

test("what agents learned is listed with its paper, and only --accept makes a standing order of it, once", async () => {
  const cwd = freshFolder();
  sampleResearch(cwd);
  expect(await cli(["patterns"], cwd)).toMatchObject({
    code: 0,
    out: "",
    err: "No agent has recorded a pattern in this project yet.\n",
  });

  await cli(["run", "-i", "3", ...withUnitAgent], cwd);
  writeFileSync(join(cwd, "AGENTS.md"), "# Mine\n\nMy own words.\n");
  const listed = await cli(["patterns"], cwd);
  const [, unit] =
    /^ {2}1 A pattern from (sample_\d+)\. \([a-z]+\d{4}[a-z]?\)\n {2}2 A pattern from sample_\d+\./.exec(listed.out) ??
    [];
  expect(unit, listed.out).toBeDefined();

  for (let time = 0; time < 2; time += 1) expect((await cli(["patterns", "--accept", "1"], cwd)).code).toBe(0);
  const text = readFileSync(join(cwd, "AGENTS.md"), "utf8");
  expect(text).toContain("My own words.");
  expect(text.split(`- A pattern from ${unit}.`)).toHaveLength(2);
  expect((await cli(["patterns"], cwd)).out).toMatch(/^ {2}1 in AGENTS\.md A pattern/);
  expect(await cli(["patterns", "--accept", "3"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("There is no pattern 3; this project has 2."),
  });
});
