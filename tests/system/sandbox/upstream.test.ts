import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import { createServer as createSecure } from "node:https";
import { type AddressInfo, connect, type LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ProcessAccess } from "../../../src/engine/process/access.js";
import { openProxy, type Proxy } from "../../../src/engine/sandbox/proxy.js";
import { upstreamOf } from "../../../src/engine/sandbox/upstream.js";

const program = fileURLToPath(new URL("forward-proxy.mjs", import.meta.url));
const unknown: LookupFunction = (_name, _options, done) => done(new Error("ENOTFOUND"), []);
const own: LookupFunction = (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]);

let folder = "";
let service: Server;
let child: ChildProcess;
let asked: { method: string; url: string; credentials: string | null }[] = [];
let address = "";
let proxy: Proxy | undefined;

/** Starts a service, and a forward proxy that leads there, as a process of its own. */
async function begin(secure = false): Promise<void> {
  const answer = (request: { url?: string; headers: object }, response: { end(text: string): void }) =>
    response.end(JSON.stringify({ path: request.url, ...request.headers }));
  service = secure ? createSecure(certificate(), answer) : createServer(answer);
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const { port } = service.address() as AddressInfo;
  child = spawn(process.execPath, [program, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const [first] = (await once(lines, "line")) as [string];
  address = `127.0.0.1:${(JSON.parse(first) as { listens: number }).listens}`;
  lines.on("line", (line) => asked.push(JSON.parse(line)));
}

function certificate() {
  const files = [join(folder, "key.pem"), join(folder, "cert.pem")] as const;
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=model.test"];
  execFileSync(
    "openssl",
    [...args, "-addext", "subjectAltName=DNS:model.test", "-keyout", files[0], "-out", files[1]],
    { stdio: "ignore" },
  );
  return { key: readFileSync(files[0]), cert: readFileSync(files[1]) };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "up-"));
  asked = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await proxy?.close();
  proxy = undefined;
  service.closeAllConnections();
  service.close();
  child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const socket = () => join(folder, "p.sock");
const open = async (
  access: Partial<Pick<ProcessAccess, "hosts" | "keys">>,
  env: NodeJS.ProcessEnv,
  resolver = unknown,
) => {
  proxy = await openProxy(socket(), { hosts: [], keys: [], ...access }, upstreamOf(env), resolver);
};

const get = (path: string): Promise<{ status: number; said: string }> =>
  new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath: socket(), path, headers: { authorization: "Bearer held" } }, (answer) =>
      text(answer).then((said) => resolve({ status: answer.statusCode ?? 0, said }), reject),
    );
    request.on("error", reject);
    request.end();
  });

/** What comes back of a tunnel, after this request in it. */
async function tunnel(to: string): Promise<string> {
  const client = connect(socket());
  client.write(`CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\n\r\n`);
  const [head] = (await once(client, "data")) as [Buffer];
  client.end(`GET /inside HTTP/1.1\r\nhost: ${to}\r\nconnection: close\r\n\r\n`);
  return head.toString() + (await text(client));
}

describe("a sandbox behind the user's own proxy", () => {
  test("goes out by it: tunnels and plain http, with the credentials of its address, names unknown here", async () => {
    await begin();
    const env = { HTTPS_PROXY: `http://me:p%40ss@${address}`, http_proxy: address };
    await open({ hosts: ["model.test:443", "pages.test:80"] }, env);
    expect(await tunnel("model.test:443")).toMatch(/^HTTP\/1\.1 200[^]*"path":"\/inside"/);
    expect((await get("http://pages.test/a?b=1")).said).toContain('"host":"pages.test"');
    expect(asked).toEqual([
      { method: "CONNECT", url: "model.test:443", credentials: `Basic ${btoa("me:p@ss")}` },
      { method: "GET", url: "http://pages.test/a?b=1", credentials: null },
    ]);
  });

  test.for([
    ["http", false, { method: "GET", url: "http://model.test/v1/x" }],
    ["https", true, { method: "CONNECT", url: "model.test:443" }],
  ] as const)("so does what a key is added to: %s", async ([protocol, secure, seen], { skip }) => {
    skip(secure && spawnSync("openssl", ["version"]).status !== 0, "there is no openssl for a certificate");
    await begin(secure);
    // The certificate is made here, and nobody vouches for it.
    if (secure) vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const keys = [{ name: "model", baseAddress: `${protocol}://model.test`, headers: { "x-api-key": "real" } }];
    await open({ keys }, { HTTP_PROXY: address, HTTPS_PROXY: address });
    const { status, said } = await get("/key/model/v1/x");
    expect([status, JSON.parse(said)]).toEqual([
      200,
      expect.objectContaining({ path: "/v1/x", host: "model.test", "x-api-key": "real" }),
    ]);
    expect(said).not.toContain("Bearer held");
    expect(asked).toMatchObject([seen]);
  });

  test("does not go by it to what NO_PROXY names, nor to this machine", async () => {
    await begin();
    const { port } = service.address() as AddressInfo;
    await open(
      { hosts: [`127.0.0.1:${port}`, "a.inner.test:80"] },
      { HTTP_PROXY: address, NO_PROXY: "other.test, .inner.test" },
    );
    expect((await get(`http://127.0.0.1:${port}/x`)).status).toBe(200);
    expect((await get("http://a.inner.test/")).status).toBe(502);
    expect(asked).toEqual([]);
  });

  test("reaches nothing more by it: no host that is not allowed, no name that leads to this machine", async () => {
    await begin();
    await open({ hosts: ["model.test:443", "model.test:80"] }, { HTTP_PROXY: address, HTTPS_PROXY: address }, own);
    expect(await tunnel("other.test:443")).toMatch(/^HTTP\/1\.1 403/);
    expect(await tunnel("model.test:443")).toMatch(/^HTTP\/1\.1 502/);
    expect((await get("http://model.test/")).status).toBe(502);
    expect(asked).toEqual([]);
  });

  test("is told 502 where the proxy refuses or is gone", async () => {
    await begin();
    await open({ hosts: ["forbidden.test:443"] }, { HTTPS_PROXY: address });
    expect(await tunnel("forbidden.test:443")).toMatch(/^HTTP\/1\.1 502/);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await tunnel("forbidden.test:443")).toMatch(/^HTTP\/1\.1 502/);
  });

  test("a proxy of another kind is refused", async () => {
    await begin();
    expect(() => upstreamOf({ HTTPS_PROXY: "socks5://127.0.0.1:1080" })).toThrow(
      "HTTPS_PROXY is not the address of an http or https",
    );
  });
});

test.each([
  ["a.test", "a.test", true],
  ["a.test", "b.a.test", true],
  [".a.test", "b.a.test", true],
  ["*.a.test", "b.a.test", true],
  ["a.test", "ba.test", false],
  ["a.test:443", "a.test", true],
  ["a.test:80", "a.test", false],
  ["*", "a.test", true],
])("NO_PROXY %s covers %s: %s", async (entry, hostname, expected) => {
  await begin();
  const upstream = upstreamOf({ HTTPS_PROXY: "http://proxy.test:3128", no_proxy: `x.test,${entry}` });
  expect(upstream.proxyFor({ protocol: "https:", hostname, port: 443 }) === undefined).toBe(expected);
});
