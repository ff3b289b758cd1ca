import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli } from "../../support/processes/in-process.js";
import { withUnitAgent } from "../../support/processes/command-agents.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

const filesOf = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name !== ".ralph")
    .map((name) => [name, statSync(join(folder, name)).mtimeMs]);

test("brief prints to the letter what the next agent gets, in every phase, and changes no file", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  writeFileSync(join(cwd, "AGENTS.md"), "# Agents\n\n- Look at the hands.\n");
  const record = join(cwd, "record.txt");
  const units: string[] = [];
  for (let iteration = 1; iteration <= 5; iteration += 1) {
    const before = filesOf(folder);
    const { code, out, err } = await cli(["brief"], cwd);
    expect(code).toBe(0);
    expect(filesOf(folder)).toEqual(before);
    units.push(/^Iteration (\d+), (\w+)/.exec(err)?.slice(1).join(" ") ?? err);
    await cli(["run", "-i", "1", ...withUnitAgent], cwd, { RECORD: record });
    expect(out).toBe(readFileSync(record, "utf8"));
  }
  expect(units).toEqual([
    "1 discovery",
    expect.stringMatching(/^2 sample_/),
    expect.stringMatching(/^3 sample_/),
    "4 report",
    "5 ideas",
  ]);
  expect(await cli(["brief"], cwd)).toEqual({
    code: 0,
    out: "",
    err: expect.stringContaining("No agent would be started. All 2 papers are read"),
  });
});

test("after a refusal it is the repair that brief prints, as the agent gets it", async () => {
  const cwd = freshFolder();
  sampleResearch(cwd);
  await cli(["run", "-i", "1", ...withUnitAgent], cwd);
  await cli(["run", "-i", "1", "--agent", "cmd:echo '{}' > result.json", "--unconfined", "--no-git"], cwd);
  const { out } = await cli(["brief"], cwd);
  expect(out).toContain("was refused");
  const record = join(cwd, "record.txt");
  await cli(["run", "-i", "1", "--agent", `cmd:cat > ${record}`, "--unconfined", "--no-git"], cwd);
  expect(out).toBe(readFileSync(record, "utf8"));
});

test("with --json the brief stands beside its unit and its tokens", async () => {
  const cwd = freshFolder();
  sampleResearch(cwd);
  expect(JSON.parse((await cli(["brief", "--json"], cwd)).out)).toEqual({
    iteration: 1,
    unit: "discovery-1",
    title: "Discovery, batch 1",
    tokens: expect.any(Number),
    text: expect.stringContaining("result.json"),
  });
});
