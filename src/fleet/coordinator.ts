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
import { type JobEvents, makeJobEvents, type UsageEvent } from "./received-events.js";
import { createJob, type BriefCleaning, signJob, expiredText } from "./jobs/job.js";
import { maxOtherWorkers, prefix, queueName, times, wantedJobsKey } from "./keys.js";
import { makeLease } from "./lease.js";
import { activeWorkers, firstReset, missingWorkerText, readOffers, acceptingWorkers } from "./offers.js";
import { makeRanks } from "./priorities.js";
import { openSigner } from "./jobs/signature.js";
import { type Entry, entryOf, makeReader, type TooLarge } from "./talk.js";

/** Sends the briefs of a run to workers and receives their events. */
export interface Coordinator {
  /** Runs an agent on a worker once, with the arguments of `Agent.run`. */
  run(agent: string, brief: Brief, options: RunOptions): AsyncGenerator<AgentEvent>;
  /** The reason why no more agents of the run may start, even on this machine; undefined if they may. */
  stopReason(): string | undefined;
  /** Cancels all jobs and closes the connections. */
  close(): Promise<void>;
}

export interface CoordinatorOptions extends BriefCleaning {
  /** The name of the project for users; if there is no project, a description of the work. */
  readonly project: string;
  /**
   * The random id of the project. Only one coordinator at a time may work on it. Absent if no other coordinator can.
   */
  readonly projectId?: () => Promise<string>;
  /** Maximum milliseconds of an iteration. */
  readonly maxIterationMs: number;
  /** Maximum milliseconds to wait for a worker. */
  readonly maxWaitMs: number;
  /** The user's home folder. It contains the key that signs jobs. */
  readonly home: string;
  readonly now: () => number;
}

/** A job that is running or waiting. */
interface LiveJob {
  readonly queue: string;
  /** Received entries that are not processed yet. The reader waits until `onProcessed` is called. */
  readonly inbox: { readonly entry: Entry | TooLarge; readonly onProcessed: () => void }[];
  wake(): void;
}

/**
 * When a worker starts a job, the deadline of the job is renewed, but at most this many times. Otherwise a dishonest
 * worker could start it again without end.
 */
const maxStarts = 20;

/**
 * Connects to Redis. Before the first job is sent, this run takes the project over and cancels the jobs of an earlier
 * run. The caller must hold the lock of the project then.
 * @throws ExpectedError like `connectToRedis` and `openSigner`.
 */
