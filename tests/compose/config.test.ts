import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type ConfigFlags, configKeys, resolveConfig, settingsIn } from "../../src/compose/config.js";
import { packageFile } from "../../src/engine/lib/package-root.js";

let cwd: string;
let home: string;

beforeEach(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "rr-config-")));
  cwd = join(root, "project");
  home = join(root, "home");
  mkdirSync(cwd);
  mkdirSync(join(home, ".local", "ralph"), { recursive: true });
});

const project = (text: string, suffix = "yaml") => writeFileSync(join(cwd, `ralph.config.${suffix}`), text);
const user = (text: string) => writeFileSync(join(home, ".local", "ralph", "config.yaml"), text);

test("a flag beats the environment, which beats the project's file, which beats the user's, which beats the default", async () => {
  const agent = async (flags: ConfigFlags, env: Record<string, string>) =>
    (await resolveConfig({ env, cwd, home }, flags)).agent;
  expect(await agent({}, {})).toBe("claude");
  user("agent: from-user\n");
  expect(await agent({}, {})).toBe("from-user");
  project("agent: from-project\n");
  expect(await agent({}, {})).toBe("from-project");
  expect(await agent({}, { RESEARCH_RALPH_AGENT: "from-env" })).toBe("from-env");
  expect(await agent({ agent: "from-flag" }, { RESEARCH_RALPH_AGENT: "from-env" })).toBe("from-flag");
});

test("every value says where it comes from", async () => {
  project("papers: 30\n");
  const { origins } = await settingsIn(
    { env: { RESEARCH_RALPH_LEARN: "auto" }, cwd, home },
    { idle_minutes: 3, git: false },
  );
  expect(origins).toMatchObject({
    papers: join(cwd, "ralph.config.yaml"),
    idle_minutes: "--idle-minutes",
    git: "--no-git",
    learn: "RESEARCH_RALPH_LEARN",
    agent: "default",
  });
});

test("the resolved shape is whole: milliseconds, absolute paths, no limits where none are set", async () => {
  const config = await resolveConfig({ env: {}, cwd, home }, {});
  expect(config).toMatchObject({
    papers: 20,
    iterationMs: 3_600_000,
    idleMs: 900_000,
    patienceMs: 7_200_000,
    unconfined: false,
    git: true,
    agents: {},
  });
  expect(config.stateDir).toBe(join(home, ".local/state/research-ralph"));
  expect(config.maxMs).toBeUndefined();
  expect(config.iterations).toBeUndefined();
});

test("a relative state_dir belongs to the folder of the file that says it, and ~ to the user", async () => {
  user("state_dir: state\n");
  const stateDir = async (env: Record<string, string>) => (await resolveConfig({ env, cwd, home })).stateDir;
  expect(await stateDir({})).toBe(join(home, ".local/ralph/state"));
  expect(await stateDir({ RESEARCH_RALPH_STATE_DIR: "~/mine" })).toBe(join(home, "mine"));
  expect(await stateDir({ RESEARCH_RALPH_STATE_DIR: "here" })).toBe(join(cwd, "here"));
});

test("settings of one agent from two files are merged, the nearer file counting; --model is for the chosen agent", async () => {
  user("agents: { claude: { model: a, user_settings: true }, other: { command: x } }\n");
  project("agents: { claude: { model: b } }\n");
  const { agents } = await resolveConfig({ env: {}, cwd, home });
  expect(agents).toEqual({ claude: { model: "b", user_settings: true }, other: { command: "x" } });
  expect((await resolveConfig({ env: {}, cwd, home }, { model: "c" })).agents["claude"]?.model).toBe("c");
});

test("settings of one source from two files are merged too, and are none where nothing is written", async () => {
  expect((await resolveConfig({ env: {}, cwd, home })).sources).toEqual({});
  user("sources: { arxiv: { endpoint: 'https://mirror.example', interval_ms: 100 } }\n");
  project("sources: { arxiv: { interval_ms: 0 }, crossref: { off: true } }\n");
  expect((await resolveConfig({ env: {}, cwd, home })).sources).toEqual({
    arxiv: { endpoint: "https://mirror.example", interval_ms: 0 },
    crossref: { off: true },
  });
});

