import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { expectWhole } from "./support/place.js";

const place = useBuiltCli();

test.each([20, 40, 64, 80])(
  "where only %i files may be open at once, a run says so in one sentence or completes, and never hangs",
  async (most) => {
    const here = place();
    const command = `ulimit -n ${most}; exec ${here.shellCommand("run", here.research, "--agent", "baseline")}`;
    const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
      cwd: here.cwd,
      env: here.env,
      encoding: "utf8",
    });
    if (status === 0) return expectWhole(here);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "research-ralph: The limit of open files is too low; raise it with 'ulimit -n 1024', or end other programs, and run again.\n",
    });
    expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
    expectWhole(here);
  },
);
