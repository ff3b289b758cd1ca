import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openProxy, type Proxy, serveTools } from "../../../src/engine/sandbox/proxy.js";
import { upstreamOf } from "../../../src/engine/sandbox/upstream.js";
import type { ProcessAccess } from "../../../src/engine/process/access.js";

let folder: string;
let seen: { url: string; headers: IncomingHttpHeaders; body: string }[];
const service = createServer(async (request, answer) => {
  seen.push({ url: request.url ?? "", headers: request.headers, body: await text(request) });
  answer.writeHead(200, { "x-from": "service" }).write("first ");
  answer.end("second");
});
let port: number;
let proxy: Proxy | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "proxy-"));
  seen = [];
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  ({ port } = service.address() as AddressInfo);
});
afterEach(async () => {
  await proxy?.close();
  proxy = undefined;
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const socket = () => join(folder, "proxy.sock");

/** A resolver by which every name leads to this address. */
const leadingTo =
  (address: string): LookupFunction =>
  (_name, _options, callback) =>
    callback(null, [{ address, family: 4 }]);

async function open(access: Partial<Pick<ProcessAccess, "hosts" | "keys">>, resolver?: LookupFunction): Promise<void> {
  proxy = await openProxy(socket(), { hosts: [], keys: [], ...access }, upstreamOf({}), resolver);
}

function get(path: string, headers: Record<string, string> = {}, body = ""): Promise<{ status: number; said: string }> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ socketPath: socket(), path, method: "POST", headers }, async (answer) =>
      resolve({ status: answer.statusCode ?? 0, said: await text(answer) }),
    );
    asked.on("error", reject);
    asked.end(body);
  });
}

/** What a proxy and whoever is behind it say to a CONNECT and these bytes. */
async function tunnel(to: string, bytes = ""): Promise<string> {
  const client = connect(socket());
  client.write(`CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\n\r\n${bytes}`);
  const timer = setTimeout(() => client.destroy(), 100_000);
  const said = await text(client).catch((error: Error) => error.message);
  clearTimeout(timer);
  return said;
}

const asking = "GET /hello HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

describe("a key that stays outside", () => {
  test("is added to what is sent to its service, in place of whatever the program sends for one", async () => {
    await open({
      keys: [
        { name: "model", baseAddress: `http://127.0.0.1:${port}/base/`, headers: { "x-api-key": "the real one" } },
      ],
    });
    const sent = { "x-api-key": "made up", authorization: "Bearer made up", "x-other": "kept", host: "evil.test" };
    expect(await get("/key/model/v1/messages?beta=1", sent, "hello")).toEqual({ status: 200, said: "first second" });
    expect(seen).toMatchObject([
      { url: "/base/v1/messages?beta=1", body: "hello", headers: { "x-api-key": "the real one", "x-other": "kept" } },
    ]);
    expect(seen[0]?.headers).not.toHaveProperty("authorization");
    expect(seen[0]?.headers.host).toBe(`127.0.0.1:${port}`);
  });

  test("is added by the host's name too, where a program keeps nothing else of its base address", async () => {
    await open({
      keys: [{ name: "model", baseAddress: `http://127.0.0.1:${port}`, headers: { authorization: "the real one" } }],
    });
    expect((await get("/api/internal?x", { host: "model.key:3128" })).status).toBe(200);
    expect(seen).toMatchObject([{ url: "/api/internal?x", headers: { authorization: "the real one" } }]);
    expect((await get("/api/internal", { host: "other.key:3128" })).status).toBe(400);
    expect((await get("/api/internal", { host: "model.key.evil.test" })).status).toBe(400);
  });

  test("goes to no other host, however the path is spelled, and to no route that is not there", async () => {
    await open({
      keys: [{ name: "model", baseAddress: `http://127.0.0.1:${port}`, headers: { "x-api-key": "the real one" } }],
    });
    for (const path of ["/key/model/@evil.test/", "/key/model//evil.test/", "/key/model/../../evil.test/"])
      await get(path);
    expect(seen.every(({ headers }) => headers.host === `127.0.0.1:${port}`)).toBe(true);
    for (const path of ["/key/other/", "/key/model.evil.test/", "/", "/key/"])
      expect((await get(path)).status).toBe(400);
  });

  test("does not lead to this machine by a name", async () => {
    await open(
      { keys: [{ name: "model", baseAddress: `http://model.test:${port}`, headers: { authorization: "secret" } }] },
      leadingTo("127.0.0.1"),
    );
    expect((await get("/key/model/")).status).toBe(502);
    expect(seen).toEqual([]);
  });
});

test("a WebSocket to a service with a key is joined through, with the key, and to nothing else", async () => {
  const upgrades: IncomingHttpHeaders[] = [];
  const onUpgrade = (request: { headers: IncomingHttpHeaders }, socket: Duplex): void => {
    upgrades.push(request.headers);
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nx-from: service\r\n\r\nhello ",
    );
    socket.on("data", (chunk) => socket.end(`heard ${chunk}`));
  };
  service.on("upgrade", onUpgrade);
  const upgrade = async (path: string) => {
    const client = connect(socket());
    client.write(
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nauthorization: made up\r\n\r\n`,
    );
    client.once("data", () => client.write("words"));
    return await text(client);
  };
  await open({
    keys: [{ name: "model", baseAddress: `http://127.0.0.1:${port}/v1`, headers: { authorization: "the real one" } }],
  });
  const said = await upgrade("/key/model/responses");
  expect(said).toMatch(/^HTTP\/1\.1 101 [^]*x-from: service[^]*hello [^]*heard words$/);
  expect(upgrades).toMatchObject([{ authorization: "the real one", upgrade: "websocket" }]);
  expect(await upgrade(`http://127.0.0.1:${port}/`)).toContain("403");
  service.off("upgrade", onUpgrade);
});

