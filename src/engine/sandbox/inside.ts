import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packageFile } from "../lib/package-root.js";
import type { ProcessRequest } from "../process/run-process.js";
import { temporaryRoot } from "../lib/layout.js";
import { makeTemporaryFolder } from "../storage/regular-file.js";
import { type Mount, noReach, proxyPort, type Reach, sandboxHome, type ToolRelay } from "../process/reach.js";
import { environmentInside } from "./environment.js";
import { copyLogins } from "./logins.js";
import { openProxy, type Proxy, serveTools } from "./proxy.js";
import { upstreamOf } from "./upstream.js";

/** What every kind of sandbox needs for one program: its way out, its environment, its command. */
export interface Inside {
  readonly reach: Reach;
  /** The program with the relay before it, where it has a way out. */
  readonly command: readonly string[];
  readonly env: Record<string, string>;
  /** Our files that the program needs to see, besides its reach. */
  readonly mounts: readonly Mount[];
  /** What a person should know when the program has ended. */
  notices(): string[];
  close(): Promise<void>;
}

/**
 * Makes a home that is kept ready for the next program. Links that the last one left on the way to a mount are removed:
 * who mounts follows them, and they may lead out of the sandbox. So are files, where a folder may have to stand.
 */
export function prepareHome(home: string, { reach }: ProcessRequest): void {
  const { read, write, logins = [] } = reach ?? noReach;
  const places = [
    ...[...read, ...write].map((mount) => (typeof mount === "string" ? mount : mount.at)),
    ...logins.map(({ at }) => dirname(at)),
  ];
  mkdirSync(home, { recursive: true });
  for (const place of [...places, sandboxHome].filter((each) => each.startsWith("/home/"))) {
    const parts = place.split("/").slice(2);
    for (const depth of parts.keys()) {
      const path = join(home, ...parts.slice(0, depth + 1));
      const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory();
      if (isFolder === undefined) break;
      if (!isFolder) rmSync(path, { recursive: true, force: true });
    }
  }
  mkdirSync(join(home, sandboxHome.replace("/home/", "")), { recursive: true });
}

/** Where the folder of a sandbox's sockets and small files stands inside. */
export const runFolder = "/run/sandbox";
export const relayProgram = packageFile("bin", "sandbox-relay.mjs");

/** How an agent's CLI inside reaches a tool server that runs outside. */
export const toolRelay = (node: string): ToolRelay => ({
  command: node,
  args: [relayProgram, "tools", toolSocket],
  socket: toolSocket,
});

const toolSocket = join(runFolder, "tools.sock");

/** How often logins are compared: all that is lost of a renewed one if this process is killed. */
const syncMs = 1_000;

/**
 * Opens the way out of a sandbox that `request` runs in. `node`: the path of Node inside; `passes`: the variables that
 * the user lets in.
 */
export async function openInside(
  request: ProcessRequest,
  node: string,
  passes: readonly string[] = [],
): Promise<Inside> {
  const asked = request.reach ?? noReach;
  const copies = privateFolder();
  const logins = copyLogins(asked.logins ?? [], copies);
  const reach = { ...asked, write: [...asked.write, ...logins.mounts] };
  const syncing = logins.mounts.length === 0 ? undefined : setInterval(() => logins.sync(), syncMs);
  const isOnline = reach.hosts.length > 0 || reach.keys.length > 0 || reach.tools !== undefined;
  const folder = privateFolder();
  const servers: Proxy[] = [];
  const close = async (): Promise<void> => {
    clearInterval(syncing);
    logins.sync();
    await Promise.all(servers.map((server) => server.close()));
    for (const path of [folder, copies]) rmSync(path, { recursive: true, force: true });
  };
  try {
    for (const [name, text] of Object.entries(systemFiles)) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, "names"), hostsFile(reach));
    if (isOnline) servers.push(await openProxy(join(folder, "proxy.sock"), reach, upstreamOf(request.env)));
    if (reach.tools !== undefined) servers.push(await serveTools(join(folder, "tools.sock"), reach.tools, request.cwd));
  } catch (error) {
    await close();
    throw error;
  }
  const ports = [proxyPort, ...forwarded(reach)].join(",");
  const relay = isOnline ? [node, relayProgram, "run", join(runFolder, "proxy.sock"), ports] : [];
  return {
    reach,
    command: [...relay, request.command, ...request.args],
    env: environmentInside(request.env, { passes, reach, isOnline, node }),
    mounts: [
      { from: folder, at: runFolder },
      { from: join(folder, "names"), at: "/etc/hosts" },
      ...Object.keys(systemFiles).map((name) => ({ from: join(folder, name), at: `/etc/${name}` })),
      ...(isOnline ? [relayProgram] : []),
    ],
    notices: () => {
      logins.sync();
      const refused = servers.flatMap((server) => [...server.refused]);
      const why = refused.length === 0 ? [] : [`The sandbox refused connections to ${refused.join(", ")}.`];
      return [...why, ...logins.notices()];
    },
    close,
  };
}

/** No name leads anywhere but to the proxy. */
const hostsFile = ({ keys }: Reach): string =>
  ["127.0.0.1 localhost sandbox", "::1 localhost", ...keys.map(({ name }) => `127.0.0.1 ${name}.key`), ""].join("\n");

/** Who the program is. */
const systemFiles = {
  passwd: `root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:${sandboxHome}:/bin/sh\n`,
  group: "root:x:0:\nagent:x:1000:\n",
};

/** The path of a unix socket has 107 bytes at most. */
const maxTemporary = 60;

const privateFolder = (): string =>
  makeTemporaryFolder("sandbox", temporaryRoot().length > maxTemporary ? "/tmp" : temporaryRoot());

/** The services of this machine that are within reach: each has its own port inside too. */
const forwarded = ({ hosts }: Reach): number[] => [
  ...new Set(
    hosts.flatMap((host) => {
      const port = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]):(\d+)$/.exec(host)?.[1];
      return port === undefined || Number(port) === proxyPort ? [] : [Number(port)];
    }),
  ),
];

/** The mounts of a reach and ours, what lies around before what lies within. */
export function mountsOf({ reach, mounts }: Inside): { from: string; at: string; isWritable: boolean }[] {
  const all = [
    ...mounts.map((mount) => ({ mount, isWritable: false })),
    ...reach.write.map((mount) => ({ mount, isWritable: true })),
    ...reach.read.map((mount) => ({ mount, isWritable: false })),
  ].map(({ mount, isWritable }) => ({
    ...(typeof mount === "string" ? { from: mount, at: mount } : mount),
    isWritable,
  }));
  return all.filter(({ from }) => existsSync(from)).sort((one, other) => depth(one.at) - depth(other.at));
}

const depth = (path: string): number => path.split("/").filter(Boolean).length;
