import { gunzipSync, gzipSync } from "node:zlib";
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import { sanitise } from "../engine/lib/sanitise.js";
import { isValid } from "../engine/storage/schema-check.js";
import { limits, talkOf, times } from "./keys.js";

/** What one entry of a run's stream says. */
export interface Entry {
  readonly job: string;
  /** Which time the job is begun, from 1. */
  readonly attempt: number;
  /** Of this entry within its attempt, from 0. */
  readonly sequence: number;
  readonly items: readonly FleetItem[];
}

/** An entry for which its attempt has to be ended. */
export interface TooLarge extends Pick<Entry, "job" | "attempt"> {
  readonly tooLarge: true;
}

/** An entry as the fields of a stream; what is long is packed. */
export function fieldsOf({ job, attempt, sequence, items }: Entry): string[] {
  const text = JSON.stringify(items);
  const said = text.length > limits.plainEntry ? ["z", gzipSync(text, { level: 1 }).toString("base64")] : ["e", text];
  return ["j", job, "a", String(attempt), "n", String(sequence), ...said];
}

/**
 * Reads what a worker wrote, which may be anything. Undefined where nobody can be meant by it. `tooLarge`: the attempt
 * has to be ended. Items that the schema of events does not know are left out, their unknown fields too, texts are cut,
 * and control characters go.
 */
export function entryOf(fields: readonly string[]): Entry | TooLarge | undefined {
  if (fields.length > mostFields) return undefined;
  const given: Record<string, string> = {};
  for (let at = 0; at + 1 < fields.length; at += 2) given[fields[at] ?? ""] ??= fields[at + 1] ?? "";
  const { j: job, a, n, e: plain, z: packed } = given;
  const [attempt, sequence] = [numberIn(a), numberIn(n)];
  if (job === undefined || attempt === undefined || attempt < 1 || sequence === undefined) return undefined;
  if (fields.reduce((sum, field) => sum + field.length, 0) > limits.entry) return { job, attempt, tooLarge: true };
  const said = itemsIn(plain, packed);
  if (said === undefined) return undefined;
  if (said === "too large") return { job, attempt, tooLarge: true };
  return { job, attempt, sequence, items: said };
}

/** Our worker writes eight. */
const mostFields = 16;

const numberIn = (text = ""): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);

function itemsIn(
  plain: string | undefined,
  packed: string | undefined,
): readonly FleetItem[] | "too large" | undefined {
  try {
    const text =
      packed === undefined
        ? (plain ?? "")
        : gunzipSync(Buffer.from(packed, "base64"), { maxOutputLength: limits.unpackedEntry }).toString();
    if (hasTooManyParts(text)) return "too large";
    const all: unknown = JSON.parse(text);
    if (!Array.isArray(all)) return undefined;
    return all.length > limits.items ? "too large" : all.flatMap(itemOf);
  } catch (error) {
    return error instanceof RangeError ? "too large" : undefined;
  }
}

/** Whether a JSON text has more fields and items than any worker writes: to read millions of them takes seconds. */
function hasTooManyParts(text: string): boolean {
  if (text.length <= limits.commas) return false;
  let [count, isString] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) isString = !isString;
    else if (code === 0x5c && isString) at += 1;
    else if ((code === 0x2c || code === 0x5b || code === 0x7b) && !isString && ++count > limits.commas) return true;
  }
  return false;
}

/** The fields of each type of item, and of the objects in them. A test compares them with the schema. */
export const fieldsOfItems: Readonly<Record<FleetItem["type"] | "usage/usage" | "end/failure", readonly string[]>> = {
  begun: ["type", "worker", "confinement", "transcript"],
  text: ["type", "text"],
  tool: ["type", "name", "detail", "key"],
  usage: ["type", "usage", "cost_usd", "estimated", "model", "version", "window", "billing", "final"],
  "usage/usage": ["input", "cached", "output", "requests", "largest"],
  notice: ["type", "message"],
  end: ["type", "message", "failure"],
  "end/failure": ["kind", "message", "reset_at"],
  result: ["type", "text"],
};

/**
 * The item with the fields that are known, or nothing. What is wrong with one that does not fit is not asked: to find
 * that out takes a thousand times as long.
 */
function itemOf(said: unknown): FleetItem[] {
  const { type } = (said ?? {}) as { type?: unknown };
  const item = typeof type === "string" ? known(said, type) : undefined;
  return isValid("fleet-item", item) ? [attributed(bounded(item as FleetItem))] : [];
}

/** An item whose account of a failure shows as what the worker says: nobody knows who wrote it. */
const attributed = (item: FleetItem): FleetItem =>
  item.type === "end" && item.failure !== undefined
    ? { ...item, failure: { ...item.failure, message: `The worker says: “${item.failure.message}”` } }
    : item;

