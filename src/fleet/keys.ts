import { createHash } from "node:crypto";

/** Version of the format of jobs. */
export const jobVersion = 2;

/** The prefix of all keys of research-ralph in Redis. */
export const prefix = "rr";

/**
 * The name of an agent's queue. It may contain only some characters. If the agent's name has other characters, a hash
 * is added, so that two agents never share a queue.
 */
export function queueName(agent: string): string {
  const simpleName = agent
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40);
  const hash = createHash("sha256").update(agent).digest("hex").slice(0, 8);
  return `agent-${simpleName === agent ? simpleName : `${simpleName}-${hash}`}`;
}

/** Stream: the entries that workers send to one coordinator. */
export const entriesKey = (run: string): string => `${prefix}:talk:${run}`;
/** Set: the jobs that a coordinator has not cancelled. Its time to live is the lease of the coordinator. */
export const wantedJobsKey = (run: string): string => `${prefix}:wanted:${run}`;
/** Text: the project and the queues of a run, for the list of runs. Its time to live is the lease. */
export const runKey = (run: string): string => `${prefix}:run:${run}`;
/** Text: the run that currently works on the project with this random id. */
export const projectKey = (id: string): string => `${prefix}:project:${id}`;
/** Set: ids of the workers of a queue. */
export const workersKey = (queue: string): string => `${prefix}:${queue}:workers`;
/** Text: a worker's offer. Its time to live is a little longer than the interval of announcements. */
export const workerKey = (queue: string, id: string): string => `${prefix}:${queue}:worker:${id}`;

/** Times, all in milliseconds. Tests shorten them. */
export const times = {
  /** Lifetime of a job's lock. A worker that can't renew it for so long has lost the job. */
  lock: 60_000,
  /** Interval at which jobs with an expired lock are searched. */
  stallCheckInterval: 15_000,
  /** If a coordinator does not renew its lease for so long, workers end its jobs. */
  lease: 60_000,
  /** Interval at which a worker checks whether its jobs are still wanted. */
  checkInterval: 1_000,
  /** Interval at which a worker publishes its offer. After three missing offers, the worker counts as gone. */
  announceInterval: 5_000,
  /** If a worker is silent for so long, the coordinator checks the job in the queue. */
  maxSilence: 5_000,
  /** If no worker can take a job for so long, a notice is shown. */
  noWorker: 10_000,
  /** At an agent's time limit, its worker ends the agent. The coordinator waits for that message for so long. */
  grace: 120_000,
  /** How long events of a worker are collected before they are sent. */
  batchInterval: 250,
  /** Time limit for the first connection to Redis. */
  connectTimeout: 5_000,
  /** Time limit for an answer. After it, a new connection is opened, because a broken network reports no error. */
  answerTimeout: 30_000,
  /** How long a worker with a full disk accepts no jobs. */
  fullDisk: 30_000,
  /** Interval at which a worker removes old transcripts. */
  cleanupInterval: 24 * 3_600_000,
  /** Unread events of workers are deleted after this time. */
  entryLifetime: 10 * 60_000,
  /** How long a job may wait for a worker. */
  maxJobWait: 24 * 3_600_000,
  /** Maximum time for which a worker takes no jobs because its agent has reached a limit. */
  maxRest: 24 * 3_600_000,
};

/** Maximum number of times that a job starts again because its worker died. */
export const maxRestarts = 2;

/** Maximum number of times that a brief is sent to another worker because an agent has reached a limit. */
export const maxOtherWorkers = 5;

/** Limits in bytes, characters and numbers of entries. */
export const limits = {
  /** If a run's stream has more unread entries, workers wait, and so do their agents. */
  maxUnreadEntries: 128,
  /** If the collected items have more characters, they are sent. */
  batchChars: 32 * 1024,
  /** A larger entry is compressed. */
  maxPlainChars: 64 * 1024,
  /** A larger entry ends the attempt. */
  maxEntryChars: 8 * 1024 * 1024,
  /** Maximum size after decompression. An entry of many small items may become much larger. */
  maxUnpackedEntryBytes: 32 * 1024 * 1024,
  /** Maximum number of items in an entry. */
  maxItems: 5_000,
  /** Maximum number of commas and opening brackets outside texts, which limits the number of fields. */
  maxCommas: 250_000,
  /** Maximum number of files in a workspace. */
  maxFiles: 1_000,
  /** Maximum bytes of these files, compressed. */
  maxPackedBytes: 16 * 1024 * 1024,
  /** Maximum bytes of these files, not compressed. */
  maxUnpackedBytes: 64 * 1024 * 1024,
  /** Maximum characters of a text in one event. */
  maxTextChars: 256 * 1024,
  /** Maximum characters of an agent's final message. */
  maxMessageChars: 5 * 1024 * 1024,
};
