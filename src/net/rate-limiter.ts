import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { messageOf } from "../engine/lib/errors.js";
import { startTimeOf } from "../engine/process/process-identity.js";
import { requestedPace, backoffAfter } from "./backoff.js";
import { type HostAccount, hostAccountOf, type HostBudget, type HostRule, type Service } from "./host-rules.js";
import { changeHost, hostBackoff, type HostState } from "./host-state.js";
import { type HttpFailure, interruptedFailure } from "./http-failure.js";
import type { Gate, HttpResponse, Turn } from "./http.js";
import type { Clock } from "../engine/lib/clock.js";

interface LimiterOptions {
  /** The folder with one file for each host; the same for all processes of this machine. */
  readonly folder: string;
  /** Must use the machine's time, which all processes share. */
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether requests contain a contact address; some services then allow a faster pace. */
  readonly hasContact: boolean;
  readonly replacedServices: readonly Service[];
  readonly budgets: readonly HostBudget[];
}

/** Milliseconds for which a pace that a host asked for is valid. */
const paceValidMs = 3600_000;
/** Milliseconds between two checks of an account that another process is using. */
const retryDelayMs = 50;

/** The requests of this process for one account. They wait here, so that only one waits for the lock of the file. */
interface AccountQueue {
  activeTurns: number;
  /** Resolves when the last request has reserved its time. The next reservation begins then. */
  lastReservation: Promise<unknown>;
  /** Called when a request has ended. */
  wakeNext: (() => void) | undefined;
}
const queues = new Map<string, AccountQueue>();

/**
 * The tokens of this process's current requests. If a file has another token with this process's id, its request has
 * ended, but the file could not be changed, for example because the disk was full.
 */
const ownTokens = new Set<string>();

/**
 * Keeps the pace of every host across all processes of this machine. A process takes a lock for about a millisecond,
 * reserves the next free time, and sleeps until then; if it is killed, only that time is lost. While a host refuses
 * requests, they fail with `rate_limited` at once, without a connection.
 */
export function hostLimiter(options: LimiterOptions): Gate {
  const { folder, signal, replacedServices, hasContact, budgets } = options;
  return {
    async enter(url, keyHash) {
      const account = hostAccountOf(url, { keyHash, hasContact, replacedServices, budgets });
      const key = join(folder, account.name);
      const queue = queues.get(key) ?? { activeTurns: 0, lastReservation: Promise.resolve(), wakeNext: undefined };
      queues.set(key, queue);
      const reservation = queue.lastReservation.then(() => reserveSlot(account, queue, url.host, options));
      queue.lastReservation = reservation.catch(() => undefined);
      try {
        const result = await reservation;
        if ("reason" in result) return result;
        return await waitForTime(result, options, url.host);
      } catch (error) {
        if (signal.aborted) return interruptedFailure;
        return {
          status: "error",
          reason: `The rate limit of ${url.host} cannot be kept: ${messageOf(error)}`,
          transient: true,
        };
      }
    },
  };
}

interface Reservation {
  readonly account: HostAccount;
  readonly queue: AccountQueue;
  readonly token: string;
  /** The time at which the request may start, in milliseconds since the epoch. */
  readonly startTime: number;
  /** The time at which the next request may start, as stored with this reservation. */
  readonly next: number;
}

async function reserveSlot(
  account: HostAccount,
  queue: AccountQueue,
  host: string,
  options: LimiterOptions,
): Promise<Reservation | HttpFailure> {
  const { folder, clock, signal } = options;
  const token = randomUUID();
  const started = await startTimeOf(process.pid);
  const ownRequest = { pid: process.pid, token, started };
  for (;;) {
    if (signal.aborted) return interruptedFailure;
    const result = await changeHost<Pick<Reservation, "startTime" | "next"> | HttpFailure | "busy">(
      folder,
      account.name,
      clock.now,
      async (state, abandonedCount) => {
        const now = clock.now();
        const { until } = state.standing;
        if (until !== undefined && until > now) return { value: rateLimitedFailure(host, until) };
        const rule = currentRule(account, state, now);
        const busy = state.busy.filter((request) => request.pid !== process.pid || ownTokens.has(request.token));
        if (busy.length >= rule.concurrency) return { value: "busy" };
        // A killed process may have started its request just before, even if its reserved time was much earlier.
        const startTime = Math.max(state.next, abandonedCount > 0 ? now + rule.intervalMs : now);
        const next = startTime + rule.intervalMs;
        return { state: { ...state, next, busy: [...busy, ownRequest] }, value: { startTime, next } };
      },
    );
    if (result !== "busy" && "reason" in result) return result;
    if (result !== "busy") {
      queue.activeTurns += 1;
      ownTokens.add(token);
      return { account, queue, token, ...result };
    }
    if (queue.activeTurns > 0) await new Promise<void>((resolve) => (queue.wakeNext = resolve));
    else await clock.sleep(clock.now() + retryDelayMs * (0.5 + Math.random()), signal);
  }
}

