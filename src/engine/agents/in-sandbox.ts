import { withoutUndefined } from "../lib/without-undefined.js";
import { isSecretName } from "../lib/redact.js";
import type { Brief } from "../loop/types.js";
import type { Mount, ProcessAccess } from "../process/access.js";
import type { AgentContext, AgentDefinition, Invocation } from "./definition.js";
import { locate } from "./program.js";

/**
 * The brief for an agent in a sandbox. The tool server runs outside the sandbox, so the agent gets a command that
 * connects to the server (the relay) instead of the command that starts the server.
 */
export function briefForSandbox(brief: Brief, { settings }: AgentContext): Brief {
  const { access } = brief;
  if (settings.sandbox === undefined || access.tools === undefined) return brief;
  return {
    ...brief,
    access: { ...access, tools: { ...settings.sandbox.toolRelay, names: access.tools.names, env: [] } },
  };
}

/** How the process of the agent is started. */
export interface StartSettings {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly access?: ProcessAccess;
}

/**
 * The program, its environment and, in a sandbox, everything that it may access. `brief` is the original brief of the
 * workflow. Undefined if bubblewrap is used and the program does not exist; a docker image may contain its own.
 */
export function startSettings(
  definition: AgentDefinition,
  context: AgentContext,
  brief: Brief,
  { command, args, env }: Invocation,
): StartSettings | undefined {
  const { settings, options } = context;
  const agentEnv = { ...settings.env, ...env, ...options.env };
  const cliConfinement = settings.sandbox === undefined ? definition.confinement : undefined;
  const gitEnv = gitSettings(agentEnv, brief.access, cliConfinement);
  const startEnv = { ...agentEnv, ...gitEnv };
  if (settings.sandbox === undefined) return { command, args, env: startEnv };
  const { env: sandboxEnv, ...agentAccess } = definition.processAccess(context, brief.access);
  const program = locate(command, startEnv);
  if (program === undefined && settings.sandbox.name === "bubblewrap") return undefined;
  const { tools } = brief.access;
  // A command line may name files in the workspace. The agent may change these files, so they are not mounted as
  // read-only. A mount that is not a string has another path in the sandbox, so it hides no file of the workspace.
  const isOutsideWorkspace = (mount: Mount) => typeof mount !== "string" || !mount.startsWith(`${brief.workspace}/`);
  const access: ProcessAccess = {
    ...agentAccess,
    read: [...(program?.read ?? []), ...agentAccess.read.filter(isOutsideWorkspace), ...(brief.access.readOnly ?? [])],
    write: [brief.workspace, ...agentAccess.write],
    // The user or the adapter set these variables for this agent.
    variables: [
      ...Object.keys({ ...env, ...options.env, ...gitEnv, ...sandboxEnv }),
      ...configurationVariables(definition, startEnv),
    ],
    ...withoutUndefined({
      tools: tools && { command: tools.command, args: tools.args, env: withoutOtherSecrets(tools.env, startEnv) },
    }),
  };
  return { command: program?.path ?? command, args, env: { ...startEnv, ...sandboxEnv }, access };
}

const configurationVariables = ({ settingVariables }: AgentDefinition, env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env).filter((name) => settingVariables?.test(name) === true && !isSecretName(name));

/**
 * A CLI may start git by itself, and git starts programs that a repository's configuration names. An agent may have
 * written that configuration, so these settings turn off such programs. They can't turn off filters and external diffs,
 * because those have no fixed names. So if only the CLI confines the agent (`cliConfinement` is "workspace"), git finds
 * no repository at all. For an agent that works on the user's folder, nothing is set: git uses the user's settings.
 */
function gitSettings(
  env: NodeJS.ProcessEnv,
  { shell, everything }: Brief["access"],
  cliConfinement: AgentDefinition["confinement"] | undefined,
): NodeJS.ProcessEnv {
  if (shell === true || everything) return {};
  const existingCount = Number.parseInt(env["GIT_CONFIG_COUNT"] ?? "", 10) || 0;
  const variables = Object.entries(disabledSettings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${existingCount + index}`, key],
    [`GIT_CONFIG_VALUE_${existingCount + index}`, value],
  ]);
  return {
    GIT_CONFIG_COUNT: String(existingCount + Object.keys(disabledSettings).length),
    ...Object.fromEntries(variables),
    ...(cliConfinement === "workspace" ? { GIT_DIR: "/dev/null" } : {}),
  };
}

const disabledSettings = {
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "core.attributesFile": "/dev/null",
};

const withoutOtherSecrets = (neededNames: readonly string[], env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isSecretName(name) || neededNames.includes(name)));
