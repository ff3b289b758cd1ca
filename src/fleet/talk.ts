import { gunzipSync, gzipSync } from "node:zlib";
import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { FleetItem } from "../engine/generated/fleet-item.js";
import { sanitise } from "../engine/lib/sanitise.js";
import { isValid } from "../engine/storage/schema-check.js";
import { limits, entriesKey, times } from "./keys.js";

/** One entry of a run's stream. Workers write entries, and the coordinator reads them. */
export interface Entry {
  readonly job: string;
  /** The number of the job's start, from 1. */
  readonly attempt: number;
  /** The number of this entry within its attempt, from 0. */
  readonly sequence: number;
  readonly items: readonly FleetItem[];
}

/** An entry that is too large. Its attempt must be ended. */
export interface TooLarge extends Pick<Entry, "job" | "attempt"> {
  readonly tooLarge: true;
}

/** The fields of an entry, as they are stored in the stream. A long entry is compressed. */
export function fieldsOf({ job, attempt, sequence, items }: Entry): string[] {
  const text = JSON.stringify(items);
  const payload =
    text.length > limits.maxPlainChars ? ["z", gzipSync(text, { level: 1 }).toString("base64")] : ["e", text];
  return ["j", job, "a", String(attempt), "n", String(sequence), ...payload];
}

/**
 * Reads an entry that a worker wrote, which may contain anything. Undefined if it belongs to no job. `tooLarge`: the
 * attempt must be ended. Unknown items and fields are omitted, long texts are cut, and control characters are removed.
 */
export function entryOf(fields: readonly string[]): Entry | TooLarge | undefined {
  if (fields.length > maxFields) return undefined;
  const valueByName: Record<string, string> = {};
  for (let index = 0; index + 1 < fields.length; index += 2)
    valueByName[fields[index] ?? ""] ??= fields[index + 1] ?? "";
  const { j: job, a, n, e: plainText, z: packedText } = valueByName;
  const [attempt, sequence] = [readNumber(a), readNumber(n)];
  if (job === undefined || attempt === undefined || attempt < 1 || sequence === undefined) return undefined;
  if (fields.reduce((sum, field) => sum + field.length, 0) > limits.maxEntryChars)
    return { job, attempt, tooLarge: true };
  const items = readItems(plainText, packedText);
  if (items === undefined) return undefined;
  if (items === "too large") return { job, attempt, tooLarge: true };
  return { job, attempt, sequence, items };
}

// A worker writes eight fields.
const maxFields = 16;

const readNumber = (text = ""): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);

function readItems(
  plainText: string | undefined,
  packedText: string | undefined,
): readonly FleetItem[] | "too large" | undefined {
  try {
    const text =
      packedText === undefined
        ? (plainText ?? "")
        : gunzipSync(Buffer.from(packedText, "base64"), { maxOutputLength: limits.maxUnpackedEntryBytes }).toString();
    if (hasTooManyParts(text)) return "too large";
    const items: unknown = JSON.parse(text);
    if (!Array.isArray(items)) return undefined;
    return items.length > limits.maxItems ? "too large" : items.flatMap(readItem);
  } catch (error) {
    return error instanceof RangeError ? "too large" : undefined;
  }
}

/** Whether a JSON text has more fields and items than any worker writes. To parse millions of them takes seconds. */
function hasTooManyParts(text: string): boolean {
  if (text.length <= limits.maxCommas) return false;
  let [count, isInString] = [0, false];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 0x22) isInString = !isInString;
    else if (code === 0x5c && isInString) index += 1;
    else if ((code === 0x2c || code === 0x5b || code === 0x7b) && !isInString && ++count > limits.maxCommas)
      return true;
  }
  return false;
}

/** The fields of each type of item and of the objects in it. A test compares them with the schema. */
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
 * The item with its known fields; empty if it is not valid. The exact problem is not determined, because that takes a
 * thousand times longer.
 */
function readItem(value: unknown): FleetItem[] {
  const { type } = (value ?? {}) as { type?: unknown };
  const item = typeof type === "string" ? pickKnownFields(value, type) : undefined;
  return isValid("fleet-item", item) ? [markAsReported(boundTexts(item as FleetItem))] : [];
}

/** Adds to a failure message that the worker says so, because the message may be false. */
const markAsReported = (item: FleetItem): FleetItem =>
  item.type === "end" && item.failure !== undefined
    ? { ...item, failure: { ...item.failure, message: `The worker says: “${item.failure.message}”` } }
    : item;

function pickKnownFields(item: unknown, typeName: string): unknown {
  if (typeof item !== "object" || item === null || !Object.hasOwn(fieldsOfItems, typeName)) return undefined;
  const names = fieldsOfItems[typeName as keyof typeof fieldsOfItems].filter((name) => Object.hasOwn(item, name));
  return Object.fromEntries(
    names.map((name) => {
      const value = (item as Record<string, unknown>)[name];
      return [
        name,
        Object.hasOwn(fieldsOfItems, `${typeName}/${name}`) ? pickKnownFields(value, `${typeName}/${name}`) : value,
      ];
    }),
  );
}

