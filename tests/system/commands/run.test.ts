import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run, sharedPackage } from "../../support/processes/built.js";
import { unitAgent } from "../../support/processes/command-agents.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

const isLocked = (folder: string) => existsSync(join(folder, ".ralph", "lock"));
const accepted = (folder: string) =>
  // A run that ends while its first unit is prepared has no ledger yet.
  (existsSync(join(folder, "ledger.jsonl")) ? readFileSync(join(folder, "ledger.jsonl"), "utf8") : "")
    .split("\n")
    .filter((line) => line.includes('"outcome":"accepted"')).length;

test("only Ctrl+C is answered with what another Ctrl+C does", async () => {
  const cwd = freshFolder();
  sampleResearch(cwd);
  const command = `"${process.execPath}" "${join(await sharedPackage(), "dist/cli.js")}" run --no-git --unconfined --agent 'cmd:kill -TERM $PPID; sleep 600'`;
  const { code, err } = await run("/bin/sh", ["-c", `exec ${command}`], cwd);
  expect({ code, err }).toEqual({ code: 143, err: expect.not.stringContaining("Ctrl+C") });
});

test("a reader who goes away ends the run after the iteration under way: exit 129, no lock", async () => {
  const cwd = freshFolder();
  const folder = sampleResearch(cwd);
  const command = `"${process.execPath}" "${join(await sharedPackage(), "dist/cli.js")}" run --json --no-git --unconfined --agent '${unitAgent}'`;
  const { out } = await run("/bin/sh", ["-c", `{ ${command}; echo $? > code; } | head -n 1`], cwd, { WAIT: "300" });
  expect(out).toMatch(/^\{"type":"run-started".*\}\n$/);
  expect(readFileSync(join(cwd, "code"), "utf8")).toBe("129\n");
  expect({ unfinished: accepted(folder) < 5, locked: isLocked(folder) }).toEqual({ unfinished: true, locked: false });
});
