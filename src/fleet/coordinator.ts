import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import { durationText, timeoutReason } from "../engine/lib/clock.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { ExpectedError, hasCode, messageOf, faultOfMachine } from "../engine/lib/errors.js";
import { resultName } from "../engine/lib/layout.js";
import type { AgentEnd, AgentEvent, Brief, Failure, RunOptions } from "../engine/loop/types.js";
import { explainSystemError } from "../engine/storage/explain-system-error.js";
import type { RedisAddress } from "./address.js";
import { type Reached, reach } from "./connect.js";
import { type Hearing, hearingOf, type Used } from "./received-events.js";
import { jobOf, type Leaving, signed, timeOver } from "./jobs/job.js";
import { maxSentAgain, prefix, queueOf, times, wantedOf } from "./keys.js";
import { leaseOf } from "./lease.js";
import { awake, firstAwake, missing, offersIn, taking } from "./offers.js";
import { ranksOf } from "./priorities.js";
import { ownSigner } from "./jobs/signature.js";
import { type Entry, entryOf, readerOf, type TooLarge } from "./talk.js";

/** Sends the briefs of one run to workers, and hears what becomes of them. */
export interface Coordinator {
  /** Runs an agent once, as Agent.run. */
  run(agent: string, brief: Brief, options: RunOptions): AsyncGenerator<AgentEvent>;
  /** Why nothing more of the run may be begun, on this machine either; undefined while it may. */
  over(): string | undefined;
  /** Wants nothing any more, and closes the connections. */
  close(): Promise<void>;
}

export interface CoordinatorOptions extends Leaving {
  /** The project's name, for people; of work outside of a project, what it is. */
  readonly project: string;
  /** The project's random id: who works on it now is one coordinator alone. Absent: nobody else can. */
  readonly projectId?: () => Promise<string>;
  /** Most wall time of one iteration. Milliseconds. */
  readonly iterationMs: number;
  /** How long a worker is waited for. Milliseconds. */
  readonly patienceMs: number;
  /** The user's home folder, in which the key lies that jobs are signed with. */
  readonly home: string;
  readonly now: () => number;
}

/** A job that is wanted. */
interface Live {
  readonly queue: string;
  /** What was said and not yet taken; the reader waits for `taken`. */
  readonly inbox: { readonly entry: Entry | TooLarge; readonly taken: () => void }[];
  wake(): void;
}

/**
 * So many times a worker that begins a job gives it new time: one that lies could begin it again and again without end.
 */
const mostBegun = 20;

/**
 * Reaches Redis. With its first job, when the project's own lock is held, it takes the project over: what an earlier
 * run of it wanted is not wanted any more.
 * @throws ExpectedError as `reach` and `ownSigner`.
 */
