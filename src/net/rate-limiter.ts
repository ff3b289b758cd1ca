import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { messageOf } from "../engine/lib/errors.js";
import { startOfProcess } from "../engine/process/process-identity.js";
import { paceTold, backoffAfter } from "./backoff.js";
import { type HostAccount, hostAccountOf, type HostBudget, type HostRule, type StandIn } from "./host-rules.js";
import { changeHost, hostBackoff, type HostState } from "./host-state.js";
import type { HttpFailure } from "./http-failure.js";
import type { Gate, HttpResponse, Turn } from "./http.js";
import type { Clock } from "../engine/lib/clock.js";

interface LimiterOptions {
  /** One file a host; the same for all processes of this machine. */
  readonly folder: string;
  /** By the machine's own time, which all processes share. */
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether requests name a contact address, which some services answer with a quicker pace. */
  readonly contact: boolean;
  readonly standIns: readonly StandIn[];
  readonly budgets: readonly HostBudget[];
}

/** How long a pace that a host told is kept to. */
const tellingLasts = 3600_000;
/** Between two looks at a host that another process is asking. */
const lookAgain = 50;

/** The turns of this process at one account, so that they queue here instead of at the file. */
interface Place {
  turns: number;
  /** Entrants one after the other. */
  entrance: Promise<unknown>;
  /** Told whenever a turn has ended. */
  wakeNext: (() => void) | undefined;
}
const places = new Map<string, Place>();

/** Turns of this process. One that is not among them was left in the file when the disk was full. */
const held = new Set<string>();

/**
 * Keeps the pace of every host over all processes of this machine. A process reserves the next free moment under a lock
 * that is held for about a millisecond, then sleeps until it: one that is killed costs a single moment. While a host
 * wants to be left alone, requests are answered `rate_limited` at once and no connection is made.
 */
export function hostLimiter(options: LimiterOptions): Gate {
  const { folder, signal, standIns, contact, budgets } = options;
  return {
    async enter(url, keyHash) {
      const account = hostAccountOf(url, { keyHash, contact, standIns, budgets });
      const key = join(folder, account.name);
      const place = places.get(key) ?? { turns: 0, entrance: Promise.resolve(), wakeNext: undefined };
      places.set(key, place);
      const entering = place.entrance.then(() => enter(account, place, url.host, options));
      place.entrance = entering.catch(() => undefined);
      try {
        const entered = await entering;
        if ("reason" in entered) return entered;
        return await waitForTime(entered, options, url.host);
      } catch (error) {
        if (signal.aborted) return interrupted;
        return {
          status: "error",
          reason: `The rate limit of ${url.host} cannot be kept: ${messageOf(error)}`,
          transient: true,
        };
      }
    },
  };
}

const interrupted: HttpFailure = {
  status: "error",
  reason: "Fetching was interrupted.",
  transient: true,
  unreached: true,
};

interface Reserved {
  readonly account: HostAccount;
  readonly place: Place;
  readonly token: string;
  /** When the request may start. */
  readonly slot: number;
  /** When the one after it may, as was reserved. */
  readonly next: number;
}

async function enter(
  account: HostAccount,
  place: Place,
  host: string,
  options: LimiterOptions,
): Promise<Reserved | HttpFailure> {
  const { folder, clock, signal } = options;
  const token = randomUUID();
  const started = await startOfProcess(process.pid);
  const me = { pid: process.pid, token, started };
  for (;;) {
    if (signal.aborted) return interrupted;
    const answer = await changeHost<Pick<Reserved, "slot" | "next"> | HttpFailure | "busy">(
      folder,
      account.name,
      clock.now,
      async (state, abandoned) => {
        const now = clock.now();
        const { until } = state.standing;
        if (until !== undefined && until > now) return { value: asksToWait(host, until) };
        const rule = ruleNow(account, state, now);
        const busy = state.busy.filter((each) => each.pid !== process.pid || held.has(each.token));
        if (busy.length >= rule.concurrency) return { value: "busy" };
        // A process that was killed may have started its request as late as just now, however early its moment was.
        const slot = Math.max(state.next, abandoned > 0 ? now + rule.intervalMs : now);
        const next = slot + rule.intervalMs;
        return { state: { ...state, next, busy: [...busy, me] }, value: { slot, next } };
      },
    );
    if (answer !== "busy" && "reason" in answer) return answer;
    if (answer !== "busy") {
      place.turns += 1;
      held.add(token);
      return { account, place, token, ...answer };
    }
    if (place.turns > 0) await new Promise<void>((resolve) => (place.wakeNext = resolve));
    else await clock.sleep(clock.now() + lookAgain * (0.5 + Math.random()), signal);
  }
}

