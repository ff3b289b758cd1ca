import { ExpectedError } from "../lib/errors.js";
import { withoutUndefined } from "../lib/without-undefined.js";
import { nearestCandidate } from "../lib/nearest.js";
import type { Agent } from "../loop/types.js";
import { programIn } from "../process/search-path.js";
import { adapters as engineAdapters, installedAgents, agentsOf } from "./adapters.js";
import { command } from "./command.js";
import {
  type AgentCheck,
  type AgentContext,
  type AgentDefinition,
  type AgentOptions,
  type AgentSettings,
  type KnownAgent,
  knownOf,
  confinementWithoutSandbox,
  type Reader,
} from "./definition.js";
import { agentFrom } from "./run-agent.js";

const definitionsIn = ({ adapters }: Adapters): readonly AgentDefinition[] => [...engineAdapters, ...adapters, command];

type Adapters = Pick<AgentSettings, "adapters">;

/** Agents that need no configuration. In addition, `cmd:<command line>` works. */
export const knownAgents = (settings: Adapters): readonly string[] =>
  definitionsIn(settings)
    .filter((definition) => definition !== command)
    .flatMap((definition) => agentsOf(definition).map(({ name }) => name));

/** The known agents to suggest to a user. Of a kind with many agents, only those that are installed. */
export const agentsToShow = (settings: Adapters & Pick<AgentSettings, "env">): readonly string[] => {
  const installed = installedAgents(settings.env);
  return knownAgents(settings).filter((name) => installed.includes(name) || kindOf(name, settings) === undefined);
};

/** The kind of agent that `spec` names, as in `<kind>:<name>`. */
const kindOf = (spec: string, settings: Adapters): AgentDefinition | undefined =>
  definitionsIn(settings).find(({ name, knownAgents }) => knownAgents !== undefined && spec.startsWith(`${name}:`));

/**
 * The agent that `spec` names: an adapter, an entry of the config's `agents`, or `cmd:<command line>`.
 * Throws an ExpectedError (exit code 2) if the name is unknown, or if nothing confines the agent and the settings do
 * not allow that.
 */
export function createAgent(spec: string, settings: AgentSettings): Agent {
  if (isRemote(spec)) return remoteAgent(spec, settings);
  const { definition, context } = findAgent(spec, settings);
  const isUnconfined =
    confinementWithoutSandbox(definition, settings) === "unconfined" && settings.sandbox === undefined;
  if (isUnconfined && !settings.unconfined && !settings.classic) {
    throw new ExpectedError(
      `Nothing confines the agent ${spec}: it can read, change and send whatever you can; add --sandbox bubblewrap (or docker) to confine it, or --unconfined if that is what you want.`,
      2,
    );
  }
  if (settings.classic && definition.briefsOnly === true)
    throw new ExpectedError(
      `The agent ${spec} cannot work in classic mode, because it cannot read such a prompt; choose another with --agent.`,
      2,
    );
  return agentFrom(definition, context);
}

/**
 * Whether the agent that `spec` names has no confinement of its own. Throws like createAgent if the name is unknown.
 */
export const needsSandbox = (spec: string, settings: AgentSettings): boolean =>
  confinementWithoutSandbox(findAgent(spec, settings).definition, settings) === "unconfined" && !isRemote(spec);

/** The prefix of an agent whose process runs on another machine. */
const remotePrefix = "fleet:";

/** Whether `spec` names an agent whose process runs on another machine. */
export const isRemote = (spec: string): boolean => spec.startsWith(remotePrefix);

/** The other machine confines the agent, and reports how. */
function remoteAgent(name: string, settings: AgentSettings): Agent {
  const { definition } = findAgent(name, settings);
  if (settings.classic)
    throw new ExpectedError(
      `The agent ${name} cannot work in classic mode, because it works on another machine and not on the project folder; choose another with --agent.`,
      2,
    );
  if (settings.fleet === undefined)
    throw new ExpectedError(
      `The agent ${name} works on another machine, which is not possible here; name it without ${remotePrefix}.`,
      2,
    );
  const { free, takesTemperature } = definition;
  return settings.fleet.agent({ name, spec: specAfterPrefix(name), free, takesTemperature });
}

