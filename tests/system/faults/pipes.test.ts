import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { expectSentence } from "./support/place.js";

const place = useBuiltCli();

/** Where a FIFO stands instead of a file, the commands that read that file, and what they end with. */
const cases: [string, string[][]][] = [
  ["researches/small-grippers-2026-03-01/ledger.jsonl", [["status"], ["cost"], ["run", "--agent", "baseline"]]],
  ["researches/small-grippers-2026-03-01/progress.txt", [["run", "--agent", "baseline"]]],
  [
    "researches/small-grippers-2026-03-01/rrd.json",
    [["status"], ["run", "--agent", "baseline"], ["reset", "--to", "0"]],
  ],
  ["researches/small-grippers-2026-03-01/.ralph/lock", [["run", "--agent", "baseline"]]],
  ["prompt.md", [["run", "--agent", "baseline"]]],
  ["ralph.config.json", [["run", "--agent", "baseline"]]],
];

test.each(cases)("a FIFO in the place of %s is told and not waited for", async (path, commands) => {
  const here = place();
  const pipe = join(here.cwd, path);
  rmSync(pipe, { force: true });
  execFileSync("mkdir", ["-p", join(pipe, "..")]);
  execFileSync("mkfifo", [pipe]);
  for (const [name = "", ...options] of commands) {
    const said = await here.cli([name, "small-grippers-2026-03-01", ...options]);
    expectSentence(said, 1, new RegExp(`${path} is not a regular file; replace it with a regular file\\.`));
  }
});

test("a FIFO in the place of the notes of a person, or of a log that is only looked through, stops nobody", async () => {
  const here = place();
  execFileSync("mkfifo", [join(here.cwd, "AGENTS.md"), join(here.research, "progress.txt")]);
  expect((await here.cli(["patterns", "small-grippers-2026-03-01"])).code).toBe(0);
  rmSync(join(here.research, "progress.txt"));
  expect((await here.cli(["run", "small-grippers-2026-03-01", "--agent", "baseline"])).code).toBe(0);
});

test("one research with such a file does not hide the others from list", async () => {
  const here = place();
  execFileSync("mkfifo", [join(here.research, "ledger.jsonl")]);
  const { code, out } = await here.cli(["list"]);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("is not a regular file") });
});