test.each([
  ["papers: many\n", /ralph\.config\.yaml:1: \/papers must be/],
  ["agent: codex\nmax_usd: 0\n", /ralph\.config\.yaml:2: \/max_usd must be above 0, is 0\.$/],
  ["max_tokens: 0\n", /ralph\.config\.yaml:1: \/max_tokens can't be 0\.$/],
  ["# ours\nsources:\n  arxiv:\n    endpoint: x\n", /yaml:4: \/sources\/arxiv\/endpoint must look like "https:/],
  ["papers: 0\n", /\/papers/],
  ["colour: red\n", /\/colour is not a configuration key: 'research-ralph config' lists the keys/],
  ["agnet: codex\n", /\/agnet is not a configuration key: the nearest one is 'agent'/],
  ["default_agent: amp\n", /it is called 'agent' now/],
  ["agents: { claude: { modle: x } }\n", /\/agents\/claude\/modle .*'model'/],
  ["sources: { arxiv: { endpiont: x } }\n", /\/sources\/arxiv\/endpiont .*'endpoint'/],
  ["sources: { arxiv: { endpoint: 'file:///x' } }\n", /\/sources\/arxiv\/endpoint /],
  ["agents: [claude\n", /is not valid YAML: .*[^:]\.$/],
  ["modell: x\n", /the nearest one is 'model'/],
  ["just words\n", /must hold keys and values/],
])("a wrong file is refused with its name, the place and what to do: %j", async (text, message) => {
  project(text);
  await expect(resolveConfig({ env: {}, cwd, home })).rejects.toMatchObject({
    name: "ExpectedError",
    exitCode: 1,
    message: expect.stringMatching(message),
  });
});

test("a file that is no JSON is refused with its line and column", async () => {
  writeFileSync(join(cwd, "ralph.config.json"), '{"model": "x",\n}');
  await expect(resolveConfig({ env: {}, cwd, home })).rejects.toThrow(
    "ralph.config.json is not valid JSON at line 2, column 1: '}' does not belong here. There may be an extra comma before it.",
  );
});

test.each([
  [
    "in another encoding",
    Buffer.from('\uFEFF{"model": "x"}', "utf16le"),
    "is not UTF-8; save it as UTF-8 in your editor.",
  ],
  ["that says a limit twice", '{"max_usd": 1, "max_usd": 50}', 'has "max_usd" twice in one object; keep one of them.'],
])("a file %s is refused", async (_, text, says) => {
  writeFileSync(join(cwd, "ralph.config.json"), text);
  await expect(resolveConfig({ env: {}, cwd, home })).rejects.toThrow(`${join(cwd, "ralph.config.json")} ${says}`);
});

test("a wrong flag has the exit code of wrong usage, a wrong variable is named", async () => {
  await expect(resolveConfig({ env: {}, cwd, home }, { papers: 0 })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining("papers"),
  });
  await expect(resolveConfig({ env: { RESEARCH_RALPH_PAPERS: "x" }, cwd, home })).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining("RESEARCH_RALPH_PAPERS"),
  });
  await expect(resolveConfig({ env: { RESEARCH_RALPH_LEARN: "perhaps" }, cwd, home })).rejects.toThrow(
    "RESEARCH_RALPH_LEARN",
  );
});

test("an empty file is a config without settings; two files at once are an error", async () => {
  project("");
  expect((await resolveConfig({ env: {}, cwd, home })).agent).toBe("claude");
  project("{}", "json");
  await expect(resolveConfig({ env: {}, cwd, home })).rejects.toThrow("keep one of them");
});

test("keys and defaults are those of the schema", () => {
  const schema = JSON.parse(readFileSync(packageFile("schemas", "config.schema.json"), "utf8")) as {
    properties: Record<string, { default?: unknown }>;
  };
  const { scalars, optionsByName, wholeValues, fileOnly, defaults } = configKeys;
  const keys = [...[scalars, optionsByName, fileOnly].flatMap((kinds) => Object.keys(kinds)), ...wholeValues];
  expect(["$schema", ...keys].sort()).toEqual(Object.keys(schema.properties).sort());
  const stated = Object.entries(schema.properties).flatMap(([key, property]) =>
    property.default === undefined ? [] : [[key, property.default]],
  );
  expect(defaults).toEqual(Object.fromEntries(stated));
});

test.each([
  ["claude", "claude", []],
  ["claude,codex, amp", "claude", ["codex", "amp"]],
  ["claude,claude,,codex", "claude", ["codex"]],
  ["cmd:./mine --with a,b", "cmd:./mine --with a,b", []],
  ["claude,cmd:./mine --with a,b", "claude", ["cmd:./mine --with a,b"]],
])("the agents of %o are %s and then %o: a command may hold commas itself", async (written, agent, fallbacks) => {
  expect(await resolveConfig({ env: {}, cwd, home }, { agent: written })).toMatchObject({ agent, fallbacks });
});

test("a model that is asked for is the first agent's", async () => {
  const { agents } = await resolveConfig({ env: {}, cwd, home }, { agent: "codex,claude", model: "m" });
  expect(agents).toMatchObject({ codex: { model: "m" } });
  expect(agents).not.toHaveProperty("claude");
});

test("a budget is what was set of it, and several agents at a time are asked for by number", async () => {
  expect(await resolveConfig({ env: {}, cwd, home })).toMatchObject({ budget: {}, jobs: 1 });
  expect(await resolveConfig({ env: {}, cwd, home }, { max_usd: 2, max_tokens: 1000, jobs: 3 })).toMatchObject({
    budget: { usd: 2, tokens: 1000 },
    jobs: 3,
  });
  await expect(resolveConfig({ env: {}, cwd, home }, { max_usd: 0 })).rejects.toThrow("--max-usd");
  await expect(resolveConfig({ env: {}, cwd, home }, { jobs: 401 })).rejects.toThrow("--jobs");
});
