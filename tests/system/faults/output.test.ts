import { existsSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { expectNoTrace, expectWhole, type Place } from "./support/place.js";

const place = useBuiltCli();

const shell = (here: Place, command: string) =>
  spawnSync("/bin/sh", ["-c", command], { cwd: here.cwd, env: here.env, encoding: "utf8" });

const full = "research-ralph: There is no space left on the disk that stdout goes to; free some and run again.\n";

test.skipIf(!existsSync("/dev/full"))(
  "stdout on a full disk is one sentence and exit code 1; a run ends after its iteration, and a later one completes it",
  async () => {
    const here = place();
    expect(shell(here, `${here.shellCommand("list")} > /dev/full`)).toMatchObject({ status: 1, stderr: full });
    expect(shell(here, `${here.shellCommand("run", "--agent", "baseline", "--json")} > /dev/full`)).toMatchObject({
      status: 129,
      stderr: full,
    });
    expect(here.ledger().length).toBeLessThanOrEqual(1);
    expect(here.left()).toEqual([]);
    expect((await here.cli(["run", "--agent", "baseline"])).code).toBe(0);
    expectWhole(here);
  },
);

test.skipIf(!existsSync("/dev/full")).each([["tools"], ["--help"], ["memory help"]])(
  "ralph %s with stdout on a full disk is one sentence and exit code 1 too",
  (words) => {
    const here = place();
    expect(shell(here, `${here.assistant} ${words} > /dev/full`)).toMatchObject({
      status: 1,
      stderr: full.replace("research-ralph", "ralph"),
    });
  },
);

test.skipIf(!existsSync("/dev/full"))("stderr on a full disk, as of a log, is no reason to end a run", () => {
  const here = place();
  expect(shell(here, `${here.shellCommand("run", "--agent", "baseline")} 2> /dev/full`)).toMatchObject({
    status: 0,
    stdout: "<promise>COMPLETE</promise>\n",
  });
  expectWhole(here);
});

test("with all three streams closed, as some schedulers start it, a run completes", () => {
  const here = place();
  const { status, stderr } = shell(here, `${here.shellCommand("run", "--agent", "baseline")} <&- >&- 2>&-`);
  expectNoTrace(stderr);
  expect(status).toBe(0);
  expectWhole(here);
});
