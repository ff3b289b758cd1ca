import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentOptions } from "../../../src/engine/agents/definition.js";
import { askVersion } from "../../../src/engine/agents/program.js";
import type { Brief } from "../../../src/engine/loop/types.js";
import type { ProcessEnd, ProcessRequest } from "../../../src/engine/process/run-process.js";
import { keyPlaceholder } from "../../../src/engine/process/access.js";
import { briefIn, endOf, place, program, run, settingsIn } from "./support.js";

const here = place();
const access = { web: false, read: false, everything: false };
const toolRelay = { command: "/run/node", args: ["relay", "tools"], socket: "/run/tools.sock" };

/** What the sandbox is asked to run for this agent. */
async function requestOf(
  spec: string,
  {
    options = {},
    env = {},
    brief = {},
  }: {
    readonly options?: AgentOptions;
    readonly env?: NodeJS.ProcessEnv;
    readonly brief?: Partial<Brief["access"]>;
  } = {},
): Promise<ProcessRequest> {
  const requests: ProcessRequest[] = [];
  async function* exec(request: ProcessRequest): AsyncGenerator<string, ProcessEnd> {
    requests.push(request);
    yield* [];
    return { cause: "exited", exitCode: 0, stderr: "" };
  }
  const settings = settingsIn(here, {
    exec,
    sandbox: { name: "bubblewrap", toolRelay, hiddenVariables: [] },
    agents: { [spec]: options },
    env: { PATH: `${here.folder}:${process.env["PATH"]}`, HOME: join(here.folder, "home"), ...env },
  });
  await run(spec, settings, briefIn(here, { access: { ...access, ...brief } }));
  const [request] = requests;
  if (request === undefined) throw new Error("nothing was started");
  return request;
}

describe("the real name of a key", () => {
  test.each([
    ["claude", "ANTHROPIC_API_KEY", "https://api.anthropic.com", { "x-api-key": "secret" }],
    ["claude", "CLAUDE_CODE_OAUTH_TOKEN", "https://api.anthropic.com", { authorization: "Bearer secret" }],
    ["codex", "CODEX_API_KEY", "https://api.openai.com/v1", { authorization: "Bearer secret" }],
    ["codex", "OPENAI_API_KEY", "https://api.openai.com/v1", { authorization: "Bearer secret" }],
  ])(
    "of %s, %s, is the proxy's to know: the program gets a placeholder and the proxy's address",
    async (name, variable, baseAddress, headers) => {
      program(here.folder, name, "true");
      const { env, access, args } = await requestOf(name, { env: { [variable]: "secret" } });
      expect(access?.keys).toEqual([{ name: expect.any(String), baseAddress, headers }]);
      expect(Object.values(env)).not.toContain("secret");
      expect(Object.values(env)).toContain(keyPlaceholder);
      expect([...args, ...Object.values(env)].join(" ")).toContain(
        `http://127.0.0.1:3128/key/${access?.keys[0]?.name}`,
      );
      expect(access?.hosts).toEqual([]);
    },
  );

  test("of a provider in Codex's arguments too, whose address is exchanged for the proxy's", async () => {
    program(here.folder, "codex", "true");
    const args = [
      "model_provider=mine",
      'model_providers.mine.base_url="http://127.0.0.1:9/v1"',
      "model_providers.mine.env_key=MINE",
    ];
    const request = await requestOf("codex", { options: { args, env: { MINE: "secret" } } });
    expect(request.access?.keys).toEqual([
      { name: "mine", baseAddress: "http://127.0.0.1:9/v1", headers: { authorization: "Bearer secret" } },
    ]);
    expect(request.args).toContain('model_providers.mine.base_url="http://127.0.0.1:3128/key/mine"');
    expect(request.env["MINE"]).toBe(keyPlaceholder);
  });
});

test.each([
  ["claude", ".claude/.credentials.json", "/home/agent/.claude/.credentials.json", "api.anthropic.com:443"],
  ["codex", ".codex/auth.json", "/home/agent/.codex/auth.json", "chatgpt.com:443"],
])(
  "without a key the login file of %s stands in the new home, and its service is within reach",
  async (name, file, at, host) => {
    program(here.folder, name, "true");
    const login = join(here.folder, "home", file);
    mkdirSync(join(login, ".."), { recursive: true });
    writeFileSync(login, "{}");
    const { access } = await requestOf(name);
    expect(access).toMatchObject({
      keys: [],
      write: [here.workspace],
      logins: [{ from: login, target: at }],
      hosts: expect.arrayContaining([host]),
    });
  },
);

test("both skip their own permissions in a sandbox, and have a shell where the brief gives one", async () => {
  for (const name of ["claude", "codex"]) program(here.folder, name, "true");
  const key = { ANTHROPIC_API_KEY: "a", CODEX_API_KEY: "b" };
  const claude = await requestOf("claude", { env: key, brief: { shell: true } });
  expect(claude.args).toEqual(
    expect.arrayContaining(["--dangerously-skip-permissions", "Bash,Read,Edit,Write", "--setting-sources"]),
  );
  expect(claude.args).not.toContain("--permission-mode");
  const codex = await requestOf("codex", { env: key, brief: { shell: true } });
  expect(codex.args).toContain("--dangerously-bypass-approvals-and-sandbox");
  expect(codex.args).not.toContain("workspace-write");
  expect(codex.args).not.toContain("shell_tool");
  expect((await requestOf("claude", { env: key })).args).toContain("Write");
  expect((await requestOf("codex", { env: key })).args).toContain("shell_tool");
});

