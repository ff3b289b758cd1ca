import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type McpServers, startServers } from "../../../src/assistant/mcp/servers.js";
import { installServers, serverProgram } from "./support/mcp-servers.js";

let folder: string;
const children: ChildProcess[] = [];
let servers: McpServers | undefined;
beforeAll(async () => {
  await installServers();
  folder = mkdtempSync(join(tmpdir(), "mcp-"));
  writeFileSync(join(folder, "note.txt"), "worn fingertips");
});
afterEach(async () => {
  await servers?.close();
  servers = undefined;
});
afterAll(() => {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts server-everything as a service; its address. */
async function service(by: "streamableHttp" | "sse"): Promise<string> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, [serverProgram("everything"), by], {
    env: { PATH, HOME, PORT: String(port) },
    stdio: "ignore",
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}/${by === "sse" ? "sse" : "mcp"}`;
  for (let tried = 0; tried < 100; tried += 1) {
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (answered) return url;
    await sleep(100);
  }
  throw new Error("server-everything did not start");
}

const start = (written: Readonly<Record<string, unknown>>, said: string[] = []) =>
  (servers = startServers(written, {
    cwd: folder,
    env: process.env,
    version: "1.2.3",
    say: (sentence) => void said.push(sentence),
  }));
const call = async (name: string, args: Record<string, unknown>) =>
  await servers
    ?.tools()
    .find(({ modelName }) => modelName === name)
    ?.run(args, AbortSignal.timeout(30_000));

test("three servers answer over three ways, and one that is missing disturbs nobody", async () => {
  const said: string[] = [];
  const opened = start(
    {
      stdio: { command: process.execPath, args: [serverProgram("everything")] },
      http: { type: "http", url: await service("streamableHttp") },
      sse: { type: "sse", url: await service("sse") },
      files: { command: process.execPath, args: [serverProgram("filesystem"), folder] },
      graph: {
        command: process.execPath,
        args: [serverProgram("memory")],
        env: { MEMORY_FILE_PATH: join(folder, "graph.jsonl") },
      },
      missing: { command: "/nowhere/server" },
    },
    said,
  );
  await opened.firstTries;
  expect(said).toEqual(["The MCP server missing can't be started: its program was not found (ENOENT)."]);
  for (const name of ["stdio", "http", "sse"])
    expect(await call(`mcp_${name}_echo`, { message: "hello" })).toEqual({ text: "Echo: hello", failed: false });
  expect(await call("mcp_files_read_text_file", { path: join(folder, "note.txt") })).toEqual({
    text: "worn fingertips",
    failed: false,
  });
  expect(await call("mcp_files_read_text_file", { path: "/etc/passwd" })).toMatchObject({ failed: true });
  const entity = { name: "grip", entityType: "idea", observations: ["needs friction"] };
  expect(await call("mcp_graph_create_entities", { entities: [entity] })).toMatchObject({ failed: false });
  expect((await call("mcp_graph_search_nodes", { query: "grip" }))?.text).toContain("needs friction");
  const files = opened.states().find(({ name }) => name === "files");
  expect(files).toMatchObject({ state: "ready", tools: 14 });
  expect(files).toHaveProperty(
    "tokens",
    expect.toSatisfy((tokens: number) => tokens > 1500 && tokens < 4000),
  );
});

test("a service that was started anew is reached again", async () => {
  const url = await service("streamableHttp");
  const opened = start({ http: { url } });
  await opened.firstTries;
  expect(await call("mcp_http_echo", { message: "one" })).toMatchObject({ failed: false });
  children.at(-1)?.kill("SIGKILL");
  await sleep(200);
  expect(await call("mcp_http_echo", { message: "two" })).toMatchObject({ failed: true });
  const { PATH = "", HOME = "" } = process.env;
  children.push(
    spawn(process.execPath, [serverProgram("everything"), "streamableHttp"], {
      env: { PATH, HOME, PORT: new URL(url).port },
      stdio: "ignore",
    }),
  );
  for (let tried = 0; tried < 50; tried += 1) {
    const answer = await call("mcp_http_echo", { message: "three" });
    if (answer?.failed === false) break;
    await sleep(200);
  }
  expect(await call("mcp_http_echo", { message: "three" })).toEqual({ text: "Echo: three", failed: false });
});
