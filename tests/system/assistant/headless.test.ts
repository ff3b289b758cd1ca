import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { headless } from "../../../src/assistant/headless.js";
import { configKeys } from "../../../src/compose/config.js";
import { modelFetch } from "../../../src/assistant/model/fetch.js";
import { systemClock } from "../../../src/engine/lib/clock.js";
import { serveTools } from "../../../src/engine/sandbox/proxy.js";
import { ralph } from "../../../src/engine/agents/ralph.js";
import { type Answer, type FakeLlm, type ModelRequest, startFakeLlm } from "../../fixtures/fake-llm/server.js";
import { nothingHanded } from "../../assistant/nothing-handed.js";

const scripted = fileURLToPath(new URL("../../fixtures/mcp/server.mjs", import.meta.url));
let folder: string;
let server: FakeLlm | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "headless-"));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** What the loop understands of a brief that a scripted model answers. */
async function briefed(
  answer: (request: ModelRequest) => Answer,
  {
    reads = false,
    env = {},
    toolSocket,
    apiUrl,
  }: { reads?: boolean; env?: NodeJS.ProcessEnv; toolSocket?: string; apiUrl?: string } = {},
) {
  server = await startFakeLlm(answer, { countsAll: true });
  const reader = ralph.reader();
  const events: unknown[] = [];
  const code = await headless({
    keys: configKeys,
    env: { HOME: folder, OPENAI_API_KEY: "dummy-key-of-a-test", ...env },
    folder,
    workspace: folder,
    version: "1.2.3",
    services: nothingHanded,
    canRead: reads,
    ...(toolSocket === undefined ? {} : { toolSocket }),
    brief: "Do the work.",
    apiUrl: apiUrl ?? `${server.url}/v1/chat/completions`,
    model: "gpt-4o-mini",
    clock: { ...systemClock, sleep: async () => undefined },
    signal: new AbortController().signal,
    write: (line) => void events.push(...reader.line(JSON.stringify(line))),
  });
  return { code, events, answer: reader.answer(), finished: reader.isFinished(), requests: server.requests };
}

describe("a brief", () => {
  it("is one request, and its answer the final message with its use", async () => {
    const { code, events, answer, finished, requests } = await briefed(() => ({ text: '{"unit":"x"}' }));
    expect([code, answer, finished]).toEqual([0, { message: '{"unit":"x"}' }, true]);
    expect(events).toEqual([
      {
        type: "usage",
        usage: { input: 1000, cached: 200, output: 50, requests: 1, largest: 1050 },
        model: "gpt-4o-mini",
        window: 128_000,
      },
    ]);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.body["tools"]).toBeUndefined();
  });

  it("that lets it read is answered with the files of the workspace", async () => {
    writeFileSync(join(folder, "01.txt"), "first line\nsecond line\n");
    const { events, answer, requests } = await briefed(
      ({ results }) =>
        results.length === 0
          ? { tools: [{ name: "file_read", input: { file_path: "01.txt", start_line: 2, end_line: 2 } }] }
          : { text: results.join("") },
      { reads: true },
    );
    expect(JSON.parse(answer.message ?? "")).toMatchObject({ success: true, content: "second line" });
    expect(events).toContainEqual({ type: "tool", name: "file_read", detail: "01.txt" });
    expect(requests).toHaveLength(2);
  });

  it("has the tools of a server at a socket, under their own names", async () => {
    const toolSocket = join(folder, "tools.sock");
    const tools = await serveTools(toolSocket, { command: process.execPath, args: [scripted, "a"], env: {} }, folder);
    const { answer, requests } = await briefed(
      ({ results }) =>
        results.length === 0 ? { tools: [{ name: "environment", input: {} }] } : { text: results.join("") },
      { toolSocket },
    );
    await tools.close();
    expect(JSON.parse(answer.message ?? "")).toMatchObject({ success: true });
    expect(requests[0]?.body["tools"]).toHaveLength(3);
  });

  it("is answered without tools where nobody listens at the socket", async () => {
    const { answer, events } = await briefed(() => ({ text: "alone" }), { toolSocket: join(folder, "nobody.sock") });
    expect(answer.message).toBe("alone");
    expect(events).toContainEqual({
      type: "notice",
      message: expect.stringMatching(/reached \(ENOENT\).*without its tools/),
    });
  });

  it("is not worked on for ever by a model that only calls tools", async () => {
    const call = { name: "file_list", input: { directory_path: "." } };
    const { answer, requests } = await briefed(() => ({ tools: [call] }), { reads: true });
    expect(answer.failure?.kind).toBe("no-answer");
    expect(requests).toHaveLength(50);
  });

  it("calls a tool that is not there, and is told which there are", async () => {
    const { answer } = await briefed(
      ({ results }) => (results.length === 0 ? { tools: [{ name: "shell", input: {} }] } : { text: results.join("") }),
      { reads: true },
    );
    expect(answer.message).toContain("file_read");
  });

  it.each([
    [{ status: 429, headers: { "retry-after": "3600" } }, "rate-limit", 1],
    [{ status: 429 }, "rate-limit", 4],
    [{ status: 401 }, "auth", 1],
    [{ status: 400 }, "unusable", 1],
    [{ status: 500 }, "network", 4],
    ["cut", "network", 4],
  ] as const)("that the service answers with %j fails as %s after %i requests", async (answer, kind, count) => {
    const { code, answer: end, requests } = await briefed(() => answer);
    expect([code, end.failure?.kind, requests.length]).toEqual([1, kind, count]);
  });

  it("tells when a limit of the service ends", async () => {
    const before = Date.now();
    const { answer } = await briefed(() => ({ status: 429, headers: { "retry-after": "3600" } }));
    const reset = Date.parse(answer.failure?.reset_at ?? "");
    expect(reset).toBeGreaterThanOrEqual(before + 3_590_000);
    expect(reset).toBeLessThanOrEqual(Date.now() + 3_610_000);
  });

  it("hands on the temperature and the length that a historian is asked for", async () => {
    const env = {};
    server = await startFakeLlm(() => ({ text: "ok" }), { countsAll: true });
    await headless({
      keys: configKeys,
      env: { HOME: folder, OPENAI_API_KEY: "dummy-key-of-a-test", ...env },
      folder,
      workspace: folder,
      version: "1.2.3",
      services: nothingHanded,
      canRead: false,
      brief: "Summarise.",
      apiUrl: `${server.url}/v1/chat/completions`,
      model: "gpt-4o-mini",
      temperature: 0.3,
      maxTokens: 1000,
      clock: systemClock,
      signal: new AbortController().signal,
      write: () => undefined,
    });
    expect(server.requests[0]?.body).toMatchObject({ temperature: 0.3, max_tokens: 1000 });
  });

  it("without a key names the variable, as a matter for a person", async () => {
    const lines: object[] = [];
    const code = await headless({
      keys: configKeys,
      env: { HOME: folder },
      folder,
      workspace: folder,
      version: "1.2.3",
      services: nothingHanded,
      canRead: false,
      brief: "x",
      clock: systemClock,
      signal: new AbortController().signal,
      write: (line) => void lines.push(line),
    });
    expect(code).toBe(1);
    expect(lines).toMatchObject([
      { type: "end", failure: { kind: "auth", message: expect.stringContaining("OPENAI_API_KEY") } },
    ]);
  });
});

