import { withoutUndefined } from "../../lib/without-undefined.js";
import { builtFile, packageFile, packageVersion } from "../../lib/package-root.js";
import { hostOf, keyAddress, keyPlaceholder, anyPublicHost } from "../../process/access.js";
import { realPathOf } from "../../process/search-path.js";
import { withArgs, filesIn, lineOf } from "../command.js";
import {
  type AgentCheck,
  type AgentContext,
  type AgentDefinition,
  type AgentAccess,
  type Invocation,
  knownOf,
} from "../definition.js";
import { runProbe, locate, configuredAccess, versionIn } from "../program.js";
import { serverName, commandWithoutSecrets } from "../shared/tool-server.js";
import { type AcpAgent, commonAgents } from "./common-agents.js";
import type { Turn } from "./client.js";
import { readAcp } from "./stream.js";

const kind = { name: "acp", knownAgents: commonAgents };

/**
 * Any agent that speaks the Agent Client Protocol. A program of this package is the client: it starts the agent in the
 * workspace, sends the brief, answers permission requests according to the access of the brief, and prints the events.
 * Nothing confines an agent that asks for no permission, so it needs a sandbox or the user's consent, like any command.
 */
export const acp: AgentDefinition = {
  ...kind,
  confinement: "unconfined",
  takesTools: true,
  settingVariables: new RegExp(
    commonAgents.flatMap(({ settingVariables }) => settingVariables?.source ?? []).join("|"),
  ),
  keyVariables: commonAgents.flatMap(({ keyVariables }) => keyVariables ?? []),
  invoke(brief, context): Invocation {
    const { access } = brief;
    const env = { ...context.settings.env, ...context.options.env };
    const knownAgent = knownOf(kind, context);
    const isAtWork = access.shell === true || access.everything;
    const turn: Omit<Turn, "prompt" | "cwd"> = {
      isUnrestricted: isAtWork,
      web: access.web,
      // A rate limit may last only a minute. If another agent can take over, waiting is not necessary.
      patienceMs: context.settings.hasFallback === true ? 15_000 : 60_000,
      version: packageVersion(),
      ...(knownAgent?.logVariable === undefined ? {} : { logVariable: knownAgent.logVariable }),
      ...(knownAgent?.modelFlag === undefined ? withoutUndefined({ model: context.options.model }) : {}),
      ...withoutUndefined({
        tools: access.tools && {
          server: { name: serverName, ...commandWithoutSecrets(access.tools, env), env: [] },
          names: access.tools.names,
        },
      }),
    };
    return {
      command: process.execPath,
      args: [builtFile("acp-client"), JSON.stringify(turn), ...commandOf(context, knownAgent)],
      env: { NODE_OPTIONS: undefined, ...knownAgent?.env, ...(isAtWork ? {} : knownAgent?.envInWorkspace) },
    };
  },
  processAccess(context, { web }): AgentAccess {
    const { options, settings } = context;
    const env = { ...settings.env, ...options.env };
    const knownAgent = knownOf(kind, context);
    const optionAccess = configuredAccess(options);
    const [program = ""] = commandOf(context, knownAgent);
    const scriptFiles = knownAgent === undefined ? filesIn(lineOf(context), settings.cwd) : [];
    const read = [
      packageFile(),
      realPathOf(packageFile()),
      ...(locate(program, env)?.read ?? []),
      ...scriptFiles,
      ...optionAccess.read,
    ];
    const hosts = [...optionAccess.hosts, ...(web ? anyPublicHost : [])];
    return { ...optionAccess, read, ...keyAccess(knownAgent, env, hosts) };
  },
  reader: readAcp,
  async check(context): Promise<AgentCheck> {
    const knownAgent = knownOf(kind, context);
    const [program = "", ...args] = commandOf(context, knownAgent);
    if (knownAgent === undefined || program === "sh")
      return { ok: true, detail: `Starts \`${[program, ...args].join(" ")}\`; it manages its login itself.` };
    const probe = await runProbe(context, program, ["--version"]);
    if (probe.isMissing)
      return { ok: false, detail: `There is no program ${program}.`, fix: `Install it: ${knownAgent.install}.` };
    const version = versionIn(probe);
    return { ok: true, version, detail: `${program} ${version ?? ""}. Its login was not tried: ${knownAgent.login}` };
  },
};

/** The program and its arguments. A command line is run by the shell. */
function commandOf(context: AgentContext, knownAgent: AcpAgent | undefined): string[] {
  const { args = [], model } = context.options;
  if (knownAgent === undefined) return ["sh", "-c", `exec ${withArgs(lineOf(context), args)}`, "sh", ...args];
  const modelArguments = knownAgent.modelFlag === undefined || model === undefined ? [] : [knownAgent.modelFlag, model];
  const { sandbox, env } = context.settings;
  // PATH differs in the sandbox; a docker image has its own programs.
  const location =
    sandbox?.name === "bubblewrap" ? locate(knownAgent.program, { ...env, ...context.options.env }) : undefined;
  return [location?.path ?? knownAgent.program, ...knownAgent.args, ...modelArguments, ...args];
}

/**
 * The keys, variables and hosts for a sandbox. The key of a known service stays outside. Without a key, the agent uses
 * its own login.
 */
function keyAccess(
  knownAgent: AcpAgent | undefined,
  env: NodeJS.ProcessEnv,
  hosts: readonly string[],
): Pick<AgentAccess, "keys" | "env" | "hosts"> {
  const variable = knownAgent?.keyVariables?.find((name) => (env[name] ?? "") !== "");
  const service = knownAgent?.service;
  if (variable === undefined || service === undefined)
    return { hosts: [...hosts, ...(service === undefined ? [] : [hostOf(service.address)])], keys: [], env: {} };
  const address = env[service.baseVariable] || service.address;
  const headers = { [service.keyHeader]: env[variable] ?? "" };
  return {
    hosts,
    keys: [{ name: knownAgent?.name ?? "", baseAddress: address, headers }],
    env: { [variable]: keyPlaceholder, [service.baseVariable]: keyAddress(knownAgent?.name ?? "") },
  };
}
