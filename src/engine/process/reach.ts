/**
 * What a program has to reach. A sandbox lets it reach this and nothing else; on the host it is a description that
 * nobody enforces.
 */
export interface Reach {
  /** Files and folders that it may read. What lies deeper counts before what lies around it. */
  readonly read: readonly Mount[];
  /** Files and folders that it may change. */
  readonly write: readonly Mount[];
  /** Network services, each as `host:port`. An address of this machine is reached only where it stands here itself. */
  readonly hosts: readonly string[];
  /** Services that it reaches with a key which it never sees. */
  readonly keys: readonly KeyRoute[];
  /** Variables of its environment that it is given besides those that every program in a sandbox is. */
  readonly variables: readonly string[];
  /** Login files, which it may renew. */
  readonly logins?: readonly Login[];
  /** A program that runs outside the sandbox and serves tools on its stdin and stdout to the program inside. */
  readonly tools?: ToolProgram;
}

/** How a program inside a sandbox reaches the tool server that runs outside: by a command, or itself at the socket. */
export interface ToolRelay {
  readonly command: string;
  readonly args: readonly string[];
  /** Path inside of a unix socket on which the server speaks as it does on its stdin and stdout. */
  readonly socket: string;
}

/** An absolute path, which is the same inside; or one that stands at another place there. */
export type Mount = string | { readonly from: string; readonly at: string };

/**
 * Requests to `keyAddress(name)` or `keyHost(name)` are sent on to `to`, with these headers in place of those that the
 * program sent.
 */
export interface KeyRoute {
  /** Letters, unique within a reach. */
  readonly name: string;
  /** Base address, http or https. */
  readonly to: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A JSON file of the user's that a program gets a copy of, alone in its folder. */
export interface Login {
  readonly from: string;
  /** Absolute path inside, of the same name. */
  readonly at: string;
  /** Where in it the values stand that the program may renew: names with dots. */
  readonly renewed: readonly string[];
}

export interface ToolProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export const noReach: Reach = { read: [], write: [], hosts: [], keys: [], variables: [] };

/** Where the proxy of a sandbox listens inside it, on 127.0.0.1. */
export const proxyPort = 3128;

/** The base address inside a sandbox of a service whose key stays outside. */
export const keyAddress = (name: string): string => `http://127.0.0.1:${proxyPort}/key/${name}`;

/** The same for a program that uses only the host of its base address. */
export const keyHost = (name: string): string => `http://${name}.key:${proxyPort}`;

/**
 * Tells our own program in a sandbox which origins it reaches by a route: a JSON object of origins and the addresses
 * in their place.
 */
export const keyRoutesVariable = "RESEARCH_RALPH_KEY_ROUTES";

/** What stands inside a sandbox where a program expects its key. */
export const keyPlaceholder = "kept-outside-the-sandbox";

/** In `hosts`: any public host on the ports of the web, for a program that may look around in it. */
export const anyPublicHost: readonly string[] = ["*:443", "*:80"];

/** The `host:port` of a base address. */
export function hostOf(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

/** HOME inside a sandbox. */
export const sandboxHome = "/home/agent";