export async function openCoordinator(address: RedisAddress, options: CoordinatorOptions): Promise<Coordinator> {
  const signer = await ownSigner(options.home);
  const { now } = options;
  const reached = await reach(address);
  const run = randomBytes(8).toString("hex");
  const [redis, ear] = [reached.open(), reached.open()];
  const queues = new Map<string, Queue>();
  const live = new Map<string, Live>();
  const used = new Set<string>();
  const ranks = ranksOf();
  let isClosed = false;
  const forgetting = new Set<Promise<void>>();
  const lease = leaseOf({
    redis,
    run,
    project: options.project,
    projectId: options.projectId,
    wanted: () => live.keys(),
    queues: () => [...queues.keys()],
    remove: (name, job) => queueFor(name).remove(job),
    replaced() {
      for (const each of live.values()) each.wake();
    },
  });
  const reader = readerOf(ear, run, hear, () => isClosed);

  function queueFor(name: string): Queue {
    const known = queues.get(name) ?? openQueue(reached, name, redis);
    queues.set(name, known);
    return known;
  }

  /** Hands an entry to the lane of its job, and waits until that has taken it. */
  async function hear(fields: readonly string[]): Promise<void> {
    const entry = entryOf(fields);
    const job = entry === undefined ? undefined : live.get(entry.job);
    if (entry === undefined || job === undefined) return;
    await new Promise<void>((taken) => {
      job.inbox.push({ entry, taken });
      job.wake();
    });
  }

  /** A name for a job that no other of this run has had. */
  function nameFor(iteration: number): string {
    for (let again = 1; ; again += 1) {
      const name = again === 1 ? `${run}-${iteration}` : `${run}-${iteration}-${again}`;
      if (used.has(name)) continue;
      used.add(name);
      return name;
    }
  }

  /** Why the queue will never say anything of a job again; undefined while it may. Pending while Redis is away. */
  async function lossOf(queue: Queue, id: string): Promise<Failure | undefined> {
    const state = await queue.getJobState(id);
    if (state !== "unknown" && state !== "failed" && state !== "completed") return undefined;
    const reason = state === "failed" ? (await queue.getJob(id))?.failedReason : undefined;
    // A later run of the project removes what waits; the next beat, which may be far, would say so too.
    await lease.beat();
    if (lease.isReplaced()) return replaced;
    // Its end may lie unread, behind what other lanes have not taken yet.
    await reader.toItsEnd();
    if (reason === undefined)
      return { kind: "network", message: "The job is lost: Redis no longer knows it. It starts again." };
    await queue.remove(id).catch(() => 0);
    return /stalled/i.test(reason)
      ? { kind: "crashed", message: "Three workers in a row died while they ran the agent; find out what ends them." }
      : {
          kind: reason.includes(timeOver) ? "network" : "crashed",
          message: `No worker took the job: ${reason.slice(0, 500)}.`,
        };
  }

  /**
   * A limit is of one worker's login or key, and others may go on: so it ends the run's iteration only once all of them
   * rest, or as many as can be tried have reached theirs.
   */
  async function* runAgent(agent: string, brief: Brief, run: RunOptions): AsyncGenerator<AgentEvent> {
    let used: Used | undefined;
    for (let sent = 1; ; sent++) {
      const hearing = hearingOf(used);
      const end = yield* runJob(agent, brief, run, hearing);
      if (end.failure?.kind !== "rate-limit") return yield end;
      const all = taking(await offersIn(redis, queueOf(agent)).catch(() => []), signer.key);
      const others = awake(all, now()).filter(({ name }) => name !== hearing.worker());
      if (others.length === 0 || sent > maxSentAgain || run.signal.aborted)
        return yield failed(earliest(end.failure, awake(all, now()).length > 0 ? undefined : firstAwake(all)));
      used = hearing.used();
      const message = `${hearing.worker() ?? "A worker"} has reached a limit (${end.failure.message}); the work is sent to another worker.`;
      yield { type: "notice", message };
    }
  }

  /** Answers with how it ended; says everything before. */
  async function* runJob(
    agent: string,
    brief: Brief,
    { signal, maxUsd, maxMs }: RunOptions,
    hearing: Hearing,
  ): AsyncGenerator<AgentEvent, AgentEnd> {
    const allowed = {
      // A worker takes no job without money or time.
      ...(maxUsd === undefined ? {} : { maxUsd: Math.max(0.01, maxUsd) }),
      maxMs: Math.max(1, Math.min(options.iterationMs, maxMs ?? Infinity)),
    };
    const name = queueOf(agent);
    const queue = queueFor(name);
    const id = nameFor(brief.iteration);
    const job = await jobOf({ run, id, queue: name, expires: now() + times.job }, brief, allowed, options).catch(
      (error: unknown) => fileFailure(error, brief.workspace),
    );
    if ("kind" in job) return failed(job);
    const data = signed(job, signer);
    let wake = (): void => undefined;
    const mine: Live = { queue: name, inbox: [], wake: () => wake() };
    const onAbort = (): void => wake();
    signal.addEventListener("abort", onAbort, { once: true });
    live.set(id, mine);
    const sentAt = performance.now();
    let [heardAt, lookedAt] = [sentAt, sentAt];
    let looking: Promise<void> | undefined;
    let loss: Failure | undefined;
    let notice: string | undefined;
    /** Since when no worker could have the job. */
    let aloneSince: number | undefined;
    let isToldAlone = false;
    /** When its worker should have ended it long ago. */
    let deadline = Infinity;
    let begun = 0;
    /** How long Redis may be away: never less than what agents outlive. */
    const mostAway = Math.min(Math.max(options.patienceMs, times.lease), 2 ** 31 - 1);
    const unanswered: Failure = { kind: "network", message: `Redis has not answered for ${durationText(mostAway)}.` };

    /** Looks whether the job is still there, and whether anybody has it or is there to do it. */
    async function look(): Promise<void> {
      // A worker that is about to end offers nothing any more, and still has its jobs.
      const [offers, locks] = await Promise.all([offersIn(redis, name), redis.exists(`${queue.toKey(id)}:lock`)]);
      // Its time runs while somebody has it; put back, it may have to wait for a place.
      if (locks === 0) deadline = Infinity;
      else if (deadline === Infinity) deadline = performance.now() + allowed.maxMs + times.grace;
      const none = locks > 0 ? undefined : missing(offers, agent, signer.key);
      const takers = taking(offers, signer.key);
      const isResting = locks === 0 && takers.length > 0 && awake(takers, now()).length === 0;
      let lonely: Failure | undefined = isResting ? allRest(agent, firstAwake(takers)) : undefined;
      if (none === undefined) [aloneSince, isToldAlone] = [undefined, false];
      else {
        aloneSince ??= Math.max(heardAt, lookedAt);
        const waited = performance.now() - aloneSince;
        if (waited >= times.noWorker && !isToldAlone) [isToldAlone, notice] = [true, none];
        if (waited >= options.patienceMs)
          lonely = {
            kind: "auth",
            message: `${none} No worker offered it within ${durationText(options.patienceMs)}.`,
          };
      }
      // Its end may have been said before the last worker went.
      if (lonely !== undefined) await reader.toItsEnd();
      const lost = lonely ?? (await lossOf(queue, id));
      // What was heard meanwhile says more.
      if (performance.now() - heardAt >= times.silence) loss ??= lost;
    }

    try {
      let late: NodeJS.Timeout | undefined;
      const unsent = await Promise.race([
        send().then(noFailure, (error: unknown) => unsentFailure(error, brief.workspace)),
        aborted(signal),
        new Promise<Failure>((resolve) => (late = setTimeout(() => resolve(unanswered), mostAway))),
      ]).finally(() => clearTimeout(late));
      if (unsent !== undefined) return failed(unsent);
      for (;;) {
        if (signal.aborted) return failed(abortion(signal));
        if (isClosed) return failed({ kind: "aborted", message: "The agent was ended because the run is over." });
        if (performance.now() >= deadline)
          return failed({
            kind: "timeout",
            message: `${agent} is no longer waited for: ${hearing.worker() ?? "its worker"} should have ended it after ${durationText(allowed.maxMs)}, and did not report that.`,
          });
        const next = mine.inbox.shift();
        if (next !== undefined) {
          try {
            if (hearing.isOld(next.entry.attempt)) continue;
            [heardAt, aloneSince] = [performance.now(), undefined];
            if ("tooLarge" in next.entry)
              return failed({
                kind: "crashed",
                message: "The worker sent too much output at once, so the attempt was ended.",
              });
            for (const item of hearing.hear(next.entry)) {
              if (item.type === "begun") {
                ranks.begun(id);
                begun += 1;
                if (begun <= mostBegun) deadline = performance.now() + allowed.maxMs + times.grace;
              }
              if (item.type === "result") {
                const unkept = await keepResult(brief.workspace, item);
                if (unkept === undefined) continue;
                return failed(unkept);
              }
              const saidAt = performance.now();
              if (item.type === "end") return item;
              yield item;
              // A slow listener holds its worker up.
              deadline += performance.now() - saidAt;
            }
          } finally {
            next.taken();
          }
          continue;
        }
        if (lease.isReplaced()) return failed(replaced);
        if (notice !== undefined) {
          const message = notice;
          notice = undefined;
          yield { type: "notice", message };
        }
        if (loss !== undefined) return failed(loss);
        const quiet = performance.now() - Math.max(heardAt, lookedAt);
        if (looking !== undefined && quiet >= times.silence + mostAway) return failed(unanswered);
        if (quiet >= times.silence)
          looking ??= look()
            .catch(() => undefined)
            .finally(() => {
              [looking, lookedAt] = [undefined, performance.now()];
              wake();
            });
        await pause();
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      live.delete(id);
      for (const each of mine.inbox) each.taken();
      forget(queue, id, ranks.over(id));
    }

    async function send(): Promise<void> {
      const isWanted = (): boolean => live.has(id) && !isClosed && !lease.isReplaced();
      await lease.take();
      if (!isWanted()) return;
      const rank = ranks.add(id);
      await lease.beat();
      if (!isWanted()) return;
      await queue.add("run", data as object, {
        jobId: id,
        priority: rank,
        removeOnComplete: true,
        removeOnFail: { age: 3_600, count: 100 },
      });
      if (!isWanted()) forget(queue, id, undefined);
    }

    function pause(): Promise<void> {
      return new Promise((resolve) => {
        const timer = setTimeout(done, times.look);
        function done(): void {
          clearTimeout(timer);
          wake = () => undefined;
          resolve();
        }
        wake = done;
        if (mine.inbox.length > 0 || signal.aborted || isClosed) done();
      });
    }
  }

  /** Takes back what is not wanted any more, and lets the next of our own move up. */
  function forget(queue: Queue, id: string, promoted: ReturnType<typeof ranks.over>): void {
    const forgotten = takeBack(queue, id, promoted).finally(() => forgetting.delete(forgotten));
    forgetting.add(forgotten);
  }

  async function takeBack(queue: Queue, id: string, promoted: ReturnType<typeof ranks.over>): Promise<void> {
    try {
      await redis.srem(wantedOf(run), id);
      // Fails for one that a worker has; that ends it at its next look.
      await queue.remove(id).catch(() => 0);
      const next = promoted === undefined ? undefined : live.get(promoted.job);
      if (promoted === undefined || next === undefined) return;
      const job = await queueFor(next.queue).getJob(promoted.job);
      await job?.changePriority({ priority: promoted.rank });
    } catch {
      // Redis is away or the run over; the next beat writes what is wanted.
    }
  }

  return {
    run: runAgent,
    over: () => (lease.isReplaced() ? replaced.message : undefined),
    async close() {
      isClosed = true;
      for (const [id, each] of live) {
        forget(queueFor(each.queue), id, undefined);
        each.wake();
      }
      ear.disconnect();
      const told = lease.release();
      // Where Redis is away, the lease ends by itself.
      const allTold = Promise.all([told, ...forgetting]);
      await Promise.race([allTold, sleep(2_000)]);
      for (const queue of queues.values()) await Promise.race([queue.close().catch(() => undefined), told]);
      redis.disconnect();
    },
  };
}

const noFailure = (): undefined => undefined;

/** Why a job could not be put into the queue: Redis refused it, or a file of this machine could not be written. */
function unsentFailure(error: unknown, path: string): Failure {
  if (error instanceof ExpectedError) return { kind: "unusable", message: error.message };
  if (isOfFiles(error)) return fileFailure(error, path);
  const message = messageOf(error);
  return /^(?:NOPERM|NOAUTH|WRONGPASS)/.test(message)
    ? {
        kind: "auth",
        message: `Redis does not let this run send work: ${message}. Give its user the rights that docs/fleet.md lists.`,
      }
    : { kind: "network", message: `Redis did not take the job: ${message}.` };
}

const allRest = (agent: string, reset: string | undefined): Failure => ({
  kind: "rate-limit",
  message: `All workers of ${agent} have reached a limit.`,
  ...withoutUndefined({ reset_at: reset }),
});

/** A limit that ends when the first worker can be asked again. `reset`: unknown where one that is awake reached it. */
const earliest = (failure: Failure, reset: string | undefined): Failure =>
  reset === undefined ? failure : { ...failure, reset_at: reset };

const failed = (failure: Failure): AgentEnd => ({ type: "end", message: "", failure });

const replaced: Failure = {
  kind: "auth",
  message:
    "Another run of this project was started elsewhere and has taken over its agents; this run ends, and its own copy of the project stays as it is.",
};

const abortion = ({ reason }: AbortSignal): Failure => ({
  kind: "aborted",
  message: `The agent was ended because ${reason === timeoutReason ? "the time of this run was up" : "the run was interrupted"}.`,
});

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });

