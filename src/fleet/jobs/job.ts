import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { FleetJob } from "../../engine/generated/fleet-job.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { fieldsIn } from "../../engine/lib/json-fields.js";
import type { Redact } from "../../engine/lib/redact.js";
import type { Brief, Failure, RunOptions } from "../../engine/loop/types.js";
import { isValid, problemsOf } from "../../engine/storage/schema-check.js";
import { jobVersion, limits } from "../keys.js";
import { isPublicKey, hasValidSignature, type Signer } from "./signature.js";

/** What is replaced in a brief before it is sent to another machine. */
export interface BriefCleaning {
  /** Paths of this machine that a brief may contain in addition to its workspace, with their replacements. */
  readonly replacedPaths: ReadonlyMap<string, string>;
  /** Removes the user's secrets from a text. */
  readonly redact: Redact;
}

/** A job in Redis: the text of a FleetJob, with its signature. */
export interface SignedJob {
  readonly version: number;
  /** The coordinator's public key. */
  readonly key: string;
  readonly signature: string;
  readonly job: string;
}

/** Signs a job with the coordinator's key. */
export function signJob(job: FleetJob, { key, sign }: Signer): SignedJob {
  const text = JSON.stringify(job);
  return { version: jobVersion, key, signature: sign(text), job: text };
}

/** The run, the id and the queue of a job, and the time until which it may start. */
export type JobIdentity = Pick<FleetJob, "run" | "id" | "queue" | "expires">;

/**
 * Creates the job for a brief, or returns a failure if that is impossible. The job contains no path of this machine and
 * none of the user's secrets.
 */