async function waitForTime(reserved: Reserved, options: LimiterOptions, host: string): Promise<Turn | HttpFailure> {
  const { clock, signal } = options;
  const turn = turnOf(reserved, options);
  const obstacle = await clock
    .sleep(reserved.slot, signal)
    .then(() => (signal.aborted ? interrupted : toldSince(reserved.account, options, host)))
    .catch(async (error: unknown) => {
      await turn.end();
      throw error;
    });
  if (obstacle === undefined) return turn;
  await turn.end();
  return obstacle;
}

/** Another process may have been told to wait while this one slept. */
async function toldSince(
  account: HostAccount,
  { folder, clock }: LimiterOptions,
  host: string,
): Promise<HttpFailure | undefined> {
  const { until } = await hostBackoff(folder, account.name, clock.now());
  return until === undefined || until <= clock.now() ? undefined : asksToWait(host, until);
}

function turnOf({ account, place, token, slot, next: reserved }: Reserved, { folder, clock }: LimiterOptions): Turn {
  let arrived: number | undefined;
  return {
    answered: () => (arrived = clock.now()),
    async end(answer) {
      try {
        return await changeHost(folder, account.name, clock.now, async (state) => {
          const after = ended(state, token, answer === "unsent" ? undefined : answer, clock.now());
          // The moment of a request that never left is free again, unless others queue behind it already.
          if (answer === "unsent" && state.next === reserved)
            return { state: { ...after, next: slot }, value: undefined };
          const rule = ruleNow(account, after, clock.now());
          // From the start of one request to the start of the next the host may see less, where the first was slow to
          // connect.
          const next =
            rule.concurrency === 1 && arrived !== undefined
              ? Math.max(after.next, arrived + rule.intervalMs)
              : after.next;
          const { until } = after.standing;
          return { state: { ...after, next }, value: until !== undefined && until > clock.now() ? until : undefined };
        });
      } catch {
        // A full disk: the next request meets it too, and says so. Nobody waits for this process once it has ended.
        return undefined;
      } finally {
        held.delete(token);
        place.turns -= 1;
        place.wakeNext?.();
        place.wakeNext = undefined;
      }
    },
  };
}

function ended(state: HostState, token: string, answer: HttpResponse | undefined, now: number): HostState {
  const busy = state.busy.filter((each) => each.token !== token);
  if (answer === undefined) return { ...state, busy };
  const told = paceTold(answer);
  return {
    ...state,
    busy,
    standing: backoffAfter(answer, state.standing, now),
    ...(Object.keys(told).length === 0 ? {} : { told: { ...told, at: now } }),
  };
}

/** The rule, tightened by what the host has told of late. */
function ruleNow(account: HostAccount, { told }: HostState, now: number): HostRule {
  const isRecent = told !== undefined && now - told.at < tellingLasts;
  return {
    intervalMs: Math.max(account.intervalMs, (isRecent ? told.intervalMs : undefined) ?? 0),
    concurrency: Math.min(account.concurrency, (isRecent ? told.concurrency : undefined) ?? account.concurrency),
  };
}

const asksToWait = (host: string, until: number): HttpFailure => ({
  status: "rate_limited",
  reason: `${host} is rate-limiting us; no request is sent before ${new Date(until).toISOString().replace(/\.\d+Z$/, "Z")}.`,
  transient: true,
  retryAt: until,
  unsent: true,
});
