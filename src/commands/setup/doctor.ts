import type { AgentSettings } from "../../engine/agents/definition.js";
import { installedAgents } from "../../engine/agents/adapters.js";
import { agentsToShow, checkAgent, createAgent, isRemote } from "../../engine/agents/registry.js";
import { type ResolvedConfig, resolveConfig, settingsIn, type ConfigFlags } from "../../compose/config.js";
import { requireTrust } from "../../engine/config/trust.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { checkSandboxes } from "../../engine/sandbox/open-sandbox.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { labelledLines, wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { listResearches } from "../../research/overview/find-research.js";
import { addExtensions } from "../../compose/extensions/extensions.js";
import { redactorFor, redisOf, settingsFor, withLastAgent } from "../../compose/agents.js";
import { inSandbox, sandboxFor } from "../../compose/sandbox.js";
import { withoutSecrets } from "./without-secrets.js";
import { type Finding, folderFinding, gitFindings, nodeFinding } from "./machine-checks.js";
import { type Probe, probeAgent } from "./probe.js";

export interface DoctorOptions {
  /** True to send one word to the agent. */
  readonly probe?: boolean;
  readonly flags: ConfigFlags;
  /** Print one JSON value. */
  readonly json: boolean;
}

/**
 * Checks what a run needs: Node, git, the agents and the folders, with advice. With `probe`, also sends one word to an
 * agent. The exit code is 1 if Node, a folder, the chosen agent or an agent of a project here is not ready.
 */
export async function doctorCommand({ probe = false, flags, json }: DoctorOptions, io: Io): Promise<number> {
  // Without a probe, no program from the folder's settings is started. With a probe, all settings must be trusted.
  const usedPrograms = probe ? undefined : [];
  const resolved = await resolveConfig({ ...io, usedKeys: flags.trust === true ? undefined : usedPrograms }, flags);
  const projectConfigs = await configsOfProjects(resolved, io);
  const config = projectConfigs[0] ?? resolved;
  const neededNames = [...new Set([config, ...projectConfigs].map(({ agent }) => agent))];
  const settings = settingsOf(config, io);
  const names = [
    ...new Set([...neededNames, ...config.fallbacks, ...agentsToShow(settings), ...Object.keys(config.agents)]),
  ];
  const sandboxes = await checkSandboxes(io.env);
  const hasSandbox = config.sandbox !== "host" && sandboxes.some(({ ok }) => ok);
  const [redis, git, agents, thisFolder, stateFolder] = await Promise.all([
    redisFindings(config),
    gitFindings(io.cwd),
    Promise.all(names.map((name) => agentFinding(name, neededNames.includes(name), settings, hasSandbox))),
    folderFinding("this folder", io.cwd),
    folderFinding("state folder", config.stateDir),
  ]);
  const trust = await trustFindings(flags, io);
  const redact = redactorFor(config, io);
  const sandboxFindings = sandboxes.map((sandbox) => ({ ...sandbox, needed: config.sandbox === sandbox.name }));
  const allFindings = [
    nodeFinding(process.version),
    ...git,
    ...agents,
    ...sandboxFindings,
    ...redis,
    ...(await pluginFindings(config, io)),
    thisFolder,
    stateFolder,
    ...trust,
  ];
  const rawProbe = probe ? await probeInSandbox(config.agent, config, settings, io) : undefined;
  const probeResult = withoutSecrets(rawProbe, redact) as typeof rawProbe;
  // An agent that has just answered is ready, even if it reports that nobody is logged in: a provider that the user has
  // configured may need no login.
  const isProven = ({ name }: Finding) => name === config.agent && probeResult?.ok === true;
  const findings = withoutSecrets(
    allFindings.map((finding) => (isProven(finding) ? { ...finding, needed: false } : finding)),
    redact,
  ) as typeof allFindings;
  const isReady = findings.every(({ ok, needed }) => ok || !needed) && probeResult?.ok !== false;
  if (json) {
    io.stdout(`${JSON.stringify({ ready: isReady, findings, probe: probeResult }, null, 2)}\n`);
    return isReady ? 0 : 1;
  }
  const maxWidth = io.tableWidth - 1;
  const shownFindings = [
    ...findings,
    ...(probeResult === undefined ? [] : [{ ...probeResult, name: "probe", needed: true }]),
  ];
  const agentName = withoutSecrets(config.agent, redact) as string;
  const subject =
    projectConfigs.length === 0
      ? `${agentName}, the default agent`
      : `${withoutSecrets(neededNames.join(" and "), redact) as string}, which the projects here use`;
  const aboutText = `This is about ${subject}; research-ralph doctor --agent <name> checks another agent.`;
  const lines = [
    ...shownFindings.flatMap((finding) => findingLines(finding, maxWidth)),
    ...(isReady
      ? readyLines(
          agentName,
          probe || createAgent(config.agent, { ...settings, unconfined: true }).free === true,
          maxWidth,
        )
      : wrap(notReadyText(findings, agentName, [...installedAgents(io.env), "ralph"]), maxWidth)),
    ...(!isReady && config.origins.agent === "default" ? wrap(aboutText, maxWidth) : []),
  ];
  io.stdout(`${lines.join("\n")}\n`);
  return isReady ? 0 : 1;
}

/** The settings of the projects in this folder, one for each agent; empty if the user chose an agent. */
async function configsOfProjects(config: ResolvedConfig, io: Io): Promise<ResolvedConfig[]> {
  if (config.origins.agent !== "default") return [];
  const configByAgent = new Map<string, ResolvedConfig>();
  for (const folder of await listResearches(io.cwd)) {
    // For a project that can't be read, 'verify' reports the problem.
    const projectConfig = await withLastAgent(config, folder, io).catch(() => undefined);
    if (projectConfig !== undefined) configByAgent.set(projectConfig.agent, projectConfig);
  }
  return [...configByAgent.values()];
}

/** A line with a mark, the name and the result; below it the advice, if there is a problem. */
function findingLines({ name, ok, needed, detail, fix }: Finding, maxWidth: number): string[] {
  const lines = labelledLines(`${ok ? "✓" : needed ? "✗" : "–"} ${name.padEnd(13)} `, detail, maxWidth);
  return ok || fix === undefined ? lines : [...lines, ...labelledLines(`${" ".repeat(16)}→ `, fix, maxWidth)];
}

/** The last lines if nothing is missing. `hasAnswered`: the agent has answered a probe, or needs no probe. */
function readyLines(agentName: string, hasAnswered: boolean, maxWidth: number): string[] {
  if (hasAnswered) return [`Ready to run with ${agentName}.`];
  const readyText = `Ready to run with ${agentName}, as far as its program and your settings show: nothing was sent to it. This command sends it one word, which costs one call:`;
  return [...wrap(readyText, maxWidth), `  research-ralph doctor --agent ${shellWord(agentName)} --probe`];
}

/** The last line if something is missing, with an agent of `agentsWithModel` that could be used instead. */
function notReadyText(findings: readonly Finding[], agentName: string, agentsWithModel: readonly string[]): string {
  const isAgentReady = (name: string) => findings.some((finding) => finding.name === name && finding.ok);
  const alternative = isAgentReady(agentName) ? undefined : agentsWithModel.find(isAgentReady);
  const advice =
    alternative === undefined ? "" : ` ${alternative} is ready: research-ralph config agent=${alternative} chooses it.`;
  return `Not ready: see the lines marked ✗.${advice}`;
}

/** A finding if settings of the folder are not trusted: then no run starts. */
async function trustFindings(flags: ConfigFlags, io: Io): Promise<Finding[]> {
  const { partsToTrust } = await settingsIn({ ...io, isOnlyShown: true }, flags);
  try {
    await requireTrust(partsToTrust, { env: io.env });
    return [];
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return [{ name: "settings", ok: false, needed: true, detail: error.message }];
  }
}

/** Findings on plugins. A run continues without a plugin that can't be loaded. */
async function pluginFindings(config: ResolvedConfig, io: Io): Promise<Finding[]> {
  const checks = await addExtensions(config, io);
  return checks.map((check) => ({ needed: false, ...check }));
}

/** Findings on the Redis server, if one is set or needed. A run needs it only for agents on other machines. */
async function redisFindings(config: ResolvedConfig): Promise<Finding[]> {
  const isNeeded = [config.agent, ...config.fallbacks].some(isRemote);
  if (config.redis === undefined && !isNeeded) return [];
  try {
    const { checkRedis } = await import("../../fleet/checks.js");
    return (await checkRedis(redisOf(config))).map((finding) => ({ ...finding, needed: isNeeded && finding.needed }));
  } catch (error) {
    if (error instanceof ExpectedError) return [{ name: "Redis", ok: false, needed: isNeeded, detail: error.message }];
    throw error;
  }
}

/** Checks one agent. If its name is unknown, or it needs --unconfined, the finding says so; no error is thrown. */
async function agentFinding(
  name: string,
  isNeeded: boolean,
  settings: AgentSettings,
  hasSandbox: boolean,
): Promise<Finding> {
  try {
    if (isRemote(name)) {
      createAgent(name, settings);
      return {
        name,
        ok: true,
        needed: isNeeded,
        detail: "runs where a worker offers it; see research-ralph worker --list",
      };
    }
    const { ok, detail, fix } = await checkAgent(name, settings);
    if (ok && isNeeded) createAgent(name, { ...settings, unconfined: settings.unconfined || hasSandbox });
    return { name, ok, needed: isNeeded, detail, fix };
  } catch (error) {
    if (error instanceof ExpectedError) return { name, ok: false, needed: isNeeded, detail: error.message };
    throw error;
  }
}

/** Sends one word to the agent, in the sandbox of a run. */
async function probeInSandbox(spec: string, config: ResolvedConfig, settings: AgentSettings, io: Io): Promise<Probe> {
  const housing = await sandboxFor(config, io, settings, [spec]);
  try {
    return await probeAgent(spec, inSandbox(settings, housing), io.clock.now);
  } finally {
    await housing.sandbox?.close();
  }
}

/** Settings for checks and probes. A probe may take at most five minutes. */
const settingsOf = (config: ResolvedConfig, io: Io): AgentSettings => {
  const iterationMs = Math.min(config.iterationMs, 300_000);
  return { ...settingsFor({ ...config, iterationMs }, io), transcript: () => undefined };
};
