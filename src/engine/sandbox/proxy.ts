import { spawn } from "node:child_process";
import { lookup as resolveName } from "node:dns";
import { type ClientRequest, createServer, type IncomingMessage, request as httpRequest } from "node:http";
import type { RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import {
  connect,
  createServer as createSocketServer,
  isIP,
  type LookupFunction,
  type Server,
  type Socket,
} from "node:net";
import type { Duplex } from "node:stream";
import { isOwnAddress, isPrivateAddress, lookupThrough } from "../lib/private-address.js";
import { signalChild } from "../process/descendants.js";
import type { KeyRoute, Reach, ToolProgram } from "../process/reach.js";
import {
  credentialsOf,
  portOf,
  requireNotOwn,
  throughProxy,
  tlsThroughProxy,
  toProxy,
  type Upstream,
} from "./upstream.js";

/** The way out of one sandbox. */
export interface Proxy {
  /** Hosts that were asked for and are not within reach, as `host:port`. */
  readonly refused: ReadonlySet<string>;
  close(): Promise<void>;
}

/** How many different refused hosts are remembered. */
const maxRefused = 20;
/** Names of any public host on the two ports of the web, for a program that may search it. */
const anywhere = "*";

/**
 * Listens on a unix socket and lets requests through to the hosts of `reach` and to nothing else: by CONNECT, as a
 * proxy for plain http, and at `/key/<name>/…`, where the key of a service is added that the program itself never sees.
 * `upstream`: the user's own proxies, by which all of it goes where there are any.
 * `resolver`: asks for the addresses of a name; no name may lead to this machine, even where somebody allowed it.
 */
export async function openProxy(
  socket: string,
  { hosts, keys }: Pick<Reach, "hosts" | "keys">,
  upstream: Upstream,
  resolver: LookupFunction = resolveName,
): Promise<Proxy> {
  const allowed = new Set(hosts);
  const refused = new Set<string>();
  const open = new Set<Socket>();
  /** How an address is to be resolved; undefined where it is out of reach. */
  const wayTo = (host: string, port: number): { lookup?: LookupFunction } | undefined => {
    const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
    const name = `${host.toLowerCase()}:${port}`;
    // An address that stands in the list itself was named by a person.
    const isAddress = isIP(bare) !== 0 || bare === "localhost";
    if (allowed.has(name)) return isAddress ? {} : { lookup: lookupThrough(resolver, isOwnAddress) };
    if (allowed.has(`${anywhere}:${port}`) && !isAddress) return { lookup: lookupThrough(resolver, isPrivateAddress) };
    if (refused.size < maxRefused) refused.add(name);
    return undefined;
  };

  const server = createServer({ maxHeaderSize: 64 * 1024 }, (incoming, answer) => {
    const refuse = (status: number, why: string) => void answer.writeHead(status, plain).end(`${why}\n`);
    const target = targetOf(incoming, keys);
    if (target === undefined) return refuse(400, "This proxy cannot parse that address.");
    const { url, headers, route } = target;
    const way = route === undefined ? wayTo(url.hostname, portOf(url)) : wayOfRoute(url, resolver);
    if (way === undefined) return refuse(403, `${url.host} is not allowed in this sandbox.`);
    const options: RequestOptions = { method: incoming.method ?? "GET", headers, ...way };
    const outgoing: ClientRequest = asking(url, options, upstream, resolver, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
      response.on("error", () => answer.destroy());
    });
    outgoing.on("error", ({ message }) => (answer.headersSent ? answer.destroy() : refuse(502, message)));
    answer.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  // Codex speaks to its model over a WebSocket where it can, and takes seconds to find out that it can't.
  server.on("upgrade", (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    client.on("error", () => undefined);
    const refuse = (status: string) => void client.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);
    const { url, headers, route } = targetOf(incoming, keys) ?? {};
    if (url === undefined || route === undefined) return refuse("403 Forbidden");
    const upgrade = { connection: "Upgrade", upgrade: incoming.headers.upgrade ?? "websocket" };
    const options = { headers: { ...headers, ...upgrade }, ...wayOfRoute(url, resolver) };
    const outgoing = asking(url, options, upstream, resolver);
    outgoing.on("upgrade", (response, there: Socket, first: Buffer) => {
      open.add(there);
      there.on("close", () => (open.delete(there), client.destroy()));
      there.on("error", () => client.destroy());
      client.on("close", () => there.destroy());
      client.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines(response.rawHeaders)}\r\n`);
      if (first.length > 0) client.write(first);
      if (head.length > 0) there.write(head);
      there.pipe(client);
      client.pipe(there);
    });
    outgoing.on("response", (response) => {
      response.resume();
      refuse(`${response.statusCode} ${response.statusMessage ?? ""}`);
    });
    outgoing.on("error", () => refuse("502 Bad Gateway"));
    client.on("close", () => outgoing.destroy());
    outgoing.end();
  });
  server.on("connect", (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    client.on("error", () => undefined);
    const { host, port } = splitHost(incoming.url ?? "");
    const way = port === undefined ? undefined : wayTo(host, port);
    if (port === undefined || way === undefined) return void client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const bare = host.replace(/^\[|\]$/g, "");
    const joined = (there: Duplex): void => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) there.write(head);
      there.pipe(client);
      client.pipe(there);
    };
    const proxy = upstream.for({ protocol: "https:", hostname: bare, port });
    if (proxy !== undefined) {
      void requireNotOwn(bare, resolver)
        .then(() => throughProxy(proxy, bare, port))
        .then((there) => {
          there.on("error", () => client.destroy());
          client.on("close", () => there.destroy());
          there.on("close", () => client.destroy());
          joined(there);
        })
        .catch(() => client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
      return;
    }
    const there = connect({ host: bare, port, allowHalfOpen: true, lookup: way.lookup }, () => joined(there));
    open.add(there);
    there.on("close", () => void open.delete(there));
    let isThere = false;
    there.on("connect", () => (isThere = true));
    there.on("error", () => void (isThere ? client.destroy() : client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n")));
    client.on("close", () => there.destroy());
  });
  server.on("clientError", (_error, client) => client.destroy());
  server.on("connection", (client: Socket) => {
    open.add(client);
    client.on("close", () => void open.delete(client));
  });
  await listening(server, socket);
  return { refused, close: () => closing(server, open) };
}

/** Milliseconds between two looks whether a tool server that has ended is heard out: others may hold its output. */
const outputMs = 2_000;

/**
 * Starts the program that serves tools for a program that connects, and ends it with the connection. All that it has
 * said by its own end is handed on, also where it no longer listens.
 */
export async function serveTools(socket: string, { command, args, env }: ToolProgram, cwd: string): Promise<Proxy> {
  const open = new Set<Socket>();
  const server = createSocketServer((client) => {
    const program = spawn(command, args, { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
    const end = () => {
      signalChild(program, "SIGKILL");
      client.destroy();
    };
    for (const each of [client, program, program.stdout]) each.on("error", end);
    // What it no longer takes is read all the same: the client's end would not be seen otherwise.
    program.stdin.on("error", () => client.resume());
    client.on("close", end);
    // The end of its output ends the connection, unless what it has started holds that open.
    program.on("exit", () => {
      const look = setInterval(() => client.writableLength === 0 && client.end(), outputMs).unref();
      client.on("close", () => clearInterval(look));
    });
    client.pipe(program.stdin);
    program.stdout.pipe(client);
    open.add(client);
    client.on("close", () => void open.delete(client));
  });
  await listening(server, socket);
  return { refused: new Set(), close: () => closing(server, open) };
}

const listening = (server: Server, socket: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, () => resolve());
  });

function closing(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of open) socket.destroy();
  return closed;
}

const plain = { "content-type": "text/plain" } as const;

interface Target {
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
  readonly route?: KeyRoute;
}

/** Headers that are between the program and this proxy, and those in which a placeholder may stand. */
const notHandedOn = new Set(["host", "connection", "proxy-connection", "proxy-authorization", "keep-alive", "upgrade"]);
const keyHeaders = new Set(["authorization", "x-api-key"]);

/** Where a request is to go and with which headers; undefined where the request does not say. */
function targetOf({ url = "", headers: sent }: IncomingMessage, keys: readonly KeyRoute[]): Target | undefined {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(sent))
    if (value !== undefined && !notHandedOn.has(name)) headers[name] = value;
  const host = url.startsWith("/") ? /^([\w-]+)\.key(?::\d+)?$/.exec(sent.host ?? "")?.[1] : undefined;
  const [, name, path] = host === undefined ? (/^\/key\/([\w-]+)(\/.*)?$/s.exec(url) ?? []) : ["", host, url];
  const route = keys.find((each) => each.name === name);
  if (route === undefined)
    return /^http:\/\//i.test(url) && URL.canParse(url) ? { url: new URL(url), headers } : undefined;
  for (const header of keyHeaders) delete headers[header];
  for (const [header, value] of Object.entries(route.headers)) headers[header.toLowerCase()] = value;
  return { url: new URL(route.to.replace(/\/$/, "") + (path ?? "/")), headers, route };
}

/** A request to a service, by the user's own proxy where there is one. */
function asking(
  url: URL,
  options: RequestOptions,
  upstream: Upstream,
  resolver: LookupFunction,
  answered?: (response: IncomingMessage) => void,
): ClientRequest {
  const isSecure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const proxy = upstream.for({ protocol: url.protocol, hostname: host, port: portOf(url) });
  if (proxy === undefined) return (isSecure ? httpsRequest : httpRequest)(url, options, answered);
  const checked = requireNotOwn(host, resolver);
  const connection = (made: Promise<Duplex>, ready: (error: Error | null, socket: Duplex) => void): undefined => {
    const join = async (): Promise<void> => {
      const socket = await made.catch((error: Error) => error);
      if (socket instanceof Error) ready(socket, undefined as unknown as Duplex);
      else ready(null, socket);
    };
    void join();
    return undefined;
  };
  if (isSecure) {
    const createConnection: RequestOptions["createConnection"] = (_, done) =>
      connection(
        checked.then(() => tlsThroughProxy(proxy, host, portOf(url))),
        done,
      );
    // Without an agent Node takes port 80 for the usual one, and would name 443 in the header.
    const headers = { host: url.host, ...(options.headers as Record<string, string>) };
    return httpsRequest(url, { ...options, headers, createConnection }, answered);
  }
  // Plain http has no tunnel: the proxy is asked for the whole address.
  const headers = { ...(options.headers as Record<string, string>), host: url.host, ...credentialsOf(proxy) };
  const path = `${url.origin}${url.pathname}${url.search}`;
  const createConnection: RequestOptions["createConnection"] = (_, done) =>
    connection(
      checked.then(() => toProxy(proxy)),
      done,
    );
  return httpRequest(url, { method: options.method, headers, path, createConnection }, answered);
}

/** The base address of a key is what the user set, or the service's own: only a name is looked at twice. */
const wayOfRoute = ({ hostname }: URL, resolver: LookupFunction): { lookup?: LookupFunction } =>
  isIP(hostname.replace(/^\[|\]$/g, "")) !== 0 || hostname === "localhost"
    ? {}
    : { lookup: lookupThrough(resolver, isOwnAddress) };

/** Header lines of names and values in turn. */
const headerLines = (raw: readonly string[]): string =>
  raw.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join("");

/** What stands before and behind the last colon. */
function splitHost(text: string): { host: string; port?: number } {
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  return { host, ...(port === "" ? {} : { port: Number(port) }) };
}
