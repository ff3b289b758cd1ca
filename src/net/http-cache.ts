import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../engine/storage/atomic-file.js";
import { announceMove } from "../engine/storage/guard/own-writes.js";
import { makeFolder } from "../engine/storage/regular-file.js";
import { isNewer, stateVersion } from "../engine/storage/state/format-version.js";
import { answersIn } from "../engine/lib/layout.js";

/** The stored facts of an answer, without its body. */
export interface CachedAnswer {
  /** SHA-256 of the body, and the name of the body's file. */
  readonly sha256: string;
  /** After redirects, without keys. */
  readonly url: string;
  readonly type: string;
  /** The time at which the host last sent or confirmed it, in milliseconds since the epoch. */
  readonly checkedAt: number;
  readonly etag?: string;
  readonly lastModified?: string;
}

/** A cache of answers on the disk. An incomplete, missing or unreadable file is a miss, never an error. */
export interface HttpCache {
  find(key: string): Promise<{ readonly answer: CachedAnswer; readonly bytes: Uint8Array } | undefined>;
  /** Stores nothing if the disk is full or read-only. */
  keep(key: string, answer: CachedAnswer, bytes: Uint8Array): Promise<void>;
  /** Bodies are stored under their hash, so the body of an older answer to the same request can be found too. */
  body(sha256: string): Promise<Uint8Array | undefined>;
  keepBody(bytes: Uint8Array): Promise<void>;
}

const megabyte = 1024 * 1024;
const maxCacheBytes = 256 * megabyte;
/** A body with a larger share of the maximum is not stored, because it would replace too many others. */
const maxShare = 1 / 4;
/** A cleanup reduces the cache to this share of its maximum, so that not every new answer needs a cleanup. */
const shareAfterCleanup = 0.9;

export const hashOf = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/**
 * The cache in `folder`, of at most `maxBytes`; the least recently used files are removed first. Several processes may
 * share it.
 */
export function httpCache(folder: string, maxBytes = maxCacheBytes): HttpCache {
  const answers = answersIn(folder);
  const bodies = join(folder, "bodies");
  let totalBytes: number | undefined;

  const readAndTouch = async (path: string): Promise<Buffer> => {
    const bytes = await readFile(path);
    const now = new Date();
    await utimes(path, now, now).catch(() => undefined);
    return bytes;
  };

  const write = async (path: string, content: Uint8Array | string): Promise<void> => {
    await writeFileAtomic(path, typeof content === "string" ? content : asBuffer(content), { isDurable: false });
    totalBytes =
      (totalBytes ?? (await filesIn(answers, bodies)).reduce((sum, file) => sum + file.bytes, 0)) + content.length;
    if (totalBytes > maxBytes) totalBytes = await removeOldFiles([answers, bodies], maxBytes * shareAfterCleanup);
  };

  const cache: HttpCache = {
    async find(key) {
      try {
        const { format, ...answer } = JSON.parse((await readAndTouch(join(answers, `${key}.json`))).toString());
        if (!isCachedAnswer(answer) || isNewer({ format })) return undefined;
        const bytes = await cache.body(answer.sha256);
        return bytes === undefined ? undefined : { answer, bytes };
      } catch {
        return undefined;
      }
    },
    async keep(key, answer, bytes) {
      if (bytes.length > maxBytes * maxShare) return;
      await cache.keepBody(bytes);
      await write(join(answers, `${key}.json`), JSON.stringify({ ...answer, format: stateVersion })).catch(
        () => undefined,
      );
    },
    async body(sha256) {
      if (!/^[0-9a-f]{64}$/.test(sha256)) return undefined;
      const bytes = await readAndTouch(join(bodies, sha256)).catch(() => undefined);
      return bytes !== undefined && hashOf(bytes) === sha256 ? bytes : undefined;
    },
    async keepBody(bytes) {
      if (bytes.length > maxBytes * maxShare) return;
      const sha256 = hashOf(bytes);
      if ((await cache.body(sha256)) !== undefined) return;
      const saveBody = async () => {
        await Promise.all([makeFolder(answers), makeFolder(bodies)]);
        await write(join(bodies, sha256), bytes);
      };
      await saveBody().catch(() => undefined);
    },
  };
  return cache;
}

/** Uses the same bytes without a copy: a document may have many megabytes. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function isCachedAnswer(value: unknown): value is CachedAnswer {
  const { sha256, url, type, checkedAt } = (value ?? {}) as Partial<CachedAnswer>;
  return (
    typeof sha256 === "string" && typeof url === "string" && typeof type === "string" && typeof checkedAt === "number"
  );
}

/**
 * Matches the names of files that this program writes, and of their temporary files. Other files are never removed.
 */
const cacheFileName = /^\.?[0-9a-f]{64}\b/;

interface File {
  readonly path: string;
  readonly bytes: number;
  readonly usedAt: number;
}

async function filesIn(...folders: readonly string[]): Promise<File[]> {
  const paths = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder).catch((): string[] => []))
        .filter((name) => cacheFileName.test(name))
        .map((name) => join(folder, name)),
    ),
  );
  const files = await Promise.all(
    paths.flat().map(async (path) => {
      const stats = await stat(path).catch(() => undefined);
      return stats === undefined ? [] : [{ path, bytes: stats.size, usedAt: stats.mtimeMs }];
    }),
  );
  return files.flat();
}

/** Removes the least recently used files until at most `maxBytes` remain. Returns the number of bytes that remain. */
async function removeOldFiles(folders: readonly string[], maxBytes: number): Promise<number> {
  const files = (await filesIn(...folders)).sort((a, b) => a.usedAt - b.usedAt);
  let remainingBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes: fileBytes } of files) {
    if (remainingBytes <= maxBytes) break;
    announceMove(path, undefined);
    await rm(path, { force: true }).catch(() => undefined);
    remainingBytes -= fileBytes;
  }
  return remainingBytes;
}
