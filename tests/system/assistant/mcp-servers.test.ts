import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type McpServers, startServers, toolName } from "../../../src/assistant/mcp/servers.js";
import { readServerSettings } from "../../../src/assistant/mcp/server-settings.js";

const program = join(fileURLToPath(new URL("../../fixtures/mcp", import.meta.url)), "server.mjs");
const scripted = (how: string, more: object = {}) => ({ command: process.execPath, args: [program, how], ...more });

let servers: McpServers | undefined;
afterEach(async () => {
  await servers?.close();
  servers = undefined;
});

function start(
  written: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv = {},
  connectMs = 60_000,
  retryMs = 60_000,
) {
  const said: string[] = [];
  const { PATH = "", HOME = "" } = process.env;
  const all = startServers(written, {
    cwd: process.cwd(),
    env: { PATH, HOME, ...env },
    version: "1.2.3",
    connectMs,
    retryMs,
    say: (sentence) => void said.push(sentence),
  });
  servers = all;
  const call = async (name: string, args: Record<string, unknown> = {}, signal = new AbortController().signal) =>
    await all
      .tools()
      .find(({ modelName }) => modelName === name)
      ?.run(args, signal);
  return { servers: all, said, call };
}

async function started(...args: Parameters<typeof start>) {
  const all = start(...args);
  await all.servers.firstTries;
  return all;
}