test("only a brief that may search the web reaches any public host", async () => {
  program(here.folder, "claude", "true");
  const env = { ANTHROPIC_API_KEY: "a" };
  expect((await requestOf("claude", { env })).access?.hosts).toEqual([]);
  expect((await requestOf("claude", { env, brief: { web: true } })).access?.hosts).toEqual(["*:443", "*:80"]);
});

test("a command sees the files that its line names, and what the config adds", async () => {
  const [agent, other] = ["agent.sh", "other.txt"].map((name) => program(here.folder, name, "true")) as [
    string,
    string,
  ];
  const options = {
    command: `./agent.sh --with '${other}' --not there.txt`,
    hosts: ["api.test:443"],
    read: ["/srv/data"],
  };
  const { access } = await requestOf("mine", {
    options: { ...options, env: { MY_TOKEN: "x" } },
    env: { THEIR_TOKEN: "y" },
  });
  expect(access).toMatchObject({
    read: [agent, other, "/srv/data"],
    hosts: ["api.test:443"],
    variables: expect.arrayContaining(["MY_TOKEN"]),
  });
});

test("a tool server runs outside: the CLI is told how to reach it, and it gets the secrets it needs and no others", async () => {
  program(here.folder, "claude", "true");
  const tools = { command: "/usr/bin/server", args: ["--one"], names: ["outline"], env: ["SOURCE_KEY"] };
  const env = { ANTHROPIC_API_KEY: "a", SOURCE_KEY: "s", OTHER_KEY: "o" };
  const { args, access } = await requestOf("claude", { env, brief: { tools } });
  const config = args[args.indexOf("--mcp-config") + 1] ?? "";
  expect(config).toContain('"/run/node","relay","tools"');
  expect(config).not.toContain("/usr/bin/server");
  expect(access?.tools).toMatchObject({ command: "/usr/bin/server", args: ["--one"], env: { SOURCE_KEY: "s" } });
  expect(access?.tools?.env).not.toHaveProperty("OTHER_KEY");
});

test("what must stay as it is within the workspace is read-only", async () => {
  const git = join(here.workspace, ".git");
  const { access } = await requestOf("mine", { options: { command: "true" }, brief: { shell: true, readOnly: [git] } });
  expect(access).toMatchObject({ read: [git], write: [here.workspace] });
});

test("a program of a package brings its package along, and those of its scope", async () => {
  const bin = join(here.folder, "modules", "node_modules", "@scope", "cli", "bin");
  mkdirSync(bin, { recursive: true });
  const path = program(bin, "cli.js", "true");
  const { access, command } = await requestOf("claude", {
    options: { command: path },
    env: { ANTHROPIC_API_KEY: "a" },
  });
  expect(command).toBe(path);
  expect(access?.read).toEqual([join(here.folder, "modules", "node_modules", "@scope")]);
});

test("the system's own programs are called by their name, and by their own path where a link of the user's leads to them", async () => {
  const own = realpathSync("/usr/bin/env");
  symlinkSync(own, join(here.folder, "claude"));
  const env = { ANTHROPIC_API_KEY: "a" };
  expect(await requestOf("claude", { env })).toMatchObject({ command: own, access: { read: [] } });
  expect(await requestOf("claude", { env, options: { command: "/bin/sh" } })).toMatchObject({ command: "/bin/sh" });
});

test("a program that is not there is missing, as it is without a sandbox", async () => {
  const exec = () => {
    throw new Error("it was started");
  };
  const settings = settingsIn(here, {
    exec,
    sandbox: { name: "bubblewrap", toolRelay, hiddenVariables: [] },
    env: { PATH: here.folder },
  });
  expect(endOf(await run("claude", settings, briefIn(here)))).toMatchObject({
    failure: { kind: "missing", message: expect.stringContaining("there is no program claude") },
  });
});

test("a program's version is asked where one stands in the home, and not of what an agent left in a project", async () => {
  const bin = join(here.folder, "bin");
  mkdirSync(bin, { recursive: true });
  program(bin, "versioned", "echo 1.2.3");
  const versionFrom = (home: string) =>
    askVersion(
      {
        name: "versioned",
        options: {},
        settings: settingsIn(here, {
          sandbox: { name: "bubblewrap", toolRelay, hiddenVariables: [] },
          cwd: here.folder,
          env: { PATH: `${bin}:${process.env["PATH"]}`, HOME: home },
        }),
      },
      "versioned",
      new AbortController().signal,
    );
  expect(await versionFrom(here.folder)).toBe("1.2.3");
  expect(await versionFrom("/nowhere")).toBeUndefined();
});
