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
import { hasCode } from "../lib/errors.js";
import { isOwnAddress, isPrivateAddress, lookupWith } from "../lib/private-address.js";
import { signalChild } from "../process/descendants.js";
import { type KeyRoute, type ProcessAccess, refusedStatus, type ToolProgram } from "../process/access.js";
import {
  credentialsOf,
  portOf,
  rejectThisMachine,
  connectThroughProxy,
  connectTlsThroughProxy,
  connectToProxy,
  type Upstream,
} from "./upstream.js";

/** The server through which the program of one sandbox connects to other hosts. */
export interface Proxy {
  /** Hosts that the program requested and may not use, as `host:port`. */
  readonly refusedHosts: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Maximum number of refused hosts that are stored. */
const maxRefusedHosts = 20;

/** In the list of hosts, this is every public host, for a program that may search the web. */
const anyHost = "*";

/**
 * Listens on a unix socket and forwards requests only to the given hosts and services: by CONNECT, as a proxy for plain
 * http, and at `/key/<name>/…`, where the proxy adds the key of a service that the program itself never sees.
 * `upstream`: the user's own proxies, which all requests use if there are any.
 * `resolver`: looks up the addresses of a name. The proxy refuses a name that resolves to this machine, even if the
 * user allowed the name.
 */
export async function openProxy(
  socket: string,
  { hosts, keys }: Pick<ProcessAccess, "hosts" | "keys">,
  upstream: Upstream,
  resolver: LookupFunction = resolveName,
): Promise<Proxy> {
  const allowedHosts = new Set(hosts);
  const refusedHosts = new Set<string>();
  const openSockets = new Set<Socket>();
  /** How to resolve the name of a host; undefined if the program may not use the host. */
  const lookupOptionsFor = (host: string, port: number): { lookup?: LookupFunction } | undefined => {
    const hostname = host.replace(/^\[|\]$/g, "").toLowerCase();
    const name = `${host.toLowerCase()}:${port}`;
    // If the list contains an IP address, the user named it.
    const isAddress = isIP(hostname) !== 0 || hostname === "localhost";
    if (allowedHosts.has(name)) return isAddress ? {} : { lookup: lookupWith(resolver, isOwnAddress) };
    if (allowedHosts.has(`${anyHost}:${port}`) && !isAddress) return { lookup: lookupWith(resolver, isPrivateAddress) };
    if (refusedHosts.size < maxRefusedHosts) refusedHosts.add(name);
    return undefined;
  };

  const server = createServer({ maxHeaderSize: 64 * 1024 }, (incoming, answer) => {
    const refuse = (status: number, message: string) =>
      void answer.writeHead(status, plainTextHeader).end(`${message}\n`);
    const target = targetOf(incoming, keys);
    if (target === undefined) return refuse(400, "This proxy cannot parse that address.");
    const { url, headers, route } = target;
    const lookupOptions =
      route === undefined ? lookupOptionsFor(url.hostname, portOf(url)) : routeLookupOptions(url, resolver);
    if (lookupOptions === undefined) return refuse(403, `${url.host} is not allowed in this sandbox.`);
    const options: RequestOptions = { method: incoming.method ?? "GET", headers, ...lookupOptions };
    const outgoing: ClientRequest = openRequest(url, options, upstream, resolver, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
      response.on("error", () => answer.destroy());
    });
    outgoing.on("error", (error) => {
      if (answer.headersSent) return void answer.destroy();
      // Only this header tells the program inside that its local model server does not run.
      if (route === undefined && hasCode(error, "ECONNREFUSED")) answer.setHeader("proxy-status", refusedStatus);
      refuse(502, error.message);
    });
    answer.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  // Codex first tries a WebSocket to its model. If that fails, it waits for seconds before it uses http.
  server.on("upgrade", (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    client.on("error", () => undefined);
    const refuse = (status: string) => void client.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);
    const { url, headers, route } = targetOf(incoming, keys) ?? {};
    if (url === undefined || route === undefined) return refuse("403 Forbidden");
    const upgrade = { connection: "Upgrade", upgrade: incoming.headers.upgrade ?? "websocket" };
    const options = { headers: { ...headers, ...upgrade }, ...routeLookupOptions(url, resolver) };
    const outgoing = openRequest(url, options, upstream, resolver);
    outgoing.on("upgrade", (response, upstreamSocket: Socket, firstBytes: Buffer) => {
      openSockets.add(upstreamSocket);
      upstreamSocket.on("close", () => (openSockets.delete(upstreamSocket), client.destroy()));
      upstreamSocket.on("error", () => client.destroy());
      client.on("close", () => upstreamSocket.destroy());
      client.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines(response.rawHeaders)}\r\n`);
      if (firstBytes.length > 0) client.write(firstBytes);
      if (head.length > 0) upstreamSocket.write(head);
      upstreamSocket.pipe(client);
      client.pipe(upstreamSocket);
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
    const lookupOptions = port === undefined ? undefined : lookupOptionsFor(host, port);
    if (port === undefined || lookupOptions === undefined) return void client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const hostname = host.replace(/^\[|\]$/g, "");
    const joinSockets = (upstreamSocket: Duplex): void => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) upstreamSocket.write(head);
      upstreamSocket.pipe(client);
      client.pipe(upstreamSocket);
    };
    const proxy = upstream.proxyFor({ protocol: "https:", hostname: hostname, port });
    if (proxy !== undefined) {
      void rejectThisMachine(hostname, resolver)
        .then(() => connectThroughProxy(proxy, hostname, port))
        .then((upstreamSocket) => {
          upstreamSocket.on("error", () => client.destroy());
          client.on("close", () => upstreamSocket.destroy());
          upstreamSocket.on("close", () => client.destroy());
          joinSockets(upstreamSocket);
        })
        .catch(() => client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
      return;
    }
    const upstreamSocket = connect({ host: hostname, port, allowHalfOpen: true, lookup: lookupOptions.lookup }, () =>
      joinSockets(upstreamSocket),
    );
    openSockets.add(upstreamSocket);
    upstreamSocket.on("close", () => void openSockets.delete(upstreamSocket));
    let isConnected = false;
    upstreamSocket.on("connect", () => (isConnected = true));
    upstreamSocket.on(
      "error",
      () => void (isConnected ? client.destroy() : client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n")),
    );
    client.on("close", () => upstreamSocket.destroy());
  });
  server.on("clientError", (_error, client) => client.destroy());
  server.on("connection", (client: Socket) => {
    openSockets.add(client);
    client.on("close", () => void openSockets.delete(client));
  });
  await listen(server, socket);
  return { refusedHosts: refusedHosts, close: () => closeServer(server, openSockets) };
}

/** Interval, in milliseconds, at which the proxy checks whether it has sent all output of an ended tool server. */
const outputPollMs = 2_000;

/**
 * Starts a tool server for each connection, and ends it with the connection. Forwards all output that the tool server
 * wrote before its end, even if it no longer reads its input.
 */
export async function serveTools(socket: string, { command, args, env }: ToolProgram, cwd: string): Promise<Proxy> {
  const openSockets = new Set<Socket>();
  const server = createSocketServer((client) => {
    const program = spawn(command, args, { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
    const end = () => {
      signalChild(program, "SIGKILL");
      client.destroy();
    };
    for (const emitter of [client, program, program.stdout]) emitter.on("error", end);
    // Continue to read after the tool server stopped reading; otherwise the close of the client would not be noticed.
    program.stdin.on("error", () => client.resume());
    client.on("close", end);
    // The end of the output ends the connection. If a child of the tool server holds the output open, the timer does.
    program.on("exit", () => {
      const pollTimer = setInterval(() => client.writableLength === 0 && client.end(), outputPollMs).unref();
      client.on("close", () => clearInterval(pollTimer));
    });
    client.pipe(program.stdin);
    program.stdout.pipe(client);
    openSockets.add(client);
    client.on("close", () => void openSockets.delete(client));
  });
  await listen(server, socket);
  return { refusedHosts: new Set(), close: () => closeServer(server, openSockets) };
}

const listen = (server: Server, socket: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, () => resolve());
  });

function closeServer(server: Server, openSockets: ReadonlySet<Socket>): Promise<void> {
  const closing = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of openSockets) socket.destroy();
  return closing;
}

const plainTextHeader = { "content-type": "text/plain" } as const;

interface Target {
  readonly url: URL;
  readonly headers: Record<string, string | string[]>;
  readonly route?: KeyRoute;
}

/** Headers that concern only the program and this proxy. */
const hopByHopHeaders = new Set([
  "host",
  "connection",
  "proxy-connection",
  "proxy-authorization",
  "keep-alive",
  "upgrade",
]);

/** Headers that may contain the placeholder of a key. */
const keyHeaders = new Set(["authorization", "x-api-key"]);

/** The address and the headers of the request to forward; undefined if the address is not valid. */
function targetOf(
  { url = "", headers: incomingHeaders }: IncomingMessage,
  keys: readonly KeyRoute[],
): Target | undefined {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(incomingHeaders))
    if (value !== undefined && !hopByHopHeaders.has(name)) headers[name] = value;
  const host = url.startsWith("/") ? /^([\w-]+)\.key(?::\d+)?$/.exec(incomingHeaders.host ?? "")?.[1] : undefined;
  const [, name, path] = host === undefined ? (/^\/key\/([\w-]+)(\/.*)?$/s.exec(url) ?? []) : ["", host, url];
  const route = keys.find((keyRoute) => keyRoute.name === name);
  if (route === undefined)
    return /^http:\/\//i.test(url) && URL.canParse(url) ? { url: new URL(url), headers } : undefined;
  for (const header of keyHeaders) delete headers[header];
  for (const [header, value] of Object.entries(route.headers)) headers[header.toLowerCase()] = value;
  return { url: new URL(route.baseAddress.replace(/\/$/, "") + (path ?? "/")), headers, route };
}

/** A request to a service, through the user's own proxy if there is one. */
function openRequest(
  url: URL,
  options: RequestOptions,
  upstream: Upstream,
  resolver: LookupFunction,
  onResponse?: (response: IncomingMessage) => void,
): ClientRequest {
  const isSecure = url.protocol === "https:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const proxy = upstream.proxyFor({ protocol: url.protocol, hostname: host, port: portOf(url) });
  if (proxy === undefined) return (isSecure ? httpsRequest : httpRequest)(url, options, onResponse);
  const addressCheck = rejectThisMachine(host, resolver);
  const openConnection = (
    socketPromise: Promise<Duplex>,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined => {
    const passSocket = async (): Promise<void> => {
      const socket = await socketPromise.catch((error: Error) => error);
      if (socket instanceof Error) callback(socket, undefined as unknown as Duplex);
      else callback(null, socket);
    };
    void passSocket();
    return undefined;
  };
  if (isSecure) {
    const createConnection: RequestOptions["createConnection"] = (_, callback) =>
      openConnection(
        addressCheck.then(() => connectTlsThroughProxy(proxy, host, portOf(url))),
        callback,
      );
    // Without an agent, Node takes 80 for the default port, so it would add the port 443 to this header.
    const headers = { host: url.host, ...(options.headers as Record<string, string>) };
    return httpsRequest(url, { ...options, headers, createConnection }, onResponse);
  }
  // Plain http needs no tunnel: the proxy gets the full address.
  const headers = { ...(options.headers as Record<string, string>), host: url.host, ...credentialsOf(proxy) };
  const path = `${url.origin}${url.pathname}${url.search}`;
  const createConnection: RequestOptions["createConnection"] = (_, callback) =>
    openConnection(
      addressCheck.then(() => connectToProxy(proxy)),
      callback,
    );
  return httpRequest(url, { method: options.method, headers, path, createConnection }, onResponse);
}

/**
 * How to resolve the base address of a service. It is from the user or from this program, so only names are checked.
 */
const routeLookupOptions = ({ hostname }: URL, resolver: LookupFunction): { lookup?: LookupFunction } =>
  isIP(hostname.replace(/^\[|\]$/g, "")) !== 0 || hostname === "localhost"
    ? {}
    : { lookup: lookupWith(resolver, isOwnAddress) };

/** Header lines from a list in which names and values alternate. */
const headerLines = (rawHeaders: readonly string[]): string =>
  rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join("");

/** The host before the last colon and the port after it. */
function splitHost(text: string): { host: string; port?: number } {
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  return { host, ...(port === "" ? {} : { port: Number(port) }) };
}
