/** The access of a program. In a sandbox it has only this access; on the host nothing enforces it. */
export interface ProcessAccess {
  /** Files and folders that it may read. An entry for an inner folder has priority over an entry for its parent. */
  readonly read: readonly Mount[];
  /** Files and folders that it may change. */
  readonly write: readonly Mount[];
  /** Network services, each as `host:port`. An address of this machine is available only if it is listed. */
  readonly hosts: readonly string[];
  /** Services to which the proxy adds a key; the program does not get the key. */
  readonly keys: readonly KeyRoute[];
  /** Names of environment variables that it gets in addition to those of every program in a sandbox. */
  readonly variables: readonly string[];
  /** Login files, which it may change when it renews the login. */
  readonly logins?: readonly Login[];
  /** A program that runs outside the sandbox and serves tools on its stdin and stdout to the program inside. */
  readonly tools?: ToolProgram;
}

/** How a program in a sandbox connects to the tool server outside: it starts the command, or opens the socket. */
export interface ToolRelay {
  readonly command: string;
  readonly args: readonly string[];
  /** Path, in the sandbox, of a unix socket. The server uses the same protocol there as on its stdin and stdout. */
  readonly socket: string;
}

/** An absolute path that is the same in the sandbox, or a path `from` that appears as `target` in the sandbox. */
export type Mount = string | { readonly from: string; readonly target: string };

/**
 * Requests to `keyAddress(name)` or `keyHost(name)` are forwarded to `baseAddress`. These headers replace those of the
 * program.
 */
export interface KeyRoute {
  /** Only letters; unique within one `ProcessAccess`. */
  readonly name: string;
  /** Starts with http or https. */
  readonly baseAddress: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A JSON file of the user; the program gets a copy in a separate folder. */
export interface Login {
  readonly from: string;
  /** Absolute path of the copy in the sandbox. */
  readonly target: string;
  /** The fields that the program may change: paths in the JSON, with dots between the names. */
  readonly renewedFields: readonly string[];
}

export interface ToolProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export const noAccess: ProcessAccess = { read: [], write: [], hosts: [], keys: [], variables: [] };

/** The port of a sandbox's proxy on 127.0.0.1 in the sandbox. */
export const proxyPort = 3128;

/** The proxy's header `Proxy-Status` (RFC 9209) if no program listens at the address of a request. */
export const refusedStatus = "research-ralph; error=connection_refused";

/** The base address, in a sandbox, of a service whose key stays outside. */
export const keyAddress = (name: string): string => `http://127.0.0.1:${proxyPort}/key/${name}`;

/** Like `keyAddress`, for a program that uses only the host of its base address. */
export const keyHost = (name: string): string => `http://${name}.key:${proxyPort}`;

/**
 * The environment variable with the key routes, for a program of this package in a sandbox: a JSON object that maps the
 * origin of each service to the address that the program must use instead.
 */
export const keyRoutesVariable = "RESEARCH_RALPH_KEY_ROUTES";

/** The value, in a sandbox, of an environment variable for a key. */
export const keyPlaceholder = "kept-outside-the-sandbox";

/** In `hosts`: any public host on the ports of the web, for a program that may search the web. */
export const anyPublicHost: readonly string[] = ["*:443", "*:80"];

/** The `host:port` of a base address. */
export function hostOf(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

/** The home folder in a sandbox. */
export const sandboxHome = "/home/agent";
