import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import { durationText, timeoutReason } from "../engine/lib/clock.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { ExpectedError, hasCode, messageOf, machineFault } from "../engine/lib/errors.js";
import { resultName } from "../engine/lib/layout.js";
import type { AgentEnd, AgentEvent, Brief, Failure, RunOptions } from "../engine/loop/types.js";
import { explainSystemError } from "../engine/storage/explain-system-error.js";
import type { RedisAddress } from "./address.js";
import { type RedisServer, connectToRedis } from "./connect.js";
import { type JobEvents, makeJobEvents, type UsedEvent } from "./received-events.js";
import { jobOf, type Leaving, signed, timeOver } from "./jobs/job.js";
import { maxSentAgain, prefix, queueOf, times, wantedOf } from "./keys.js";
import { makeLease } from "./lease.js";
import { workersAwake, firstReset, missingWorkerText, offersIn, workersAccepting } from "./offers.js";
import { makeRanks } from "./priorities.js";
import { ownSigner } from "./jobs/signature.js";
import { type Entry, entryOf, makeReader, type TooLarge } from "./talk.js";

/** Sends the briefs of a run to workers and receives their events. */
export interface Coordinator {
  /** Runs an agent once, like `Agent.run`. */
  run(agent: string, brief: Brief, options: RunOptions): AsyncGenerator<AgentEvent>;
  /** Why no more agents of the run may start, not on this machine either; undefined while they may. */
  over(): string | undefined;
  /** Cancels all jobs and closes the connections. */
  close(): Promise<void>;
}

export interface CoordinatorOptions extends Leaving {
  /** The name of the project, for people; for work outside a project, a description of it. */
  readonly project: string;
  /** The random id of the project: only one coordinator at a time may work on it. Absent if nobody else can. */
  readonly projectId?: () => Promise<string>;
  /** Maximum milliseconds of an iteration. */
  readonly iterationMs: number;
  /** Maximum milliseconds to wait for a worker. */
  readonly patienceMs: number;
  /** The user's home folder. It contains the key that signs jobs. */
  readonly home: string;
  readonly now: () => number;
}

/** A job that is running or waiting. */
interface LiveJob {
  readonly queue: string;
  /** Received entries that are not processed yet. The reader waits for `taken`. */
  readonly inbox: { readonly entry: Entry | TooLarge; readonly taken: () => void }[];
  wake(): void;
}

/**
 * A worker that starts a job renews its deadline at most so many times. Otherwise a dishonest worker could start it
 * again and again without end.
 */
const maxStarts = 20;

/**
 * Connects to Redis. The first job takes the project over, when the project's own lock is held: jobs of an earlier run
 * are then cancelled.
 * @throws ExpectedError like `connectToRedis` and `ownSigner`.
 */
