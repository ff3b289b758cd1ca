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

/** A connection to a Redis server that is suitable for a fleet. */
export interface RedisServer {
  readonly bullmq: Bullmq;
  /** The fields of the server's INFO. */
  readonly info: ReadonlyMap<string, string>;
  /** Opens one more connection. If the server is not available, the connection waits for it without a limit. */
  open(): Redis;
}

/** The oldest version of Redis with all commands that are used here. */
const minVersion = [6, 2] as const;

/** Loads the libraries for Redis. Only a fleet needs them, so they may be missing. */
async function loadLibraries(): Promise<{ readonly Client: typeof Redis; readonly bullmq: Bullmq }> {
  try {
    const [{ Redis: Client }, bullmq] = await Promise.all([import("ioredis"), import("bullmq")]);
    return { Client, bullmq };
  } catch (error) {
    const problem = hasCode(error, "ERR_MODULE_NOT_FOUND")
      ? "are not installed"
      : `could not be loaded (${oneLine(messageOf(error))})`;
    throw new ExpectedError(
      `Agents on other machines need the packages bullmq and ioredis, which ${problem}; ${installAdvice(packageFile("."))}.`,
    );
  }
}

/** The tested versions. package.json has the allowed range. */
const testedPackages = ["bullmq@6.7.0", "ioredis@6.0.0"];

/** How the user can install the libraries, as part of a sentence. `root`: the folder of this package. */
export function installAdvice(root: string): string {
  const npx = /^(.*[\\/]_npx[\\/][^\\/]+)[\\/]/.exec(root)?.[1];
  if (npx !== undefined) {
    const packages = [...packagesOfNpx(npx), ...testedPackages].map((name) => `--package ${name}`).join(" ");
    return `start it by \`npx ${packages} research-ralph\` with the same arguments`;
  }
  const projectFolder = /^(.*?)[\\/]node_modules[\\/]/.exec(root)?.[1];
  if (projectFolder === undefined) return `run \`npm install\` in ${root.replace(/[\\/]$/, "")}`;
  if (existsSync(join(projectFolder, "package.json")))
    return `run \`npm install ${testedPackages.join(" ")}\` in ${projectFolder}`;
  return `run \`npm install --global ${testedPackages.join(" ")}\``;
}

/** The packages with which npx was called; npx stores them in its folder. */
function packagesOfNpx(folder: string): readonly string[] {
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
 * Connects to the server within 5 seconds, and checks that it does not lose jobs.
 * @throws ExpectedError if it can't be reached, is too old or deletes jobs (exit code 1), or refuses access (5).
 */
export async function connectToRedis(address: RedisAddress): Promise<RedisServer> {
  const { Client, bullmq } = await loadLibraries();
  const { host, port, username, password, db, tls } = address;
  const options = {
    host,
    port,
    db,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    connectTimeout: times.connectTimeout,
    ...withoutUndefined({ username, password, tls: tls ? {} : undefined }),
  };
  const info = await readServerInfo(new Client({ ...options, retryStrategy: () => null }), address);
  requireUsable(info, address);
  return {
    bullmq,
    info,
    open() {
      const retryStrategy = (attempts: number) => Math.min(1_000, 50 * 2 ** attempts);
      const redis = new Client({ ...options, retryStrategy, lazyConnect: false, socketTimeout: times.answerTimeout });
      // Each command reports its own error.
      redis.on("error", () => undefined);
      return redis;
    },
  };
}

/** Reads the server's INFO over a separate connection. */
async function readServerInfo(redis: Redis, address: RedisAddress): Promise<ReadonlyMap<string, string>> {
  let connectionError: unknown;
  redis.on("error", (error: unknown) => (connectionError ??= error));
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it did not answer within ${times.connectTimeout / 1000} seconds`)),
      times.connectTimeout,
    );
  });
  try {
    const infoRequest = redis.connect().then(() => redis.info());
    infoRequest.catch(() => undefined);
    return fieldsOf(await Promise.race([infoRequest, timeout]));
  } catch (error) {
    throw connectionErrorOf(connectionError ?? error, address);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}

/** The error message for a server that could not be used. */
function connectionErrorOf(error: unknown, { publicText, tls }: RedisAddress): ExpectedError {
  const message = messageOf(error);
  if (/^(?:WRONGPASS|NOAUTH|NOPERM)/.test(message)) {
    const reason = message.startsWith("NOPERM")
      ? "does not allow this user what a fleet needs"
      : "refuses this user and password";
    return new ExpectedError(
      `Redis at ${publicText} ${reason}; correct them where its address is set (research-ralph config says where).`,
      5,
    );
  }
  const isProtocolError = /RESP|wrong version|SSL|TLS|certificate|ECONNRESET|Connection is closed/i.test(message);
  const hint = !isProtocolError
    ? "check that it runs and can be reached from here"
    : tls
      ? "check that it uses TLS on this port, and that this machine trusts its certificate (NODE_EXTRA_CA_CERTS can add a certificate authority)"
      : "check that it is Redis without TLS on this port; with TLS, the address begins with rediss://";
  return new ExpectedError(`Redis at ${publicText} could not be reached (${message.replace(/\.$/, "")}); ${hint}.`);
}

/**
 * The error for a refusal by the server: forbidden keys (exit code 5), or another refusal (1). `requester`: what needs
 * the keys; `keys`: the keys in the syntax of an ACL. Other errors are returned unchanged.
 */
export function explainRefusal(
  error: unknown,
  { requester, keys }: { readonly requester: string; readonly keys: string },
  { publicText, username = "default" }: RedisAddress,
): unknown {
  if (!(error instanceof Error) || error.name !== "ReplyError") return error;
  // The second pattern matches the error of a script.
  if (!/NOPERM|user executing the script/i.test(error.message))
    return new ExpectedError(`Redis at ${publicText} refused what ${requester} needs: ${oneLine(error.message)}.`);
  return new ExpectedError(
    `Redis at ${publicText} does not allow this user what ${requester} needs; allow it there: ACL SETUSER ${username} ${keys} +@all -@dangerous +info`,
    5,
  );
}

const fieldsOf = (info: string): ReadonlyMap<string, string> =>
  new Map([...info.matchAll(/^([\w-]+):([^\r\n]*)/gm)].map(([, name = "", value = ""]) => [name, value]));

/** @throws ExpectedError (exit code 1) for a server on which jobs could be lost. */
function requireUsable(info: ReadonlyMap<string, string>, { publicText }: RedisAddress): void {
  const problem = versionProblem(info) ?? evictionProblem(info);
  if (problem !== undefined) throw new ExpectedError(`Redis at ${publicText} ${problem}.`);
}

/** The problem with the server's version and the remedy, as part of a sentence; undefined if it is suitable. */
export function versionProblem(info: ReadonlyMap<string, string>): string | undefined {
  const version = info.get("redis_version") ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > minVersion[0] || (major === minVersion[0] && minor >= minVersion[1])) return undefined;
  return `is version ${version}; ${minVersion.join(".")} or newer is needed: update it`;
}

/** The problem with the server's policy for a full memory, and the remedy; undefined if it is suitable. */
function evictionProblem(info: ReadonlyMap<string, string>): string | undefined {
  const policy = info.get("maxmemory_policy");
  if (policy === undefined || policy === "noeviction") return undefined;
  return `deletes keys, and with them jobs, when its memory is full (maxmemory-policy ${policy}): set maxmemory-policy noeviction`;
}
