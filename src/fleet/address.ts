import { isIP } from "node:net";
import { ExpectedError } from "../engine/lib/errors.js";
import { withoutUndefined } from "../engine/lib/without-undefined.js";

/** The address of a Redis server, with the user and the password. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  /** Number of the database; the default is 0. */
  readonly db: number;
  /** The address without user and password, for messages. */
  readonly publicText: string;
}

const defaultPort = 6379;

/**
 * Reads the address of a Redis server: `redis://` or `rediss://`, with optional user, password, port and database.
 * Without TLS only a server on this machine is accepted, unless `insecure`.
 * @throws ExpectedError (exit code 2) for anything else. The message never contains the password.
 */
export function readAddress(text: string, insecure: boolean): RedisAddress {
  const url = parseUrl(text);
  const tls = url.protocol === "rediss:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? defaultPort : Number(url.port);
  const shown = `${url.protocol}//${url.hostname}:${port}`;
  const path = /^\/?(\d{0,4})$/.exec(url.pathname)?.[1];
  if (path === undefined || url.search !== "" || url.hash !== "")
    throw new ExpectedError(
      `The address ${shown} of Redis has a path that is not a database number; write it as ${shown}/0.`,
      2,
    );
  if (!tls && !isLoopback(host) && !insecure)
    throw new ExpectedError(
      `Redis at ${shown} is on another machine and would be reached without TLS, so anyone on the network between could read briefs and write results; use rediss://, or add --insecure-redis if you trust the network.`,
      2,
    );
  const [username, password] = [decodePart(url.username, shown), decodePart(url.password, shown)];
  return {
    host,
    port,
    tls,
    publicText: shown,
    db: Number(path),
    ...withoutUndefined({
      username: username === "" ? undefined : username,
      password: password === "" ? undefined : password,
    }),
  };
}

function parseUrl(text: string): URL {
  const invalidAddress = new ExpectedError(
    "The Redis address is not valid; write it as rediss://user:password@queue.lab:6379, or redis://127.0.0.1:6379 for a server on this machine.",
    2,
  );
  if (!/^rediss?:\/\/[^\s]+$/i.test(text)) throw invalidAddress;
  try {
    const url = new URL(text);
    if (url.hostname === "") throw invalidAddress;
    return url;
  } catch {
    throw invalidAddress;
  }
}

function decodePart(part: string, shown: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ExpectedError(
      `The user or password of ${shown} contains a % that is not part of an escape such as %25; write each % as %25.`,
      2,
    );
  }
}

/** Whether a name or address always means this machine. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));

/** Removes everything before the last @ of an address, even of an invalid one: a password may contain an @. */
export const hidePassword = (text: string): string => text.replace(/^([a-z][\w+.-]*:\/\/)?.*@/is, "$1…@");
