import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentDefinition, AgentSettings } from "../../../../src/engine/agents/definition.js";
import { readAddress } from "../../../../src/fleet/address.js";
import { type Coordinator, type CoordinatorOptions, openCoordinator } from "../../../../src/fleet/coordinator.js";
import { openSigner } from "../../../../src/fleet/jobs/signature.js";
import { type FleetWorker, openWorker, type WorkerEvent, type WorkerOptions } from "../../../../src/fleet/worker.js";
import type { AgentEvent, Brief, RunOptions } from "../../../../src/engine/loop/types.js";
import type { Exec, ProcessEnd, ProcessRequest } from "../../../../src/engine/process/run-process.js";
import type { RedisServer } from "../../../support/network/redis.js";

/** What an agent of these tests does: it is told in its brief. */
export interface Deed {
  /** Events that it prints, one a line. */
  readonly events?: readonly AgentEvent[];
  /** So many lines of text, with their numbers. */
  readonly lines?: number;
  readonly workMs?: number;
  /** It works until this file is there. */
  readonly gate?: string;
  /** What it leaves as result.json; by default nothing. */
  readonly result?: string;
  readonly message?: string;
  readonly fails?: { readonly kind: "rate-limit" | "auth"; readonly message: string; readonly reset_at?: string };
  /** Its limit ends so long after it has failed. */
  readonly resetInMs?: number;
}

/** An agent within this process: each line that it prints is an event. */
export const scripted: AgentDefinition = {
  name: "scripted",
  confinement: "workspace",
  free: true,
  invoke: () => ({ command: "scripted", args: [] }),
  processAccess: () => ({ read: [], write: [], hosts: [], keys: [], env: {} }),
  reader() {
    let answer: ReturnType<ReturnType<AgentDefinition["reader"]>["answer"]> = {};
    return {
      line(line) {
        const said = JSON.parse(line) as AgentEvent | { type: "answer"; answer: typeof answer };
        if (said.type !== "answer") return [said];
        answer = said.answer;
        return [];
      },
      isFinished: () => false,
      answer: () => answer,
    };
  },
  check: async () => ({ ok: true, detail: "" }),
};

/** Agents that were started and not ended yet, in this process. */
export const atWork = new Set<ProcessRequest>();

const doIt: Exec = async function* (request): AsyncGenerator<string, ProcessEnd> {
  atWork.add(request);
  try {
    const deed = JSON.parse(request.stdin) as Deed;
    for (const event of deed.events ?? []) yield JSON.stringify(event);
    for (let line = 0; line < (deed.lines ?? 0); line++)
      yield JSON.stringify({ type: "text", text: `${line} ${"x".repeat(95)}` });
    const until = performance.now() + (deed.workMs ?? 0);
    while (performance.now() < until && !request.signal.aborted)
      await new Promise((resolve) => setTimeout(resolve, Math.min(20, until - performance.now())));
    while (deed.gate !== undefined && !existsSync(deed.gate) && !request.signal.aborted)
      await new Promise((resolve) => setTimeout(resolve, 20));
    if (request.signal.aborted) return { cause: "aborted", stderr: "" };
    if (deed.result !== undefined) writeFileSync(join(request.cwd, "result.json"), deed.result);
    const { resetInMs } = deed;
    const reset = resetInMs === undefined ? {} : { reset_at: new Date(Date.now() + resetInMs).toISOString() };
    yield JSON.stringify({
      type: "answer",
      answer: deed.fails === undefined ? { message: deed.message ?? "done" } : { failure: { ...deed.fails, ...reset } },
    });
    return { cause: "exited", exitCode: 0, stderr: "" };
  } finally {
    atWork.delete(request);
  }
};

export const fresh = (name = "rr-fleet-"): string => realpathSync(mkdtempSync(join(tmpdir(), name)));

let made: string | undefined;
/** The home of the user whose coordinators and workers are in this process. */
export const home = (): string => (made ??= fresh("rr-home-"));

/** Settings of a worker in this process. */
export const settingsIn = (stateDir: string, more: Partial<AgentSettings> = {}): AgentSettings => ({
  iterationMs: 600_000,
  idleMs: 0,
  unconfined: false,
  classic: false,
  stateDir,
  exec: doIt,
  transcript: () => undefined,
  adapters: [scripted],
  secrets: [],
  agents: {},
  cwd: stateDir,
  env: {},
  ...more,
});

/** A worker in this process, and what it has told. */
export async function startWorker(
  { url }: Pick<RedisServer, "url">,
  more: Partial<WorkerOptions> = {},
): Promise<FleetWorker & { readonly told: WorkerEvent[] }> {
  const told: WorkerEvent[] = [];
  const worker = await openWorker({
    address: readAddress(url, false),
    agent: "scripted",
    concurrency: 4,
    accepts: [(await openSigner(home())).key],
    settings: settingsIn(fresh()),
    now: Date.now,
    tell: (event) => void told.push(event),
    ...more,
  });
  return { ...worker, told };
}

export const coordinate = (
  { url }: Pick<RedisServer, "url">,
  more: Partial<CoordinatorOptions> = {},
): Promise<Coordinator> =>
  openCoordinator(readAddress(url, false), {
    project: "a project",
    replacedPaths: new Map(),
    redact: (text) => text,
    maxIterationMs: 600_000,
    maxWaitMs: 60_000,
    home: home(),
    now: Date.now,
    ...more,
  });

/** A brief that asks for this deed. */
export function asking(iteration: number, deed: Deed): Brief {
  const workspace = join(fresh(), String(iteration));
  mkdirSync(workspace);
  const text = JSON.stringify(deed);
  return { iteration, text, tokens: 1, workspace, access: { web: false, read: false, everything: false } };
}

/** Everything that a run says, up to its end. */
export async function heardOf(
  run: AsyncIterable<AgentEvent>,
  each: (event: AgentEvent) => unknown = () => undefined,
): Promise<AgentEvent[]> {
  const heard: AgentEvent[] = [];
  for await (const event of run) {
    heard.push(event);
    await each(event);
  }
  return heard;
}

export const runOptions = (signal: AbortSignal = new AbortController().signal): RunOptions => ({ signal });

/** Waits until something holds; the test's own limit ends it. */
export async function until(holds: () => unknown): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}
