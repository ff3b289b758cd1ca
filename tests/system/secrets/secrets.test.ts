import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { newCommand } from "../../../src/commands/run/new.js";
import { runCommand } from "../../../src/commands/run/run.js";
import { steerCommand } from "../../../src/commands/steer/steer.js";
import { readResearch } from "../../../src/research/project-files/research.js";
import { sampleRequirements } from "../../support/projects/sample-requirements.js";
import { temporaryFolder } from "../../support/projects/research.js";
import { fakeIo } from "../../engine/ui/fake-io.js";

/** Keys of every place that a user keeps some in; none has the form of a known service's. */
const planted = {
  environment: "planted-environment_11111111",
  agent: "planted-agent_env_22222222",
  other: "planted-other_agent_33333333",
  hook: "planted-hook_env_444444444",
  source: "planted-source_key_5555555",
};
/** Their beginnings: half a key is too much too. */
const keys = Object.values(planted).map((key) => key.slice(0, 14));

const agentFile = fileURLToPath(new URL("./leaky-agent.mjs", import.meta.url));

/** A user's folder with a config that holds keys, a repository, and a research over the sample papers. */
async function userFolder(): Promise<{ cwd: string; env: NodeJS.ProcessEnv }> {
  const cwd = temporaryFolder();
  const config = {
    agent: "leaky",
    unconfined: true,
    history_every: 2,
    historian: "other",
    agents: {
      leaky: {
        command: `${process.execPath} ${agentFile}`,
        env: { LEAKY_API_KEY: planted.agent, LEAK_FILE: join(cwd, "ralph.config.json") },
      },
      other: { command: 'echo "It was tried with $OTHER_TOKEN."', env: { OTHER_TOKEN: planted.other } },
    },
    sources: { openalex: { key_variable: "MY_OPENALEX" } },
    hooks: [
      {
        on: ["before-iteration", "after-iteration", "accepted", "complete"],
        run: "cat >> hooks.log; echo $HOOK_TOKEN >&2; exit 1",
        env: { HOOK_TOKEN: planted.hook },
      },
      { on: ["accepted"], run: "cat >> vetoes.log; echo $HOOK_TOKEN; exit 1", veto: true },
    ],
  };
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify(config, null, 1));
  writeFileSync(join(cwd, ".gitignore"), "ralph.config.json\n");
  const env = {
    PATH: process.env["PATH"],
    HOME: cwd,
    RESEARCH_RALPH_CHECK: "false",
    RESEARCH_RALPH_TRUST: "true",
    XDG_STATE_HOME: join(cwd, "state"),
    SOME_API_KEY: planted.environment,
    MY_OPENALEX: planted.source,
  };
  const git = (...args: string[]) => execa("git", args, { cwd, env });
  await git("init", "-q");
  await git("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "Begin");
  return { cwd, env };
}

/** Where a key stands: every file but the user's own config, and every object of git's. */
async function leaks(cwd: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const files = readdirSync(cwd, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "ralph.config.json")
    .map((entry) => join(entry.parentPath, entry.name));
  const found = files.flatMap((file) =>
    keys.filter((key) => readFileSync(file, "utf8").includes(key)).map((key) => `${key} in ${file.slice(cwd.length)}`),
  );
  const { stdout } = await execa("git", ["cat-file", "--batch-all-objects", "--batch"], {
    cwd,
    env,
    encoding: "latin1",
  });
  return [...found, ...keys.filter((key) => stdout.includes(key)).map((key) => `${key} in git`)];
}

describe("keys of the user's, leaked by an agent and by hooks", () => {
  test.each([true, false])("stand in nothing that a run prints or keeps (--json: %s)", async (json) => {
    const { cwd, env } = await userFolder();
    const folder = join(cwd, "researches", "grasping-2026-03-01");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "rrd.json"), JSON.stringify(sampleRequirements));
    const io = fakeIo({ cwd, env });
    await steerCommand({ folder, text: `Use ${planted.environment} for the API.`, clear: false, json: false }, io);
    const code = await runCommand(
      { folder, flags: {}, force: false, classic: false, ask: false, quiet: false, json },
      io,
    );

    const { rrd, ledger } = await readResearch(folder);
    expect(code, io.err()).toBe(0);
    expect(ledger.filter(({ outcome }) => outcome === "accepted").length).toBeGreaterThanOrEqual(5);
    expect(JSON.stringify(rrd)).toContain("[secret removed]");
    expect(readFileSync(join(folder, ".ralph/transcripts/1.jsonl"), "utf8")).toContain("[secret removed]");
    expect(rrd.loop?.history_summary).toBe("It was tried with [secret removed].");
    expect(`${io.out()}${io.err()}`).toContain("leaky and other run unconfined");
    expect(readFileSync(join(cwd, "hooks.log"), "utf8")).toContain('"hook":"complete"');
    expect(keys.filter((key) => `${io.out()}${io.err()}`.includes(key))).toEqual([]);
    expect(await leaks(cwd, env)).toEqual([]);
  });

  test("stand in nothing that a new research is made of", async () => {
    const { cwd, env } = await userFolder();
    const io = fakeIo({ cwd, env });
    expect(
      await newCommand({ topic: "grasping with hands", flags: {}, quiet: false, json: false, ask: false }, io),
      io.err(),
    ).toBe(0);
    const [name = ""] = readdirSync(join(cwd, "researches"));
    expect(readFileSync(join(cwd, "researches", name, "rrd.json"), "utf8")).toContain("[secret removed]");
    expect(keys.filter((key) => `${io.out()}${io.err()}`.includes(key))).toEqual([]);
    expect(await leaks(cwd, env)).toEqual([]);
  });
});
