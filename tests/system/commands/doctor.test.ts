import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { folderFinding, gitFindings, nodeFinding } from "../../../src/commands/setup/machine-checks.js";
import { doctorCommand, type DoctorOptions } from "../../../src/commands/setup/doctor.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

/** Runs doctor where no agent CLI is on the PATH: only Node, sh and git. */
async function doctor(
  options: Partial<DoctorOptions>,
  cwd = freshFolder(),
  { tableWidth = Number.POSITIVE_INFINITY, keys = {} }: { tableWidth?: number; keys?: NodeJS.ProcessEnv } = {},
) {
  const env = { HOME: cwd, PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, ...keys };
  const io = fakeIo({ cwd, env, tableWidth });
  const exitCode = await doctorCommand({ json: false, flags: {}, ...options }, io);
  return { exitCode, out: io.out() };
}

function script(cwd: string, text: string): string {
  const path = join(cwd, "agent.sh");
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return "cmd:./agent.sh";
}

test("Node below the floor is refused, from the floor on accepted", () => {
  expect(["v18.20.1", "v20.18.9", "v20.19.0", "v22.1.0"].map((version) => nodeFinding(version).ok)).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test("a folder that can't be written is named with what to do; nothing is left in one that can", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "file"), "");
  expect(await folderFinding("state folder", join(cwd, "file", "below"))).toMatchObject({
    ok: false,
    needed: true,
    fix: expect.stringContaining("below"),
  });
  expect(await folderFinding("this folder", cwd)).toMatchObject({ ok: true });
  expect(readdirSync(cwd)).toEqual(["file"]);
});

test("a folder outside any repository is told how to get history", async () => {
  const found = await gitFindings(freshFolder());
  expect(found.find(({ name }) => name === "repository")).toMatchObject({
    ok: false,
    needed: false,
    fix: "research-ralph init",
  });
});

test("a program git of the folder itself is not started, whatever PATH says", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "git"), `#!/bin/sh\n: > "${cwd}/started"\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${cwd}:${process.env["PATH"]}`);
  try {
    expect((await gitFindings(cwd))[0]).toMatchObject({ name: "git", ok: true });
  } finally {
    vi.unstubAllEnvs();
  }
  expect(readdirSync(cwd)).toEqual(["git"]);
});

test("a chosen agent that is missing makes the verdict, others do not", async () => {
  const missing = await doctor({ flags: { agent: "claude" } });
  expect(missing.exitCode).toBe(1);
  expect(missing.out).toMatch(/^✗ claude .*\n +→ Install it/m);
  expect(missing.out).toMatch(/^– codex/m);
  const ready = await doctor({ flags: { agent: "cmd:true", unconfined: true }, json: true });
  expect(JSON.parse(ready.out)).toMatchObject({ ready: true });
});

test("on a terminal its lines are broken at words and stand below each other; in a pipe they stay whole", async () => {
  const [narrow, whole] = [await doctor({}, freshFolder(), { tableWidth: 60 }), await doctor({})];
  const words = narrow.out.split("\n").filter((line) => line.length > 59 && /\s\S/.test(line.slice(18)));
  expect(words).toEqual([]);
  expect(narrow.out).toMatch(/^ {16}→ Install it .*\n {18}\S/m);
  expect(whole.out).toMatch(/^ {16}→ Install it with .* log in\.$/m);
});

test("where the chosen agent is missing and another is ready, that one is named", async () => {
  const keys = { ANTHROPIC_API_KEY: "planted" };
  const { exitCode, out } = await doctor({ flags: { agent: "claude" } }, freshFolder(), { keys });
  expect(exitCode).toBe(1);
  expect(out).toMatch(/ralph is ready: research-ralph config agent=ralph chooses it\.$/m);
  expect((await doctor({ flags: { agent: "claude" } })).out).toMatch(/^Not ready: see the lines marked ✗\.$/m);
});

test("without a choice it is about the agents that the projects here go on with, not about the default", async () => {
  const cwd = freshFolder();
  const line = { iteration: 1, at: "2026-03-01T10:00:00.000Z", unit: "p1", phase: "ANALYSIS", outcome: "accepted" };
  const folder = makeResearch(cwd, "hands-2026-03-01", { papers_pool: [paper("p1", "pending")] });
  writeFileSync(join(folder, "ledger.jsonl"), `${JSON.stringify({ ...line, agent: "baseline", format: 3 })}\n`);
  const { exitCode, out } = await doctor({}, cwd);
  expect(out).toMatch(/^✓ baseline/m);
  expect([exitCode, out]).toEqual([0, expect.stringMatching(/^Ready to run with baseline\.$/m)]);
  makeResearch(cwd, "new-2026-03-02", { papers_pool: [] });
  const both = await doctor({}, cwd);
  expect(both.exitCode).toBe(1);
  expect(both.out).toMatch(/^This is about baseline and claude, which the projects here use;/m);
});

