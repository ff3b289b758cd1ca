import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { noReach } from "../../../src/engine/process/reach.js";
import type { ProcessEnd } from "../../../src/engine/process/run-process.js";
import { findDocker, imageFor } from "../../../src/engine/sandbox/docker.js";
import { openSandbox } from "../../../src/engine/sandbox/open-sandbox.js";

// Answers of Docker 20.10, as it gave them; a real engine is tried in tests/system/sandbox.
let folder: string;
let asked: { method: string; path: string; body?: unknown }[];
/** What the engine says to `<method> <path without the version and ids>`. */
let answers: Record<string, readonly [status: number, body: unknown]>;
/** What the container prints once it is started. */
let prints: readonly (readonly [stream: 1 | 2, text: string])[];
let attached: Socket | undefined;

const frame = (stream: number, text: string): Buffer => {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
};

const engine = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  const path =
    (request.url ?? "")
      .split("?")[0]
      ?.replace(/^\/v[\d.]+/, "")
      .replace("c0ffee", "it") ?? "";
  const body =
    request.headers["content-type"] === "application/json" ? await json(request).catch(() => undefined) : undefined;
  asked.push({ method: request.method ?? "", path, body });
  const [status, said] = answers[`${request.method} ${path}`] ?? [404, { message: "page not found" }];
  response.writeHead(status, { "content-type": "application/json" }).end(said === "" ? "" : JSON.stringify(said));
  if (path === "/containers/it/start") {
    for (const [stream, text] of prints) attached?.write(frame(stream, text));
    attached?.end();
  }
});
engine.on("upgrade", (request, socket: Socket) => {
  asked.push({ method: request.method ?? "", path: "attach" });
  attached = socket;
  socket.on("error", () => {});
  socket.write("HTTP/1.1 101 UPGRADED\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n");
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "docker-"));
  asked = [];
  prints = [];
  answers = {
    "GET /_ping": [200, "OK"],
    "GET /containers/json": [200, []],
    "POST /containers/create": [201, { Id: "c0ffee", Warnings: [] }],
    "POST /containers/it/start": [204, ""],
    "GET /containers/it/json": [200, { State: { Pid: 0, OOMKilled: false } }],
    "POST /containers/it/wait": [200, { StatusCode: 0 }],
    "DELETE /containers/it": [204, ""],
  };
  await new Promise<void>((resolve) => engine.listen(join(folder, "docker.sock"), resolve));
});
afterEach(async () => {
  engine.closeAllConnections();
  await new Promise((resolve) => engine.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const env = () => ({ PATH: process.env["PATH"], DOCKER_HOST: `unix://${join(folder, "docker.sock")}` });

async function run(): Promise<{ lines: string[]; end: ProcessEnd }> {
  const { sandbox } = await openSandbox("docker", { env: env() });
  const output = sandbox?.exec({
    ...{ command: "true", args: [], cwd: folder, env: env(), stdin: "", timeoutMs: 20_000, idleMs: 0 },
    finished: () => false,
    signal: new AbortController().signal,
    reach: { ...noReach, write: [folder] },
  });
  const lines: string[] = [];
  for (;;) {
    const step = await output?.next();
    if (step === undefined) throw new Error("no sandbox");
    if (step.done === true) return { lines, end: step.value };
    lines.push(step.value);
  }
}

describe("the recorded answers of an engine", () => {
  test("a container that prints and ends: stdout and stderr apart, its exit code, removed at last", async () => {
    prints = [
      [1, "one\ntw"],
      [2, "a warning\n"],
      [1, "o\n"],
    ];
    expect(await run()).toMatchObject({
      lines: ["one", "two"],
      end: { cause: "exited", exitCode: 0, stderr: "a warning\n" },
    });
    expect(asked.at(-1)).toMatchObject({ method: "DELETE", path: "/containers/it" });
    expect(asked.find(({ path }) => path === "/containers/create")?.body).toMatchObject({
      Image: "node:20",
      HostConfig: {
        ...{ NetworkMode: "none", ReadonlyRootfs: true, CapDrop: ["ALL"], SecurityOpt: ["no-new-privileges"] },
        ...{ Memory: 2 ** 31, NanoCpus: 2e9, PidsLimit: 256 },
        Tmpfs: { "/tmp": expect.stringContaining("mode=1777") },
      },
    });
  });

  test("a container that the kernel ended at its memory", async () => {
    answers["POST /containers/it/wait"] = [200, { StatusCode: 137 }];
    answers["GET /containers/it/json"] = [200, { State: { Pid: 0, OOMKilled: true } }];
    expect((await run()).end).toMatchObject({ cause: "resources", resource: "more than 2 GB of memory" });
  });

  test("a missing image is named, with what to do", async () => {
    answers["POST /containers/create"] = [404, { message: "No such image: node:20" }];
    expect((await run()).end).toMatchObject({
      cause: "not-started",
      startError: { code: "image", message: expect.stringMatching(/no image node:20.*docker pull node:20/) },
    });
  });

  test("what the engine says of any other failure is said, not what its client makes of it", async () => {
    answers["POST /containers/create"] = [500, { message: "the disk is full" }];
    expect((await run()).end.startError?.message).toBe("Docker says: the disk is full");
  });
});

describe("an engine", () => {
  test("on another machine, one that is not there and one that is ill are told apart", async () => {
    expect(await findDocker({ DOCKER_HOST: "tcp://10.0.0.1:2375" })).toMatchObject({
      problem: expect.stringContaining("another machine"),
    });
    expect(await findDocker({ DOCKER_HOST: `unix://${join(folder, "none.sock")}` })).toMatchObject({
      problem: "Docker is not running",
    });
    answers["GET /_ping"] = [500, { message: "ill" }];
    expect(await findDocker(env())).toMatchObject({ problem: expect.stringMatching(/does not answer .*\(ill\)/) });
  });
});

test.each([
  ["package.json", "node:20"],
  ["pyproject.toml", "python:3.11"],
  ["requirements.txt", "python:3.11"],
  ["Cargo.toml", "rust:1.75"],
  ["nothing.txt", "node:20"],
])("a folder with %s gets the image %s", (file, image) => {
  writeFileSync(join(folder, file), "");
  expect(imageFor(folder)).toBe(image);
});
