import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { noAccess, type ProcessAccess } from "../../../src/engine/process/access.js";
import type { ProcessEnd, ProcessRequest } from "../../../src/engine/process/run-process.js";
import { openSandbox } from "../../../src/engine/sandbox/open-sandbox.js";
import type { SandboxOptions } from "../../../src/engine/sandbox/sandbox.js";
import { skippedFor } from "../../support/processes/bubblewrap.js";
import { dockerEngine } from "./docker-engine.js";

const found = await dockerEngine();
const missing = "problem" in found ? found.problem : undefined;
const { host, image } = "problem" in found ? { host: "", image: "" } : found;
afterAll(async () => {
  if (!("problem" in found)) await found.stop();
});

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "docker-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface More {
  readonly options?: Partial<SandboxOptions>;
  readonly access?: Partial<ProcessAccess>;
  readonly request?: Partial<ProcessRequest>;
}

/** Runs a shell's command in a container; what it printed, and how it ended. */
async function run(
  command: string,
  { options, access, request }: More = {},
): Promise<{ out: string; end: ProcessEnd }> {
  const env = { PATH: process.env["PATH"], DOCKER_HOST: host };
  const { sandbox } = await openSandbox("docker", { env, image, ...options });
  const lines = sandbox?.exec({
    command: "sh",
    args: ["-c", command],
    cwd: folder,
    env,
    stdin: "",
    timeoutMs: 60_000,
    idleMs: 0,
    isFinished: () => false,
    signal: new AbortController().signal,
    access: { ...noAccess, write: [folder], ...access },
    ...request,
  });
  const out: string[] = [];
  for (;;) {
    const step = await lines?.next();
    if (step === undefined) throw new Error("no sandbox");
    if (step.done === true) return { out: out.join("\n"), end: step.value };
    out.push(step.value);
  }
}

const containers = (): string =>
  execFileSync("docker", ["-H", host, "ps", "-a", "-q", "--filter", "label=dev.research-ralph.owner"], {
    encoding: "utf8",
  });

describe.skipIf(missing !== undefined)(`a program in Docker${skippedFor(missing)}`, () => {
  test("reads its stdin, works in its folder, says how it ended, and leaves no container", async () => {
    const { out, end } = await run("cat; pwd; echo kept > file.txt; echo told >&2; exit 3", {
      request: { stdin: "from stdin\n" },
    });
    expect(out).toBe(`from stdin\n${folder}`);
    expect(end).toMatchObject({ cause: "exited", exitCode: 3, stderr: "told\n" });
    expect(readFileSync(join(folder, "file.txt"), "utf8")).toBe("kept\n");
    expect(containers()).toBe("");
  });

  test("has a root that it can't write, no capabilities, no network, and /tmp for everybody", async () => {
    const { out } = await run(
      "touch /x 2> /dev/null && echo ROOT; grep CapEff /proc/self/status; ls /sys/class/net; echo x > /tmp/y && echo TMP; echo x > $HOME/y && echo HOME",
    );
    expect(out.split("\n")).toEqual(["CapEff:\t0000000000000000", "lo", "TMP", "HOME"]);
  });

  test("sees what is named, read-only where that is all, and no home of the user's", async () => {
    const project = join(folder, "project");
    execFileSync("mkdir", [project]);
    writeFileSync(join(project, "source.txt"), "source");
    const { out } = await run(
      "cat /workspace/source.txt; echo x > /workspace/y || echo KEPT; ls /root 2>&1 | head -1",
      { access: { read: [{ from: project, target: "/workspace" }] } },
    );
    expect(out).toMatch(/^sourceKEPT\n/);
    expect(readdirSync(project)).toEqual(["source.txt"]);
  });

  test("reaches by its proxy what is named, and is told of what is not", async () => {
    const ask = `node -e 'fetch("http://127.0.0.1:3128/key/none/").then((r) => console.log(r.status))'`;
    const { out, end } = await run(
      `${ask}; node -e 'require("http").get({host: "127.0.0.1", port: 3128, path: "http://refused.test/"}, (r) => console.log(r.statusCode))'`,
      { access: { hosts: ["allowed.test:443"] } },
    );
    expect(out).toBe("400\n403");
    expect(end.notices).toEqual(["The sandbox refused connections to refused.test:80."]);
  });

  test("is ended by the kernel at its memory, and that is said", async () => {
    const { end } = await run("node -e 'const kept = []; for (;;) kept.push(Buffer.alloc(1e7, 1))'", {
      options: { limits: { maxMemoryBytes: 256 * 2 ** 20 } },
    });
    expect(end).toMatchObject({ cause: "resources", resource: "more than 0.25 GB of memory" });
    expect(containers()).toBe("");
  });

  test("gets no more processes than it may have", async () => {
    const fork =
      'let n = 0; for (let i = 0; i < 90; i++) require("child_process").spawn("sleep", ["2"]).on("spawn", () => n++).on("error", () => {}); setTimeout(() => { console.log(n); process.exit(0); }, 1000)';
    const { out } = await run(`node -e '${fork}'`, { options: { limits: { maxProcesses: 60 } } });
    expect(Number(out)).toBeGreaterThan(5);
    expect(Number(out)).toBeLessThan(60);
  });

  test.each(["timeout", "aborted"] as const)("is gone when it was ended: %s", async (cause) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 1500);
    const { end } = await run("echo begun; sleep 60", {
      request: cause === "timeout" ? { timeoutMs: 1500, graceMs: 100 } : { signal: abort.signal, graceMs: 100 },
    });
    expect(end.cause).toBe(cause);
    expect(containers()).toBe("");
  });

  test("is not started where its image is missing, and the sentence names it", async () => {
    const { end } = await run("true", { options: { image: "not-there:1" } });
    expect(end).toMatchObject({ cause: "not-started", startError: { code: "image" } });
    expect(end.startError?.message).toContain("docker pull not-there:1");
  });

  test("that a killed run left is removed by the next", async () => {
    const args = ["-H", host, "create", "--label", "dev.research-ralph.owner=999999999 1", image, "true"];
    execFileSync("docker", args, { stdio: "ignore" });
    expect(containers()).not.toBe("");
    await run("true");
    expect(containers()).toBe("");
  });
});
