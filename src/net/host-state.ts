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
  readonly busy: readonly Busy[];
  readonly standing: BackoffState;
  /** The pace that the host asked for last. */
  readonly told?: Partial<HostRule> & { readonly at: number };
}

interface Busy {
  readonly pid: number;
  /** Start of the process in the format of the system; absent if the system does not give it. */
  readonly started?: string;
  readonly token: string;
}

/** If a state is further in the future than this, the clock was set back after the state was written. */
const maxClockStepMs = 1000;

/**
 * Changes the state of an account under its lock. `change` returns the new state, or undefined to keep the old one.
 * `abandoned`: the number of requests in the file whose processes were killed.
 */
export async function changeHost<T>(
  folder: string,
  account: string,
  now: () => number,
  change: (state: HostState, abandoned: number) => Promise<{ readonly state?: HostState; readonly value: T }>,
): Promise<T> {
  const path = join(folder, `${account}.json`);
  return withExplainedErrors(path, async () => {
    makeFolder(folder);
    return withLock(
      `${path}.lock`,
      { subject: `The rate limit of ${account}`, waitMs: 60_000, isBrief: true },
      async () => {
        const before = await readState(path, now());
        const busy = await livingRequests(before.busy);
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
  const none: HostState = { at: now, next: now, busy: [], standing: noBackoff };
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return none;
    throw error;
  }
  const state = parse(text);
  // A power cut may have emptied the file; the time of the last request is then unknown.
  if (state === undefined) return { ...none, next: now + 3000 };
  const ahead = state.at - now;
  return ahead > maxClockStepMs ? shifted(state, -ahead) : state;
}

function parse(text: string): HostState | undefined {
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

function shifted(state: HostState, by: number): HostState {
  const { until } = state.standing;
  return {
    ...state,
    at: state.at + by,
    next: state.next + by,
    standing: { ...state.standing, ...(until === undefined ? {} : { until: until + by }) },
  };
}

/** The requests whose process still runs; a killed process does not remove its requests. */
async function livingRequests(busy: readonly Busy[]): Promise<Busy[]> {
  const known = await Promise.all(
    busy.map(async (each) => ({ each, lives: await isSameProcess(each.pid, each.started) })),
  );
  return known.flatMap(({ each, lives }) => (lives ? [each] : []));
}

/** Writes by renaming a file, so that a kill never loses the state. */
async function writeState(path: string, state: HostState): Promise<void> {
  const temporary = temporaryName(path);
  try {
    await writeFile(temporary, JSON.stringify(state));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
