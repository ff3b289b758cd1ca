import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noAccess } from "../../../src/engine/process/access.js";
import { programIn } from "../../../src/engine/process/search-path.js";
import { openSandbox } from "../../../src/engine/sandbox/open-sandbox.js";
import { skippedFor } from "../../support/processes/bubblewrap.js";

// The real program `docker` in front of a stand-in for its engine: what it makes of our arguments.
const missing = programIn(process.env["PATH"] ?? "", "docker") === undefined ? "docker is not installed" : undefined;
const id = "c0ffee".padEnd(64, "0");
const folder = mkdtempSync(join(tmpdir(), "docker-client-"));
const asked: { readonly what: string; readonly body?: unknown }[] = [];
let attached: Socket | undefined;

const answers: Record<string, readonly [status: number, body: unknown]> = {
  "GET /_ping": [200, "OK"],
  "GET /containers/json": [200, []],
  "GET /info": [200, { OSType: "linux", ServerVersion: "20.10.24" }],
  "POST /containers/create": [201, { Id: id, Warnings: ["a warning of the engine"] }],
  "POST /containers/it/start": [204, ""],
  "GET /containers/it/json": [
    200,
    {
      Id: id,
      Config: { OpenStdin: true, Tty: false },
      HostConfig: { AutoRemove: false },
      State: { Status: "exited", Pid: 0, ExitCode: 3, OOMKilled: false, Error: "" },
    },
  ],
  "POST /containers/it/wait": [200, { StatusCode: 3 }],
  "DELETE /containers/it": [204, ""],
};

/** Output as the engine sends it where stdout and stderr share a connection. */
const frame = (stream: 1 | 2, text: string): Buffer =>
  Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, Buffer.byteLength(text)]), Buffer.from(text)]);

const pathOf = ({ url = "" }: IncomingMessage): string =>
  url
    .split("?")[0]
    ?.replace(/^\/v[\d.]+/, "")
    .replace(id, "it") ?? "";

const engine = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  const what = `${request.method} ${pathOf(request)}`;
  const body = request.headers["content-type"] === "application/json" ? await json(request) : undefined;
  asked.push({ what, body });
  const [status, said] = answers[what] ?? [404, { message: "page not found" }];
  response.setHeader("api-version", "1.41");
  response.writeHead(status, { "content-type": "application/json" }).end(said === "" ? "" : JSON.stringify(said));
  if (!what.endsWith("/start")) return;
  attached?.write(Buffer.concat([frame(1, "one\ntw"), frame(2, "a warning\n"), frame(1, "o\n")]));
  attached?.end();
});
engine.on("upgrade", (request, socket: Socket) => {
  asked.push({ what: `${request.method} ${pathOf(request)}` });
  attached = socket;
  socket.on("error", () => {});
  socket.write("HTTP/1.1 101 UPGRADED\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n");
});

beforeAll(async () => await new Promise<void>((resolve) => engine.listen(join(folder, "docker.sock"), resolve)));
afterAll(async () => {
  engine.closeAllConnections();
  await new Promise((resolve) => engine.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(missing !== undefined)(`the real docker${skippedFor(missing)}`, () => {
  test("asks its engine for the container that we mean, and passes on what the program prints", async () => {
    const env = { PATH: process.env["PATH"], DOCKER_HOST: `unix://${join(folder, "docker.sock")}`, GREETING: "a\nb" };
    const { sandbox } = await openSandbox("docker", { env, image: "some/image:1", allowedVariables: ["GREETING"] });
    const output = sandbox?.exec({
      command: "sh",
      args: ["-c", "true"],
      cwd: folder,
      env,
      stdin: "",
      timeoutMs: 20_000,
      idleMs: 0,
      isFinished: () => false,
      signal: new AbortController().signal,
      access: { ...noAccess, write: [folder], read: [{ from: folder, target: '/a "b", c' }] },
    });
    const lines: string[] = [];
    let step = await output?.next();
    for (; step !== undefined && step.done !== true; step = await output?.next()) lines.push(step.value);
    expect({ lines, end: step?.value }).toMatchObject({
      lines: ["one", "two"],
      end: { cause: "exited", exitCode: 3, stderr: "a warning\n" },
    });
    expect(asked.find(({ what }) => what === "POST /containers/create")?.body).toMatchObject({
      Image: "some/image:1",
      Cmd: ["sh", "-c", "true"],
      Entrypoint: [""],
      WorkingDir: folder,
      OpenStdin: true,
      StdinOnce: true,
      Tty: false,
      Hostname: "sandbox",
      Env: expect.arrayContaining(["GREETING=a\nb", "USER=agent"]),
      Labels: { "dev.research-ralph.owner": expect.stringMatching(/^\d+ \S+$/) },
      HostConfig: {
        NetworkMode: "none",
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        Memory: 2 ** 31,
        MemorySwap: 2 ** 31,
        NanoCpus: 2e9,
        PidsLimit: 256,
        Init: true,
        Ulimits: expect.arrayContaining([{ Name: "core", Hard: 0, Soft: 0 }]),
        Tmpfs: { "/tmp": expect.stringContaining("mode=1777") },
        Mounts: expect.arrayContaining([
          { Type: "bind", Source: folder, Target: folder },
          { Type: "bind", Source: folder, Target: '/a "b", c', ReadOnly: true },
        ]),
      },
    });
    expect(asked.at(-1)?.what).toBe("DELETE /containers/it");
  });
});
