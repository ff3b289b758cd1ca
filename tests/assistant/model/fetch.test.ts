import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { modelFetch, NoAnswer, ConnectionRefused } from "../../../src/assistant/model/fetch.js";
import { openProxy } from "../../../src/engine/sandbox/proxy.js";
import { upstreamOf } from "../../../src/engine/sandbox/upstream.js";
import { temporaryFolder } from "../../support/projects/research.js";

async function answered(type: string, body: string, status = 200): Promise<Response> {
  const server = createServer((_, response) => response.writeHead(status, { "content-type": type }).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await modelFetch()(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

it("tells a dead local server behind the sandbox's proxy from one that fails", async () => {
  const dead = createServer();
  await new Promise<void>((resolve) => dead.listen(0, "127.0.0.1", resolve));
  const { port } = dead.address() as AddressInfo;
  await new Promise((resolve) => dead.close(resolve));
  const socket = join(temporaryFolder(), "proxy");
  const proxy = await openProxy(socket, { hosts: [`127.0.0.1:${port}`], keys: [] }, upstreamOf({}));
  const entry = createSocketServer((client) => void client.pipe(connect(socket)).pipe(client));
  await new Promise<void>((resolve) => entry.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${(entry.address() as AddressInfo).port}`);
  vi.stubEnv("http_proxy", undefined);
  vi.stubEnv("NO_PROXY", "");
  vi.stubEnv("no_proxy", undefined);
  try {
    await expect(modelFetch()(`http://127.0.0.1:${port}/v1/models`)).rejects.toBeInstanceOf(ConnectionRefused);
  } finally {
    vi.unstubAllEnvs();
    entry.close();
    await proxy.close();
  }
});

it("tells of a web page in place of an answer by the page's words", async () => {
  const page = answered("text/html; charset=utf-8", "<html><body><h1>Log in</h1> to the <b>proxy</b></body></html>");
  await expect(page).rejects.toThrow(
    /sent a web page in place of an answer \(Log in to the proxy\); is api_url right\?$/,
  );
  await expect(page).rejects.toBeInstanceOf(NoAnswer);
});

it("hands on an error with status 200 as the event of a stream, and other JSON and errors as they are", async () => {
  const error = '{"error":\n{"message":"model not loaded"}}';
  expect(await (await answered("application/json", error)).text()).toBe(`data: ${error.replace("\n", " ")}\n\n`);
  expect(await (await answered("application/json", '{"data":[],"error":null}')).text()).toBe(
    '{"data":[],"error":null}',
  );
  expect(await (await answered("application/json", error, 500)).text()).toBe(error);
  expect(await (await answered("text/html", "<p>down", 503)).text()).toBe("<p>down");
});
