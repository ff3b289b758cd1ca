import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { configCommand } from "../../../src/commands/setup/config.js";
import { fakeIo } from "../../engine/ui/fake-io.js";

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "rr-config-command-")));
});

async function config(assignment?: string, json = false, { global = false, unset = false } = {}) {
  const io = fakeIo({ cwd, env: { HOME: cwd } });
  const exitCode = await configCommand({ assignment, global, unset, json }, io);
  return { exitCode, out: io.out(), err: io.err() };
}

test("every key is shown with its value and where that comes from", async () => {
  writeFileSync(join(cwd, "ralph.config.yaml"), "papers: 30\n");
  const { out } = await config();
  expect(out).toMatch(/^papers +30 +ralph\.config\.yaml$/m);
  expect(out).toMatch(/^agent +claude +default$/m);
  expect(JSON.parse((await config(undefined, true)).out)).toMatchObject({
    papers: { value: 30 },
    contact: { value: null, from: "default" },
  });
});

test("--global writes the settings for all projects, --unset takes a setting away and says where there is none", async () => {
  await config("agent=codex", false, { global: true });
  const file = join(cwd, ".local/ralph/config.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ agent: "codex" });
  // It may hold keys, as the file that the first start of ralph makes at the same place.
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(existsSync(join(cwd, "ralph.config.yaml"))).toBe(false);
  expect((await config("agent")).out).toBe("codex\n");
  await config("agent", false, { global: true, unset: true });
  expect((await config("agent")).out).toBe("claude\n");
  await expect(config("agent", false, { unset: true })).rejects.toMatchObject({ exitCode: 1 });
  await expect(config("agent=x", false, { unset: true })).rejects.toMatchObject({ exitCode: 2 });
});

test("--global writes into the file that is there, also if it is YAML", async () => {
  const folder = join(cwd, ".local/ralph");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.yaml"), "papers: 7 # few\n");
  await config("agent=codex", false, { global: true });
  expect(readFileSync(join(folder, "config.yaml"), "utf8")).toBe("papers: 7 # few\nagent: codex\n");
  expect(existsSync(join(folder, "config.json"))).toBe(false);
});

test("one key prints its bare value; a key that is not set has exit code 1", async () => {
  expect(await config("papers")).toEqual({ exitCode: 0, out: "20\n", err: "" });
  expect(await config("contact")).toMatchObject({ exitCode: 1, out: "" });
  await expect(config("papres")).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining("'papers'") });
});

test("a value is written with the type of its key, and comments stay", async () => {
  writeFileSync(join(cwd, "ralph.config.yaml"), "# ours\nagent: codex # cheaper\npapers: 10\n");
  expect((await config("papers=30")).exitCode).toBe(0);
  await config("git=no");
  await config("agents.claude.model=opus");
  await config("agents.mine.args=[--fast, '2']");
  expect(readFileSync(join(cwd, "ralph.config.yaml"), "utf8")).toBe(
    '# ours\nagent: codex # cheaper\npapers: 30\ngit: false\nagents:\n  claude:\n    model: opus\n  mine:\n    args:\n      - --fast\n      - "2"\n',
  );
});

test("a file that an editor saved with a byte order mark is read and written", async () => {
  writeFileSync(join(cwd, "ralph.config.json"), '\uFEFF{"papers": 7}\r\n');
  expect((await config("papers")).out).toBe("7\n");
  await config("agent=codex");
  expect(JSON.parse(readFileSync(join(cwd, "ralph.config.json"), "utf8"))).toEqual({ papers: 7, agent: "codex" });
});

test("the file is made where there is none, and an existing JSON file is kept as JSON", async () => {
  await config("agent=cmd:./my-agent.sh");
  expect(readFileSync(join(cwd, "ralph.config.yaml"), "utf8")).toBe("agent: cmd:./my-agent.sh\n");

  cwd = realpathSync(mkdtempSync(join(tmpdir(), "rr-config-command-")));
  writeFileSync(join(cwd, "ralph.config.json"), '{"papers": 3, "agents": {"a": {"command": "x"}}}');
  await config("agents.a.model=m");
  expect(JSON.parse(readFileSync(join(cwd, "ralph.config.json"), "utf8"))).toEqual({
    papers: 3,
    agents: { a: { command: "x", model: "m" } },
  });
  expect(existsSync(join(cwd, "ralph.config.yaml"))).toBe(false);
});

test.each(["papers=0", "papers=many", "git=perhaps", "learn=never", "default_papers=3", "agents.a.modle=x", "papers="])(
  "a wrong value is refused and nothing is written: %s",
  async (assignment) => {
    await expect(config(assignment)).rejects.toMatchObject({ name: "ExpectedError", exitCode: 2 });
    expect(existsSync(join(cwd, "ralph.config.yaml"))).toBe(false);
  },
);

test.each(["constructor", "__proto__", "agents.x.toString"])("%s is no key, whatever objects inherit", async (key) => {
  await expect(config(key)).rejects.toThrow(/Unknown configuration key/);
});

const planted = {
  agent: "cmd:mine --api-key planted-1",
  agents: {
    mine: { command: "mine", args: ["--token", "planted-2", "--password=planted-3"], env: { X_TOKEN: "planted-4" } },
    other: { command: "other\u001b[2J\u009b1m", env: { URL: "https://me:planted-5@host.example/", MODEL: "small" } },
  },
  hooks: [{ on: ["complete"], run: "curl -H planted-6", env: { HOOK_SECRET: "planted-6" } }],
};

test.each([
  [undefined, false],
  [undefined, true],
  ["agents", false],
  ["agents.mine.env", true],
  ["agents.other.command", false],
  ["hooks", true],
] as const)("no token is shown, and no code that a terminal obeys (%s, --json: %s)", async (key, json) => {
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify(planted));
  const { exitCode, out } = await config(key, json);
  expect(exitCode).toBe(0);
  expect(out).not.toContain("planted-");
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect((await config("agents.other.env")).out).toContain("small");
});

test.each([
  ["agent=cluade", /Did you mean claude/],
  ["agent=codex,nonsense", /Unknown agent 'nonsense'/],
  ["historian=nonsense", /Unknown agent 'nonsense'/],
  [
    "screeners=cmd:mine -x,baseline",
    /the comma is part of the command; name the other agents first: baseline,cmd:mine -x\.$/m,
  ],
  ["screeners=claude", /two different agents screen/],
  ["screeners=claude,nonsense", /Unknown agent 'nonsense'/],
  ["stagnation_limit=20", /stagnation_limit \(20\) is larger than stagnation_window \(10\)/],
  ["stagnation_window=4", /stagnation_limit \(5\) is larger than stagnation_window \(4\)/],
] as const)("%s is not written, and why is said", async (assignment, why) => {
  await expect(config(assignment)).rejects.toMatchObject({ message: expect.stringMatching(why), exitCode: 2 });
  expect(existsSync(join(cwd, "ralph.config.yaml"))).toBe(false);
});

test("a limit that fits its window, and an agent of one's own, are written", async () => {
  writeFileSync(join(cwd, "ralph.config.yaml"), "agents: { mine: { command: ./mine.sh } }\n");
  for (const assignment of ["agent=mine,claude", "stagnation_window=30", "stagnation_limit=20"])
    expect((await config(assignment)).exitCode, assignment).toBe(0);
});
