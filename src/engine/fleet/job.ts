import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, posix } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { FleetJob } from "../generated/fleet-job.js";
import { given } from "../lib/given.js";
import type { Redact } from "../lib/redact.js";
import type { Brief, Failure, RunOptions } from "../loop/types.js";
import { problemsOf } from "../storage/schema-check.js";
import { jobVersion, limits } from "./keys.js";

/** What a brief must not take along. */
export interface Leaving {
  /** Paths of this machine that it may name beside its workspace, and what is said instead. */
  readonly paths: ReadonlyMap<string, string>;
  /** Takes the user's secrets out of a text. */
  readonly redact: Redact;
}

/**
 * The job for a brief, or why it can't be one. No path of this machine and no secret of its user's goes with it.
 */
export async function jobOf(
  run: string,
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
  if (files.length > limits.files)
    return {
      kind: "too-large",
      message: `The files of the brief are too large to be sent: ${megabytes(files.length)} packed, ${megabytes(limits.files)} are the most.`,
    };
  const placeholder = `workspace-${randomBytes(16).toString("hex")}`;
  let said = redact(text).replaceAll(workspace, placeholder);
  for (const [path, instead] of paths) said = said.replaceAll(path, instead);
  return {
    version: jobVersion,
    run,
    brief: {
      text: said,
      tokens,
      workspace: placeholder,
      access: { web: access.web, read: access.read },
      ...given({ prompt, temperature }),
    },
    files: files.toString("base64"),
    ...given({ maxUsd, maxMs }),
  };
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/** The regular files of a folder by name, packed. Links, pipes and devices are left out. */
export async function pack(folder: string): Promise<Buffer> {
  const files: Record<string, string> = {};
  async function walk(at: string): Promise<void> {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const name = posix.join(at, entry.name);
      if (entry.isDirectory()) await walk(name);
      else if (entry.isFile()) files[name] = contentOf(join(folder, name));
    }
  }
  await walk("");
  return gzipSync(JSON.stringify(files), { level: 1 });
}

function contentOf(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return fstatSync(file).isFile() ? readFileSync(file).toString("base64") : "";
  } finally {
    closeSync(file);
  }
}

/** A job as a worker takes it: checked, with the files that belong into the workspace. */
export interface TakenJob {
  readonly job: FleetJob;
  readonly files: ReadonlyMap<string, Buffer>;
}

/**
 * Reads what a coordinator sent, which may be anything. A reason where it is not taken; `version`, where it is a job of
 * another version, which is left for another worker.
 */
export function takenJob(data: unknown): TakenJob | { readonly reason: string } | { readonly version: unknown } {
  const { version } = (data ?? {}) as { version?: unknown };
  if (version !== jobVersion) return { version };
  const [problem] = problemsOf("fleet-job", data);
  if (problem !== undefined) return { reason: `the job is none: ${problem.pointer || "/"} ${problem.message}` };
  const job = data as FleetJob;
  const files = unpack(job.files);
  return "reason" in files ? files : { job, files: files.files };
}

/** The files of a packed workspace, or why they are not taken: a name that leads out of it, or too much of them. */
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
  if (typeof named !== "object" || named === null || Array.isArray(named)) return { reason: "its files are none" };
  const files = new Map<string, Buffer>();
  for (const [name, content] of Object.entries(named)) {
    if (!staysWithin(name))
      return { reason: `it names a file outside of its workspace: ${JSON.stringify(name.slice(0, 80))}` };
    if (typeof content !== "string") return { reason: "its files are none" };
    files.set(name, Buffer.from(content, "base64"));
  }
  return { files };
}

const staysWithin = (name: string): boolean =>
  name !== "" &&
  name.length <= 200 &&
  !isAbsolute(name) &&
  // oxlint-disable-next-line no-control-regex -- a name with one is none of ours
  !/[\\\u0000-\u001f\u007f]/.test(name) &&
  name.split("/").every((part) => part !== "" && part !== "." && part !== "..");

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
    text: text.replaceAll(placeholder, workspace),
    tokens,
    workspace,
    access: { ...access, everything: false },
    ...given({ prompt, temperature }),
  };
}
