import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { execa } from "execa";
import { signalChild } from "../process/descendants.js";
import { isOutside, pathOutside, workplaces } from "../process/search-path.js";
import type { AgentCheck, AgentContext, AgentDefinition, AgentOptions, AgentReach } from "./definition.js";

/** The program to start: as configured (a relative path from the user's folder), else the adapter's own. */
export function programOf({ options, settings }: AgentContext, fallback: string): string {
  const { command = fallback } = options;
  return command.includes("/") ? resolve(settings.cwd, command) : command;
}

/**
 * What to say to the model in place of a CLI's own long instructions: those cost thousands of tokens in every request.
 */
export const instructionsFor = ({ shell }: { readonly shell?: boolean }): string =>
  shell === true
    ? "You work on the files of the current folder: follow the user's message to the letter, with your tools, then say in one sentence what you did."
    : "You do one unit of research work: follow the user's message to the letter, and answer with the result in the form it asks for, and nothing else.";

/** The folder of the user. */
export const homeIn = ({ HOME }: NodeJS.ProcessEnv): string => HOME ?? homedir();

/** What the config says that an agent has to reach, whatever its adapter knows. Paths are as the config has them. */
export const ownReach = ({ hosts = [], read = [] }: AgentOptions): AgentReach => ({
  read: read.map((path) => resolve(path.replace(/^~(?=\/|$)/, homedir()))),
  write: [],
  hosts,
  keys: [],
  env: {},
});

/** Where a program lies, and what has to be seen of the disk so that it runs; undefined where it is not there. */
export function locate(command: string, env: NodeJS.ProcessEnv): { path: string; read: string[] } | undefined {
  const path = command.includes("/") ? command : firstOnPath(command, env);
  if (path === undefined || !existsSync(path)) return undefined;
  const realProgram = realpathSync(path);
  // The system's own are there in every sandbox, under the name by which they are called; a link of the user's is not.
  if (realProgram.startsWith("/usr/"))
    return { path: /^\/(?:usr|bin|sbin)\//.test(path) ? path : realProgram, read: [] };
  // A package may be spread over others of its scope, and looks for them next to itself.
  const [, modules, scope, name] = /^(.*\/node_modules)\/(@[^/]+)?\/?([^/]+)/.exec(realProgram) ?? [];
  return { path: realProgram, read: [modules === undefined ? realProgram : join(modules, scope ?? name ?? "")] };
}

/** The path of a program of this name in the user's PATH. */
export const firstOnPath = (name: string, { PATH = "" }: NodeJS.ProcessEnv): string | undefined =>
  PATH.split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

export interface Probe {
  /** Undefined when the program is not there or did not end in time. */
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly missing: boolean;
}

/** Runs the agent's program for a few words about itself, such as its version, for at most `ms` milliseconds. */
export async function ask(
  context: AgentContext,
  command: string,
  args: readonly string[],
  additionalEnv: NodeJS.ProcessEnv = {},
  { ms = 20_000, signal }: { readonly ms?: number; readonly signal?: AbortSignal } = {},
): Promise<Probe> {
  const { settings, options } = context;
  const env = { ...settings.env, ...additionalEnv, ...options.env };
  const limits = { timeout: ms, forceKillAfterDelay: 1000, maxBuffer: 100_000 } as const;
  const child = execa(command, args, {
    cwd: settings.cwd,
    env,
    extendEnv: false,
    reject: false,
    stdin: "ignore",
    ...limits,
  });
  const endProgram = (): void => signalChild(child, "SIGTERM");
  if (signal?.aborted === true) endProgram();
  signal?.addEventListener("abort", endProgram);
  const { exitCode, stdout, stderr, code } = await child;
  signal?.removeEventListener("abort", endProgram);
  return { exitCode, stdout: stdout ?? "", stderr: stderr ?? "", missing: code === "ENOENT" || code === "EACCES" };
}

/** The first line of what a program says about its version. */
export const versionIn = ({ stdout }: Probe): string | undefined => /(?<!\d)\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];

/** Milliseconds that a program may take to say its version during a run, and characters of it. */
const [versionMs, maxVersion] = [5_000, 60];

/**
 * What the program of an agent says about its version during a run; undefined where it says none, and for one that an
 * image brings: that is not there to be asked.
 */
export async function askVersion(
  context: AgentContext,
  command: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { sandbox, cwd, env } = context.settings;
  if (sandbox?.name === "docker") return undefined;
  // It is asked outside of the sandbox, so it must be none that an agent has left in the folder.
  const projectFolders = workplaces([cwd], homeIn(env));
  const outside = sandbox === undefined ? {} : { PATH: pathOutside(projectFolders, env["PATH"]) };
  if (sandbox !== undefined && command.includes("/") && !isOutside(projectFolders)(command)) return undefined;
  const answer = await ask(context, command, ["--version"], outside, { ms: versionMs, signal });
  return answer.exitCode === 0 ? versionIn(answer)?.slice(0, maxVersion) : undefined;
}

/** Whether a version is older than the oldest that the agent was tested with. */
export function isOlder({ oldest }: Pick<AgentDefinition, "oldest">, found: string | undefined): boolean {
  if (oldest === undefined || found === undefined) return false;
  const [oldestParts, foundParts] = [oldest.version, found].map((version) => version.split(/[.+-]/).map(Number));
  const firstDifference = (oldestParts ?? []).findIndex((part, place) => part !== foundParts?.[place]);
  return firstDifference !== -1 && (foundParts?.[firstDifference] ?? 0) < (oldestParts?.[firstDifference] ?? 0);
}

/** What `doctor` says of a program that is too old. */
export const tooOldCheck = (
  { name, oldest }: Pick<AgentDefinition, "name" | "oldest">,
  found: string | undefined,
): AgentCheck => ({
  ok: false,
  version: found,
  detail: `${name} ${found ?? ""} is older than ${oldest?.version}, the oldest version that research-ralph works with.`,
  fix: `Update it with \`${oldest?.update}\`.`,
});