export async function openCoordinator(address: RedisAddress, options: CoordinatorOptions): Promise<Coordinator> {
  const signer = await ownSigner(options.home);
  const { now } = options;
  const server = await connectToRedis(address);
  const run = randomBytes(8).toString("hex");
  const [redis, streamConnection] = [server.open(), server.open()];
  const queues = new Map<string, Queue>();
  const liveJobs = new Map<string, LiveJob>();
  const usedNames = new Set<string>();
  const ranks = makeRanks();
  let isClosed = false;
  const removals = new Set<Promise<void>>();
  const lease = makeLease({
    redis,
    run,
    project: options.project,
    projectId: options.projectId,
    wanted: () => liveJobs.keys(),
    queues: () => [...queues.keys()],
    remove: (name, job) => queueFor(name).remove(job),
    replaced() {
      for (const job of liveJobs.values()) job.wake();
    },
  });
  const reader = makeReader(streamConnection, run, receive, () => isClosed);

  function queueFor(name: string): Queue {
    const queue = queues.get(name) ?? openQueue(server, name, redis);
    queues.set(name, queue);
    return queue;
  }

  /** Gives an entry to its job and waits until the job has processed it. */
  async function receive(fields: readonly string[]): Promise<void> {
    const entry = entryOf(fields);
    const job = entry === undefined ? undefined : liveJobs.get(entry.job);
    if (entry === undefined || job === undefined) return;
    await new Promise<void>((taken) => {
      job.inbox.push({ entry, taken });
      job.wake();
    });
  }

  /** A name that no other job of this run has had. */
  function uniqueJobName(iteration: number): string {
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? `${run}-${iteration}` : `${run}-${iteration}-${number}`;
      if (usedNames.has(name)) continue;
      usedNames.add(name);
      return name;
    }
  }

  /** Why the queue will never report on a job again; undefined if it may. Waits while Redis is not available. */
  async function findLoss(queue: Queue, id: string): Promise<Failure | undefined> {
    const state = await queue.getJobState(id);
    if (state !== "unknown" && state !== "failed" && state !== "completed") return undefined;
    const reason = state === "failed" ? (await queue.getJob(id))?.failedReason : undefined;
    // A later run of the project removes waiting jobs. The next beat would notice that too, but it may come much later.
    await lease.beat();
    if (lease.isReplaced()) return replacedFailure;
    // The last entries of the job may be unread, behind entries that other jobs have not processed yet.
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
   * Runs an agent, and sends its brief to another worker if a worker has reached a limit. A limit belongs to one
   * worker's login or key. So it ends the iteration only if all workers rest, or if the maximum number of workers was
   * tried.
   */
  async function* runAgent(agent: string, brief: Brief, run: RunOptions): AsyncGenerator<AgentEvent> {
    let usedBefore: UsedEvent | undefined;
    for (let sendCount = 1; ; sendCount++) {
      const events = makeJobEvents(usedBefore);
      const end = yield* runJob(agent, brief, run, events);
      if (end.failure?.kind !== "rate-limit") return yield end;
      const offers = workersAccepting(await offersIn(redis, queueOf(agent)).catch(() => []), signer.key);
      const otherWorkers = workersAwake(offers, now()).filter(({ name }) => name !== events.worker());
      if (otherWorkers.length === 0 || sendCount > maxSentAgain || run.signal.aborted)
        return yield failedEnd(
          withReset(end.failure, workersAwake(offers, now()).length > 0 ? undefined : firstReset(offers)),
        );
      usedBefore = events.used();
      const message = `${events.worker() ?? "A worker"} has reached a limit (${end.failure.message}); the work is sent to another worker.`;
      yield { type: "notice", message };
    }
  }

  /** Yields all events of a job, and returns its end. */
  async function* runJob(
    agent: string,
    brief: Brief,
    { signal, maxUsd, maxMs }: RunOptions,
    events: JobEvents,
  ): AsyncGenerator<AgentEvent, AgentEnd> {
    const allowed = {
      // A worker refuses a job without money or time.
      ...(maxUsd === undefined ? {} : { maxUsd: Math.max(0.01, maxUsd) }),
      maxMs: Math.max(1, Math.min(options.iterationMs, maxMs ?? Infinity)),
    };
    const name = queueOf(agent);
    const queue = queueFor(name);
    const id = uniqueJobName(brief.iteration);
    const job = await jobOf({ run, id, queue: name, expires: now() + times.job }, brief, allowed, options).catch(
      (error: unknown) => fileFailure(error, brief.workspace),
    );
    if ("kind" in job) return failedEnd(job);
    const data = signed(job, signer);
    let wakeUp = (): void => undefined;
    const liveJob: LiveJob = { queue: name, inbox: [], wake: () => wakeUp() };
    const onAbort = (): void => wakeUp();
    signal.addEventListener("abort", onAbort, { once: true });
    liveJobs.set(id, liveJob);
    const sentAt = performance.now();
    let [heardAt, lookedAt] = [sentAt, sentAt];
    let pendingLook: Promise<void> | undefined;
    let lostJob: Failure | undefined;
    let notice: string | undefined;
    /** The time since which no worker could take the job. */
    let aloneSince: number | undefined;
    let isToldAlone = false;
    /** The time at which the worker should have ended the job. */
    let deadline = Infinity;
    let startCount = 0;
    /** Maximum milliseconds without Redis. Never less than the lease, because agents keep running during it. */
    const maxOutageMs = Math.min(Math.max(options.patienceMs, times.lease), 2 ** 31 - 1);
    const noAnswer: Failure = { kind: "network", message: `Redis has not answered for ${durationText(maxOutageMs)}.` };

    /** Checks whether the job still exists, and whether a worker has it or could take it. */
    async function inspectJob(): Promise<void> {
      // A worker that is about to end no longer offers places, but it still has its jobs.
      const [offers, locks] = await Promise.all([offersIn(redis, name), redis.exists(`${queue.toKey(id)}:lock`)]);
      // The time limit runs only while a worker has the job. If the job is put back, it may wait for a place.
      if (locks === 0) deadline = Infinity;
      else if (deadline === Infinity) deadline = performance.now() + allowed.maxMs + times.grace;
      const missingText = locks > 0 ? undefined : missingWorkerText(offers, agent, signer.key);
      const possibleWorkers = workersAccepting(offers, signer.key);
      const areAllResting =
        locks === 0 && possibleWorkers.length > 0 && workersAwake(possibleWorkers, now()).length === 0;
      let noWorkerFailure: Failure | undefined = areAllResting
        ? allWorkersRest(agent, firstReset(possibleWorkers))
        : undefined;
      if (missingText === undefined) [aloneSince, isToldAlone] = [undefined, false];
      else {
        aloneSince ??= Math.max(heardAt, lookedAt);
        const waitedMs = performance.now() - aloneSince;
        if (waitedMs >= times.noWorker && !isToldAlone) [isToldAlone, notice] = [true, missingText];
        if (waitedMs >= options.patienceMs)
          noWorkerFailure = {
            kind: "auth",
            message: `${missingText} No worker offered it within ${durationText(options.patienceMs)}.`,
          };
      }
      // The last worker may have reported the end of the job before it stopped.
      if (noWorkerFailure !== undefined) await reader.toItsEnd();
      const loss = noWorkerFailure ?? (await findLoss(queue, id));
      // Events that arrived meanwhile are more important.
      if (performance.now() - heardAt >= times.silence) lostJob ??= loss;
    }

    try {
      let timer: NodeJS.Timeout | undefined;
      const sendFailure = await Promise.race([
        send().then(returnUndefined, (error: unknown) => sendFailureOf(error, brief.workspace)),
        untilAborted(signal),
        new Promise<Failure>((resolve) => (timer = setTimeout(() => resolve(noAnswer), maxOutageMs))),
      ]).finally(() => clearTimeout(timer));
      if (sendFailure !== undefined) return failedEnd(sendFailure);
      for (;;) {
        if (signal.aborted) return failedEnd(abortFailure(signal));
        if (isClosed) return failedEnd({ kind: "aborted", message: "The agent was ended because the run is over." });
        if (performance.now() >= deadline)
          return failedEnd({
            kind: "timeout",
            message: `${agent} is no longer waited for: ${events.worker() ?? "its worker"} should have ended it after ${durationText(allowed.maxMs)}, and did not report that.`,
          });
        const next = liveJob.inbox.shift();
        if (next !== undefined) {
          try {
            if (events.isOld(next.entry.attempt)) continue;
            [heardAt, aloneSince] = [performance.now(), undefined];
            if ("tooLarge" in next.entry)
              return failedEnd({
                kind: "crashed",
                message: "The worker sent too much output at once, so the attempt was ended.",
              });
            for (const item of events.hear(next.entry)) {
              if (item.type === "begun") {
                ranks.begun(id);
                startCount += 1;
                if (startCount <= maxStarts) deadline = performance.now() + allowed.maxMs + times.grace;
              }
              if (item.type === "result") {
                const storeFailure = await keepResult(brief.workspace, item);
                if (storeFailure === undefined) continue;
                return failedEnd(storeFailure);
              }
              const yieldedAt = performance.now();
              if (item.type === "end") return item;
              yield item;
              // The time for which the caller held the event does not count.
              deadline += performance.now() - yieldedAt;
            }
          } finally {
            next.taken();
          }
          continue;
        }
        if (lease.isReplaced()) return failedEnd(replacedFailure);
        if (notice !== undefined) {
          const message = notice;
          notice = undefined;
          yield { type: "notice", message };
        }
        if (lostJob !== undefined) return failedEnd(lostJob);
        const quietMs = performance.now() - Math.max(heardAt, lookedAt);
        if (pendingLook !== undefined && quietMs >= times.silence + maxOutageMs) return failedEnd(noAnswer);
        if (quietMs >= times.silence)
          pendingLook ??= inspectJob()
            .catch(() => undefined)
            .finally(() => {
              [pendingLook, lookedAt] = [undefined, performance.now()];
              wakeUp();
            });
        await pause();
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      liveJobs.delete(id);
      for (const message of liveJob.inbox) message.taken();
      removeJob(queue, id, ranks.over(id));
    }

    async function send(): Promise<void> {
      const isWanted = (): boolean => liveJobs.has(id) && !isClosed && !lease.isReplaced();
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
      if (!isWanted()) removeJob(queue, id, undefined);
    }

    function pause(): Promise<void> {
      return new Promise((resolve) => {
        const timer = setTimeout(done, times.look);
        function done(): void {
          clearTimeout(timer);
          wakeUp = () => undefined;
          resolve();
        }
        wakeUp = done;
        if (liveJob.inbox.length > 0 || signal.aborted || isClosed) done();
      });
    }
  }

  /** Cancels a job, and gives its rank to the oldest waiting job of this run. */
  function removeJob(queue: Queue, id: string, promotion: ReturnType<typeof ranks.over>): void {
    const removal = removeAndPromote(queue, id, promotion).finally(() => removals.delete(removal));
    removals.add(removal);
  }

  async function removeAndPromote(queue: Queue, id: string, promotion: ReturnType<typeof ranks.over>): Promise<void> {
    try {
      await redis.srem(wantedOf(run), id);
      // This fails if a worker has the job. That worker ends it at its next check.
      await queue.remove(id).catch(() => 0);
      const promotedJob = promotion === undefined ? undefined : liveJobs.get(promotion.job);
      if (promotion === undefined || promotedJob === undefined) return;
      const job = await queueFor(promotedJob.queue).getJob(promotion.job);
      await job?.changePriority({ priority: promotion.rank });
    } catch {
      // Redis is not available, or the run is over. The next beat writes which jobs are wanted.
    }
  }

  return {
    run: runAgent,
    over: () => (lease.isReplaced() ? replacedFailure.message : undefined),
    async close() {
      isClosed = true;
      for (const [id, job] of liveJobs) {
        removeJob(queueFor(job.queue), id, undefined);
        job.wake();
      }
      streamConnection.disconnect();
      const released = lease.release();
      // If Redis is not available, the lease expires by itself.
      const allDone = Promise.all([released, ...removals]);
      await Promise.race([allDone, sleep(2_000)]);
      for (const queue of queues.values()) await Promise.race([queue.close().catch(() => undefined), released]);
      redis.disconnect();
    },
  };
}

const returnUndefined = (): undefined => undefined;

/**
 * The failure of a job that could not be sent: Redis refused it, or a file of this machine could not be read or
 * written.
 */
function sendFailureOf(error: unknown, path: string): Failure {
  if (error instanceof ExpectedError) return { kind: "unusable", message: error.message };
  if (isFileError(error)) return fileFailure(error, path);
  const message = messageOf(error);
  return /^(?:NOPERM|NOAUTH|WRONGPASS)/.test(message)
    ? {
        kind: "auth",
        message: `Redis does not let this run send work: ${message}. Give its user the rights that docs/fleet.md lists.`,
      }
    : { kind: "network", message: `Redis did not take the job: ${message}.` };
}

const allWorkersRest = (agent: string, reset: string | undefined): Failure => ({
  kind: "rate-limit",
  message: `All workers of ${agent} have reached a limit.`,
  ...withoutUndefined({ reset_at: reset }),
});

/** A limit that ends when the first worker can be used again. `reset`: undefined if some worker is not resting. */
const withReset = (failure: Failure, reset: string | undefined): Failure =>
  reset === undefined ? failure : { ...failure, reset_at: reset };

const failedEnd = (failure: Failure): AgentEnd => ({ type: "end", message: "", failure });

const replacedFailure: Failure = {
  kind: "auth",
  message:
    "Another run of this project was started elsewhere and has taken over its agents; this run ends, and its own copy of the project stays as it is.",
};

const abortFailure = ({ reason }: AbortSignal): Failure => ({
  kind: "aborted",
  message: `The agent was ended because ${reason === timeoutReason ? "the time of this run was up" : "the run was interrupted"}.`,
});

const untilAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });

/** Writes the agent's result into the workspace, where results are read. Answers with a failure if that fails. */
async function keepResult(
  workspace: string,
  { text }: Extract<FleetItem, { type: "result" }>,
): Promise<Failure | undefined> {
  const path = join(workspace, resultName);
  return writeFile(path, text).then(returnUndefined, (error: unknown) => fileFailure(error, path));
}

/** Whether an error is a system error about a file. Errors of the network are about Redis. */
const isFileError = (error: unknown): boolean =>
  hasCode(error, "ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "EMLINK") ||
  hasCode(error, "EFBIG", "EIO", "EMFILE", "ENFILE");

/**
 * The failure of an iteration if a file of this machine can't be read or written. @throws other errors again: they are
 * bugs.
 */
function fileFailure(error: unknown, path: string): Failure {
  if (!isFileError(error)) throw error;
  const message = machineFault(error) ?? messageOf(explainSystemError(error, path));
  return { kind: hasCode(error, "ENOENT", "ENOTDIR", "EISDIR", "ELOOP") ? "crashed" : "resources", message };
}

/** Opens the queue of an agent on a shared connection. */
export function openQueue({ bullmq }: Pick<RedisServer, "bullmq">, name: string, connection: Redis): Queue {
  const queue = new bullmq.Queue(name, {
    connection,
    prefix,
    skipVersionCheck: true,
    // Nobody reads the library's own events.
    streams: { events: { maxLen: 100 } },
  });
  queue.on("error", () => undefined);
  return queue;
}