function specAfterPrefix(name: string): string {
  const spec = name.slice(remotePrefix.length).trim();
  if (spec !== "" && !isRemote(spec)) return spec;
  throw new ExpectedError(
    `The agent '${name}' names ${spec === "" ? "no agent after its colon" : "a fleet within a fleet"}; write fleet: and the name of an agent that a worker offers, such as fleet:claude.`,
    2,
  );
}

/** The report of `doctor` on the agent that `spec` names. Throws like createAgent if the name is unknown. */
export function checkAgent(spec: string, settings: AgentSettings): Promise<AgentCheck> {
  const { definition, context } = findAgent(spec, settings);
  return definition.check(context);
}

/** The final message in the output of an agent; null without a message, or if the agent is unknown. */
export function answerIn(output: string, spec: string, settings: AgentSettings): string | null {
  const reader = readerFor(spec, settings);
  for (const line of output.split("\n")) reader.line(line);
  return reader.answer().message ?? null;
}

/** The reader for an agent's output; the one for plain text if the agent is no longer known. */
function readerFor(spec: string, settings: AgentSettings): Reader {
  if (isRemote(spec)) return readerFor(specAfterPrefix(spec), settings);
  const isKnown =
    spec.startsWith(commandPrefix) ||
    kindOf(spec, settings) !== undefined ||
    Object.hasOwn(settings.agents, spec) ||
    knownAgents(settings).includes(spec);
  return (isKnown ? findAgent(spec, settings).definition : command).reader();
}

/**
 * Reads the output of an agent whose name is not recorded. Uses the first adapter of the engine that understands a
 * line, or plain text if a line is not JSON.
 */
export function readUnknownAgent(): Reader {
  let candidates = engineAdapters.map(({ reader }) => reader());
  let reader = command.reader();
  let isChosen = false;
  return {
    line(line) {
      if (isChosen || line.trim() === "") return reader.line(line);
      if (!line.startsWith("{")) candidates = [];
      for (const candidate of candidates) {
        const events = candidate.line(line);
        if (events.length === 0) continue;
        [reader, isChosen] = [candidate, true];
        return events;
      }
      isChosen = candidates.length === 0;
      return isChosen ? reader.line(line) : [];
    },
    isFinished: () => reader.isFinished(),
    answer: () => reader.answer(),
  };
}

/** The model that the agent uses, if the settings determine it. */
export function modelOf(spec: string, settings: AgentSettings): string | undefined {
  const { definition, context } = findAgent(spec, settings);
  return definition.modelOf === undefined ? context.options.model : definition.modelOf(context);
}

/** Models that the agent may choose by itself if none is set. @throws as `createAgent`. */
export const usualModelsOf = (spec: string, settings: AgentSettings): readonly string[] =>
  findAgent(spec, settings).definition.usualModels ?? [];

/**
 * First words of the names of its models, if all its models come from one provider. Undefined if not: its arguments or
 * the environment may select another service. @throws as `createAgent` for an unknown name.
 */
export function familiesOf(
  spec: string,
  settings: Pick<AgentSettings, "adapters" | "agents" | "env">,
): readonly string[] | undefined {
  const { properties, context } = propertiesOf(spec, settings);
  const { families, settingVariables } = properties;
  const env = Object.entries({ ...settings.env, ...context.options.env });
  const hasOtherService = env.some(
    ([name, value = ""]) => value !== "" && name.endsWith("_BASE_URL") && settingVariables?.test(name),
  );
  return hasOtherService || (context.options.args ?? []).length > 0 ? undefined : families;
}

/** Variables that may contain the agent's key; the first that is set counts. @throws as `createAgent`. */
export const keyVariablesOf = (spec: string, settings: Pick<AgentSettings, "adapters" | "agents">): readonly string[] =>
  propertiesOf(spec, settings).properties.keyVariables ?? [];

/** The entry of the config's `agents` that describes the agent that `spec` names. @throws as `createAgent`. */
export function entryOf(spec: string, settings: Pick<AgentSettings, "adapters" | "agents">): AgentOptions {
  const { definition, context } = findAgent(spec, settings);
  const knownName = knownOf(definition, context)?.name;
  return { type: definition.name, ...withoutUndefined({ command: knownName }), ...context.options };
}

function propertiesOf<Settings extends Pick<AgentSettings, "adapters" | "agents">>(spec: string, settings: Settings) {
  const { definition, context } = findAgent(spec, settings);
  const properties: Partial<KnownAgent> =
    definition.knownAgents === undefined ? definition : (knownOf(definition, context) ?? {});
  return { properties: properties, context };
}