describe("a host", () => {
  test("that is not within reach is refused, by HTTP and by CONNECT, and remembered", async () => {
    await open({ hosts: ["allowed.test:443"] });
    expect((await get(`http://127.0.0.1:${port}/`)).status).toBe(403);
    expect((await get("http://allowed.test:80/")).status).toBe(403);
    for (const to of [`127.0.0.1:${port}`, `localhost:${port}`, `0.0.0.0:${port}`, `[::1]:${port}`, "allowed.test:22"])
      expect(await tunnel(to, asking), to).toBe("HTTP/1.1 403 Forbidden\r\n\r\n");
    expect(await tunnel("nonsense", asking)).toContain("403");
    expect([...(proxy?.refusedHosts ?? [])]).toContain("allowed.test:22");
    expect(seen).toEqual([]);
  });

  test("of this machine is reached where its address itself was named, at that port alone", async () => {
    await open({ hosts: [`127.0.0.1:${port}`] });
    expect(await tunnel(`127.0.0.1:${port}`, asking)).toContain("first ");
    expect(await tunnel(`127.0.0.1:${port + 1}`)).toContain("403");
    expect((await get(`http://127.0.0.1:${port}/x`)).status).toBe(200);
  });

  test.each([
    ...["127.0.0.1", "127.9.9.9", "0.0.0.0", "169.254.169.254", "::1", "fe80::1", "::ffff:127.0.0.1"],
    ...["100.100.100.200", "fd00:ec2::254", "64:ff9b::7f00:1"],
  ])("that is allowed does not lead to this machine by a name that resolves to %s", async (address) => {
    await open({ hosts: [`allowed.test:${port}`, "*:443"] }, leadingTo(address));
    expect(await tunnel(`allowed.test:${port}`, asking)).toContain("502");
    expect(await tunnel("any.test:443", asking)).toContain("502");
    expect((await get(`http://allowed.test:${port}/`)).status).toBe(502);
    expect(seen).toEqual([]);
  });

  test("of a private network is reached by its name where that was named, and not as any public host", async () => {
    await open({ hosts: [`gateway.test:${port}`, `*:${port}`] }, leadingTo("10.255.255.1"));
    // Nobody answers there; that it is tried is not refused at once.
    expect((await get(`http://other.test:${port}/`)).said).toMatch(/10\.255\.255\.1/);
    expect(await tunnel(`10.255.255.1:${port}`)).toContain("403");
  });
});

test("a tool server is started for who connects, and ended with the connection", async () => {
  const counting = "process.stdin.on('data', (d) => process.stdout.write('got ' + d)); setInterval(() => {}, 1000)";
  proxy = await serveTools(socket(), { command: process.execPath, args: ["-e", counting], env: {} }, folder);
  const client = connect(socket());
  client.write("one");
  const said = await new Promise((resolve) => client.once("data", (chunk) => resolve(String(chunk))));
  expect(said).toBe("got one");
  const closed = new Promise((resolve) => client.once("close", resolve));
  await proxy.close();
  await closed;
});

test("a tool server that ends has all that it said read, also where it took nothing and the client is slow", async () => {
  const size = 8_000_000;
  const ending = `require("node:fs").closeSync(0); require("node:fs").writeSync(1, "begun"); const whole = Buffer.alloc(${size}, 120); for (let at = 0; at < whole.length;) at += require("node:fs").writeSync(1, whole, at);`;
  proxy = await serveTools(socket(), { command: process.execPath, args: ["-e", ending], env: {} }, folder);
  const client = connect(socket());
  client.on("error", () => {});
  let said = 0;
  client.once("data", () => {
    // It has closed its input by now.
    client.write("asked too late");
    client.pause();
    setTimeout(() => client.resume(), 2_500);
  });
  client.on("data", (chunk) => (said += chunk.length));
  await new Promise((resolve) => client.once("close", resolve));
  expect(said).toBe(size + "begun".length);
});

test("what a tool server has left running does not hold its client", async () => {
  const leaving = "sleep 60 & echo $!; exit 0";
  proxy = await serveTools(
    socket(),
    { command: "sh", args: ["-c", leaving], env: { PATH: process.env["PATH"] } },
    folder,
  );
  const client = connect(socket());
  const said = await text(client);
  process.kill(Number(said), "SIGKILL");
});

test("what is open is closed with the proxy, so that nothing keeps a program from its end", async () => {
  const silent = createTcpServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port: quiet } = silent.address() as AddressInfo;
  await open({ hosts: [`127.0.0.1:${quiet}`] });
  const client = connect(socket());
  client.write(`CONNECT 127.0.0.1:${quiet} HTTP/1.1\r\n\r\n`);
  await new Promise((resolve) => client.once("data", resolve));
  const closed = new Promise((resolve) => client.once("close", resolve));
  client.on("error", () => {});
  await proxy?.close();
  await closed;
  await new Promise((resolve) => silent.close(resolve));
});
