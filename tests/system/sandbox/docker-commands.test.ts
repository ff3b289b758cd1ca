import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { noAccess } from "../../../src/engine/process/access.js";
import type { ProcessEnd, ProcessRequest } from "../../../src/engine/process/run-process.js";
import { findDocker, imageFor } from "../../../src/engine/sandbox/docker.js";
import { openSandbox } from "../../../src/engine/sandbox/open-sandbox.js";

// A stand-in for the program `docker`, which keeps what it is asked. What the real one makes of these arguments is
// tried in tests/system/sandbox, with an engine where there is one.
let folder: string;
/** What the stand-in does when it is asked, by its first argument: lines of a shell. */
let answers: Record<string, string>;

const id = "c0ffee".padEnd(64, "0");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "docker-"));
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "work"));
  answers = {
    context: "echo unix:///run/usual.sock",
    create: `echo ${id}`,
    inspect: `[ "$3" = "{{.State.Pid}}" ] && echo 0 || echo '{"Status":"exited","OOMKilled":false,"Error":""}'`,
  };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({ PATH: join(folder, "bin"), ...more });

/** Puts the stand-in where programs are looked for. */
function install(): void {
  const cases = Object.entries(answers).map(([name, lines]) => `${name}) ${lines};;`);
  const keep = `{ printf '%s\\037' "$@"; echo; } >> '${folder}/asked'`;
  const environment = `env > "${folder}/env-of-$1"`;
  const program = join(folder, "bin", "docker");
  const script = ["#!/bin/sh", "PATH=/usr/bin:/bin", keep, environment, 'case "$1" in', ...cases, "esac", ""].join(
    "\n",
  );
  writeFileSync(program, script);
  chmodSync(program, 0o755);
}

/** The calls of the stand-in, each with its arguments. */
const asked = (): string[][] =>
  readFileSync(join(folder, "asked"), "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\x1f").slice(0, -1));

/** The values that an option was given. */
const valuesOf = (args: readonly string[], option: string): string[] =>
  args.flatMap((value, at) => (args[at - 1] === option ? [value] : []));

async function run(
  request: Partial<ProcessRequest> = {},
  told: (line: string) => void = () => undefined,
): Promise<{ lines: string[]; end: ProcessEnd }> {
  install();
  const { sandbox } = await openSandbox("docker", { env: env() });
  const work = join(folder, "work");
  const output = sandbox?.exec({
    command: "true",
    args: [],
    cwd: work,
    env: env(),
    stdin: "",
    timeoutMs: 20_000,
    idleMs: 0,
    graceMs: 100,
    isFinished: () => false,
    signal: new AbortController().signal,
    access: { ...noAccess, write: [work] },
    ...request,
  });
  const lines: string[] = [];
  for (;;) {
    const step = await output?.next();
    if (step === undefined) throw new Error("no sandbox");
    if (step.done === true) return { lines, end: step.value };
    lines.push(step.value);
    told(step.value);
  }
}