async function waitForTime(
  reservation: Reservation,
  options: LimiterOptions,
  host: string,
): Promise<Turn | HttpFailure> {
  const { clock, signal } = options;
  const turn = turnOf(reservation, options);
  const failure = await clock
    .sleep(reservation.startTime, signal)
    .then(() => (signal.aborted ? interruptedFailure : checkBackoff(reservation.account, options, host)))
    .catch(async (error: unknown) => {
      await turn.end();
      throw error;
    });
  if (failure === undefined) return turn;
  await turn.end();
  return failure;
}

/** The failure if a host has asked another process to wait while this process slept. */
async function checkBackoff(
  account: HostAccount,
  { folder, clock }: LimiterOptions,
  host: string,
): Promise<HttpFailure | undefined> {
  const { until } = await hostBackoff(folder, account.name, clock.now());
  return until === undefined || until <= clock.now() ? undefined : rateLimitedFailure(host, until);
}

function turnOf(
  { account, queue, token, startTime, next: reservedNext }: Reservation,
  { folder, clock }: LimiterOptions,
): Turn {
  let arrivedAt: number | undefined;
  return {
    markAnswered: () => (arrivedAt = clock.now()),
    async end(result) {
      try {
        return await changeHost(folder, account.name, clock.now, async (state) => {
          const newState = stateAfter(state, token, result === "unsent" ? undefined : result, clock.now());
          // The reserved time of a request that was not sent is free again, unless a later time is already reserved.
          if (result === "unsent" && state.next === reservedNext)
            return { state: { ...newState, next: startTime }, value: undefined };
          const rule = currentRule(account, newState, clock.now());
          // If the first request was slow to connect, the host sees a shorter interval than that between the two
          // starts.
          const next =
            rule.concurrency === 1 && arrivedAt !== undefined
              ? Math.max(newState.next, arrivedAt + rule.intervalMs)
              : newState.next;
          const { until } = newState.standing;
          return {
            state: { ...newState, next },
            value: until !== undefined && until > clock.now() ? until : undefined,
          };
        });
      } catch {
        // On a full disk the next request fails too and reports it. Entries of an ended process are ignored.
        return undefined;
      } finally {
        ownTokens.delete(token);
        queue.activeTurns -= 1;
        queue.wakeNext?.();
        queue.wakeNext = undefined;
      }
    },
  };
}

function stateAfter(state: HostState, token: string, result: HttpResponse | undefined, now: number): HostState {
  const busy = state.busy.filter((request) => request.token !== token);
  if (result === undefined) return { ...state, busy };
  const pace = requestedPace(result);
  return {
    ...state,
    busy,
    standing: backoffAfter(result, state.standing, now),
    ...(Object.keys(pace).length === 0 ? {} : { told: { ...pace, at: now } }),
  };
}

/** The rule, made stricter by the pace that the host has asked for recently. */
function currentRule(account: HostAccount, { told: pace }: HostState, now: number): HostRule {
  const isRecent = pace !== undefined && now - pace.at < paceValidMs;
  return {
    intervalMs: Math.max(account.intervalMs, (isRecent ? pace.intervalMs : undefined) ?? 0),
    concurrency: Math.min(account.concurrency, (isRecent ? pace.concurrency : undefined) ?? account.concurrency),
  };
}

const rateLimitedFailure = (host: string, until: number): HttpFailure => ({
  status: "rate_limited",
  reason: `${host} is rate-limiting us; no request is sent before ${new Date(until).toISOString().replace(/\.\d+Z$/, "Z")}.`,
  transient: true,
  retryAt: until,
  unsent: true,
});
