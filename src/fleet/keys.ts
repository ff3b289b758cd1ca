import { createHash } from "node:crypto";

/** Version of the format of jobs. */
export const jobVersion = 2;

/** The prefix of all our keys in Redis. */
export const prefix = "rr";

/**
 * The queue of an agent. A queue's name may contain only some characters. If the agent's name has others, a hash is
 * added, so that two agents never share a queue.
 */
export function queueOf(agent: string): string {
  const simpleName = agent
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40);
  const hash = createHash("sha256").update(agent).digest("hex").slice(0, 8);
  return `agent-${simpleName === agent ? simpleName : `${simpleName}-${hash}`}`;
}

/** Stream: the entries that workers send to one coordinator. */
export const talkOf = (run: string): string => `${prefix}:talk:${run}`;
/** Set: the jobs that a coordinator still wants. Its time to live is the lease of the coordinator. */
export const wantedOf = (run: string): string => `${prefix}:wanted:${run}`;
/** Text: the project and the queues of a run, for people. Its time to live is the lease. */
export const runOf = (run: string): string => `${prefix}:run:${run}`;
/** Text: the run that currently works on the project with this random id. */
export const projectOf = (id: string): string => `${prefix}:project:${id}`;
/** Set: ids of the workers of a queue. */
export const workersOf = (queue: string): string => `${prefix}:${queue}:workers`;
/** Text: a worker's offer. Its time to live is a little longer than the interval of announcements. */
export const workerOf = (queue: string, id: string): string => `${prefix}:${queue}:worker:${id}`;

/** Times in milliseconds. Tests shorten them. */
export const times = {
  /** Lifetime of a job's lock. A worker that can't renew it for so long has lost the job. */
  lock: 60_000,
  /** Interval at which jobs with an expired lock are searched. */
  stallCheck: 15_000,
  /** How long a coordinator without a message still counts as alive. */
  lease: 60_000,
  /** Interval at which a worker checks whether its jobs are still wanted. */
  look: 1_000,
  /** Interval of a worker's announcements. After three missing ones the worker counts as gone. */
  announce: 5_000,
  /** If a worker is silent for so long, the coordinator checks the job in the queue. */
  silence: 5_000,
  /** After so long without a worker, a notice is shown. */
  noWorker: 10_000,
  /** How long a coordinator still waits after an agent's time limit, at which its worker must end the agent. */
  grace: 120_000,
  /** How long events of a worker are collected before they are sent. */
  batch: 250,
  /** Time limit for the first connection to Redis. */
  connect: 5_000,
  /** Time limit for an answer. After it a new connection is used, because a broken network reports nothing. */
  answer: 30_000,
  /** How long a worker with a full disk accepts no jobs. */
  fullDisk: 30_000,
  /** Interval at which a worker removes old transcripts. */
  tidy: 24 * 3_600_000,
  /** How long the events of a worker are stored if nobody reads them. */
  unheard: 10 * 60_000,
  /** How long a job may wait for a worker. */
  job: 24 * 3_600_000,
  /** Maximum rest of a worker, even if its agent reports a later end of its limit. */
  longestRest: 24 * 3_600_000,
};

/** How many times a job starts again if its worker died. */
export const maxBegunAgain = 2;

/** How many times a brief is sent to another worker because an agent had reached a limit. */
export const maxSentAgain = 5;

/** Limits in bytes, characters and numbers of entries. */
export const limits = {
  /** Unread entries in a run's stream. If there are more, workers wait, and their agents' output waits too. */
  unread: 128,
  /** Size of a batch: it is sent when it is larger. */
  batch: 32 * 1024,
  /** A larger entry is compressed. */
  plainEntry: 64 * 1024,
  /** A larger entry ends the attempt. */
  entry: 8 * 1024 * 1024,
  /** Maximum size after decompression. An entry of many small items may become much larger. */
  unpackedEntry: 32 * 1024 * 1024,
  /** Maximum number of items in an entry. */
  items: 5_000,
  /** Maximum number of commas outside its texts, which bounds the number of fields. */
  commas: 250_000,
  /** Maximum number of files in a workspace. */
  fileCount: 1_000,
  /** Maximum bytes of these files, compressed. */
  files: 16 * 1024 * 1024,
  /** Maximum bytes of these files, not compressed. */
  unpackedFiles: 64 * 1024 * 1024,
  /** Maximum characters of a text in one event. */
  text: 256 * 1024,
  /** Maximum characters of an agent's final message. */
  message: 5 * 1024 * 1024,
};
