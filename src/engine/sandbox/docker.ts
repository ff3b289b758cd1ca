import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { messageOf } from "../lib/errors.js";
import { sandboxHome } from "../process/reach.js";
import { isSameProcess, startOfProcess } from "../process/process-identity.js";
import {
  type ProcessEnd,
  type ProcessRequest,
  runStarted,
  type Start,
  startChild,
  type Started,
} from "../process/run-process.js";
import { programIn } from "../process/search-path.js";
import { keptOutside } from "./environment.js";
import { type Inside, mountsOf, openInside, prepareHome, toolRelay } from "./inside.js";
import { defaultLimits, type Limits, type Sandbox, type SandboxOptions } from "./sandbox.js";
import { watchResources } from "./watcher.js";

/** The `docker` program of this machine, with the environment in which it reaches its engine. */
export interface DockerClient {
  readonly program: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** A Docker whose engine answers here, or why it is missing and what to do about it. */
export type FoundDocker = { readonly client: DockerClient } | { readonly problem: string; readonly fix: string };

/** How long the engine may take to answer that it is there, in milliseconds. */
const maxPing = 3_000;
/** How long it may take over any other answer. */
const maxAnswer = 60_000;

/**
 * Looks for Docker on this machine: the program `docker` in PATH, and the engine that DOCKER_HOST or the user's current
 * context names. Containers that killed runs left are removed.
 */
export async function findDocker(env: NodeJS.ProcessEnv): Promise<FoundDocker> {
  const program = programIn(env["PATH"] ?? "", "docker");
  if (program === undefined) return { problem: "Docker is not installed", fix: "Install Docker and start it." };
  const host = env["DOCKER_HOST"] || (await hostOfContext(program, env));
  if (host !== undefined && !host.startsWith("unix://"))
    return {
      problem: `Docker's engine is on another machine (${host}), which does not see the files here`,
      fix: "Unset DOCKER_HOST, or let it begin with unix://.",
    };
  // Without the user's configuration of Docker, which may hold the password of a proxy and puts it into containers.
  const client = { program, env: { DOCKER_CONFIG: "/nonexistent", DOCKER_HOST: host } };
  const containers = await ask(client, [...listed, "--filter", `label=${label}`], { maxMs: maxPing });
  if (!containers.ok)
    return {
      problem: `Docker's engine does not answer (${containers.said})`,
      fix: "Start Docker, and see that you may use it (the group docker).",
    };
  await removeLeftovers(client, containers.stdout);
  return { client };
}

/** The address of the engine that the user has chosen with `docker context`; undefined where nothing says it. */
async function hostOfContext(program: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const client = { program, env: definedOf(env) };
  const { ok, stdout } = await ask(client, ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"]);
  return ok ? stdout.trim() || undefined : undefined;
}

const definedOf = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

interface DockerAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  /** Why it is not ok, in Docker's own words. */
  readonly said: string;
}

/** Runs `docker` with these arguments to its end. `env`: in which it runs besides the client's own. */
async function ask(
  client: DockerClient,
  args: readonly string[],
  { maxMs = maxAnswer, env = {} }: { readonly maxMs?: number; readonly env?: Record<string, string> } = {},
): Promise<DockerAnswer> {
  const { exitCode, stdout, stderr, timedOut, shortMessage } = await execa(client.program, args, {
    env: { ...env, ...client.env },
    extendEnv: false,
    stdin: "ignore",
    reject: false,
    timeout: maxMs,
    forceKillAfterDelay: 1_000,
  });
  const said = timedOut ? `no answer within ${maxMs / 1000} seconds` : wordsOf(stderr) || (shortMessage ?? "");
  return { ok: exitCode === 0, stdout, said };
}

/** What Docker says of a failure, as part of a sentence. */
const wordsOf = (stderr: string): string =>
  (stderr.trim().split("\n").at(-1) ?? "")
    .replace(/^(?:docker: |Error: |Error response from daemon: )+/, "")
    .replace(/\.(?: See 'docker .*)?$/, "")
    .trim();

/** Where our Node stands in a container, which may have none. */
const nodeInside = "/run/node";

/**
 * A sandbox of Docker containers, one a program. The root is read-only, there is no network but the proxy's socket, and
 * the kernel's limits hold.
 */
export function docker(client: DockerClient, { env, home, limits: own, image, passes = [] }: SandboxOptions): Sandbox {
  const limits = { ...defaultLimits, ...dockerLimits, ...own };
  return {
    name: "docker",
    toolRelay: toolRelay(nodeInside),
    outside: keptOutside(env, passes),
    async *exec(request): AsyncGenerator<string, ProcessEnd> {
      let inside: Inside;
      try {
        if (home !== undefined) prepareHome(home, request);
        inside = await openInside(request, nodeInside, passes);
      } catch (error) {
        return { cause: "not-started", startError: { message: messageOf(error) }, stderr: "" };
      }
      const tooMuch = new AbortController();
      const run: Run = { stop: () => undefined };
      const start = startIn(client, { image: image ?? imageFor(request.cwd), inside, home, limits, run, tooMuch });
      try {
        const signal = AbortSignal.any([request.signal, tooMuch.signal]);
        const end = yield* runStarted({ ...request, signal }, start);
        if (run.startProblem !== undefined)
          return {
            cause: "not-started",
            startError: { code: "docker", message: `Docker says: ${run.startProblem}` },
            stderr: "",
          };
        const wasStopped = end.cause === "aborted" && !request.signal.aborted && tooMuch.signal.aborted;
        const resource =
          run.outOfMemory === true ? tooMuchMemory(limits) : wasStopped ? tooMuch.signal.reason : undefined;
        return {
          ...end,
          ...(resource === undefined ? {} : { cause: "resources" as const, resource: String(resource) }),
          notices: inside.notices(),
        };
      } finally {
        run.stop();
        await inside.close();
      }
    },
    close: () => Promise.resolve(),
  };
}

const gigabyte = 2 ** 30;
const dockerLimits = { processes: 256, memory: 2 * gigabyte } as const;
const processors = 2;

const tooMuchMemory = ({ memory }: Limits): string => `more than ${memory / gigabyte} GB of memory`;

/** The usual image of a language, by the file that its projects have. */
const images: readonly (readonly [file: string, image: string])[] = [
  ["package.json", "node:20"],
  ["Cargo.toml", "rust:1.75"],
  ...["pyproject.toml", "setup.py", "requirements.txt", "setup.cfg"].map((file) => [file, "python:3.11"] as const),
];

/** The image for what lies in a folder. */
export const imageFor = (folder: string): string =>
  images.find(([file]) => existsSync(join(folder, file)))?.[1] ?? "node:20";

/** What is learned of a container while it runs. */
interface Run {
  outOfMemory?: boolean;
  /** Why the program in it could not be started. */
  startProblem?: string;
  stop: () => void;
}

interface Contained {
  readonly image: string;
  readonly inside: Inside;
  readonly home: string | undefined;
  readonly limits: Limits;
  readonly run: Run;
  readonly tooMuch: AbortController;
}

const label = "dev.research-ralph.owner";

function startIn(client: DockerClient, { image, inside, home, limits, run, tooMuch }: Contained): Start {
  return async (request) => {
    const args = await argumentsOf(request, { image, inside, home, limits });
    const made = await ask(client, args, { env: environmentOf(inside) });
    if (!made.ok) return { startError: whyNotMade(made.said, image) };
    const id = made.stdout.trim();
    const attached = await startChild({
      ...request,
      command: client.program,
      args: ["start", "--attach", "--interactive", id],
      env: client.env,
      cwd: "/",
    });
    if ("startError" in attached) {
      await remove(client, [id]);
      return attached;
    }
    const ended = new AbortController();
    run.stop = () => ended.abort();
    void watchDisk(client, id, { inside, limits, tooMuch, signal: ended.signal });
    return { ...attached, ...ending(client, id, { attached, run }) };
  };
}

/** Why a container could not be made, for a person. */
const whyNotMade = (said: string, image: string): { readonly code: string; readonly message: string } =>
  /no such image/i.test(said)
    ? {
        code: "image",
        message: `Docker has no image ${image}: get it with \`docker pull ${image}\`, or name another as sandbox_image in the configuration`,
      }
    : { code: "docker", message: `Docker says: ${said}` };

/** How often a container that starts is asked for its process, in milliseconds. */
const untilStarted = 250;

/**
 * Watches the disk that a container shares with others; processes and memory are the kernel's to count. Where its
 * process can't be seen from here (the engine may run in a machine of its own), nothing is watched.
 */
async function watchDisk(
  client: DockerClient,
  id: string,
  {
    inside: { reach },
    limits,
    tooMuch,
    signal,
  }: Pick<Contained, "inside" | "limits" | "tooMuch"> & { readonly signal: AbortSignal },
): Promise<void> {
  let pid = 0;
  while (pid === 0) {
    if (await sleep(untilStarted, false, { signal, ref: false }).catch(() => true)) return;
    const { ok, stdout } = await ask(client, ["inspect", "--format", "{{.State.Pid}}", id]);
    if (!ok) return;
    pid = Number(stdout.trim());
  }
  if (signal.aborted || !isSeen(pid, id)) return;
  const folders = reach.write.map((mount) => (typeof mount === "string" ? mount : mount.from));
  const onlyDisk = { ...limits, processes: Infinity, memory: Infinity };
  const watcher = watchResources(pid, folders, onlyDisk, (what) => tooMuch.abort(what));
  signal.addEventListener("abort", () => watcher.stop());
}

/** Whether the engine's number of a process is ours too. */
function isSeen(pid: number, id: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(id);
  } catch {
    return false;
  }
}

/** How a container that runs comes to its end; `attached`: the `docker` that passes on what it reads and prints. */
function ending(
  client: DockerClient,
  id: string,
  { attached, run }: { readonly attached: Started; readonly run: Run },
): Pick<Started, "exited" | "end" | "sweep"> {
  let removal: Promise<void> | undefined;
  const exited = (async () => {
    const exit = await attached.exited;
    // Of a container that we removed there is nothing more to be known.
    if (removal === undefined) Object.assign(run, await stateOf(client, id));
    return exit;
  })();
  return {
    exited,
    async end(graceMs) {
      await ask(client, ["kill", "--signal", "TERM", id]);
      await Promise.race([exited, sleep(graceMs)]);
    },
    // The look at how it ended comes first, unless it has not ended at all.
    sweep: () =>
      (removal ??= Promise.race([exited, sleep(200)])
        .then(() => remove(client, [id]))
        .then(() => attached.sweep())),
  };
}

/** How a container ended. */
async function stateOf(client: DockerClient, id: string): Promise<Pick<Run, "outOfMemory" | "startProblem">> {
  const { ok, stdout } = await ask(client, ["inspect", "--format", "{{json .State}}", id]);
  if (!ok) return {};
  const { Status, OOMKilled, Error } = JSON.parse(stdout) as { Status: string; OOMKilled: boolean; Error: string };
  // One that never ran says why in its state; what `docker start` prints could be the program's own words.
  return Status === "created" ? { startProblem: wordsOf(Error) } : { outOfMemory: OOMKilled };
}

/** Removes containers, running or not, with their volumes. */
async function remove(client: DockerClient, ids: readonly string[]): Promise<void> {
  await ask(client, ["rm", "--force", "--volumes", ...ids]);
}

/** What the user's own Docker reads is the client's alone. */
const isForClient = (name: string): boolean => name.startsWith("DOCKER_");

/** The environment of the program, from which `docker` takes the values: every user of a machine can read arguments. */
const environmentOf = ({ env }: Inside): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isForClient(name)));

