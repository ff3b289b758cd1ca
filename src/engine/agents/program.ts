import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { execa } from "execa";
import { signalChild } from "../process/descendants.js";
import { makeOutsideCheck, pathOutside, agentFolders } from "../process/search-path.js";
import type { AgentCheck, AgentContext, AgentDefinition, AgentOptions, AgentAccess } from "./definition.js";

/** The program to start: the configured program, or the adapter's default. A relative path starts in `settings.cwd`. */
export function programOf({ options, settings }: AgentContext, fallback: string): string {
  const { command = fallback } = options;
  return command.includes("/") ? resolve(settings.cwd, command) : command;
}

/** The system prompt. It replaces the long prompt of a CLI, which costs thousands of tokens in every request. */
export const instructionsFor = ({ shell }: { readonly shell?: boolean }): string =>
  shell === true
    ? "You work on the files of the current folder: follow the user's message to the letter, with your tools, then say in one sentence what you did."
    : "You do one unit of research work: follow the user's message to the letter, and answer with the result in the form it asks for, and nothing else.";

/** The user's home folder. */
export const homeIn = ({ HOME }: NodeJS.ProcessEnv): string => HOME ?? homedir();

/** The access that the config gives an agent. Relative paths are resolved against the current folder. */
export const configuredAccess = ({ hosts = [], read = [] }: AgentOptions): AgentAccess => ({
  read: read.map((path) => resolve(path.replace(/^~(?=\/|$)/, homedir()))),
  write: [],
  hosts,
  keys: [],
  env: {},
});

/** The path of a program, and the files that a sandbox has to show for it; undefined if it does not exist. */
export function locate(command: string, env: NodeJS.ProcessEnv): { path: string; read: string[] } | undefined {
  const path = command.includes("/") ? command : firstOnPath(command, env);
  if (path === undefined || !existsSync(path)) return undefined;
  const realProgramPath = realpathSync(path);
  // Programs in /usr are visible in every sandbox. A user's link to such a program is not, so the real path is used.
  if (realProgramPath.startsWith("/usr/"))
    return { path: /^\/(?:usr|bin|sbin)\//.test(path) ? path : realProgramPath, read: [] };
  // Some npm packages need others of their scope (@scope/…) beside them, so the whole folder of the scope is shown.
  const [, modules, scope, name] = /^(.*\/node_modules)\/(@[^/]+)?\/?([^/]+)/.exec(realProgramPath) ?? [];
  return {
    path: realProgramPath,
    read: [modules === undefined ? realProgramPath : join(modules, scope ?? name ?? "")],
  };
}

/** The path of the first program of this name in PATH. */
export const firstOnPath = (name: string, { PATH = "" }: NodeJS.ProcessEnv): string | undefined =>
  PATH.split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

/** The result of a short start of an agent's program. */
export interface Probe {
  /** Undefined if the program does not exist or did not end in time. */
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The program does not exist or is not executable. */
  readonly isMissing: boolean;
}

/** Runs the agent's program to get information about it, such as its version. Ends it after `timeoutMs`. */
export async function runProbe(
  context: AgentContext,
  command: string,
  args: readonly string[],
  additionalEnv: NodeJS.ProcessEnv = {},
  { timeoutMs = 20_000, signal }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<Probe> {
  const { settings, options } = context;
  const env = { ...settings.env, ...additionalEnv, ...options.env };
  const limits = { timeout: timeoutMs, forceKillAfterDelay: 1000, maxBuffer: 100_000 } as const;
  const child = execa(command, args, {
    cwd: settings.cwd,
    env,
    extendEnv: false,
    reject: false,
    stdin: "ignore",
    ...limits,
  });
  const stopProgram = (): void => signalChild(child, "SIGTERM");
  if (signal?.aborted === true) stopProgram();
  signal?.addEventListener("abort", stopProgram);
  const { exitCode, stdout, stderr, code } = await child;
  signal?.removeEventListener("abort", stopProgram);
  return { exitCode, stdout: stdout ?? "", stderr: stderr ?? "", isMissing: code === "ENOENT" || code === "EACCES" };
}

/** The first version number in the output of a program. */
export const versionIn = ({ stdout }: Probe): string | undefined => /(?<!\d)\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];

/** Timeout of the version query during a run. */
const versionTimeoutMs = 5_000;

/** Maximum length of a version. */
const maxVersionChars = 60;

/**
 * The version of an agent's program, queried during a run. Undefined if the program reports none, or if a docker image
 * contains it.
 */
export async function askVersion(
  context: AgentContext,
  command: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { sandbox, cwd, env } = context.settings;
  if (sandbox?.name === "docker") return undefined;
  // The program runs outside the sandbox here, so it must not come from a folder that an agent can change.
  const projectFolders = agentFolders([cwd], homeIn(env));
  const safeEnv = sandbox === undefined ? {} : { PATH: pathOutside(projectFolders, env["PATH"]) };
  const isOutsideProject = makeOutsideCheck(projectFolders);
  if (sandbox !== undefined && command.includes("/") && !isOutsideProject(command)) return undefined;
  const answer = await runProbe(context, command, ["--version"], safeEnv, { timeoutMs: versionTimeoutMs, signal });
  return answer.exitCode === 0 ? versionIn(answer)?.slice(0, maxVersionChars) : undefined;
}

/** Whether a version is older than the oldest tested version of the agent. */
function isTooOldVersion(
  { oldestTested: oldest }: Pick<AgentDefinition, "oldestTested">,
  installedVersion: string | undefined,
): boolean {
  if (oldest === undefined || installedVersion === undefined) return false;
  const [oldestParts, installedParts] = [oldest.version, installedVersion].map((version) =>
    version.split(/[.+-]/).map(Number),
  );
  const firstDifference = (oldestParts ?? []).findIndex((part, index) => part !== installedParts?.[index]);
  return firstDifference !== -1 && (installedParts?.[firstDifference] ?? 0) < (oldestParts?.[firstDifference] ?? 0);
}

/** What the user is told about the installation and the login of an agent. */
interface LoginCheck {
  /** How the user installs the program. */
  readonly install: string;
  /** A clause that says what is missing if there is no login. */
  readonly withoutLogin: string;
  /** How the user logs in. */
  readonly fix: string;
  /** Describes the login; undefined if the user is not logged in. */
  findLogin(program: string): Promise<string | undefined>;
}

/** The report of `doctor` on an agent's program: whether it is installed, new enough and logged in. */
export async function checkProgram(
  { name, oldestTested: oldest }: Pick<AgentDefinition, "name" | "oldestTested">,
  context: AgentContext,
  { install, withoutLogin, fix, findLogin }: LoginCheck,
): Promise<AgentCheck> {
  const program = programOf(context, name);
  const probe = await runProbe(context, program, ["--version"]);
  if (probe.isMissing) return { ok: false, detail: `There is no program ${program}.`, fix: install };
  const version = versionIn(probe);
  if (isTooOldVersion({ oldestTested: oldest }, version))
    return {
      ok: false,
      version,
      detail: `${name} ${version ?? ""} is older than ${oldest?.version}, the oldest version that research-ralph works with.`,
      fix: `Update it with \`${oldest?.updateCommand}\`.`,
    };
  const programText = `${program} ${version ?? ""}`;
  const login = await findLogin(program);
  return login === undefined
    ? { ok: false, version, detail: `${programText} is installed, but ${withoutLogin}.`, fix }
    : { ok: true, version, detail: `${programText}, ${login}.` };
}
