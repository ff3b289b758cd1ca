import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { ExpectedError, hasCode, messageOf } from "../engine/lib/errors.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";
import { packageFile } from "../engine/lib/package-root.js";
import { oneLine } from "../engine/lib/sanitise.js";
import type { RedisAddress } from "./address.js";
import { times } from "./keys.js";

type Bullmq = typeof import("bullmq");

/** A Redis server that was reached and can carry a fleet. */
export interface Reached {
  readonly bullmq: Bullmq;
  /** What the server says of itself, by field. */
  readonly info: ReadonlyMap<string, string>;
  /** One more connection. It waits for a server that is away, as long as it takes. */
  open(): Redis;
}

/** The oldest Redis that has all that is asked of it. */
const oldest = [6, 2] as const;

/** Loads the libraries, which only a fleet needs and an installation need not have. */
async function libraries(): Promise<{ readonly Client: typeof Redis; readonly bullmq: Bullmq }> {
  try {
    const [{ Redis: Client }, bullmq] = await Promise.all([import("ioredis"), import("bullmq")]);
    return { Client, bullmq };
  } catch (error) {
    const why = hasCode(error, "ERR_MODULE_NOT_FOUND")
      ? "are not installed"
      : `could not be loaded (${oneLine(messageOf(error))})`;
    throw new ExpectedError(
      `Agents on other machines need the packages bullmq and ioredis, which ${why}; ${howToInstall(packageFile("."))}.`,
    );
  }
}

/** The versions that were tried; package.json has the range that is allowed. */
const tried = ["bullmq@6.7.0", "ioredis@6.0.0"];

/** What a person does to have the libraries where the package in this folder finds them, as part of a sentence. */
export function howToInstall(root: string): string {
  const npx = /^(.*[\\/]_npx[\\/][^\\/]+)[\\/]/.exec(root)?.[1];
  if (npx !== undefined) {
    const packages = [...askedOfNpx(npx), ...tried].map((name) => `--package ${name}`).join(" ");
    return `start it by \`npx ${packages} research-ralph\` with the same arguments`;
  }
  const holder = /^(.*?)[\\/]node_modules[\\/]/.exec(root)?.[1];
  if (holder === undefined) return `run \`npm install\` in ${root.replace(/[\\/]$/, "")}`;
  if (existsSync(join(holder, "package.json"))) return `run \`npm install ${tried.join(" ")}\` in ${holder}`;
  return `run \`npm install --global ${tried.join(" ")}\``;
}

/** The packages that npx was asked for, as it writes them down where it keeps them. */
function askedOfNpx(folder: string): readonly string[] {
  try {
    const { _npx } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      _npx?: { packages?: readonly string[] };
    };
    return _npx?.packages ?? ["research-ralph"];
  } catch {
    return ["research-ralph"];
  }
}

/**
 * Reaches the server, within 5 seconds, and makes sure that nothing is lost on it.
 * @throws ExpectedError where it can't be reached, is too old or forgets jobs (exit code 1), or does not let us in (5).
 */
export async function reach(address: RedisAddress): Promise<Reached> {
  const { Client, bullmq } = await libraries();
  const { host, port, username, password, db, tls } = address;
  const options = {
    host,
    port,
    db,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    connectTimeout: times.connect,
    ...withoutUndefined({ username, password, tls: tls ? {} : undefined }),
  };
  const info = await firstWord(new Client({ ...options, retryStrategy: () => null }), address);
  requireFit(info, address);
  return {
    bullmq,
    info,
    open() {
      const retryStrategy = (tries: number) => Math.min(1_000, 50 * 2 ** tries);
      const redis = new Client({ ...options, retryStrategy, lazyConnect: false, socketTimeout: times.answer });
      // Each command says by itself what became of it.
      redis.on("error", () => undefined);
      return redis;
    },
  };
}

/** Asks the server what it is, over a connection of its own. */
async function firstWord(redis: Redis, address: RedisAddress): Promise<ReadonlyMap<string, string>> {
  let said: unknown;
  redis.on("error", (error: unknown) => (said ??= error));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it did not answer within ${times.connect / 1000} seconds`)),
      times.connect,
    );
  });
  try {
    const asked = redis.connect().then(() => redis.info());
    asked.catch(() => undefined);
    return fieldsOf(await Promise.race([asked, late]));
  } catch (error) {
    throw unreached(said ?? error, address);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}

/** Why the server could not be used, for a person. */
function unreached(error: unknown, { shown, tls }: RedisAddress): ExpectedError {
  const message = messageOf(error);
  if (/^(?:WRONGPASS|NOAUTH|NOPERM)/.test(message)) {
    const why = message.startsWith("NOPERM")
      ? "does not allow this user what a fleet needs"
      : "refuses this user and password";
    return new ExpectedError(
      `Redis at ${shown} ${why}; correct them where its address is set (research-ralph config says where).`,
      5,
    );
  }
  const spoken = /RESP|wrong version|SSL|TLS|certificate|ECONNRESET|Connection is closed/i.test(message);
  const hint = !spoken
    ? "see that it runs and can be reached from here"
    : tls
      ? "see that it speaks TLS on this port, and that its certificate is known here (NODE_EXTRA_CA_CERTS names your own authority)"
      : "see that it is Redis without TLS on this port; with TLS the address begins with rediss://";
  return new ExpectedError(`Redis at ${shown} could not be reached (${message.replace(/\.$/, "")}); ${hint}.`);
}

/**
 * What the server's answer means to a person where it refused what `what` needs: keys that this user may not use (exit
 * code 5), or anything else (1). `keys`: as an ACL names them. What is not an answer of the server comes back as it
 * was.
 */
export function refusal(
  error: unknown,
  { what, keys }: { readonly what: string; readonly keys: string },
  { shown, username = "default" }: RedisAddress,
): unknown {
  if (!(error instanceof Error) || error.name !== "ReplyError") return error;
  // The second form comes from within a script.
  if (!/NOPERM|user executing the script/i.test(error.message))
    return new ExpectedError(`Redis at ${shown} refused what ${what} needs: ${oneLine(error.message)}.`);
  return new ExpectedError(
    `Redis at ${shown} does not allow this user what ${what} needs; allow it there: ACL SETUSER ${username} ${keys} +@all -@dangerous +info`,
    5,
  );
}

const fieldsOf = (info: string): ReadonlyMap<string, string> =>
  new Map([...info.matchAll(/^([\w-]+):([^\r\n]*)/gm)].map(([, name = "", value = ""]) => [name, value]));

/** @throws ExpectedError (exit code 1) for a server on which jobs could get lost. */
function requireFit(info: ReadonlyMap<string, string>, { shown }: RedisAddress): void {
  const problem = versionProblem(info) ?? evictionProblem(info);
  if (problem !== undefined) throw new ExpectedError(`Redis at ${shown} ${problem}.`);
}

/** What is wrong with the version, and what to do. */
export function versionProblem(info: ReadonlyMap<string, string>): string | undefined {
  const version = info.get("redis_version") ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return undefined;
  return `is version ${version}; ${oldest.join(".")} or newer is needed: update it`;
}

/** What is wrong with what it throws away when its memory is full, and what to do. */
export function evictionProblem(info: ReadonlyMap<string, string>): string | undefined {
  const policy = info.get("maxmemory_policy");
  if (policy === undefined || policy === "noeviction") return undefined;
  return `deletes keys, and with them jobs, when its memory is full (maxmemory-policy ${policy}): set maxmemory-policy noeviction`;
}
