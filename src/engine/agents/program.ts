import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { execa } from "execa";
import type { AgentCheck, AgentContext, AgentDefinition } from "./definition.js";

/** The program to start: as configured (a relative path from the user's folder), else the adapter's own. */
export function programOf({ options, settings }: AgentContext, fallback: string): string {
  const { command = fallback } = options;
  return command.includes("/") ? resolve(settings.cwd, command) : command;
}

/**
 * What to say to the model in place of a CLI's own long instructions: those cost thousands of tokens in every request.
 */
export const instructions =
  "You do one unit of research work: follow the user's message to the letter, and answer with the result in the form it asks for, and nothing else.";

export interface Probe {
  /** Undefined when the program is not there or did not end in time. */
  readonly exitCode?: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly missing: boolean;
}

/** Runs the agent's program for a few words about itself, such as its version. */
export async function ask(
  context: AgentContext,
  command: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Probe> {
  const { settings, options } = context;
  const env = { ...settings.env, ...more, ...options.env };
  const limits = { timeout: 20_000, forceKillAfterDelay: 1000, maxBuffer: 100_000 } as const;
  const result = await execa(command, args, {
    cwd: settings.cwd,
    env,
    extendEnv: false,
    reject: false,
    stdin: "ignore",
    ...limits,
  });
  const { exitCode, stdout, stderr, code } = result;
  return { exitCode, stdout: stdout ?? "", stderr: stderr ?? "", missing: code === "ENOENT" || code === "EACCES" };
}

/** The first line of what a program says about its version. */
export const versionIn = ({ stdout }: Probe): string | undefined => /(?<!\d)\d+\.\d+[\w.+-]*/.exec(stdout)?.[0];

/** Whether a version is older than the oldest that the agent was tested with. */
export function isOlder({ oldest }: Pick<AgentDefinition, "oldest">, found: string | undefined): boolean {
  if (oldest === undefined || found === undefined) return false;
  const [ours, theirs] = [oldest.version, found].map((version) => version.split(/[.+-]/).map(Number));
  const at = (ours ?? []).findIndex((part, place) => part !== theirs?.[place]);
  return at !== -1 && (theirs?.[at] ?? 0) < (ours?.[at] ?? 0);
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

/** The programs of these names that stand in the user's PATH. */
export const onPath = (names: readonly string[], { PATH = "" }: NodeJS.ProcessEnv): string[] =>
  names.filter((name) => PATH.split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, name))));
