import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { amp } from "../../../src/engine/agents/amp.js";
import { claude } from "../../../src/engine/agents/claude/claude.js";
import { codex } from "../../../src/engine/agents/codex/codex.js";
import { command } from "../../../src/engine/agents/command.js";
import type {
  AgentDefinition,
  AgentOptions,
  AgentSettings,
  Invocation,
} from "../../../src/engine/agents/definition.js";
import { isFailure } from "../../../src/engine/agents/definition.js";
import type { Access } from "../../../src/engine/loop/types.js";
import { briefIn, cli, endOf, fixture, place, program, run, settingsIn } from "./support.js";

const here = place();
const none: Access = { web: false, read: false, everything: false };

function invoke(
  definition: AgentDefinition,
  access: Partial<Access> = {},
  options: AgentOptions = {},
  settings: Partial<AgentSettings> = {},
): Invocation {
  const context = { name: definition.name, options, settings: settingsIn(here, settings) };
  const invocation = definition.invoke(briefIn(here, { access: { ...none, ...access } }), context);
  if (isFailure(invocation)) throw new Error(invocation.message);
  return invocation;
}
const after = (args: readonly string[], flag: string): string | undefined => args[args.indexOf(flag) + 1];

describe("the command of claude", () => {
  it("has the tools that the brief needs and never a shell", () => {
    expect(after(invoke(claude).args, "--tools")).toBe("Write");
    expect(after(invoke(claude, { read: true }).args, "--tools")).toBe("Write,Read");
    const web = invoke(claude, { web: true }).args;
    expect(after(web, "--tools")).toBe("Write,WebSearch,WebFetch");
    expect(after(web, "--allowedTools")).toBe("WebSearch,WebFetch");
    expect(invoke(claude).args).not.toContain("--allowedTools");
  });

  it("tries again by itself only where no other agent can work meanwhile", () => {
    const retries = (settings: Partial<AgentSettings>) =>
      invoke(claude, {}, {}, settings).env?.["CLAUDE_CODE_MAX_RETRIES"];
    expect([retries({}), retries({ hasFallback: true })]).toEqual(["3", "0"]);
  });

  it("skips permissions in classic mode alone, and says that it is sandboxed to root alone", () => {
    expect(invoke(claude).args).not.toContain("--dangerously-skip-permissions");
    expect(invoke(claude).env).not.toHaveProperty("IS_SANDBOX");
    const classic = invoke(claude, { everything: true });
    expect(classic.args).toEqual([
      "-p",
      "--output-format",
      "stream-json",
      "--verbose",
      "--dangerously-skip-permissions",
      "--allowedTools",
      "Bash,Read,Edit,Write,Grep,Glob,WebFetch,WebSearch",
    ]);
    expect(classic.env?.["IS_SANDBOX"]).toBe(process.getuid?.() === 0 ? "1" : undefined);
  });

  it("loads the user's settings only where the config asks for it, and stays confined", () => {
    expect(after(invoke(claude).args, "--setting-sources")).toBe("");
    const { args } = invoke(claude, {}, { user_settings: true });
    expect(args).not.toContain("--setting-sources");
    expect(after(args, "--permission-mode")).toBe("acceptEdits");
    expect(after(args, "--tools")).toBe("Write");
  });

  it("denies its own folder by name, wherever that is", () => {
    expect(after(invoke(claude).args, "--disallowedTools")).toBe("Edit(~/.claude/**)");
    expect(after(invoke(claude, {}, { env: { CLAUDE_CONFIG_DIR: "/a/b" } }).args, "--disallowedTools")).toBe(
      "Edit(//a/b/**)",
    );
  });

  it("takes program, model and more arguments from the config", () => {
    const { command: path, args } = invoke(
      claude,
      {},
      { command: "./bin/claude", model: "opus", args: ["--max-budget-usd", "1"] },
    );
    expect(path).toBe(join(here.folder, "bin", "claude"));
    expect(after(args, "--model")).toBe("opus");
    expect(args.slice(-2)).toEqual(["--max-budget-usd", "1"]);
  });
});