describe("a program in a container", () => {
  test("gets its stdin, has stdout and stderr apart and its own exit code, and its container is removed", async () => {
    answers["start"] = "cat; echo two; echo told >&2; exit 3";
    const { lines, end } = await run({ stdin: "one\n" });
    expect({ lines, end }).toMatchObject({
      lines: ["one", "two"],
      end: { cause: "exited", exitCode: 3, stderr: "told\n" },
    });
    expect(asked().at(-1)).toEqual(["rm", "--force", "--volumes", id]);
  });

  test("has a root that it can't write, no network, no capabilities, and the kernel's limits", async () => {
    await run({ command: "sh", args: ["-c", "echo 'a b'"] });
    const args = asked().find(([command]) => command === "create") ?? [];
    for (const flag of ["--read-only", "--init", "--interactive"]) expect(args).toContain(flag);
    expect(
      Object.fromEntries(
        [
          "--pull",
          "--network",
          "--cap-drop",
          "--security-opt",
          "--memory",
          "--memory-swap",
          "--pids-limit",
          "--cpus",
        ].map((option) => [option, valuesOf(args, option)]),
      ),
    ).toEqual({
      "--pull": ["never"],
      "--network": ["none"],
      "--cap-drop": ["ALL"],
      "--security-opt": ["no-new-privileges"],
      "--memory": [`${2 ** 31}`],
      "--memory-swap": [`${2 ** 31}`],
      "--pids-limit": ["256"],
      "--cpus": ["2"],
    });
    expect(valuesOf(args, "--ulimit")).toEqual([`fsize=${2 ** 31}:${2 ** 31}`, "core=0:0"]);
    expect(valuesOf(args, "--tmpfs")[0]).toMatch(/^\/tmp:rw,exec,nosuid,nodev,size=\d+,mode=1777$/);
    expect(valuesOf(args, "--label")[0]).toMatch(new RegExp(`^dev\\.research-ralph\\.owner=${process.pid} \\S+`));
    expect(args.slice(args.indexOf("--"))).toEqual(["--", "node:20", "sh", "-c", "echo 'a b'"]);
  });

  test("sees its folders, whatever their names hold", async () => {
    const odd = join(folder, 'a "b", c');
    mkdirSync(odd);
    await run({ access: { ...noAccess, write: [odd], read: [{ from: folder, target: "/workspace" }] } });
    const mounts = valuesOf(asked().find(([command]) => command === "create") ?? [], "--mount");
    const quoted = odd.replaceAll('"', '""');
    expect(mounts).toContain(`type=bind,"source=${quoted}","target=${quoted}"`);
    expect(mounts).toContain(`type=bind,source=${folder},target=/workspace,readonly`);
  });

  test("gets its environment by name, so that no value stands among the arguments; Docker's own stays outside", async () => {
    const named = { ...noAccess, variables: ["GREETING", "DOCKER_HOST"] };
    await run({ env: env({ GREETING: "two\nlines", DOCKER_HOST: "unix:///run/other.sock" }), access: named });
    const args = asked().find(([command]) => command === "create") ?? [];
    expect(valuesOf(args, "--env")).toEqual(expect.arrayContaining(["GREETING", "HOME", "PATH"]));
    expect(valuesOf(args, "--env").filter((name) => /=|DOCKER/.test(name))).toEqual([]);
    expect(args.join(" ")).not.toContain("two\nlines");
    const given = readFileSync(join(folder, "env-of-create"), "utf8");
    expect(given).toContain("GREETING=two\nlines\n");
    expect(given).toContain("DOCKER_HOST=unix:///run/usual.sock\n");
    expect(given).toContain("DOCKER_CONFIG=/nonexistent\n");
  });

  test("is told to end, and removed when it does not", async () => {
    answers["start"] = "echo begun; exec sleep 60";
    const abort = new AbortController();
    const { lines, end } = await run({ signal: abort.signal }, () => abort.abort());
    expect({ lines, cause: end.cause }).toEqual({ lines: ["begun"], cause: "aborted" });
    const ends = asked().filter(([command]) => command === "kill" || command === "rm");
    expect(ends).toEqual([
      ["kill", "--signal", "TERM", id],
      ["rm", "--force", "--volumes", id],
    ]);
  });

  test("that the kernel ended at its memory is told so", async () => {
    answers["start"] = "exit 137";
    answers["inspect"] = `echo '{"Status":"exited","OOMKilled":true,"Error":""}'`;
    expect((await run()).end).toMatchObject({ cause: "resources", resource: "more than 2 GB of memory" });
  });
});

describe("a program that can't be started says why", () => {
  test("its image is missing: which, and what to do", async () => {
    answers["create"] = "echo 'Error response from daemon: No such image: node:20' >&2; exit 1";
    expect((await run()).end).toMatchObject({
      cause: "not-started",
      startError: { code: "image", message: expect.stringMatching(/no image node:20.*docker pull node:20/) },
    });
  });

  test("any other failure in Docker's own words", async () => {
    answers["create"] = "echo 'Error response from daemon: the disk is full.' >&2; exit 1";
    expect((await run()).end.startError?.message).toBe("Docker says: the disk is full");
  });

  test("the image lacks the program: Docker's words, and not as the program's own output", async () => {
    answers["start"] = "echo 'Error: failed to start containers' >&2; exit 1";
    answers["inspect"] = `echo '{"Status":"created","OOMKilled":false,"Error":"exec: \\"claude\\": not found"}'`;
    expect((await run()).end).toEqual({
      cause: "not-started",
      startError: { code: "docker", message: 'Docker says: exec: "claude": not found' },
      stderr: "",
    });
  });
});

describe("Docker is not taken", () => {
  test("where the program is missing", async () => {
    expect(await findDocker(env())).toMatchObject({ problem: "Docker is not installed" });
  });

  test("where its engine is on another machine, by DOCKER_HOST or by the user's context", async () => {
    answers["context"] = "echo ssh://me@far.example";
    install();
    const problem = expect.stringMatching(/another machine \((tcp:\/\/10\.0\.0\.1:2375|ssh:\/\/me@far\.example)\)/);
    expect(await findDocker(env({ DOCKER_HOST: "tcp://10.0.0.1:2375" }))).toMatchObject({ problem });
    expect(await findDocker(env())).toMatchObject({ problem });
  });

  test("where its engine does not run: its own words, and what to do", async () => {
    answers["ps"] = "echo 'Cannot connect to the Docker daemon at unix:///run/usual.sock. Is it running?' >&2; exit 1";
    install();
    expect(await findDocker(env())).toMatchObject({
      problem: expect.stringMatching(/does not answer \(Cannot connect to the Docker daemon/),
      fix: expect.stringContaining("Start Docker"),
    });
  });
});

test("of the containers there are, those whose maker is gone are removed", async () => {
  answers["ps"] = `printf '%s\\t%s\\n' gone '999999999 1' others '' ours '${process.pid} '`;
  install();
  await findDocker(env());
  expect(asked().at(-1)).toEqual(["rm", "--force", "--volumes", "gone"]);
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
