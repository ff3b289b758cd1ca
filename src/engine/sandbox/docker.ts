import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { messageOf } from "../lib/errors.js";
import { sandboxHome } from "../process/access.js";
import { isSameProcess, startTimeOf } from "../process/process-identity.js";
import {
  type ProcessEnd,
  type ProcessRequest,
  runProgram,
  type StartProgram,
  startChild,
  type RunningProgram,
} from "../process/run-process.js";
import { programIn } from "../process/search-path.js";
import { withheldVariables } from "./environment.js";
import { type SandboxSession, mountsOf, openSession, prepareHome, toolRelay } from "./session.js";
import { defaultLimits, type Limits, type Sandbox, type SandboxOptions } from "./sandbox.js";
import { watchResources } from "./watcher.js";

/** The `docker` program of this machine, with the environment in which it reaches its engine. */
export interface DockerClient {
  readonly program: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/** The Docker client of this machine, or the reason why Docker can't be used and what the user can do about it. */
export type DockerSearch = { readonly client: DockerClient } | { readonly problem: string; readonly fix: string };

/** Timeout of the first request, which checks that the engine runs, in milliseconds. */
const pingTimeoutMs = 3_000;
/** Timeout of every other request, in milliseconds. */
const requestTimeoutMs = 60_000;

/**
 * Looks for Docker on this machine: the program `docker` in PATH, and the engine that DOCKER_HOST or the user's current
 * context names. Removes the containers that killed runs left behind.
 */
export async function findDocker(env: NodeJS.ProcessEnv): Promise<DockerSearch> {
  const program = programIn(env["PATH"] ?? "", "docker");
  if (program === undefined) return { problem: "Docker is not installed", fix: "Install Docker and start it." };
  const host = env["DOCKER_HOST"] || (await hostOfContext(program, env));
  if (host !== undefined && !host.startsWith("unix://"))
    return {
      problem: `Docker's engine is on another machine (${host}), which does not see the files here`,
      fix: "Unset DOCKER_HOST, or set it to an address that begins with unix://.",
    };
  // The user's Docker configuration is not used: it may contain the password of a proxy, and Docker would put that
  // password into containers.
  const client = { program, env: { DOCKER_CONFIG: "/nonexistent", DOCKER_HOST: host } };
  const containers = await runDocker(client, [...listArguments, "--filter", `label=${ownerLabel}`], {
    maxMs: pingTimeoutMs,
  });
  if (!containers.ok)
    return {
      problem: `Docker's engine does not answer (${containers.reason})`,
      fix: "Start Docker, and check that your user is in the group docker.",
    };
  await removeLeftovers(client, containers.stdout);
  return { client };
}

/** The address of the engine that the user has chosen with `docker context`; undefined if none is set. */
async function hostOfContext(program: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const client = { program, env: withoutUndefinedValues(env) };
  const { ok, stdout } = await runDocker(client, ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"]);
  return ok ? stdout.trim() || undefined : undefined;
}

const withoutUndefinedValues = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

interface DockerAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  /** Docker's error message, if `ok` is false. */
  readonly reason: string;
}

/** Runs `docker` with these arguments and waits until it exits. `env`: variables in addition to the client's. */
async function runDocker(
  client: DockerClient,
  args: readonly string[],
  { maxMs = requestTimeoutMs, env = {} }: { readonly maxMs?: number; readonly env?: Record<string, string> } = {},
): Promise<DockerAnswer> {
  const { exitCode, stdout, stderr, timedOut, shortMessage } = await execa(client.program, args, {
    env: { ...env, ...client.env },
    extendEnv: false,
    stdin: "ignore",
    reject: false,
    timeout: maxMs,
    forceKillAfterDelay: 1_000,
  });
  const reason = timedOut ? `no answer within ${maxMs / 1000} seconds` : failureMessage(stderr) || (shortMessage ?? "");
  return { ok: exitCode === 0, stdout, reason };
}

/** The last line of Docker's error output, without its prefix and full stop. */
const failureMessage = (stderr: string): string =>
  (stderr.trim().split("\n").at(-1) ?? "")
    .replace(/^(?:docker: |Error: |Error response from daemon: )+/, "")
    .replace(/\.(?: See 'docker .*)?$/, "")
    .trim();

/** Path, in a container, of the Node that runs this program. The image may have no Node. */
const nodePath = "/run/node";

/**
 * A sandbox of Docker containers, one per program. The root folder is read-only, the only network is the socket of the
 * proxy, and the kernel enforces the limits.
 */
export function docker(
  client: DockerClient,
  { env, home, limits: overrides, image, allowedVariables = [] }: SandboxOptions,
): Sandbox {
  const limits = { ...defaultLimits, ...dockerLimits, ...overrides };
  return {
    name: "docker",
    toolRelay: toolRelay(nodePath),
    hiddenVariables: withheldVariables(env, allowedVariables),
    async *exec(request): AsyncGenerator<string, ProcessEnd> {
      let session: SandboxSession;
      try {
        if (home !== undefined) prepareHome(home, request);
        session = await openSession(request, nodePath, allowedVariables);
      } catch (error) {
        return { cause: "not-started", startError: { message: messageOf(error) }, stderr: "" };
      }
      const limitController = new AbortController();
      const run: ContainerState = { stop: () => undefined };
      const start = containerStarter(client, {
        image: image ?? imageFor(request.cwd),
        session,
        home,
        limits,
        run,
        limitController,
      });
      try {
        const signal = AbortSignal.any([request.signal, limitController.signal]);
        const end = yield* runProgram({ ...request, signal }, start);
        if (run.startProblem !== undefined)
          return {
            cause: "not-started",
            startError: { code: "docker", message: `Docker says: ${run.startProblem}` },
            stderr: "",
          };
        const wasStopped = end.cause === "aborted" && !request.signal.aborted && limitController.signal.aborted;
        const resource =
          run.isOutOfMemory === true ? memoryMessage(limits) : wasStopped ? limitController.signal.reason : undefined;
        return {
          ...end,
          ...(resource === undefined ? {} : { cause: "resources" as const, resource: String(resource) }),
          notices: session.notices(),
        };
      } finally {
        run.stop();
        await session.close();
      }
    },
    close: () => Promise.resolve(),
  };
}

const gigabyte = 2 ** 30;
const dockerLimits = { maxProcesses: 256, maxMemoryBytes: 2 * gigabyte } as const;
const processorCount = 2;

const memoryMessage = ({ maxMemoryBytes }: Limits): string => `more than ${maxMemoryBytes / gigabyte} GB of memory`;

/** The usual image of each programming language, by a file that its projects contain. */
const images: readonly (readonly [file: string, image: string])[] = [
  ["package.json", "node:20"],
  ["Cargo.toml", "rust:1.75"],
  ...["pyproject.toml", "setup.py", "requirements.txt", "setup.cfg"].map((file) => [file, "python:3.11"] as const),
];

/** The image for the programming language of a folder. */
export const imageFor = (folder: string): string =>
  images.find(([file]) => existsSync(join(folder, file)))?.[1] ?? "node:20";

/** The state of a container's run, which is filled while it runs. */
interface ContainerState {
  isOutOfMemory?: boolean;
  /** Why the program in the container could not be started. */
  startProblem?: string;
  stop: () => void;
}

interface ContainerOptions {
  readonly image: string;
  readonly session: SandboxSession;
  readonly home: string | undefined;
  readonly limits: Limits;
  readonly run: ContainerState;
  readonly limitController: AbortController;
}

const ownerLabel = "dev.research-ralph.owner";

function containerStarter(
  client: DockerClient,
  { image, session, home, limits, run, limitController }: ContainerOptions,
): StartProgram {
  return async (request) => {
    const args = await argumentsOf(request, { image, session, home, limits });
    const creationResult = await runDocker(client, args, { env: environmentOf(session) });
    if (!creationResult.ok) return { startError: creationError(creationResult.reason, image) };
    const id = creationResult.stdout.trim();
    const dockerProcess = await startChild({
      ...request,
      command: client.program,
      args: ["start", "--attach", "--interactive", id],
      env: client.env,
      cwd: "/",
    });
    if ("startError" in dockerProcess) {
      await removeContainers(client, [id]);
      return dockerProcess;
    }
    const endController = new AbortController();
    run.stop = () => endController.abort();
    void watchDisk(client, id, { session, limits, limitController, signal: endController.signal });
    return { ...dockerProcess, ...makeEndMethods(client, id, { dockerProcess, run }) };
  };
}

/** The message for the user when a container could not be created. */
const creationError = (reason: string, image: string): { readonly code: string; readonly message: string } =>
  /no such image/i.test(reason)
    ? {
        code: "image",
        message: `Docker has no image ${image}: get it with \`docker pull ${image}\`, or name another as sandbox_image in the configuration`,
      }
    : { code: "docker", message: `Docker says: ${reason}` };

/** Interval between two requests for the process id of a starting container, in milliseconds. */
const startPollMs = 250;

/**
 * Watches the disk usage of a container; the kernel limits its processes and memory. Does nothing if the process of the
 * container is not visible on this machine (the engine may run in a virtual machine).
 */
async function watchDisk(
  client: DockerClient,
  id: string,
  {
    session: { access },
    limits,
    limitController,
    signal,
  }: Pick<ContainerOptions, "session" | "limits" | "limitController"> & { readonly signal: AbortSignal },
): Promise<void> {
  let pid = 0;
  while (pid === 0) {
    if (await sleep(startPollMs, false, { signal, ref: false }).catch(() => true)) return;
    const { ok, stdout } = await runDocker(client, ["inspect", "--format", "{{.State.Pid}}", id]);
    if (!ok) return;
    pid = Number(stdout.trim());
  }
  if (signal.aborted || !isVisibleHere(pid, id)) return;
  const folders = access.write.map((mount) => (typeof mount === "string" ? mount : mount.from));
  const diskLimits = { ...limits, maxProcesses: Infinity, maxMemoryBytes: Infinity };
  const watcher = watchResources(pid, folders, diskLimits, (excess) => limitController.abort(excess));
  signal.addEventListener("abort", () => watcher.stop());
}

/** Whether the process id that the engine reports is the id of the same process on this machine. */
function isVisibleHere(pid: number, id: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(id);
  } catch {
    return false;
  }
}

/** The methods that end a running container; `dockerProcess`: the `docker` process that forwards its streams. */
function makeEndMethods(
  client: DockerClient,
  id: string,
  { dockerProcess, run }: { readonly dockerProcess: RunningProgram; readonly run: ContainerState },
): Pick<RunningProgram, "exit" | "end" | "killAll"> {
  let removalPromise: Promise<void> | undefined;
  const exit = (async () => {
    const result = await dockerProcess.exit;
    // After a container is removed, Docker can no longer report its state.
    if (removalPromise === undefined) Object.assign(run, await readEndState(client, id));
    return result;
  })();
  return {
    exit,
    async end(graceMs) {
      await runDocker(client, ["kill", "--signal", "TERM", id]);
      await Promise.race([exit, sleep(graceMs)]);
    },
    // `exit` reads the state of the container, so it comes before the removal, unless the container still runs.
    killAll: () =>
      (removalPromise ??= Promise.race([exit, sleep(200)])
        .then(() => removeContainers(client, [id]))
        .then(() => dockerProcess.killAll())),
  };
}

/** The state of a container after its end. */
async function readEndState(
  client: DockerClient,
  id: string,
): Promise<Pick<ContainerState, "isOutOfMemory" | "startProblem">> {
  const { ok, stdout } = await runDocker(client, ["inspect", "--format", "{{json .State}}", id]);
  if (!ok) return {};
  const { Status, OOMKilled, Error } = JSON.parse(stdout) as { Status: string; OOMKilled: boolean; Error: string };
  // If the container never ran, its state holds the reason. The output of `docker start` could come from the program.
  return Status === "created" ? { startProblem: failureMessage(Error) } : { isOutOfMemory: OOMKilled };
}

/** Removes containers, running or not, with their volumes. */
async function removeContainers(client: DockerClient, ids: readonly string[]): Promise<void> {
  await runDocker(client, ["rm", "--force", "--volumes", ...ids]);
}

/** Variables that the `docker` client reads; a program does not get them. */
const isForClient = (name: string): boolean => name.startsWith("DOCKER_");

/**
 * The environment of the program. `docker` gets the values in its own environment, because every user of the machine
 * can read its arguments.
 */
const environmentOf = ({ env }: SandboxSession): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isForClient(name)));