const commandPrefix = "cmd:";

function findAgent<Settings extends Pick<AgentSettings, "adapters" | "agents">>(
  fullSpec: string,
  settings: Settings,
): { definition: AgentDefinition; context: Omit<AgentContext, "settings"> & { readonly settings: Settings } } {
  const spec = isRemote(fullSpec) ? specAfterPrefix(fullSpec) : fullSpec;
  if (spec.startsWith(commandPrefix)) {
    const commandLine = spec.slice(commandPrefix.length).trim();
    if (commandLine === "")
      throw new ExpectedError(
        "The agent 'cmd:' has no command after the colon; give one, such as 'cmd:./my-agent.sh'.",
        2,
      );
    return { definition: command, context: { name: spec, options: { command: commandLine }, settings } };
  }
  const configuredOptions = Object.hasOwn(settings.agents, spec) ? settings.agents[spec] : undefined;
  const kind = kindOf(spec, settings);
  if (kind !== undefined) {
    const commandLine = spec.slice(kind.name.length + 1).trim();
    const isKnown = kind.knownAgents?.some(({ name }) => name === commandLine) === true;
    if (/^[\w-]*$/.test(commandLine) && !isKnown && configuredOptions?.command === undefined)
      throw new ExpectedError(
        `research-ralph does not know the agent '${commandLine}' of '${spec}'; known are ${kind.knownAgents?.map(({ name }) => name).join(", ")}. Write the command that starts another, such as '${kind.name}:${commandLine === "" ? "my-agent" : commandLine} --${kind.name}'.`,
        2,
      );
    const command = isKnown ? {} : { command: commandLine };
    return { definition: kind, context: { name: spec, options: { ...command, ...configuredOptions }, settings } };
  }
  const definition =
    definitionsIn(settings).find(({ name }) => name === (configuredOptions?.type ?? spec)) ??
    (configuredOptions?.command === undefined || configuredOptions.type !== undefined ? undefined : command);
  if (definition === undefined) throw unknownAgentError(spec, settings, configuredOptions);
  const context = { name: spec, options: configuredOptions ?? {}, settings };
  const [firstKnown] = definition.knownAgents ?? [];
  if (configuredOptions === undefined && firstKnown !== undefined)
    throw new ExpectedError(
      `The agent '${spec}' is a kind of agent; name one, such as ${definition.name}:${firstKnown.name}.`,
      2,
    );
  const needsCommand =
    definition === command || (firstKnown !== undefined && knownOf(definition, context) === undefined);
  if (needsCommand && configuredOptions?.command === undefined)
    throw new ExpectedError(
      `The agent '${spec}' has no command; set agents.${spec}.command in ralph.config.yaml, or use '${firstKnown === undefined ? commandPrefix : `${definition.name}:`}<command>'.`,
      2,
    );
  return { definition, context };
}

function unknownAgentError(
  spec: string,
  settings: Pick<AgentSettings, "adapters" | "agents"> & Partial<Pick<AgentSettings, "env">>,
  configuredOptions: AgentOptions | undefined,
): ExpectedError {
  if (configuredOptions?.type !== undefined) {
    const types = definitionsIn(settings).map(({ name }) => name);
    const similarName = nearestCandidate(configuredOptions.type, types);
    return new ExpectedError(
      `The agent '${spec}' of the config has the type '${configuredOptions.type}', which research-ralph does not have; the types are ${types.join(", ")}.${similarName === undefined ? "" : ` Did you mean ${similarName}?`}`,
      2,
    );
  }
  if (configuredOptions !== undefined)
    return new ExpectedError(
      `The agent '${spec}' of the config has neither a type nor a command; give it one of them.`,
      2,
    );
  const names = [...new Set([...knownAgents(settings), ...Object.keys(settings.agents)])];
  const similarName = nearestCandidate(spec, names);
  const isProgram = programIn(settings.env?.["PATH"] ?? "", spec) !== undefined;
  const suggestion = isProgram ? `${commandPrefix}${spec}, the program in your PATH` : similarName;
  const hint = suggestion === undefined ? "" : ` Did you mean ${suggestion}?`;
  return new ExpectedError(
    `Unknown agent '${spec}'; known agents are ${names.join(", ")} and 'cmd:<command>'.${hint}`,
    2,
  );
}