/** A port of this machine on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

describe("MCP servers", () => {
  it("offer their tools under names that every provider takes, and answer", async () => {
    const { servers, said, call } = await started({ "my server": scripted("a") });
    expect(said).toEqual([]);
    expect(servers.tools().map(({ modelName }) => modelName)).toEqual([
      "mcp_my_server_a_echo",
      "mcp_my_server_environment",
      "mcp_my_server_fails",
    ]);
    expect(await call("mcp_my_server_a_echo", { text: "hi" })).toEqual({ text: "a: hi", failed: false });
    expect(await call("mcp_my_server_fails")).toEqual({ text: "no luck", failed: true });
    expect(servers.states()).toEqual([{ name: "my server", state: "ready", tools: 3, tokens: expect.any(Number) }]);
    expect(servers.tools().map(({ isReadOnly }) => isReadOnly)).toEqual([false, true, false]);
  });

  it("that have tools of one name are told apart by a number", async () => {
    const { servers } = await started({
      "a b": scripted("x", { tools: ["fails"] }),
      a_b: scripted("x", { tools: ["fails"] }),
    });
    expect(new Set(servers.tools().map(({ modelName }) => modelName))).toEqual(
      new Set(["mcp_a_b_fails", "mcp_a_b_fails_2"]),
    );
  });

  it("get PATH, HOME and their own variables, and no key", async () => {
    const env = { OPENAI_API_KEY: "sk-not-for-servers", TOKEN: "of the server" };
    const { call } = await started({ one: scripted("a", { env: { OWN: "${TOKEN}", LEVEL: "${LEVEL:-low}" } }) }, env);
    const seen = JSON.parse((await call("mcp_one_environment"))?.text ?? "{}") as Record<string, string>;
    expect(Object.keys(seen).sort()).toEqual(["HOME", "LEVEL", "OWN", "PATH"]);
    expect(seen).toMatchObject({ OWN: "of the server", LEVEL: "low" });
  });

  it("carry the mark of the run that started ralph, so that it can end what outlives ralph", async () => {
    const { call } = await started({ one: scripted("a") }, { RESEARCH_RALPH_RUN: "a-run" });
    const seen = JSON.parse((await call("mcp_one_environment"))?.text ?? "{}") as Record<string, string>;
    expect(seen).toMatchObject({ RESEARCH_RALPH_RUN: "a-run" });
  });

  it("that are missing, mute or end at once are one line each, and the others answer", async () => {
    const { servers, said, call } = start({
      missing: { command: "/nowhere/server" },
      mute: scripted("mute"),
      refuses: scripted("refuses"),
      unreachable: { url: `http://127.0.0.1:${await closedPort()}/mcp` },
      old: { url: `http://127.0.0.1:${await closedPort()}/sse`, type: "sse" },
      good: scripted("a"),
    });
    await expect
      .poll(() => said.toSorted())
      .toEqual([
        expect.stringMatching(/^The MCP server missing can't be started: its program was not found \(ENOENT\)\.$/),
        expect.stringMatching(/^The MCP server old can't be reached \(.*ECONNREFUSED.*\)\.$/),
        "The MCP server refuses did not start (There is no database at /nowhere).",
        expect.stringMatching(/^The MCP server unreachable can't be reached \(ECONNREFUSED\)\.$/),
      ]);
    await expect.poll(() => servers.states().at(-1)).toMatchObject({ state: "ready" });
    expect(await call("mcp_good_a_echo", { text: "hi" })).toEqual({ text: "a: hi", failed: false });
    expect(servers.states().map(({ state }) => state)).toEqual([
      "failed",
      "connecting",
      ...Array(3).fill("failed"),
      "ready",
    ]);
  });

  it("that stay mute are given up at the time that a server has", async () => {
    const { servers, said } = await started({ mute: scripted("mute") }, {}, 200);
    expect(said).toEqual(["The MCP server mute did not answer within 0.2 seconds."]);
    expect(servers.states()).toMatchObject([{ state: "failed" }]);
  });

  it.skipIf(process.platform === "win32")(
    "that a shell has started end with all that it started, deaf or not",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "mcp-"));
      try {
        const words = (name: string, after: string) => `sleep 300 & echo $! > '${join(folder, name)}'; ${after}`;
        const shell = (name: string, after: string) => ({ command: "sh", args: ["-c", words(name, after)] });
        const wrapped = await started({ wrapped: shell("one", `'${process.execPath}' '${program}' a; exit`) });
        expect(wrapped.said).toEqual([]);
        await wrapped.servers.close();
        const deaf = await started({ deaf: shell("two", "trap '' TERM; sleep 300; exit") }, {}, 1_500);
        expect(deaf.said).toEqual(["The MCP server deaf did not answer within 1.5 seconds."]);
        await deaf.servers.close();
        const pids = ["one", "two"].map((name) => Number(readFileSync(join(folder, name), "utf8")));
        await expect.poll(() => pids.filter(isAlive)).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );

  it.skipIf(process.platform === "win32")("that have not answered yet are not waited for at the end", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcp-"));
    try {
      const file = join(folder, "pid");
      const said: string[] = [];
      const { PATH = "" } = process.env;
      servers = startServers(
        { mute: { command: "sh", args: ["-c", `echo $$ > '${file}'; sleep 300; exit`] } },
        { cwd: folder, env: { PATH }, version: "1", connectMs: 300_000, say: (sentence) => void said.push(sentence) },
      );
      await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\n/);
      const pid = Number(readFileSync(file, "utf8"));
      await servers.close();
      await servers.firstTries;
      await expect.poll(() => isAlive(pid)).toBe(false);
      expect(said).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.skipIf(process.platform === "win32")("that end by themselves leave nothing running", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcp-"));
    const listeners = process.listenerCount("exit");
    try {
      const file = join(folder, "pid");
      const words = `sleep 300 > '${folder}/out' 2>&1 & echo $! > '${file}'; '${process.execPath}' '${program}' dies; exit`;
      const { call } = await started({ frail: { command: "sh", args: ["-c", words] } });
      expect(await call("mcp_frail_dies_echo", { text: "die" })).toMatchObject({ failed: true });
      const pid = Number(readFileSync(file, "utf8"));
      await expect.poll(() => isAlive(pid)).toBe(false);
      await expect.poll(() => process.listenerCount("exit")).toBeLessThanOrEqual(listeners);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("that send a line without an end are lost, and are started again", async () => {
    const { servers, call } = await started({ flood: scripted("floods") });
    expect(await call("mcp_flood_floods_echo", { text: "flood" })).toMatchObject({ failed: true });
    expect(servers.states()).toMatchObject([{ state: "lost" }]);
    expect(await call("mcp_flood_floods_echo", { text: "hi" })).toEqual({ text: "floods: hi", failed: false });
  });

  it("that die are started again when a tool of theirs is called", async () => {
    const { servers, call } = await started({ frail: scripted("dies") });
    expect(await call("mcp_frail_dies_echo", { text: "die" })).toMatchObject({ failed: true });
    expect(servers.states()).toMatchObject([{ state: "lost" }]);
    expect(await call("mcp_frail_dies_echo", { text: "hi" })).toEqual({ text: "dies: hi", failed: false });
    expect(servers.states()).toMatchObject([{ state: "ready" }]);
  });

  it("that were missing are reached later, and told once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcp-"));
    try {
      const late = join(folder, "late.mjs");
      const { servers, said } = await started(
        { late: { command: process.execPath, args: [late, "a"] } },
        {},
        60_000,
        0,
      );
      expect(servers.states()).toMatchObject([{ state: "failed" }]);
      expect(said).toHaveLength(1);
      writeFileSync(late, `await import(${JSON.stringify(pathToFileURL(program).href)});\n`);
      servers.retryFailed();
      servers.retryFailed();
      await expect.poll(() => servers.states()).toMatchObject([{ state: "ready", tools: 3 }]);
      servers.retryFailed();
      expect(said.slice(1)).toEqual(["The MCP server late answers now."]);
      await servers.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("that failed a moment ago are left alone", async () => {
    const { servers } = await started({ missing: { command: "/nowhere/server" } });
    servers.retryFailed();
    expect(servers.states()).toMatchObject([{ state: "failed" }]);
  });

  it("that hang in a call are left when the call is interrupted", async () => {
    const { call } = await started({ one: scripted("a") });
    const interrupt = new AbortController();
    const called = call("mcp_one_a_echo", { text: "never" }, interrupt.signal);
    interrupt.abort();
    expect(await called).toEqual({ text: "The call of a echo was interrupted", failed: true });
  });

  it("of which tools are picked that are not there are told", async () => {
    const { said, servers } = await started({ one: scripted("a", { tools: ["fails", "nothing"] }) });
    expect(said).toEqual(["The MCP server one has no tool nothing."]);
    expect(servers.tools()).toHaveLength(1);
  });
});

describe("the settings of a server", () => {
  it.each([
    [5, "has no settings"],
    [{}, "neither a command nor a url"],
    [{ command: "a", url: "http://b" }, "both a command and a url"],
    [{ command: 5 }, "needs a text as command"],
    [{ command: "a", args: "b" }, "needs a list of texts as args"],
    [{ command: "a", env: [] }, "needs names with texts as env"],
    [{ command: "${NOWHERE}" }, "needs the variable NOWHERE"],
    [{ url: "file:///etc/passwd" }, "not an http or https address"],
    [{ url: "http://a", type: "pigeon" }, "unknown type"],
    [{ command: "a\0b" }, "null byte"],
    [{ command: "a", tools: "all" }, "needs a list of texts as tools"],
  ])("%j is one sentence", (written, part) => {
    expect(readServerSettings("s", written, {})).toEqual({
      name: "s",
      problem: expect.stringMatching(/^The MCP server s .*\.$/),
    });
    expect(JSON.stringify(readServerSettings("s", written, {}))).toContain(part);
  });

  it("takes variables and their defaults in every text", () => {
    const env = { HOST: "example.org", EMPTY: "" };
    const written = { url: "https://${HOST}/${PATH_OF:-mcp}", headers: { Authorization: "Bearer ${EMPTY:-none}" } };
    expect(readServerSettings("s", written, env)).toEqual({
      name: "s",
      transport: { by: "http", url: new URL("https://example.org/mcp"), headers: { Authorization: "Bearer none" } },
    });
  });
});

describe("the name of a tool", () => {
  it("has at most 64 characters, also with a number", () => {
    const name = toolName("server", "t".repeat(100), new Set());
    expect(name).toHaveLength(64);
    const second = toolName("server", "t".repeat(100), new Set([name]));
    expect(second).toHaveLength(64);
    expect(second).toMatch(/^mcp_server_t+_2$/);
    expect(toolName("größe", "日本", new Set())).toBe("mcp_gr_e__");
  });
});