export async function createJob(
  name: JobIdentity,
  brief: Brief,
  { maxUsd, maxMs }: Omit<RunOptions, "signal">,
  { replacedPaths, redact }: BriefCleaning,
): Promise<FleetJob | Failure> {
  const { workspace, access, text, tokens, prompt, temperature } = brief;
  if (access.shell === true || access.everything || access.readOnly !== undefined)
    return {
      kind: "unusable",
      message:
        "An agent on another machine gets a text and answers with a result; it can't change files of this machine, but this unit requires that. Use an agent without fleet: for it.",
    };
  const files = await packFiles(workspace);
  if ("kind" in files) return files;
  const placeholder = `workspace-${randomBytes(16).toString("hex")}`;
  let cleanText = redact(text).replaceAll(workspace, () => placeholder);
  for (const [path, replacement] of replacedPaths) cleanText = cleanText.replaceAll(path, () => replacement);
  const job: FleetJob = {
    ...name,
    brief: {
      text: cleanText,
      tokens,
      workspace: placeholder,
      access: { web: access.web, read: access.read },
      ...withoutUndefined({ prompt, temperature }),
    },
    files: files.toString("base64"),
    ...withoutUndefined({ maxUsd, maxMs }),
  };
  if (isValid("fleet-job", job)) return job;
  const [problem] = problemsOf("fleet-job", job);
  return problem?.pointer === "/brief/text"
    ? { kind: "too-large", message: "The brief is too large to be sent: the maximum is 1 MB of text." }
    : {
        kind: "unusable",
        message: `The brief can't be sent to another machine: ${problem?.pointer} ${problem?.message}. Use an agent without fleet: for it.`,
      };
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/**
 * Packs the regular files of a folder with their names, or returns a failure if no worker would accept them. Links,
 * pipes and devices are omitted.
 *
 * Secrets are removed only from the brief, because it contains texts of the user and the project. The files are texts
 * of documents from publishers. They are not changed, so that the agent's quotes match the original letter by letter.
 */
export async function packFiles(folder: string): Promise<Buffer | Failure> {
  const files: Record<string, string> = {};
  let [count, size] = [0, 2];
  async function walk(subfolder: string): Promise<Failure | undefined> {
    for (const entry of await readdir(join(folder, subfolder), { withFileTypes: true })) {
      const name = posix.join(subfolder, entry.name);
      const problem = entry.isDirectory() ? await walk(name) : entry.isFile() ? add(name) : undefined;
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  function add(name: string): Failure | undefined {
    if (!allowedFileName.test(name))
      return {
        kind: "unusable",
        message: `No worker accepts a file named ${JSON.stringify(name.slice(0, 80))}: only numbered texts are sent, such as paper/01.txt. Use an agent without fleet: for it.`,
      };
    count += 1;
    if (count > limits.maxFiles)
      return {
        kind: "too-large",
        message: `The brief has too many files to be sent: the maximum is ${limits.maxFiles}.`,
      };
    // In JSON, each file needs its name, a colon, a comma and two more quotation marks.
    size += JSON.stringify(name).length + 4;
    const content = readBase64(join(folder, name), ((limits.maxUnpackedBytes - size) * 3) / 4);
    size += content?.length ?? 0;
    if (content === undefined || size > limits.maxUnpackedBytes)
      return {
        kind: "too-large",
        message: `The files of the brief are too large to be sent: the maximum is ${megabytes(limits.maxUnpackedBytes)}.`,
      };
    files[name] = content;
    return undefined;
  }
  const problem = await walk("");
  if (problem !== undefined) return problem;
  const packed = gzipSync(JSON.stringify(files), { level: 1 });
  if (packed.length <= limits.maxPackedBytes) return packed;
  return {
    kind: "too-large",
    message: `The files of the brief are too large to be sent: they have ${megabytes(packed.length)} when packed, and the maximum is ${megabytes(limits.maxPackedBytes)}.`,
  };
}

/** Reads a file as base64; undefined if it has more than `maxBytes` bytes. */
function readBase64(path: string, maxBytes: number): string | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (stat.size > maxBytes) return undefined;
    return stat.isFile() ? readFileSync(file).toString("base64") : "";
  } finally {
    closeSync(file);
  }
}

/** A job that a worker has checked and accepted, with the files for its workspace. */
export interface AcceptedJob {
  readonly job: FleetJob;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** What a worker needs to check a job: its id and queue in Redis, the accepted public keys, and the current time. */
export interface JobCheck extends Pick<FleetJob, "id" | "queue"> {
  readonly accepts: ReadonlySet<string>;
  readonly now: number;
}

/** The reason why a job is not accepted. With `version` or `unknownKey`, it stays in the queue for another worker. */
export type JobRefusal =
  | { readonly reason: string }
  | { readonly version: unknown }
  /** The public key that signed the job. */
  | { readonly unknownKey: string };

/** The reason for a job that has waited for more than a day. */
export const expiredText = "it has waited too long";

/** Reads and checks a job from a queue. Everybody with access to Redis may have written it. */
export function readJob(data: unknown, { id, queue, accepts, now }: JobCheck): AcceptedJob | JobRefusal {
  const { version, key, signature, job: text } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (version !== jobVersion) return { version };
  if (typeof key !== "string" || !isPublicKey(key) || typeof signature !== "string" || typeof text !== "string")
    return { reason: "it is not signed" };
  if (!accepts.has(key)) return { unknownKey: key };
  if (!hasValidSignature(key, text, signature)) return { reason: "its signature does not match its text" };
  const job: unknown = fieldsIn(text);
  const [problem] = problemsOf("fleet-job", job);
  if (problem !== undefined) return { reason: `it is not a valid job: ${problem.pointer || "/"} ${problem.message}` };
  const checkedJob = job as FleetJob;
  if (checkedJob.id !== id || checkedJob.queue !== queue)
    return { reason: `it was signed as ${checkedJob.id} of ${checkedJob.queue}` };
  if (checkedJob.expires <= now) return { reason: `${expiredText}, or the clocks of the two machines differ` };
  const files = unpackFiles(checkedJob.files);
  return "reason" in files ? files : { job: checkedJob, files: files.files };
}

/** Unpacks the files of a workspace, or returns the reason why they are not accepted: their names, number or size. */
export function unpackFiles(
  packed: string,
): { readonly files: ReadonlyMap<string, Buffer> } | { readonly reason: string } {
  const bytes = Buffer.from(packed, "base64");
  if (bytes.length > limits.maxPackedBytes)
    return { reason: `its packed files have more than ${megabytes(limits.maxPackedBytes)}` };
  let filesByName: unknown;
  try {
    filesByName = JSON.parse(gunzipSync(bytes, { maxOutputLength: limits.maxUnpackedBytes }).toString());
  } catch (error) {
    return {
      reason:
        error instanceof RangeError
          ? `its unpacked files have more than ${megabytes(limits.maxUnpackedBytes)}`
          : "its files can't be unpacked",
    };
  }
  if (typeof filesByName !== "object" || filesByName === null || Array.isArray(filesByName))
    return { reason: "its files are not an object with names and contents" };
  const entries = Object.entries(filesByName);
  if (entries.length > limits.maxFiles) return { reason: `it has more than ${limits.maxFiles} files` };
  const files = new Map<string, Buffer>();
  for (const [name, content] of entries) {
    if (!allowedFileName.test(name))
      return { reason: `it has a file that no run sends: ${JSON.stringify(name.slice(0, 80))}` };
    if (typeof content !== "string") return { reason: "its files are not an object with names and contents" };
    files.set(name, Buffer.from(content, "base64"));
  }
  return { files };
}

/**
 * The names that a run gives to files of a workspace: numbered texts in a folder. Other names are not accepted, because
 * many programs follow the instructions in certain files of their working folder, such as `.git/config` or CLAUDE.md.
 */
const allowedFileName = /^[a-z]{1,40}\/\d{2,6}\.txt$/;

/**
 * Writes the files of a job into its empty workspace, and returns the brief for the agent. `iteration`: the worker's
 * number for this attempt.
 */
export async function prepareBrief(workspace: string, { job, files }: AcceptedJob, iteration: number): Promise<Brief> {
  for (const [name, content] of files) {
    const path = join(workspace, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content, { flag: "wx" });
  }
  const { workspace: placeholder, text, tokens, access, prompt, temperature } = job.brief;
  return {
    iteration,
    text: text.replaceAll(placeholder, () => workspace),
    tokens,
    workspace,
    access: { ...access, everything: false },
    ...withoutUndefined({ prompt, temperature }),
  };
}
