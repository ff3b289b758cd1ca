import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Duplex, PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import type { Container } from "dockerode";
import { messageOf } from "../lib/errors.js";
import { sandboxHome } from "../process/reach.js";
import { isSameProcess, startOfProcess } from "../process/process-identity.js";
import {
  type Exit,
  type ProcessEnd,
  type ProcessRequest,
  runStarted,
  type Start,
  type Started,
} from "../process/run-process.js";
import { type Inside, machineWide, mountsOf, openInside, prepareHome, toolRelay } from "./inside.js";
import { defaultLimits, type Limits, type Sandbox, type SandboxOptions } from "./sandbox.js";
import { watchResources } from "./watcher.js";

/** A Docker engine that answers here, or why it is missing and what to do about it. */
export type FoundDocker = { readonly engine: Docker } | { readonly problem: string; readonly fix: string };

/** How long the engine may take to answer that it is there, in milliseconds. */
const maxPing = 3000;
const usualSocket = "/var/run/docker.sock";

/** Looks for the engine on this machine: on DOCKER_HOST's unix socket, else on the usual one. */
export async function findDocker({ DOCKER_HOST = "" }: NodeJS.ProcessEnv): Promise<FoundDocker> {
  if (DOCKER_HOST !== "" && !DOCKER_HOST.startsWith("unix://"))
    return {
      problem: "DOCKER_HOST is another machine's engine, which does not see the files here",
      fix: "Unset DOCKER_HOST, or let it begin with unix://.",
    };
  const socketPath = DOCKER_HOST.replace(/^unix:\/\//, "") || usualSocket;
  if (!existsSync(socketPath)) return { problem: "Docker is not running", fix: "Install Docker and start it." };
  let engine: Docker;
  try {
    const { default: Engine } = await import("dockerode");
    engine = new Engine({ socketPath });
  } catch {
    return { problem: "the package dockerode is missing", fix: "Install it with `npm install dockerode@5.0.1`." };
  }
  try {
    await withinTime(engine.ping());
    await removeLeftovers(engine);
    return { engine };
  } catch (error) {
    return {
      problem: `Docker does not answer on ${socketPath} (${reasonOf(error)})`,
      fix: "Start it, and see that you may use it (the group docker).",
    };
  }
}

async function withinTime(answer: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in three seconds")), maxPing);
  });
  await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** Where our Node stands in a container, which may have none. */
const nodeInside = "/run/node";

/**
 * A sandbox of Docker containers, one a program. The root is read-only, there is no network but the proxy's socket, and
 * the kernel's limits hold.
 */