export async function openCoordinator(address: RedisAddress, options: CoordinatorOptions): Promise<Coordinator> {
  const signer = await openSigner(options.home);
  const { now } = options;
  const server = await connectToRedis(address);
  const runId = randomBytes(8).toString("hex");
  const [redis, streamConnection] = [server.open(), server.open()];
  const queues = new Map<string, Queue>();
  const liveJobs = new Map<string, LiveJob>();
  const usedNames = new Set<string>();
  const ranks = makeRanks();
  let isClosed = false;
  const removals = new Set<Promise<void>>();
  const lease = makeLease({
    redis,
    run: runId,
    project: options.project,
    projectId: options.projectId,
    wantedJobs: () => liveJobs.keys(),
    queues: () => [...queues.keys()],
    remove: (name, job) => queueFor(name).remove(job),
    onReplaced() {
      for (const job of liveJobs.values()) job.wake();
    },
  });
  const reader = makeReader(streamConnection, runId, receive, () => isClosed);

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
    await new Promise<void>((onProcessed) => {
      job.inbox.push({ entry, onProcessed });
      job.wake();
    });
  }

  /** A name that no other job of this run has had. */
  function uniqueJobName(iteration: number): string {
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? `${runId}-${iteration}` : `${runId}-${iteration}-${number}`;
      if (usedNames.has(name)) continue;
      usedNames.add(name);
      return name;
    }
  }

  /** Returns a failure if the queue will not report on a job any more. Waits while Redis is not available. */
  async function findLoss(queue: Queue, id: string): Promise<Failure | undefined> {
    const state = await queue.getJobState(id);
    if (state !== "unknown" && state !== "failed" && state !== "completed") return undefined;
    const reason = state === "failed" ? (await queue.getJob(id))?.failedReason : undefined;
    // A later run of the project removes waiting jobs. This check is made now because the next regular one may be late.
    await lease.beat();
    if (lease.isReplaced()) return replacedFailure;
    // The last entries of the job may still be unread.
    await reader.waitForEnd();
    if (reason === undefined) return { kind: "network", message: "Redis has lost the job. It starts again." };
    await queue.remove(id).catch(() => 0);
    return /stalled/i.test(reason)
      ? { kind: "crashed", message: "Three workers in a row died while they ran the agent; find out why they died." }
      : {
          kind: reason.includes(expiredText) ? "network" : "crashed",
          message: `No worker took the job: ${reason.slice(0, 500)}.`,
        };
  }

  /**
   * Runs an agent. If a worker has reached the limit of its login or key, sends the brief to another worker. The limit
   * ends the iteration only if all workers have reached one, or if the maximum number of workers was tried.
   */
  async function* runAgent(agent: string, brief: Brief, runOptions: RunOptions): AsyncGenerator<AgentEvent> {
    let usedBefore: UsageEvent | undefined;
    for (let sendCount = 1; ; sendCount++) {
      const events = makeJobEvents(usedBefore);
      const end = yield* runJob(agent, brief, runOptions, events);
      if (end.failure?.kind !== "rate-limit") return yield end;
      const offers = acceptingWorkers(await readOffers(redis, queueName(agent)).catch(() => []), signer.key);
      const otherWorkers = activeWorkers(offers, now()).filter(({ name }) => name !== events.worker());
      if (otherWorkers.length === 0 || sendCount > maxOtherWorkers || runOptions.signal.aborted)
        return yield failedEnd(
          withReset(end.failure, activeWorkers(offers, now()).length > 0 ? undefined : firstReset(offers)),
        );
      usedBefore = events.usage();
      const message = `${events.worker() ?? "A worker"} has reached a limit (${end.failure.message}); the work is sent to another worker.`;
      yield { type: "notice", message };
    }
  }

  /** Yields the events of a job, and returns its end event. */
  async function* runJob(
    agent: string,
    brief: Brief,
    { signal, maxUsd, maxMs }: RunOptions,
    events: JobEvents,
  ): AsyncGenerator<AgentEvent, AgentEnd> {
    const jobLimits = {
      // A worker refuses a job with a limit of zero.
      ...(maxUsd === undefined ? {} : { maxUsd: Math.max(0.01, maxUsd) }),
      maxMs: Math.max(1, Math.min(options.maxIterationMs, maxMs ?? Infinity)),
    };
    const name = queueName(agent);
    const queue = queueFor(name);
    const id = uniqueJobName(brief.iteration);
    const job = await createJob(
      { run: runId, id, queue: name, expires: now() + times.maxJobWait },
      brief,
      jobLimits,
      options,
    ).catch((error: unknown) => fileFailure(error, brief.workspace));
    if ("kind" in job) return failedEnd(job);
    const data = signJob(job, signer);
    let wakeUp = (): void => undefined;
    const liveJob: LiveJob = { queue: name, inbox: [], wake: () => wakeUp() };
    const onAbort = (): void => wakeUp();
    signal.addEventListener("abort", onAbort, { once: true });
    liveJobs.set(id, liveJob);
    const sentAt = performance.now();
    let [lastEntryAt, lastCheckAt] = [sentAt, sentAt];
    let pendingCheck: Promise<void> | undefined;
    let lostJob: Failure | undefined;
    let notice: string | undefined;
    /** The time from which on no worker could take the job. */
    let noWorkerSince: number | undefined;
    let isMissingReported = false;
    /** The time at which the worker should have ended the job. */
    let deadline = Infinity;
    let startCount = 0;
    /** Maximum milliseconds without Redis. At least as long as the lease, because until then workers continue. */
    const maxOutageMs = Math.min(Math.max(options.maxWaitMs, times.lease), 2 ** 31 - 1);
    const noAnswer: Failure = { kind: "network", message: `Redis has not answered for ${durationText(maxOutageMs)}.` };

    /** Checks whether the job still exists, and whether a worker has it or can take it. */
    async function inspectJob(): Promise<void> {
      // A worker that is about to end publishes no offer any more, but still has its jobs.
      const [offers, locks] = await Promise.all([readOffers(redis, name), redis.exists(`${queue.toKey(id)}:lock`)]);
      // The deadline applies only while a worker has the job. If the job goes back to the queue, it may wait there.
      if (locks === 0) deadline = Infinity;
      else if (deadline === Infinity) deadline = performance.now() + jobLimits.maxMs + times.grace;
      const missingText = locks > 0 ? undefined : missingWorkerText(offers, agent, signer.key);
      const possibleWorkers = acceptingWorkers(offers, signer.key);
      const areAllResting =
        locks === 0 && possibleWorkers.length > 0 && activeWorkers(possibleWorkers, now()).length === 0;
      let noWorkerFailure: Failure | undefined = areAllResting
        ? allWorkersRest(agent, firstReset(possibleWorkers))
        : undefined;
      if (missingText === undefined) [noWorkerSince, isMissingReported] = [undefined, false];
      else {
        noWorkerSince ??= Math.max(lastEntryAt, lastCheckAt);
        const waitedMs = performance.now() - noWorkerSince;
        if (waitedMs >= times.noWorker && !isMissingReported) [isMissingReported, notice] = [true, missingText];
        if (waitedMs >= options.maxWaitMs)
          noWorkerFailure = {
            kind: "auth",
            message: `${missingText} No worker offered it within ${durationText(options.maxWaitMs)}.`,
          };
      }
      // The last worker may have reported the end of the job, so all entries are read first.
      if (noWorkerFailure !== undefined) await reader.waitForEnd();
      const loss = noWorkerFailure ?? (await findLoss(queue, id));
      // If an entry has arrived meanwhile, the job is not lost.
      if (performance.now() - lastEntryAt >= times.maxSilence) lostJob ??= loss;
    }

    try {
      let timer: NodeJS.Timeout | undefined;
      const sendFailure = await Promise.race([
        send().then(returnUndefined, (error: unknown) => sendFailureOf(error, brief.workspace)),
        waitForAbort(signal),
        new Promise<Failure>((resolve) => (timer = setTimeout(() => resolve(noAnswer), maxOutageMs))),
      ]).finally(() => clearTimeout(timer));
      if (sendFailure !== undefined) return failedEnd(sendFailure);
      for (;;) {
        if (signal.aborted) return failedEnd(abortFailure(signal));
        if (isClosed) return failedEnd({ kind: "aborted", message: "The agent was ended because the run is over." });
        if (performance.now() >= deadline)
          return failedEnd({
            kind: "timeout",
            message: `The wait for ${agent} was ended: ${events.worker() ?? "its worker"} should have stopped it after ${durationText(jobLimits.maxMs)}, but did not report an end.`,
          });
        const next = liveJob.inbox.shift();
        if (next !== undefined) {
          try {
            if (events.isOldAttempt(next.entry.attempt)) continue;
            [lastEntryAt, noWorkerSince] = [performance.now(), undefined];
            if ("tooLarge" in next.entry)
              return failedEnd({
                kind: "crashed",
                message: "The worker sent too much output at once, so the attempt was ended.",
              });
            for (const item of events.newEventsOf(next.entry)) {
              if (item.type === "begun") {
                ranks.started(id);
                startCount += 1;
                if (startCount <= maxStarts) deadline = performance.now() + jobLimits.maxMs + times.grace;
              }
              if (item.type === "result") {
                const storeFailure = await keepResult(brief.workspace, item);
                if (storeFailure === undefined) continue;
                return failedEnd(storeFailure);
              }
              const yieldedAt = performance.now();
              if (item.type === "end") return item;
              yield item;
              // The time that the caller needed for the event does not count.
              deadline += performance.now() - yieldedAt;
            }
          } finally {
            next.onProcessed();
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
        const silenceMs = performance.now() - Math.max(lastEntryAt, lastCheckAt);
        if (pendingCheck !== undefined && silenceMs >= times.maxSilence + maxOutageMs) return failedEnd(noAnswer);
        if (silenceMs >= times.maxSilence)
          pendingCheck ??= inspectJob()
            .catch(() => undefined)
            .finally(() => {
              [pendingCheck, lastCheckAt] = [undefined, performance.now()];
              wakeUp();
            });
        await pause();
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      liveJobs.delete(id);
      for (const message of liveJob.inbox) message.onProcessed();
      removeJob(queue, id, ranks.ended(id));
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
        const timer = setTimeout(finishPause, times.checkInterval);
        function finishPause(): void {
          clearTimeout(timer);
          wakeUp = () => undefined;
          resolve();
        }
        wakeUp = finishPause;
        if (liveJob.inbox.length > 0 || signal.aborted || isClosed) finishPause();
      });
    }
  }

  /** Cancels a job, and gives its rank to the oldest waiting job of this run. */
  function removeJob(queue: Queue, id: string, promotion: ReturnType<typeof ranks.ended>): void {
    const removal = removeAndPromote(queue, id, promotion).finally(() => removals.delete(removal));
    removals.add(removal);
  }

  async function removeAndPromote(queue: Queue, id: string, promotion: ReturnType<typeof ranks.ended>): Promise<void> {
    try {
      await redis.srem(wantedJobsKey(runId), id);
      // This fails if a worker has the job. The worker notices at its next check that the job is not wanted.
      await queue.remove(id).catch(() => 0);
      const promotedJob = promotion === undefined ? undefined : liveJobs.get(promotion.job);
      if (promotion === undefined || promotedJob === undefined) return;
      const job = await queueFor(promotedJob.queue).getJob(promotion.job);
      await job?.changePriority({ priority: promotion.rank });
    } catch {
      // Redis is not available, or the run has ended. The next renewal of the lease writes the wanted jobs again.
    }
  }

  return {
    run: runAgent,
    stopReason: () => (lease.isReplaced() ? replacedFailure.message : undefined),
    async close() {
      isClosed = true;
      for (const [id, job] of liveJobs) {
        removeJob(queueFor(job.queue), id, undefined);
        job.wake();
      }
      streamConnection.disconnect();
      const leaseRelease = lease.release();
      // If Redis is not available, the lease expires by itself.
      const cleanup = Promise.all([leaseRelease, ...removals]);
      await Promise.race([cleanup, sleep(2_000)]);
      for (const queue of queues.values()) await Promise.race([queue.close().catch(() => undefined), leaseRelease]);
      redis.disconnect();
    },
  };
}