describe("a local server that does not run", () => {
  it("is not waited for before its first answer, and shortly after it", async () => {
    const gone = await startFakeLlm(() => ({ text: "" }));
    await gone.close();
    const early = await briefed(() => ({ text: "" }), { apiUrl: `${gone.url}/v1/chat/completions` });
    expect(early.answer).toMatchObject({
      failure: { kind: "auth", message: expect.stringContaining(`No model server runs at ${gone.url} (`) },
    });
    await server?.close();
    expect(early.events).toEqual([]);
    const late = await briefed(
      ({ results }) => {
        if (results.length === 0) void server?.close();
        return { tools: [{ name: "file_read", input: { file_path: "01.txt" } }] };
      },
      { reads: true },
    );
    expect(late.answer).toMatchObject({ failure: { message: expect.stringContaining("No model server runs at") } });
    expect(late.events.filter((event) => (event as { type: string }).type === "notice")).toHaveLength(3);
  });
});

describe("the clocks of a request", () => {
  let slow: Server;
  afterEach(() => {
    slow.close();
    slow.closeAllConnections();
  });
  async function serving(write: (response: import("node:http").ServerResponse) => void): Promise<string> {
    slow = createServer((_request, response) => write(response));
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`;
  }
  const reading = async (url: string, clocks: { firstByteMs: number; streamMs: number }) => {
    const response = await modelFetch(clocks)(url, { method: "POST", body: "{}" });
    return await response.text();
  };

  it("end one that never begins", async () => {
    const url = await serving(() => undefined);
    await expect(reading(url, { firstByteMs: 100, streamMs: 5000 })).rejects.toThrow(/did not begin an answer within/);
  });

  it("end one that never ends", async () => {
    const url = await serving((response) => {
      response.writeHead(200);
      response.write("begun");
    });
    await expect(reading(url, { firstByteMs: 5000, streamMs: 200 })).rejects.toThrow();
  });

  it("end one that is longer than any answer", async () => {
    const url = await serving((response) => {
      response.writeHead(200);
      const megabyte = Buffer.alloc(1024 * 1024, "a");
      for (let count = 0; count < 52; count += 1) response.write(megabyte);
      response.end();
    });
    await expect(reading(url, { firstByteMs: 20_000, streamMs: 20_000 })).rejects.toThrow(/more than 50 MB/);
  });

  it("follow no redirect: the key would go with it", async () => {
    const url = await serving((response) => {
      response.writeHead(307, { location: "http://127.0.0.1:1/" });
      response.end();
    });
    await expect(reading(url, { firstByteMs: 5000, streamMs: 5000 })).rejects.toMatchObject({
      message: expect.stringContaining("to another address"),
      isTemporary: false,
    });
  });

  it("are not needed where no request may go to the port", async () => {
    await serving(() => undefined);
    await expect(reading("http://127.0.0.1:1/", { firstByteMs: 5000, streamMs: 5000 })).rejects.toMatchObject({
      message: expect.stringContaining("port"),
      isTemporary: false,
    });
  });
});