test("an agent that a run would refuse to start is not ready, and the rest is still shown", async () => {
  for (const [agent, why] of [
    ["cmd:true", /^✗ cmd:true .*--unconfined/m],
    ["cluade", /^✗ cluade .*claude/m],
  ] as const) {
    const { exitCode, out } = await doctor({ flags: { agent, sandbox: "host" } });
    expect(exitCode).toBe(1);
    expect(out).toMatch(why);
    expect(out).toMatch(/^✓ Node/m);
  }
});

test("without a probe it says that nothing was sent, and what sends one word; where there is no model it does not", async () => {
  const { out } = await doctor({ flags: { agent: "cmd:true --x", unconfined: true } });
  expect(out).toMatch(/nothing was sent to it\. .*:\n {2}research-ralph doctor --agent "cmd:true --x" --probe\n$/);
  expect((await doctor({ flags: { agent: "baseline" } })).out).toMatch(/^Ready to run with baseline\.$/m);
});

test("the probe runs one real word through an agent and says how long it took", async () => {
  const cwd = freshFolder();
  const agent = script(cwd, 'cat > /dev/null; echo \'{"word":"pong"}\' > result.json; echo pong');
  const { exitCode, out } = await doctor({ probe: true, flags: { agent, unconfined: true } }, cwd);
  expect(out).toMatch(/^✓ probe +cmd:\.\/agent\.sh answered and wrote its file in /m);
  expect(exitCode).toBe(0);
});

test("an agent that prints its result is as ready as one that writes it to the file", async () => {
  const cwd = freshFolder();
  const { exitCode, out } = await doctor(
    { probe: true, flags: { agent: script(cwd, 'cat > /dev/null; echo \'{"word":"pong"}\''), unconfined: true } },
    cwd,
  );
  expect(out).toMatch(/^✓ probe +cmd:\.\/agent\.sh answered with its result in /m);
  expect(exitCode).toBe(0);
});

test("an agent that answers is ready, also where its check finds no login", async () => {
  const cwd = freshFolder();
  const said = [
    '{"type":"thread.started","thread_id":"x"}',
    '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}',
  ];
  const item = '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"{\\"word\\":\\"pong\\"}"}}';
  const lines = [said[0], item, said[1]].map((line) => `echo '${line}'`).join("\n");
  const codex = `#!/bin/sh\ncase "$1" in --version) echo codex-cli 0.169.0;; login) exit 1;; *) cat >/dev/null\n${lines};; esac\n`;
  writeFileSync(join(cwd, "codex"), codex, { mode: 0o755 });
  const keys = { PATH: `${cwd}:${dirname(process.execPath)}:/usr/bin:/bin` };
  const { exitCode, out } = await doctor({ probe: true, flags: { agent: "codex" } }, cwd, { keys });
  expect(out).toMatch(/^– codex .*not logged in/m);
  expect(out).toMatch(/^✓ probe +codex answered/m);
  expect([exitCode, out]).toEqual([0, expect.stringMatching(/^Ready to run with codex\.$/m)]);
});

test("an agent that answers but is not allowed to write is found out", async () => {
  const cwd = freshFolder();
  const agent = script(cwd, "cat > /dev/null; echo I could not write the file");
  const { exitCode, out } = await doctor({ probe: true, flags: { agent, unconfined: true } }, cwd);
  expect(exitCode).toBe(1);
  expect(out).toMatch(/^✗ probe .*wrote no file\b.* permission/m);
});

test("an agent that fails tells why, and its folder is swept", async () => {
  const cwd = freshFolder();
  mkdirSync(join(cwd, "x"));
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith("research-ralph-probe-"));
  const { exitCode, out } = await doctor(
    { probe: true, flags: { agent: script(cwd, "echo 'no such model' >&2; exit 3"), unconfined: true } },
    cwd,
  );
  expect(exitCode).toBe(1);
  expect(out).toMatch(/^✗ probe +cmd:\.\/agent\.sh failed after /m);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("research-ralph-probe-"))).toEqual(before);
});

test("probing an unknown or an unconfined agent has the exit code of wrong usage", async () => {
  await expect(doctor({ probe: true, flags: { agent: "cluade" } })).rejects.toMatchObject({ exitCode: 2 });
  await expect(doctor({ probe: true, flags: { agent: "cmd:true", sandbox: "host" } })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining("--unconfined"),
  });
});

test.each([false, true])("no token is shown, and no code that a terminal obeys (--json: %s)", async (json) => {
  const cwd = freshFolder();
  const hostile = {
    command: "no-such\u001b[2J\u009b1m",
    args: ["--token", "planted-1"],
    env: { X_TOKEN: "planted-2" },
  };
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ agents: { hostile } }));
  const { out } = await doctor({ flags: { agent: "cmd:true --api-key planted-3", unconfined: true }, json }, cwd);
  expect(out).toContain("hostile");
  expect(out).not.toContain("planted-");
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});