const returnUndefined = (): undefined => undefined;

/**
 * The failure of a job that could not be sent because Redis refused it, or because a file could not be read or
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

/** Sets the time at which a failure by a limit ends. `reset`: undefined if a worker can be used now. */
const withReset = (failure: Failure, reset: string | undefined): Failure =>
  reset === undefined ? failure : { ...failure, reset_at: reset };

const failedEnd = (failure: Failure): AgentEnd => ({ type: "end", message: "", failure });

const replacedFailure: Failure = {
  kind: "auth",
  message:
    "Another run of this project was started elsewhere and has taken over its agents; this run ends, and does not change its copy of the project.",
};

const abortFailure = ({ reason }: AbortSignal): Failure => ({
  kind: "aborted",
  message: `The agent was ended because ${reason === timeoutReason ? "the time limit of this run was reached" : "the run was interrupted"}.`,
});

const waitForAbort = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });

/** Writes the agent's result into the workspace, where results are read. Returns a failure if that is impossible. */
async function keepResult(
  workspace: string,
  { text }: Extract<FleetItem, { type: "result" }>,
): Promise<Failure | undefined> {
  const path = join(workspace, resultName);
  return writeFile(path, text).then(returnUndefined, (error: unknown) => fileFailure(error, path));
}

/** Whether an error is a system error about a file, and not an error of the connection to Redis. */
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
    // The library writes its own events, which are not read here.
    streams: { events: { maxLen: 100 } },
  });
  queue.on("error", () => undefined);
  return queue;
}