describe("the command of codex", () => {
  it("has no shell with Codex's own model, and a sandboxed one where it may be needed for reading or writing", () => {
    const shellOff = (invocation: Invocation) => invocation.args.join(" ").includes("--disable shell_tool");
    expect(shellOff(invoke(codex))).toBe(true);
    expect(shellOff(invoke(codex, { web: true }))).toBe(true);
    expect(shellOff(invoke(codex, { read: true }))).toBe(false);
    expect(shellOff(invoke(codex, {}, { model: "x" }))).toBe(false);
    for (const args of [["-c", 'model="x"'], ["-m", "x"], ["--model=x"], ["-p", "mine"], ["--oss"]])
      expect(shellOff(invoke(codex, {}, { args }))).toBe(false);
    expect(shellOff(invoke(codex, {}, { args: ["-c", "model_providers.x.name=x"] }))).toBe(true);
    for (const access of [{}, { read: true }, { web: true }])
      expect(after(invoke(codex, access).args, "-s")).toBe("workspace-write");
  });

  it("searches the web only where the brief needs it", () => {
    expect(invoke(codex).args).toContain('web_search="disabled"');
    expect(invoke(codex, { web: true }).args).toContain('web_search="live"');
    // With files to read it keeps a shell that can read everything: never secrets and network together.
    expect(invoke(codex, { web: true, read: true }).args).toContain('web_search="disabled"');
  });

  it("has a temporary folder that does not hold its home, which is made before it starts", () => {
    const { env, files } = invoke(codex);
    const folder = env?.["TMPDIR"] ?? "";
    expect(folder).not.toBe("");
    expect(`${env?.["CODEX_HOME"]}/`.startsWith(`${folder}/`)).toBe(false);
    expect(files?.some(({ path }) => path.startsWith(`${folder}/`))).toBe(true);
  });

  it("bypasses its sandbox in classic mode alone, with the user's home", () => {
    expect(invoke(codex).args).not.toContain("--dangerously-bypass-approvals-and-sandbox");
    const classic = invoke(codex, { everything: true });
    expect(classic.args).toContain("--dangerously-bypass-approvals-and-sandbox");
    expect(classic.env).toBeUndefined();
    expect(after(classic.args, "--output-last-message")).toBe(join(here.folder, "state", "codex-last-message.txt"));
  });

  it("has a home of its own that links the user's login, and keeps a login renewed there", async () => {
    const login = join(here.folder, "home", ".codex", "auth.json");
    mkdirSync(join(login, ".."), { recursive: true });
    writeFileSync(login, '"theirs"');
    const path = cli(
      here.folder,
      "codex",
      `cp "$CODEX_HOME/auth.json" ${here.folder}/seen; cat ${fixture("codex-success")}`,
    );
    const settings = settingsIn(here, { agents: { codex: { command: path } } });
    const ours = join(here.folder, "state", "codex-home", "auth.json");
    const once = async (): Promise<string> => {
      expect(endOf(await run("codex", settings, briefIn(here))).failure).toBeUndefined();
      return readFileSync(join(here.folder, "seen"), "utf8");
    };
    expect(await once()).toBe('"theirs"');
    expect(readlinkSync(ours)).toBe(login);
    expect(await once()).toBe('"theirs"');

    cli(
      here.folder,
      "codex",
      `echo renewed > "$CODEX_HOME/new"; mv "$CODEX_HOME/new" "$CODEX_HOME/auth.json"; cat ${fixture("codex-success")}`,
    );
    utimesSync(login, new Date(0), new Date(0));
    await run("codex", settings, briefIn(here));
    cli(here.folder, "codex", `cp "$CODEX_HOME/auth.json" ${here.folder}/seen; cat ${fixture("codex-success")}`);
    expect(await once()).toBe("renewed\n");

    writeFileSync(login, '"logged in again"');
    utimesSync(login, new Date(Date.now() + 60_000), new Date(Date.now() + 60_000));
    expect(await once()).toBe('"logged in again"');
    expect(lstatSync(ours).isSymbolicLink()).toBe(true);
  });

  it("uses OPENAI_API_KEY only where there is neither a login nor a key of its own", () => {
    const env = { ...settingsIn(here).env, OPENAI_API_KEY: "a" };
    expect(invoke(codex, {}, {}, { env }).env).toHaveProperty("CODEX_API_KEY", "a");
    expect(invoke(codex, {}, {}, { env: { ...env, CODEX_API_KEY: "b" } }).env).not.toHaveProperty("CODEX_API_KEY");
    mkdirSync(join(here.folder, "home", ".codex"), { recursive: true });
    writeFileSync(join(here.folder, "home", ".codex", "auth.json"), "{}");
    expect(invoke(codex, {}, {}, { env }).env).not.toHaveProperty("CODEX_API_KEY");
  });
});

describe("amp", () => {
  it("is not started without a key, because it would wait for a login for ever", async () => {
    const path = cli(here.folder, "amp", `touch ${join(here.folder, "started")}`);
    const settings = settingsIn(here, { unconfined: true, agents: { amp: { command: path } } });
    expect(endOf(await run("amp", settings, briefIn(here)))).toMatchObject({
      message: "",
      failure: { kind: "auth", message: expect.stringContaining("AMP_API_KEY") },
    });
    expect(existsSync(join(here.folder, "started"))).toBe(false);
  });

  it("gets the brief on stdin and is judged by its stream", async () => {
    const path = cli(
      here.folder,
      "amp",
      `echo "$@" > ${here.folder}/args; cat > result.json; cat ${fixture("amp-success")}`,
    );
    const settings = settingsIn(here, {
      unconfined: true,
      agents: { amp: { command: path, env: { AMP_API_KEY: "dummy" } } },
    });
    expect(endOf(await run("amp", settings, briefIn(here)))).toEqual({ type: "end", message: "Done." });
    expect(readFileSync(join(here.folder, "args"), "utf8").trim()).toBe("-x --stream-json --dangerously-allow-all");
    expect(readFileSync(join(here.workspace, "result.json"), "utf8")).toBe("the brief");
    expect(invoke(amp, {}, { env: { AMP_API_KEY: "dummy" } }).command).toBe("amp");
  });
});