/** The arguments of `docker` that create the container of a program. */
async function argumentsOf(
  request: ProcessRequest,
  { image, session, home, limits }: Omit<ContainerOptions, "run" | "limitController">,
): Promise<string[]> {
  const [uid, gid] = [process.getuid?.() ?? 1000, process.getgid?.() ?? 1000];
  const tmpfsOptions = `rw,exec,nosuid,nodev,size=${limits.maxTemporaryBytes},mode=1777`;
  const mounts = [
    ...mountsOf(session),
    { from: process.execPath, target: nodePath, isWritable: false },
    ...(home === undefined ? [] : [{ from: home, target: "/home", isWritable: true }]),
  ];
  return [
    ...["create", "--pull", "never", "--interactive", "--init", "--entrypoint", ""],
    ...["--name", `research-ralph-${randomUUID()}`],
    ...["--label", `${ownerLabel}=${process.pid} ${(await startTimeOf(process.pid)) ?? ""}`],
    ...["--hostname", "sandbox", "--user", `${uid}:${gid}`, "--workdir", request.cwd],
    ...["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    ...[
      "--memory",
      `${limits.maxMemoryBytes}`,
      "--memory-swap",
      `${limits.maxMemoryBytes}`,
      "--pids-limit",
      `${limits.maxProcesses}`,
    ],
    ...[
      "--cpus",
      `${processorCount}`,
      "--ulimit",
      `fsize=${limits.maxFileBytes}:${limits.maxFileBytes}`,
      "--ulimit",
      "core=0:0",
    ],
    ...["/tmp", ...(home === undefined ? [sandboxHome] : [])].flatMap((target) => [
      "--tmpfs",
      `${target}:${tmpfsOptions}`,
    ]),
    ...mounts.flatMap((mount) => ["--mount", mountOf(mount)]),
    ...Object.keys(environmentOf(session)).flatMap((name) => ["--env", name]),
    ...["--", image, ...session.command],
  ];
}

/** A mount in the syntax of `docker`: fields separated by commas, and quoted as in CSV. */
const mountOf = ({ from, target, isWritable }: ReturnType<typeof mountsOf>[number]): string =>
  ["type=bind", `source=${from}`, `target=${target}`, ...(isWritable ? [] : ["readonly"])]
    .map((field) => (/[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(",");

/** Arguments that list the containers of this program: their id and the process that created them. */
const listArguments = ["ps", "--all", "--no-trunc", "--format", `{{.ID}}\t{{.Label "${ownerLabel}"}}`];

/** Removes the containers of runs that were killed before they could remove them. */
async function removeLeftovers(client: DockerClient, containers: string): Promise<void> {
  const leftovers: string[] = [];
  for (const [, id = "", pid, started] of containers.matchAll(/^(\S+)\t(\d+) (.*)$/gm))
    if (!(await isSameProcess(Number(pid), started || undefined))) leftovers.push(id);
  if (leftovers.length > 0) await removeContainers(client, leftovers);
}
