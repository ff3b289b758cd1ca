import { createHash } from "node:crypto";

/** Version of the format of jobs. */
export const jobVersion = 2;

/** What all our keys begin with. */
export const prefix = "rr";

/**
 * The queue of an agent. A name may hold anything, a queue's only some signs; where they differ the name's hash keeps
 * two agents from sharing a queue.
 */
export function queueOf(agent: string): string {
  const plain = agent
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40);
  const hash = createHash("sha256").update(agent).digest("hex").slice(0, 8);
  return `agent-${plain === agent ? plain : `${plain}-${hash}`}`;
}

/** Stream: what workers say to one coordinator. */
export const talkOf = (run: string): string => `${prefix}:talk:${run}`;
/** Set: the jobs that a coordinator still wants. Its time to live is the coordinator's lease. */
export const wantedOf = (run: string): string => `${prefix}:wanted:${run}`;
/** Text: of which project and which queues a run is, for people; lives as long as the lease. */
export const runOf = (run: string): string => `${prefix}:run:${run}`;
/** Text: the run that works on a project now, by the project's random id. */
export const projectOf = (id: string): string => `${prefix}:project:${id}`;
/** Set: ids of the workers of a queue. */
export const workersOf = (queue: string): string => `${prefix}:${queue}:workers`;
/** Text: what a worker says of itself; lives a little longer than the time between two such words. */
export const workerOf = (queue: string, id: string): string => `${prefix}:${queue}:worker:${id}`;

/** Milliseconds; tests shorten them. */
export const times = {
  /** A job's lock. A worker that can't renew it for so long has lost the job. */
  lock: 60_000,
  /** Between two looks for jobs whose lock is over. */
  stallCheck: 15_000,
  /** How long a coordinator that says nothing is taken to live. */
  lease: 60_000,
  /** Between two looks of a worker whether its jobs are still wanted. */
  look: 1_000,
  /** Between two words of a worker about itself; three of them missed, and it is gone. */
  announce: 5_000,
  /** Silence of a worker after which a coordinator asks the queue for the job. */
  silence: 5_000,
  /** How long an agent may be without a worker before a notice says so. */
  noWorker: 10_000,
  /** How long after its time limit a coordinator still waits for the end of an agent, which its worker has to end. */
  grace: 120_000,
  /** What a worker has to say is gathered for so long. */
  batch: 250,
  /** Most time to reach Redis at the start. */
  connect: 5_000,
  /** How long an answer may take before it is asked for over a new connection: a network that is cut says nothing. */
  answer: 30_000,
  /** How long a worker whose disk is full takes no more work. */
  fullDisk: 30_000,
  /** Between two looks of a worker for old transcripts. */
  tidy: 24 * 3_600_000,
  /** How long what a worker said is kept where nobody reads it. */
  unheard: 10 * 60_000,
  /** How long a job may wait for its worker. */
  job: 24 * 3_600_000,
  /** Most rest of a worker, whatever its agent says of when its limit ends. */
  longestRest: 24 * 3_600_000,
};

/** How often a job is begun again whose worker died. */
export const maxBegunAgain = 2;

/** How often a unit is sent again whose worker's agent had reached a limit, while other workers offer the agent. */
export const maxSentAgain = 5;

/** Bytes, entries. */
export const limits = {
  /** Entries of a run's stream that nobody has read yet; workers then wait, and with them the pipes of their agents. */
  unread: 128,
  /** What is gathered before it is sent. */
  batch: 32 * 1024,
  /** An entry above it is packed. */
  plainEntry: 64 * 1024,
  /** An entry above it ends the attempt. */
  entry: 8 * 1024 * 1024,
  /** An entry of many small items unpacks to more than it has itself. */
  unpackedEntry: 32 * 1024 * 1024,
  /** Items of an entry, and commas outside of its texts: what is made of much less than these. */
  items: 5_000,
  commas: 250_000,
  /** How many files a workspace may have, and their bytes packed and unpacked. */
  fileCount: 1_000,
  files: 16 * 1024 * 1024,
  unpackedFiles: 64 * 1024 * 1024,
  /** Characters of what an agent says in one event, and of its final message. */
  text: 256 * 1024,
  message: 5 * 1024 * 1024,
};