export function docker(engine: Docker, { home, limits: own, image }: SandboxOptions): Sandbox {
  const limits = { ...defaultLimits, ...dockerLimits, ...own };
  return {
    name: "docker",
    toolRelay: toolRelay(nodeInside),
    async *exec(request): AsyncGenerator<string, ProcessEnd> {
      let inside: Inside;
      try {
        if (home !== undefined) prepareHome(home, request);
        inside = await openInside(request, nodeInside);
      } catch (error) {
        return { cause: "not-started", startError: { message: messageOf(error) }, stderr: "" };
      }
      const tooMuch = new AbortController();
      const run: Run = { stop: () => undefined };
      const start = startIn(engine, { image: image ?? imageFor(request.cwd), inside, home, limits, run, tooMuch });
      try {
        const signal = AbortSignal.any([request.signal, tooMuch.signal]);
        const end = yield* runStarted({ ...request, signal }, start);
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

function startIn(engine: Docker, { image, inside, home, limits, run, tooMuch }: Contained): Start {
  return async (request) => {
    let container: Container | undefined;
    try {
      container = await engine.createContainer(await configOf(request, { image, inside, home, limits }));
      const made = container;
      const stream = await made.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true });
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      engine.modem.demuxStream(stream, stdout, stderr);
      const ended = () => {
        stdout.end();
        stderr.end();
      };
      stream.on("end", ended).on("close", ended).on("error", ended);
      await made.start();
      const { State } = await made.inspect();
      if (isSeen(State.Pid, made.id)) {
        const folders = inside.reach.write.map((mount) => (typeof mount === "string" ? mount : mount.from));
        const watcher = watchResources(State.Pid, folders, onlyDisk(limits), (what) => tooMuch.abort(what));
        run.stop = watcher.stop;
      }
      return { stdin: stream as Duplex, stdout, stderr, ...ending(made, run) };
    } catch (error) {
      await container?.remove({ force: true }).catch(() => undefined);
      return { startError: { code: isMissing(error) ? "image" : "docker", message: explained(error, image) } };
    }
  };
}

/** Processes and memory are the kernel's to count; a disk that the container shares with others is not. */
const onlyDisk = (limits: Limits): Limits => ({ ...limits, processes: Infinity, memory: Infinity });

/** Whether the engine's number of a process is ours too: it may run in a machine of its own. */
function isSeen(pid: number, id: string): boolean {
  try {
    return pid > 0 && readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(id);
  } catch {
    return false;
  }
}

/** How a container that runs comes to its end. */
function ending(container: Container, run: Run): Pick<Started, "exited" | "end" | "sweep" | "release"> {
  let removal: Promise<void> | undefined;
  const exited = (async (): Promise<Exit> => {
    try {
      const { StatusCode } = (await container.wait()) as { StatusCode: number };
      // Of a container that we removed there is nothing more to be known.
      if (removal === undefined) run.outOfMemory = (await container.inspect()).State.OOMKilled;
      return { exitCode: StatusCode };
    } catch {
      return { signal: "SIGKILL" };
    }
  })();
  const settled = exited.catch(() => undefined);
  return {
    exited,
    async end(graceMs) {
      await container.kill({ signal: "SIGTERM" }).catch(() => undefined);
      await Promise.race([settled, sleep(graceMs)]);
    },
    // The look at how it ended comes first, unless it has not ended at all.
    sweep: () =>
      (removal ??= Promise.race([settled, sleep(200)])
        .then(() => container.remove({ force: true, v: true }))
        .catch(() => undefined) as Promise<void>),
    release: () => undefined,
  };
}

async function configOf(
  request: ProcessRequest,
  { image, inside, home, limits }: Omit<Contained, "run" | "tooMuch">,
): Promise<Docker.ContainerCreateOptions> {
  const [uid, gid] = [process.getuid?.() ?? 1000, process.getgid?.() ?? 1000];
  const inMemory = `rw,exec,nosuid,nodev,size=${limits.temporary}`;
  const mounts = [
    ...mountsOf(inside),
    { from: process.execPath, at: nodeInside, isWritable: false },
    ...(home === undefined ? [] : [{ from: home, at: "/home", isWritable: true }]),
  ];
  return {
    name: `research-ralph-${randomUUID()}`,
    Image: image,
    Entrypoint: [],
    Cmd: [...inside.command],
    WorkingDir: request.cwd,
    Env: Object.entries(inside.env).map(([name, value]) => `${name}=${value}`),
    User: `${uid}:${gid}`,
    Hostname: "sandbox",
    Labels: { [label]: `${process.pid} ${(await startOfProcess(process.pid)) ?? ""}` },
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true, StdinOnce: true, Tty: false },
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: "none",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      // In place of Docker's own list, which is part of it.
      ReadonlyPaths: [...machineWide],
      Memory: limits.memory,
      MemorySwap: limits.memory,
      NanoCpus: processors * 1e9,
      PidsLimit: limits.processes,
      Ulimits: [
        { Name: "fsize", Soft: limits.file, Hard: limits.file },
        { Name: "core", Soft: 0, Hard: 0 },
      ],
      Init: true,
      Tmpfs: {
        "/tmp": `${inMemory},mode=1777`,
        ...(home === undefined ? { [sandboxHome]: `${inMemory},mode=1777` } : {}),
      },
      Mounts: mounts.map(({ from, at, isWritable }) => ({
        Type: "bind" as const,
        Source: from,
        Target: at,
        ReadOnly: !isWritable,
      })),
    },
  };
}

/** Removes the containers of runs that were killed before they could. */
async function removeLeftovers(engine: Docker): Promise<void> {
  for (const { Id, Labels } of await engine.listContainers({ all: true, filters: { label: [label] } })) {
    const [pid = "", ...started] = (Labels[label] ?? "").split(" ");
    if (await isSameProcess(Number(pid), started.join(" ") || undefined)) continue;
    await engine
      .getContainer(Id)
      .remove({ force: true, v: true })
      .catch(() => undefined);
  }
}

/** What the engine says of a failure; its own words stand in the answer and not in the error's message. */
function reasonOf(error: unknown): string {
  const { json } = error as { json?: { message?: unknown } | null };
  return (typeof json?.message === "string" ? json.message : messageOf(error)).trim().replace(/\.$/, "");
}

const isMissing = (error: unknown): boolean =>
  (error as { statusCode?: number }).statusCode === 404 && /no such image/i.test(reasonOf(error));

const explained = (error: unknown, image: string): string =>
  isMissing(error)
    ? `Docker has no image ${image}: get it with \`docker pull ${image}\`, or name another as sandbox_image in the configuration`
    : `Docker says: ${reasonOf(error)}`;