function known(said: unknown, kind: string): unknown {
  if (typeof said !== "object" || said === null || !Object.hasOwn(fieldsOfItems, kind)) return undefined;
  const names = fieldsOfItems[kind as keyof typeof fieldsOfItems].filter((name) => Object.hasOwn(said, name));
  return Object.fromEntries(
    names.map((name) => {
      const value = (said as Record<string, unknown>)[name];
      return [name, Object.hasOwn(fieldsOfItems, `${kind}/${name}`) ? known(value, `${kind}/${name}`) : value];
    }),
  );
}

/** An item with texts of bounded length, and but for a result and a final message without control characters. */
export function bounded(item: FleetItem): FleetItem {
  switch (item.type) {
    case "result":
      return item;
    case "end": {
      const { message, failure } = item;
      // What the agent answers with may be the result itself, so it is left as it is, as on this machine.
      const end = { ...item, message: message.slice(0, limits.message) };
      return failure === undefined ? end : { ...end, failure: { ...failure, message: clean(failure.message) } };
    }
    case "text":
      return { ...item, text: clean(item.text) };
    case "tool": {
      const { key, ...tool } = item;
      const call = { ...tool, name: clean(item.name), detail: clean(item.detail) };
      return key === undefined ? call : { ...call, key: clean(key).slice(0, 200) };
    }
    case "notice":
      return { ...item, message: clean(item.message) };
    case "begun": {
      const { transcript, ...begun } = item;
      const named = { ...begun, worker: clean(item.worker).slice(0, 100) };
      return transcript === undefined ? named : { ...named, transcript: clean(transcript).slice(0, 500) };
    }
    case "usage": {
      const { model, version, ...use } = item;
      return {
        ...use,
        ...(model === undefined ? {} : { model: clean(model).slice(0, 200) }),
        ...(version === undefined ? {} : { version: clean(version).slice(0, 200) }),
      };
    }
  }
}

const clean = (text: string): string => sanitise(text.slice(0, limits.text));

/** Gathers items and sends them in batches, in order, one batch at a time. */
export interface Talker {
  /** Resolves once there is room for more: that makes the agent's pipe wait for a slow reader. */
  say(item: FleetItem): Promise<void>;
  /** Sends what is left, and resolves once all was sent. */
  finish(): Promise<void>;
  /** Sends nothing more. */
  drop(): void;
}

/** `send` resolves once a batch is taken; `batchMs`: how long what was said may wait for more. */
export function talkerOf(send: (items: readonly FleetItem[]) => Promise<void>, batchMs: number): Talker {
  let gathered: FleetItem[] = [];
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  let sent: Promise<void> = Promise.resolve();
  let problem: unknown;

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const items = gathered;
    [gathered, size] = [[], 0];
    if (items.length > 0) sent = sent.then(() => (problem === undefined ? send(items) : undefined)).catch(keep);
    return sent;
  };
  const keep = (error: unknown): void => void (problem ??= error);

  return {
    async say(item) {
      if (problem !== undefined) throw problem;
      gathered.push(item);
      size += lengthOf(item);
      if (size >= limits.batch || gathered.length >= limits.items / 5) await flush();
      else timer ??= setTimeout(() => void flush(), batchMs);
    },
    async finish() {
      await flush();
      if (problem !== undefined) throw problem;
    },
    drop() {
      clearTimeout(timer);
      [gathered, size] = [[], 0];
    },
  };
}

const lengthOf = (item: FleetItem): number =>
  item.type === "text" || item.type === "result"
    ? item.text.length
    : item.type === "notice" || item.type === "end"
      ? item.message.length
      : 200;

/** Entries that are read at once: each may have some megabytes. */
const readAtOnce = 8;

/** Reads the stream of a run, entry by entry; the next ones stay in Redis until one has been taken. */
export function readerOf(
  ear: Redis,
  run: string,
  take: (fields: readonly string[]) => Promise<void>,
  isOver: () => boolean,
): { toItsEnd(): Promise<void> } {
  let last = "0";
  let waiting: { readonly since: number; readonly resolve: () => void }[] = [];
  let reads = 0;

  async function read(): Promise<void> {
    reads += 1;
    const begun = reads;
    const answer = await ear.xread("COUNT", readAtOnce, "BLOCK", times.look, "STREAMS", talkOf(run), last);
    const entries = answer?.[0]?.[1] ?? [];
    const done: string[] = [];
    for (const [id, fields] of entries) {
      await take(fields);
      last = id;
      done.push(id);
    }
    // Read, and so room for more.
    if (done.length > 0) await ear.xdel(talkOf(run), ...done);
    if (entries.length === readAtOnce) return;
    for (const each of waiting.filter(({ since }) => since < begun)) each.resolve();
    waiting = waiting.filter(({ since }) => since >= begun);
  }

  void (async () => {
    while (!isOver()) {
      try {
        await read();
      } catch {
        // Away, or closed.
        await sleep(100);
      }
    }
    for (const { resolve } of waiting) resolve();
  })();
  return {
    /** Resolves once a read that began after this call has found no more. */
    toItsEnd: () => new Promise((resolve) => void waiting.push({ since: reads, resolve })),
  };
}
