import { withoutUndefined } from "../lib/without-undefined.js";
import { namesSecret } from "../lib/redact.js";
import type { Brief } from "../loop/types.js";
import type { Mount, Reach } from "../process/reach.js";
import type { AgentContext, AgentDefinition, Invocation } from "./definition.js";
import { locate } from "./program.js";

/** The brief as an agent in a sandbox is to get it: the server of its tools runs outside. */
export function briefInside(brief: Brief, { settings }: AgentContext): Brief {
  const { access } = brief;
  if (settings.sandbox === undefined || access.tools === undefined) return brief;
  return {
    ...brief,
    access: { ...access, tools: { ...settings.sandbox.toolRelay, names: access.tools.names, env: [] } },
  };
}

/** What the agent's process is started with. */
export interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly reach?: Reach;
}

/**
 * The program, its environment and, in a sandbox, all that it has to reach; the brief is that of the workflow.
 * Undefined where there is no such program for a sandbox of this machine's files; an image may bring its own.
 */
export function startSettings(
  definition: AgentDefinition,
  context: AgentContext,
  brief: Brief,
  { command, args, env }: Invocation,
): Started | undefined {
  const { settings, options } = context;
  const agentEnv = { ...settings.env, ...env, ...options.env };
  const git = gitSettings(agentEnv, brief.access, settings.sandbox === undefined && definition.confinement);
  const fullEnv = { ...agentEnv, ...git };
  if (settings.sandbox === undefined) return { command, args, env: fullEnv };
  const { env: insideEnv, ...otherReach } = definition.reach(context, brief.access);
  const program = locate(command, fullEnv);
  if (program === undefined && settings.sandbox.name === "bubblewrap") return undefined;
  const { tools } = brief.access;
  // A command line may name files of the workspace that its program is to change.
  const isOutside = (mount: Mount) => typeof mount !== "string" || !mount.startsWith(`${brief.workspace}/`);
  const reach: Reach = {
    ...otherReach,
    read: [...(program?.read ?? []), ...otherReach.read.filter(isOutside), ...(brief.access.readOnly ?? [])],
    write: [brief.workspace, ...otherReach.write],
    // Named by the person or the adapter for this very agent.
    variables: [
      ...Object.keys({ ...env, ...options.env, ...git, ...insideEnv }),
      ...configurationVariables(definition, fullEnv),
    ],
    ...withoutUndefined({
      tools: tools && { command: tools.command, args: tools.args, env: withoutSecretsBut(tools.env, fullEnv) },
    }),
  };
  return { command: program?.path ?? command, args, env: { ...fullEnv, ...insideEnv }, reach };
}

const configurationVariables = ({ setBy }: AgentDefinition, env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env).filter((name) => setBy?.test(name) === true && !namesSecret(name));

/**
 * What keeps the git that a CLI starts by itself from starting what stands in the agent's folder, which the agent, and
 * who sent it there, may have written. Where the CLI alone confines the agent, git finds no repository there at all, as
 * filters and external diffs have any name. In a folder of the user's own, git works as the user has set it up.
 */
function gitSettings(
  env: NodeJS.ProcessEnv,
  { shell, everything }: Brief["access"],
  confinement: AgentDefinition["confinement"] | false,
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
    ...(confinement === "workspace" ? { GIT_DIR: "/dev/null" } : {}),
  };
}

const disabledSettings = {
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "core.attributesFile": "/dev/null",
};

const withoutSecretsBut = (needed: readonly string[], env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !namesSecret(name) || needed.includes(name)));
