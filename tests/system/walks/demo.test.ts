import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../../support/processes/built.js";
import { cli } from "../../support/processes/built-cli.js";
import { freshFolder } from "../../support/projects/research-folder.js";

test("the demo is complete without key or network, tells what it reads, and in a repository it makes no commit, however often", async () => {
  const cwd = freshFolder();
  const git = (...args: string[]) => run("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], cwd);
  await git("init", "-q");
  writeFileSync(join(cwd, "mine.txt"), "mine");
  await git("add", "mine.txt");
  await git("commit", "-qm", "mine");

  const first = await cli(["demo"], cwd);
  expect({ code: first.code, out: first.out }).toEqual({ code: 0, out: "<promise>COMPLETE</promise>\n" });
  expect(first.err).toMatch(
    /^This demo reads eleven sample papers written for it, one of them in two copies; their numbers are invented\.\n/,
  );
  expect(await cli(["demo", "--quiet"], cwd)).toEqual({
    code: 0,
    out: expect.stringMatching(/^\S+-2\/report\.html\n<promise>COMPLETE<\/promise>\n$/),
    // One of the papers is retracted, one is a broken file, and that is said also here.
    err: expect.stringMatching(
      /^warning: .*\(sample_06\) is retracted.*\nwarning: sample 11 \(sample\) could not be retrieved.*\n$/,
    ),
  });

  const [folder = "", second] = readdirSync(join(cwd, "researches"));
  expect(second).toBe(`${folder}-2`);
  for (const name of [
    "research-report.md",
    "report.html",
    "references.bib",
    "product-ideas.json",
    "ledger.jsonl",
    "progress.txt",
  ])
    expect(existsSync(join(cwd, "researches", folder, name)), name).toBe(true);
  const ledger = readFileSync(join(cwd, "researches", folder, "ledger.jsonl"), "utf8")
    .trim()
    .split("\n");
  const lines = ledger.map((line) => JSON.parse(line) as { agent?: string; cost_usd?: number; unit: string });
  expect(new Set(lines.flatMap(({ agent, cost_usd }) => (agent === undefined ? [] : [cost_usd])))).toEqual(
    new Set([0]),
  );
  expect(lines.filter(({ agent }) => agent === undefined).map(({ unit }) => unit)).toEqual(["sample_06", "sample_11"]);
  expect((await cli(["validate", folder], cwd)).code).toBe(0);
  expect((await git("log", "--format=%s")).out).toBe("mine\n");
  // The home is the same folder here; what is in .local is the state of the program.
  expect((await git("status", "--short", "--", ".", ":!.local")).out).toBe("?? researches/\n");
});
