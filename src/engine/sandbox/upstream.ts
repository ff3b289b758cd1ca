import { connect, type LookupFunction } from "node:net";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Duplex } from "node:stream";
import { isOwnAddress } from "../lib/private-address.js";

/** The proxies that the user has configured, through which this machine reaches other hosts. */
export interface Upstream {
  /** The proxy for a service; undefined if the connection is direct. */
  proxyFor(url: { readonly protocol: string; readonly hostname: string; readonly port: number }): URL | undefined;
}

/**
 * The proxies of HTTPS_PROXY, HTTP_PROXY and NO_PROXY; the lower-case name has priority over the upper-case name.
 * Connections to this machine are direct.
 * @throws Error if the address of a proxy does not begin with http or https.
 */
export function upstreamOf(env: NodeJS.ProcessEnv): Upstream {
  const readVariable = (name: string): string => env[name] || env[name.toUpperCase()] || "";
  const proxyIn = (name: string): URL | undefined => {
    const text = readVariable(name).trim();
    if (text === "") return undefined;
    const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url?.protocol === "http:" || url?.protocol === "https:") return url;
    throw new Error(`${name.toUpperCase()} is not the address of an http or https proxy; correct it or unset it`);
  };
  const [http, https] = [proxyIn("http_proxy"), proxyIn("https_proxy")];
  const directEntries = readVariable("no_proxy")
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  return {
    proxyFor: ({ protocol, hostname, port }) => {
      const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
      if (host === "localhost" || isOwnAddress(host)) return undefined;
      return directEntries.some((entry) => isEntryFor(entry.toLowerCase(), host, port))
        ? undefined
        : protocol === "https:"
          ? https
          : http;
    },
  };
}

/**
 * Whether an entry of NO_PROXY is for a host. An entry is "*" or a host name, which includes its subdomains; each may
 * have a port.
 */
function isEntryFor(entry: string, host: string, port: number): boolean {
  const [, name = "", portText] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (portText !== undefined && Number(portText) !== port) return false;
  const domain = name.replace(/^\*?\./, "").replace(/^\[|\]$/g, "");
  return name === "*" || host === domain || (domain !== "" && host.endsWith(`.${domain}`));
}

/** The credentials of a proxy's address, as a header. */
export const credentialsOf = ({ username, password }: URL): Record<string, string> =>
  username === "" && password === ""
    ? {}
    : {
        "proxy-authorization": `Basic ${Buffer.from(
          `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
        ).toString("base64")}`,
      };

/**
 * A connection to `host:port` through the proxy. Rejects if the proxy can't be reached or refuses the connection.
 */
export function connectThroughProxy(proxy: URL, host: string, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const makeRequest = proxy.protocol === "https:" ? httpsRequest : httpRequest;
    const target = `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
    const connectRequest = makeRequest({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: portOf(proxy),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...credentialsOf(proxy) },
      agent: false,
    });
    connectRequest.on("connect", ({ statusCode }, socket, head) => {
      if (statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        return resolve(socket);
      }
      socket.destroy();
      reject(new Error(`the proxy ${proxy.host} answered with status ${statusCode}`));
    });
    connectRequest.on("response", ({ statusCode }) => {
      connectRequest.destroy();
      reject(new Error(`the proxy ${proxy.host} answered with status ${statusCode}`));
    });
    connectRequest.on("error", ({ message }) =>
      reject(new Error(`the proxy ${proxy.host} could not be reached (${message})`)),
    );
    connectRequest.end();
  });
}

/** A connection to the proxy itself. */
export function connectToProxy(proxy: URL): Duplex {
  const [host, port] = [proxy.hostname.replace(/^\[|\]$/g, ""), portOf(proxy)];
  return proxy.protocol === "https:" ? connectTls({ host, port, servername: host }) : connect({ host, port });
}

/** Like `connectThroughProxy`, with TLS to the service. */
export async function connectTlsThroughProxy(proxy: URL, host: string, port: number): Promise<TLSSocket> {
  const socket = await connectThroughProxy(proxy, host, port);
  return connectTls({ socket, servername: host });
}

export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);

/**
 * Rejects if the resolver of this machine finds an address of this machine for the name. A name that is unknown here is
 * allowed, as the proxy may know it.
 */
export const rejectThisMachine = (host: string, resolver: LookupFunction): Promise<void> =>
  new Promise((resolve, reject) =>
    resolver(host, { all: true }, (error, addresses) => {
      const addressList =
        error !== null ? [] : Array.isArray(addresses) ? addresses.map(({ address }) => address) : [addresses];
      if (addressList.some(isOwnAddress)) reject(new Error(`${host} leads to this machine`));
      else resolve();
    }),
  );
