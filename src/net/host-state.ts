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

/** What all processes of this machine know together of one account. Times are milliseconds since the epoch. */
export interface HostState {
  /** When this was written. */
  readonly at: number;
  /** No request starts before. */
  readonly next: number;
  /** Requests under way, or waiting for their time. */
  readonly busy: readonly Busy[];
  readonly standing: BackoffState;
  /** The pace that the host asked for last. */
  readonly told?: Partial<HostRule> & { readonly at: number };
}

interface Busy {
  readonly pid: number;
  /** Start of the process in the system's own words, as far as it tells. */
  readonly started?: string;
  readonly token: string;
}

/** A clock that was set back by more than this shows: what stands in the future then was written before. */
const maxClockStepMs = 1000;

/**
 * Changes what is known of an account, alone among all processes. `change` answers with the new state, or undefined to
 * leave the old one; it is also told how many requests were left in the file by processes that were killed.
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
      { describe: `The rate limit of ${account}`, waitMs: 60_000, isBrief: true },
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

/** How an account stands, as far as can be read. */
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
  // Emptied by a power cut: nobody knows when the host was asked last.
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

/** A killed process never ends its requests. */
async function livingRequests(busy: readonly Busy[]): Promise<Busy[]> {
  const known = await Promise.all(
    busy.map(async (each) => ({ each, lives: await isSameProcess(each.pid, each.started) })),
  );
  return known.flatMap(({ each, lives }) => (lives ? [each] : []));
}

/** By renaming, so that no kill loses what a host asked for. */
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
