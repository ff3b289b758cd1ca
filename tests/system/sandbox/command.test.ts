import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";
import { unitAgent } from "../../support/processes/command-agents.js";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { sharedPackage } from "../../support/processes/built.js";
import { cli } from "../../support/processes/in-process.js";

describe.skipIf(noBubblewrap !== undefined)(`run --sandbox${skippedFor(noBubblewrap)}`, () => {
  test("holds a command agent, which then needs no --unconfined, and the ledger says so", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    const { code, err } = await cli(["run", "-i", "2", "--agent", unitAgent, "--no-git"], cwd);
    expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining("Agents run in bubblewrap") });
    const lines = readFileSync(join(folder, "ledger.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { outcome: "accepted", confinement: "sandbox" },
      { outcome: "accepted", confinement: "sandbox" },
    ]);
  });

  test("shows a command that is found by its bare name in a folder of the user's own", async () => {
    const cwd = freshFolder();
    sampleResearch(cwd);
    const bin = freshFolder();
    const PATH = `${bin}:${process.env["PATH"]}`;
    const toldBy = async (script: string) => {
      writeFileSync(join(bin, "myagent"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return (await cli(["run", "-i", "1", "--agent", "cmd:myagent", "--no-git", "--json"], cwd, { PATH })).out;
    };
    const begun = await toldBy("echo begun >&2; exit 3");
    expect(begun).toContain("said: begun.");
    expect(begun).not.toContain("--unconfined");
    // A file beside it is hidden, which its own words name.
    writeFileSync(join(bin, "helper"), "");
    expect(await toldBy(`cat ${bin}/helper || exit 3`)).toContain(
      "write 'agents: { mine: { command: myagent, read: [<folder>] } }' into ralph.config.yaml",
    );
  });

  test("shows the project's files where the prompt names its folder, and lets none be changed", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    writeFileSync(join(cwd, "prompt.md"), "# COMMON\n\nRead {{RESEARCH_DIR}}/rrd.json first.\n");
    const state = readFileSync(join(folder, "rrd.json"), "utf8");
    // What a command line names is shown to it anyway, so the agent takes the path from its brief.
    const words = `d=$(sed -n "s/^Read \\(.*\\).rrd.json first\\.$/\\1/p")`;
    const look = `${words}; (echo >> $d/rrd.json) 2> /dev/null || echo held: $(ls -A $d 2>&1) >&2; exit 3`;
    const { out } = await cli(["run", "-i", "1", "--agent", `cmd:${look}`, "--no-git", "--json"], cwd);
    expect(out).toContain("said: held: rrd.json.");
    expect(out).not.toContain(".ralph");
    expect(JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")).papers_pool).toEqual(
      JSON.parse(state).papers_pool,
    );
    writeFileSync(join(cwd, "prompt.md"), `# COMMON\n\nRead ${folder}/rrd.json first.\n`);
    const without = await cli(["run", "-i", "1", "--agent", `cmd:${look}`, "--no-git", "--json", "--force"], cwd);
    expect(without.out).toMatch(/said: held: [^{}]*No such file or directory/);
  });
});

describe.skipIf(noBubblewrap !== undefined)(`a folder that was left open${skippedFor(noBubblewrap)}`, () => {
  test.each([
    ["bubblewrap", "nothing"],
    ["host", "planted"],
  ])("shows an agent in %s %s of what lies in it", async (sandbox, shown) => {
    const [cwd, secrets] = [freshFolder(), freshFolder()];
    sampleResearch(cwd);
    writeFileSync(join(secrets, "secret.txt"), "planted\n");
    // Node closes low numbers in what it starts, up to the first gap above 15.
    // What a command line names would be shown to it.
    const look = "p=proc; cat /$p/self/fd/20/secret.txt 2> /dev/null || echo nothing";
    const child = spawn(
      "bash",
      [
        ...["-c", `exec "$@" 20< ${secrets}`, "bash", process.execPath],
        ...[join(await sharedPackage(), "dist/cli.js"), "run", "-i", "1", "--no-git", "--json", "--agent"],
        ...[`cmd:${look} >&2; exit 3`, "--sandbox", sandbox, ...(sandbox === "host" ? ["--unconfined"] : [])],
      ],
      {
        cwd,
        env: { PATH: process.env["PATH"], HOME: cwd, RESEARCH_RALPH_TRUST: "true", RESEARCH_RALPH_CHECK: "false" },
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    let out = "";
    child.stdout?.on("data", (text: Buffer) => (out += text.toString()));
    await once(child, "close");
    expect(out.match(/said: (\w+)\./)?.[1]).toBe(shown);
  });
});

test("a sandbox that is not there is one sentence with what to do, and classic mode has none", async () => {
  const cwd = freshFolder();
  sampleResearch(cwd);
  expect(
    await cli(["run", "--sandbox", "bubblewrap", "--agent", "baseline"], cwd, { PATH: "/nonexistent" }),
  ).toMatchObject({ code: 1, err: expect.stringMatching(/bubblewrap is not installed.*apt install bubblewrap/) });
  writeFileSync(join(cwd, "prompt.md"), "Read the papers in {{RESEARCH_DIR}}.\n");
  expect(await cli(["run", "--sandbox", "bubblewrap", "--classic"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("outside of any sandbox"),
  });
});
