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
import { isPublicKey, isSignedBy, type Signer } from "./signature.js";

/** What a brief must not take along. */
export interface Leaving {
  /** Paths of this machine that it may name besides its workspace, and what is said instead. */
  readonly paths: ReadonlyMap<string, string>;
  /** Takes the user's secrets out of a text. */
  readonly redact: Redact;
}

/** A job as it lies in Redis: the text of a FleetJob, and who has signed that text. */
export interface SignedJob {
  readonly version: number;
  /** The coordinator's public key. */
  readonly key: string;
  readonly signature: string;
  readonly job: string;
}

/** A job with its coordinator's signature. */
export function signed(job: FleetJob, { key, sign }: Signer): SignedJob {
  const text = JSON.stringify(job);
  return { version: jobVersion, key, signature: sign(text), job: text };
}

/** Which job it is, where it is to be done, and until when it may be begun. */
export type JobName = Pick<FleetJob, "run" | "id" | "queue" | "expires">;

/**
 * The job for a brief, or why it can't be one. No path of this machine and no secret of its user's goes with it.
 */
export async function jobOf(
  name: JobName,
  brief: Brief,
  { maxUsd, maxMs }: Omit<RunOptions, "signal">,
  { paths, redact }: Leaving,
): Promise<FleetJob | Failure> {
  const { workspace, access, text, tokens, prompt, temperature } = brief;
  if (access.shell === true || access.everything || access.readOnly !== undefined)
    return {
      kind: "unusable",
      message:
        "An agent on another machine is given a text and answers with a result; it can't change files of this one, as this unit asks. Use an agent without fleet: for it.",
    };
  const files = await pack(workspace);
  if ("kind" in files) return files;
  const placeholder = `workspace-${randomBytes(16).toString("hex")}`;
  let said = redact(text).replaceAll(workspace, () => placeholder);
  for (const [path, instead] of paths) said = said.replaceAll(path, () => instead);
  const job: FleetJob = {
    ...name,
    brief: {
      text: said,
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
    ? { kind: "too-large", message: "The brief is too large to be sent: 1 MB of text is the most." }
    : {
        kind: "unusable",
        message: `The brief can't be sent to another machine: ${problem?.pointer} ${problem?.message}. Use an agent without fleet: for it.`,
      };
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/**
 * The regular files of a folder by name, packed; or why no worker would take them. Links, pipes and devices are left
 * out.
 *
 * The user's secrets are taken out of the brief, which is made of what the user and the project say. The files are not
 * read through: they are the texts of documents, which come from publishers and travel as they are, so that a quote is
 * found in ours letter by letter.
 */
export async function pack(folder: string): Promise<Buffer | Failure> {
  const files: Record<string, string> = {};
  let [count, size] = [0, 2];
  async function walk(at: string): Promise<Failure | undefined> {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const name = posix.join(at, entry.name);
      const problem = entry.isDirectory() ? await walk(name) : entry.isFile() ? add(name) : undefined;
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  function add(name: string): Failure | undefined {
    if (!ofOurs.test(name))
      return {
        kind: "unusable",
        message: `No worker takes a file named ${JSON.stringify(name.slice(0, 80))}: only numbered texts are sent, such as paper/01.txt. Use an agent without fleet: for it.`,
      };
    count += 1;
    if (count > limits.fileCount)
      return {
        kind: "too-large",
        message: `The brief has too many files to be sent: ${limits.fileCount} are the most.`,
      };
    // As it will be written: a name, a colon, a comma and four quotation marks.
    size += JSON.stringify(name).length + 4;
    const content = contentOf(join(folder, name), ((limits.unpackedFiles - size) * 3) / 4);
    size += content?.length ?? 0;
    if (content === undefined || size > limits.unpackedFiles)
      return {
        kind: "too-large",
        message: `The files of the brief are too large to be sent: ${megabytes(limits.unpackedFiles)} are the most.`,
      };
    files[name] = content;
    return undefined;
  }
  const problem = await walk("");
  if (problem !== undefined) return problem;
  const packed = gzipSync(JSON.stringify(files), { level: 1 });
  if (packed.length <= limits.files) return packed;
  return {
    kind: "too-large",
    message: `The files of the brief are too large to be sent: ${megabytes(packed.length)} packed, ${megabytes(limits.files)} are the most.`,
  };
}

/** A file as base64; undefined where it has more than so many bytes. */
function contentOf(path: string, most: number): string | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (stat.size > most) return undefined;
    return stat.isFile() ? readFileSync(file).toString("base64") : "";
  } finally {
    closeSync(file);
  }
}

/** A job as a worker takes it: checked, with the files that belong into the workspace. */
export interface TakenJob {
  readonly job: FleetJob;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** What a worker holds a job against: where it lay, whose jobs are taken, and the time. */
export interface Taking extends Pick<FleetJob, "id" | "queue"> {
  readonly accepts: ReadonlySet<string>;
  readonly now: number;
}

/** Why a job is not taken. `version`, `stranger`: another worker may take it, so it is left alone. */
export type NotTaken =
  | { readonly reason: string }
  | { readonly version: unknown }
  /** The public key that signed it. */
  | { readonly stranger: string };

/** Of a job that waited for more than a day. */
export const timeOver = "its time is over";

/** Reads what stands in a queue, which anybody may have written there. */
export function takenJob(data: unknown, { id, queue, accepts, now }: Taking): TakenJob | NotTaken {
  const { version, key, signature, job: text } = (data ?? {}) as Readonly<Record<string, unknown>>;
  if (version !== jobVersion) return { version };
  if (typeof key !== "string" || !isPublicKey(key) || typeof signature !== "string" || typeof text !== "string")
    return { reason: "it is not signed" };
  if (!accepts.has(key)) return { stranger: key };
  if (!isSignedBy(key, text, signature)) return { reason: "it is not as its coordinator has signed it" };
  const job: unknown = fieldsIn(text);
  const [problem] = problemsOf("fleet-job", job);
  if (problem !== undefined) return { reason: `it is not a valid job: ${problem.pointer || "/"} ${problem.message}` };
  const read = job as FleetJob;
  if (read.id !== id || read.queue !== queue) return { reason: `it was signed as ${read.id} of ${read.queue}` };
  if (read.expires <= now) return { reason: `${timeOver}, or the clocks of the two machines differ` };
  const files = unpack(read.files);
  return "reason" in files ? files : { job: read, files: files.files };
}

/** The files of a packed workspace, or why they are not taken: names of another kind, or too much of them. */
export function unpack(packed: string): { readonly files: ReadonlyMap<string, Buffer> } | { readonly reason: string } {
  const bytes = Buffer.from(packed, "base64");
  if (bytes.length > limits.files) return { reason: `its files have more than ${megabytes(limits.files)} packed` };
  let named: unknown;
  try {
    named = JSON.parse(gunzipSync(bytes, { maxOutputLength: limits.unpackedFiles }).toString());
  } catch (error) {
    return {
      reason:
        error instanceof RangeError
          ? `its files have more than ${megabytes(limits.unpackedFiles)} unpacked`
          : "its files can't be unpacked",
    };
  }
  if (typeof named !== "object" || named === null || Array.isArray(named))
    return { reason: "its files are not a list of files by name" };
  const all = Object.entries(named);
  if (all.length > limits.fileCount) return { reason: `it has more than ${limits.fileCount} files` };
  const files = new Map<string, Buffer>();
  for (const [name, content] of all) {
    if (!ofOurs.test(name)) return { reason: `it has a file that no run sends: ${JSON.stringify(name.slice(0, 80))}` };
    if (typeof content !== "string") return { reason: "its files are not a list of files by name" };
    files.set(name, Buffer.from(content, "base64"));
  }
  return { files };
}

/**
 * The names of files that a run writes into a workspace: numbered texts in a folder. No other name is taken, as many
 * programs look for files that tell them what to do, and to start, where they work: `.git/config`, CLAUDE.md.
 */
const ofOurs = /^[a-z]{1,40}\/\d{2,6}\.txt$/;

/**
 * Puts the files of a job into its workspace, which is fresh, and answers with the brief as the agent is to read it.
 * `iteration`: a number of the worker's own.
 */
export async function briefIn(workspace: string, { job, files }: TakenJob, iteration: number): Promise<Brief> {
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
