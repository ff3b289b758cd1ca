import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fieldsIn } from "../engine/lib/json-fields.js";
import { hasCode } from "../engine/lib/errors.js";
import { withLock } from "../engine/storage/lock.js";
import { isSameProcess } from "../engine/process/process-identity.js";
import { withExplainedErrors } from "../engine/storage/explain-system-error.js";
import { noBackoff, type BackoffState } from "./backoff.js";
import type { HostRule } from "./host-rules.js";
import { temporaryName } from "../engine/storage/atomic-file.js";
import { makeFolder } from "../engine/storage/regular-file.js";

/** The state of one account, shared by all processes of this machine. Times are milliseconds since the epoch. */
export interface HostState {
  /** The time of the last write. */
  readonly at: number;
  /** The time at which the next request may start. */
  readonly next: number;
  /** Requests that run, or wait for their time. */
  readonly busy: readonly PendingRequest[];
  /** The refusals of the host so far. */
  readonly standing: BackoffState;
  /** The pace that the host asked for last. */
  readonly told?: Partial<HostRule> & { readonly at: number };
}

interface PendingRequest {
  readonly pid: number;
  /** Start of the process in the format of the system; absent if the system does not give it. */
  readonly started?: string;
  readonly token: string;
}

/** If a state is further in the future than this, the clock was set back after the state was written. */
const maxClockStepMs = 1000;

/**
 * Changes the state of an account under its lock. `change` returns the new state, or undefined to keep the old one.
 * `abandonedCount`: the number of requests in the file whose processes were killed.
 */
export async function changeHost<T>(
  folder: string,
  account: string,
  now: () => number,
  change: (state: HostState, abandonedCount: number) => Promise<{ readonly state?: HostState; readonly value: T }>,
): Promise<T> {
  const path = join(folder, `${account}.json`);
  return withExplainedErrors(path, async () => {
    makeFolder(folder);
    return withLock(
      `${path}.lock`,
      { subject: `The rate limit of ${account}`, waitMs: 60_000, isBrief: true },
      async () => {
        const before = await readState(path, now());
        const busy = await findLivingRequests(before.busy);
        const { state, value } = await change({ ...before, busy }, before.busy.length - busy.length);
        if (state !== undefined) await writeState(path, { ...state, at: now() });
        return value;
      },
    );
  });
}

/** The refusals of an account; none if its file can't be read. */
export async function hostBackoff(folder: string, account: string, now: number): Promise<BackoffState> {
  return (await readState(join(folder, `${account}.json`), now)).standing;
}

async function readState(path: string, now: number): Promise<HostState> {
  const emptyState: HostState = { at: now, next: now, busy: [], standing: noBackoff };
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return emptyState;
    throw error;
  }
  const state = parseState(text);
  // The file may be empty after a power cut; the time of the last request is then unknown.
  if (state === undefined) return { ...emptyState, next: now + 3000 };
  const aheadMs = state.at - now;
  return aheadMs > maxClockStepMs ? shiftTimes(state, -aheadMs) : state;
}

function parseState(text: string): HostState | undefined {
  const { at, next, busy, standing, told } = fieldsIn<HostState>(text) ?? {};
  if (
    typeof at !== "number" ||
    typeof next !== "number" ||
    !Array.isArray(busy) ||
    typeof standing?.refusals !== "number"
  )
    return undefined;
  return { at, next, busy, standing, ...(typeof told?.at === "number" ? { told } : {}) };
}

function shiftTimes(state: HostState, deltaMs: number): HostState {
  const { until } = state.standing;
  return {
    ...state,
    at: state.at + deltaMs,
    next: state.next + deltaMs,
    standing: { ...state.standing, ...(until === undefined ? {} : { until: until + deltaMs }) },
  };
}

/** The requests whose process still runs; a killed process does not remove its requests. */
async function findLivingRequests(busy: readonly PendingRequest[]): Promise<PendingRequest[]> {
  const checkedRequests = await Promise.all(
    busy.map(async (request) => ({ request, isAlive: await isSameProcess(request.pid, request.started) })),
  );
  return checkedRequests.flatMap(({ request, isAlive }) => (isAlive ? [request] : []));
}

/** Writes a new file and renames it, so that the state is complete even if the process is killed. */
async function writeState(path: string, state: HostState): Promise<void> {
  const temporaryPath = temporaryName(path);
  try {
    await writeFile(temporaryPath, JSON.stringify(state));
    await rename(temporaryPath, path);
  } catch (error) {
    await rm(temporaryPath, { force: true }).catch(() => undefined);
    throw error;
  }
}