/** The arguments of `docker` that make the container of a program. */
async function argumentsOf(
  request: ProcessRequest,
  { image, inside, home, limits }: Omit<Contained, "run" | "tooMuch">,
): Promise<string[]> {
  const [uid, gid] = [process.getuid?.() ?? 1000, process.getgid?.() ?? 1000];
  const inMemory = `rw,exec,nosuid,nodev,size=${limits.temporary},mode=1777`;
  const mounts = [
    ...mountsOf(inside),
    { from: process.execPath, at: nodeInside, isWritable: false },
    ...(home === undefined ? [] : [{ from: home, at: "/home", isWritable: true }]),
  ];
  return [
    ...["create", "--pull", "never", "--interactive", "--init", "--entrypoint", ""],
    ...["--name", `research-ralph-${randomUUID()}`],
    ...["--label", `${label}=${process.pid} ${(await startOfProcess(process.pid)) ?? ""}`],
    ...["--hostname", "sandbox", "--user", `${uid}:${gid}`, "--workdir", request.cwd],
    ...["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    ...["--memory", `${limits.memory}`, "--memory-swap", `${limits.memory}`, "--pids-limit", `${limits.processes}`],
    ...["--cpus", `${processors}`, "--ulimit", `fsize=${limits.file}:${limits.file}`, "--ulimit", "core=0:0"],
    ...["/tmp", ...(home === undefined ? [sandboxHome] : [])].flatMap((at) => ["--tmpfs", `${at}:${inMemory}`]),
    ...mounts.flatMap((mount) => ["--mount", mountOf(mount)]),
    ...Object.keys(environmentOf(inside)).flatMap((name) => ["--env", name]),
    ...["--", image, ...inside.command],
  ];
}

/** A mount as `docker` reads it: fields with commas between them, and quoted as in CSV. */
const mountOf = ({ from, at, isWritable }: ReturnType<typeof mountsOf>[number]): string =>
  ["type=bind", `source=${from}`, `target=${at}`, ...(isWritable ? [] : ["readonly"])]
    .map((field) => (/[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(",");

/** Lists containers by their id and who made them. */
const listed = ["ps", "--all", "--no-trunc", "--format", `{{.ID}}\t{{.Label "${label}"}}`];

/** Removes the containers of runs that were killed before they could. */
async function removeLeftovers(client: DockerClient, containers: string): Promise<void> {
  const left: string[] = [];
  for (const [, id = "", pid, started] of containers.matchAll(/^(\S+)\t(\d+) (.*)$/gm))
    if (!(await isSameProcess(Number(pid), started || undefined))) left.push(id);
  if (left.length > 0) await remove(client, left);
}