/** Cuts long texts and removes control characters. In a result and a final message, control characters stay. */
export function boundTexts(item: FleetItem): FleetItem {
  switch (item.type) {
    case "result":
      return item;
    case "end": {
      const { message, failure } = item;
      // The agent's final message may be the result itself, so its characters are not changed.
      const end = { ...item, message: message.slice(0, limits.maxMessageChars) };
      return failure === undefined ? end : { ...end, failure: { ...failure, message: cleanText(failure.message) } };
    }
    case "text":
      return { ...item, text: cleanText(item.text) };
    case "tool": {
      const { key, ...tool } = item;
      const call = { ...tool, name: cleanText(item.name), detail: cleanText(item.detail) };
      return key === undefined ? call : { ...call, key: cleanText(key).slice(0, 200) };
    }
    case "notice":
      return { ...item, message: cleanText(item.message) };
    case "begun": {
      const { transcript, ...begun } = item;
      const cleaned = { ...begun, worker: cleanText(item.worker).slice(0, 100) };
      return transcript === undefined ? cleaned : { ...cleaned, transcript: cleanText(transcript).slice(0, 500) };
    }
    case "usage": {
      const { model, version, ...usage } = item;
      return {
        ...usage,
        ...(model === undefined ? {} : { model: cleanText(model).slice(0, 200) }),
        ...(version === undefined ? {} : { version: cleanText(version).slice(0, 200) }),
      };
    }
  }
}

const cleanText = (text: string): string => sanitise(text.slice(0, limits.maxTextChars));

/** Collects items and sends them in batches, in order, one batch at a time. */
export interface Sender {
  /** Adds an item. Resolves when there is room for the next one, so that the agent waits for a slow coordinator. */
  add(item: FleetItem): Promise<void>;
  /** Sends the remaining items. Resolves when all are sent. */
  finish(): Promise<void>;
  /** Discards the remaining items. */
  drop(): void;
}

/** `send` resolves when a batch is accepted. `batchMs`: maximum milliseconds that an item waits for more items. */
export function makeSender(send: (items: readonly FleetItem[]) => Promise<void>, batchMs: number): Sender {
  let batch: FleetItem[] = [];
  let batchSize = 0;
  let timer: NodeJS.Timeout | undefined;
  let lastSend: Promise<void> = Promise.resolve();
  let sendError: unknown;

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const items = batch;
    [batch, batchSize] = [[], 0];
    if (items.length > 0)
      lastSend = lastSend.then(() => (sendError === undefined ? send(items) : undefined)).catch(storeError);
    return lastSend;
  };
  const storeError = (error: unknown): void => void (sendError ??= error);

  return {
    async add(item) {
      if (sendError !== undefined) throw sendError;
      batch.push(item);
      batchSize += lengthOf(item);
      if (batchSize >= limits.batchChars || batch.length >= limits.maxItems / 5) await flush();
      else timer ??= setTimeout(() => void flush(), batchMs);
    },
    async finish() {
      await flush();
      if (sendError !== undefined) throw sendError;
    },
    drop() {
      clearTimeout(timer);
      [batch, batchSize] = [[], 0];
    },
  };
}

const lengthOf = (item: FleetItem): number =>
  item.type === "text" || item.type === "result"
    ? item.text.length
    : item.type === "notice" || item.type === "end"
      ? item.message.length
      : 200;

/** Maximum number of entries in one read. An entry may have several megabytes. */
const maxEntriesPerRead = 8;

/** Reads the stream of a run in order. It waits for `handleEntry` before it reads the next entry. */
export function makeReader(
  connection: Redis,
  run: string,
  handleEntry: (fields: readonly string[]) => Promise<void>,
  isOver: () => boolean,
): { waitForEnd(): Promise<void> } {
  let lastId = "0";
  let waitingCalls: { readonly since: number; readonly resolve: () => void }[] = [];
  let readCount = 0;

  async function read(): Promise<void> {
    readCount += 1;
    const thisRead = readCount;
    const answer = await connection.xread(
      "COUNT",
      maxEntriesPerRead,
      "BLOCK",
      times.checkInterval,
      "STREAMS",
      entriesKey(run),
      lastId,
    );
    const entries = answer?.[0]?.[1] ?? [];
    const handledIds: string[] = [];
    for (const [id, fields] of entries) {
      await handleEntry(fields);
      lastId = id;
      handledIds.push(id);
    }
    // Deleting the entries makes room for more.
    if (handledIds.length > 0) await connection.xdel(entriesKey(run), ...handledIds);
    if (entries.length === maxEntriesPerRead) return;
    for (const call of waitingCalls.filter(({ since }) => since < thisRead)) call.resolve();
    waitingCalls = waitingCalls.filter(({ since }) => since >= thisRead);
  }

  void (async () => {
    while (!isOver()) {
      try {
        await read();
      } catch {
        // Redis is not available, or the connection was closed.
        await sleep(100);
      }
    }
    for (const { resolve } of waitingCalls) resolve();
  })();
  return {
    /** Resolves when a read that started after this call has found no more entries. */
    waitForEnd: () => new Promise((resolve) => void waitingCalls.push({ since: readCount, resolve })),
  };
}
