import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packageFile } from "../lib/package-root.js";
import type { ProcessRequest } from "../process/run-process.js";
import { temporaryRoot } from "../lib/layout.js";
import { makeTemporaryFolder } from "../storage/regular-file.js";
import { type Mount, noAccess, proxyPort, type ProcessAccess, sandboxHome, type ToolRelay } from "../process/access.js";
import { sandboxEnvironment } from "./environment.js";
import { copyLogins } from "./logins.js";
import { openProxy, type Proxy, serveTools } from "./proxy.js";
import { upstreamOf } from "./upstream.js";

/** What every kind of sandbox needs for one program: its connections, its environment and its command. */
export interface SandboxSession {
  readonly access: ProcessAccess;
  /** The command of the program; the relay comes first if the program may open connections. */
  readonly command: readonly string[];
  readonly env: Record<string, string>;
  /** Files of the sandbox itself that the program needs, in addition to its access. */
  readonly mounts: readonly Mount[];
  /** Messages for the user after the program has ended. */
  notices(): string[];
  close(): Promise<void>;
}

/**
 * Prepares a home folder that several programs use one after another. Removes links that an earlier program left on the
 * path of a mount: mounting follows links, and a link may lead out of the sandbox. Also removes a file if the mount
 * needs a folder there.
 */
export function prepareHome(home: string, { access }: ProcessRequest): void {
  const { read, write, logins = [] } = access ?? noAccess;
  const targets = [
    ...[...read, ...write].map((mount) => (typeof mount === "string" ? mount : mount.target)),
    ...logins.map(({ target }) => dirname(target)),
  ];
  mkdirSync(home, { recursive: true });
  for (const target of [...targets, sandboxHome].filter((target) => target.startsWith("/home/"))) {
    const parts = target.split("/").slice(2);
    for (const depth of parts.keys()) {
      const path = join(home, ...parts.slice(0, depth + 1));
      const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory();
      if (isFolder === undefined) break;
      if (!isFolder) rmSync(path, { recursive: true, force: true });
    }
  }
  mkdirSync(join(home, sandboxHome.replace("/home/", "")), { recursive: true });
}

/** Path, in the sandbox, of the folder with the sandbox's sockets and small files. */
const socketFolder = "/run/sandbox";

/** Path of the program that connects a program in the sandbox to the proxy and the tool server. */
const relayProgram = packageFile("bin", "sandbox-relay.mjs");

/** How the CLI of an agent in the sandbox reaches a tool server that runs outside. */
export const toolRelay = (node: string): ToolRelay => ({
  command: node,
  args: [relayProgram, "tools", toolSocket],
  socket: toolSocket,
});

const toolSocket = join(socketFolder, "tools.sock");

/** Interval at which renewed logins are copied back. If this process is killed, at most the last interval is lost. */
const syncIntervalMs = 1_000;

/**
 * Starts the proxy and the tool server for a request that runs in a sandbox. `node`: the path of Node inside;
 * `allowedVariables`: names of variables that the user allows.
 */
export async function openSession(
  request: ProcessRequest,
  node: string,
  allowedVariables: readonly string[],
): Promise<SandboxSession> {
  const requestedAccess = request.access ?? noAccess;
  const copyFolder = privateFolder();
  const logins = copyLogins(requestedAccess.logins ?? [], copyFolder);
  const access = { ...requestedAccess, write: [...requestedAccess.write, ...logins.mounts] };
  const syncTimer = logins.mounts.length === 0 ? undefined : setInterval(() => logins.sync(), syncIntervalMs);
  const isOnline = access.hosts.length > 0 || access.keys.length > 0 || access.tools !== undefined;
  const folder = privateFolder();
  const servers: Proxy[] = [];
  const close = async (): Promise<void> => {
    clearInterval(syncTimer);
    logins.sync();
    await Promise.all(servers.map((server) => server.close()));
    for (const path of [folder, copyFolder]) rmSync(path, { recursive: true, force: true });
  };
  try {
    for (const [name, text] of Object.entries(systemFiles)) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, "names"), hostsFile(access));
    if (isOnline) servers.push(await openProxy(join(folder, "proxy.sock"), access, upstreamOf(request.env)));
    if (access.tools !== undefined)
      servers.push(await serveTools(join(folder, "tools.sock"), access.tools, request.cwd));
  } catch (error) {
    await close();
    throw error;
  }
  const ports = [proxyPort, ...forwardedPorts(access)].join(",");
  const relay = isOnline ? [node, relayProgram, "run", join(socketFolder, "proxy.sock"), ports] : [];
  return {
    access,
    command: [...relay, request.command, ...request.args],
    env: sandboxEnvironment(request.env, { allowedVariables, access, isOnline, node }),
    mounts: [
      { from: folder, target: socketFolder },
      { from: join(folder, "names"), target: "/etc/hosts" },
      ...Object.keys(systemFiles).map((name) => ({ from: join(folder, name), target: `/etc/${name}` })),
      ...(isOnline ? [relayProgram] : []),
    ],
    notices: () => {
      logins.sync();
      const refusedHosts = servers.flatMap((server) => [...server.refusedHosts]);
      const proxyNotices =
        refusedHosts.length === 0 ? [] : [`The sandbox refused connections to ${refusedHosts.join(", ")}.`];
      return [...proxyNotices, ...logins.notices()];
    },
    close,
  };
}

/** The text of /etc/hosts: every name resolves to the proxy. */
const hostsFile = ({ keys }: ProcessAccess): string =>
  ["127.0.0.1 localhost sandbox", "::1 localhost", ...keys.map(({ name }) => `127.0.0.1 ${name}.key`), ""].join("\n");

/** /etc/passwd and /etc/group, with the user and the group of the program. */
const systemFiles = {
  passwd: `root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:${sandboxHome}:/bin/sh\n`,
  group: "root:x:0:\nagent:x:1000:\n",
};

/** Maximum length of the temporary folder's path: the path of a unix socket has at most 107 bytes. */
const maxTemporaryRootLength = 60;

const privateFolder = (): string =>
  makeTemporaryFolder("sandbox", temporaryRoot().length > maxTemporaryRootLength ? "/tmp" : temporaryRoot());

/** Ports of the services on this machine that the program may use; each has the same port inside. */
const forwardedPorts = ({ hosts }: ProcessAccess): number[] => [
  ...new Set(
    hosts.flatMap((host) => {
      const port = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]):(\d+)$/.exec(host)?.[1];
      return port === undefined || Number(port) === proxyPort ? [] : [Number(port)];
    }),
  ),
];

/** The mounts of the access and of the sandbox itself; a folder comes before the folders inside it. */
export function mountsOf({ access, mounts }: SandboxSession): { from: string; target: string; isWritable: boolean }[] {
  const entries = [
    ...mounts.map((mount) => ({ mount, isWritable: false })),
    ...access.write.map((mount) => ({ mount, isWritable: true })),
    ...access.read.map((mount) => ({ mount, isWritable: false })),
  ].map(({ mount, isWritable }) => ({
    ...(typeof mount === "string" ? { from: mount, target: mount } : mount),
    isWritable,
  }));
  return entries
    .filter(({ from }) => existsSync(from))
    .sort((first, second) => depth(first.target) - depth(second.target));
}

const depth = (path: string): number => path.split("/").filter(Boolean).length;