/**
 * The result as the agent left it, where the judge of results looks for it. Nobody else has written there. Answers with
 * why it could not be kept.
 */
async function keepResult(
  workspace: string,
  { text }: Extract<FleetItem, { type: "result" }>,
): Promise<Failure | undefined> {
  const path = join(workspace, resultName);
  return writeFile(path, text).then(noFailure, (error: unknown) => fileFailure(error, path));
}

/** Codes of the system for what it could not do with a file. Those of the network are of Redis. */
const isOfFiles = (error: unknown): boolean =>
  hasCode(error, "ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "EMLINK") ||
  hasCode(error, "EFBIG", "EIO", "EMFILE", "ENFILE");

/** What a file of this machine that can't be read or written means for the iteration. @throws our own bugs again. */
function fileFailure(error: unknown, path: string): Failure {
  if (!isOfFiles(error)) throw error;
  const explained = faultOfMachine(error) ?? messageOf(explainSystemError(error, path));
  return { kind: hasCode(error, "ENOENT", "ENOTDIR", "EISDIR", "ELOOP") ? "crashed" : "resources", message: explained };
}

/** The queue of an agent, on a connection that is shared. */
export function openQueue({ bullmq }: Pick<Reached, "bullmq">, name: string, connection: Redis): Queue {
  const queue = new bullmq.Queue(name, {
    connection,
    prefix,
    skipVersionCheck: true,
    // Nobody listens to the library's own events.
    streams: { events: { maxLen: 100 } },
  });
  queue.on("error", () => undefined);
  return queue;
}