describe("a command agent", () => {
  const settings = (more: Partial<AgentSettings> = {}): AgentSettings =>
    settingsIn(here, { unconfined: true, ...more });

  it("runs in the workspace, its program found relative to the user's folder, the brief on stdin", async () => {
    program(here.folder, "agent.sh", 'cat > result.json; pwd; echo; echo "$1"; echo "<promise>COMPLETE</promise>"');
    const end = endOf(await run("cmd:./agent.sh 'two words'", settings(), briefIn(here)));
    expect(end).toEqual({ type: "end", message: "two words\n<promise>COMPLETE</promise>" });
    expect(readFileSync(join(here.workspace, "result.json"), "utf8")).toBe("the brief");
  });

  it("may be a whole shell line, and its program on the PATH", async () => {
    expect(endOf(await run("cmd:cat | tr a-z A-Z", settings(), briefIn(here))).message).toBe("THE BRIEF");
    expect(endOf(await run("cmd:X=1 sh -c 'echo $X'", settings(), briefIn(here))).message).toBe("1");
  });

  it("gets the arguments of its config entry as they are", async () => {
    const agents = { mine: { command: "printf '%s|'", args: ["a b", "$HOME"] } };
    expect(endOf(await run("mine", settings({ agents }), briefIn(here))).message).toBe("a b|$HOME|");
  });

  it("has crashed with any other exit code than 0 and with a signal", async () => {
    for (const line of ["echo '<promise>COMPLETE</promise>'; exit 2", "kill -9 $$"]) {
      expect(endOf(await run(`cmd:${line}`, settings(), briefIn(here)))).toMatchObject({
        message: "",
        failure: { kind: "crashed" },
      });
    }
  });

  it("is missing, not crashed, where the shell finds no such program", async () => {
    expect(endOf(await run("cmd:./no-such-file", settings(), briefIn(here)))).toMatchObject({
      message: "",
      failure: { kind: "missing" },
    });
  });

  it("leaves a program that is not plainly a relative path to the shell", () => {
    const lineFor = (line: string): string | undefined => invoke(command, {}, { command: line }).args[1];
    for (const line of ["agent --x", "/abs/agent", "$HOME/agent", '"./a b"', "A=./x agent", "(./x)"])
      expect(lineFor(line)).toBe(line);
    expect(lineFor("'./a b' -x")).toBe(`'${join(here.folder, "a b")}' -x`);
    expect(lineFor("bin/agent")).toBe(`'${join(here.folder, "bin/agent")}'`);
  });
});

describe("tools of ours", () => {
  const server = {
    command: "/usr/bin/node",
    args: ["cli.js", "mcp"],
    names: ["outline", "find_quote"],
    env: ["GITHUB_TOKEN"],
  };
  const env = { PATH: "/bin", ANTHROPIC_API_KEY: "secret-a", AMP_API_KEY: "secret-b", GITHUB_TOKEN: "secret-c" };
  const started = ["-u", "ANTHROPIC_API_KEY", "-u", "AMP_API_KEY", "/usr/bin/node", "cli.js", "mcp"];

  it("are given to claude by name and alone, without secrets but those they need", () => {
    const { args, env: given } = invoke(claude, { tools: server }, {}, { env });
    expect(JSON.parse(after(args, "--mcp-config") ?? "")).toEqual({
      mcpServers: { rr: { type: "stdio", command: "env", args: started, alwaysLoad: true } },
    });
    expect(after(args, "--allowedTools")).toBe("mcp__rr__outline,mcp__rr__find_quote");
    expect(args).toContain("--strict-mcp-config");
    expect(given).toMatchObject({ MCP_CONNECTION_NONBLOCKING: "0", ENABLE_TOOL_SEARCH: "0" });
    expect(args.join(" ")).not.toContain("secret-");
    expect(invoke(claude).args).not.toContain("--mcp-config");
  });

  it("are given to codex, which names what it hands on, without a shell", () => {
    const { args } = invoke(codex, { tools: server });
    for (const setting of [
      'mcp_servers.rr.command="/usr/bin/node"',
      'mcp_servers.rr.args=["cli.js","mcp"]',
      'mcp_servers.rr.env_vars=["GITHUB_TOKEN"]',
      'mcp_servers.rr.default_tools_approval_mode="approve"',
      "mcp_servers.rr.required=true",
      'features.code_mode.direct_only_tool_namespaces=["mcp__rr"]',
    ])
      expect(args).toContain(setting);
    expect(args.join(" ")).toContain("--disable shell_tool");
    expect(invoke(codex).args.join(" ")).not.toContain("mcp_servers");
  });

  it("are given to amp", () => {
    const { args } = invoke(amp, { tools: server }, {}, { env });
    expect(JSON.parse(after(args, "--mcp-config") ?? "")).toEqual({ rr: { command: "env", args: started } });
    expect(args.join(" ")).not.toContain("secret-");
  });
});
