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
  /** Run one word through the agent. */
  readonly probe?: boolean;
  readonly flags: ConfigFlags;
  /** Print one JSON value. */
  readonly json: boolean;
}

/**
 * Checks what a run needs: Node, git, each agent, the folders; says how to fix each. With `probe` one real word goes
 * through an agent as well. Exit code 1 when Node, a folder, the chosen agent or that of a project here is not ready.
 */
export async function doctorCommand({ probe = false, flags, json }: DoctorOptions, io: Io): Promise<number> {
  // Without a probe nothing of the folder's is started; with one, everything has to be trusted.
  const asked = probe ? undefined : [];
  const resolved = await resolveConfig({ ...io, uses: flags.trust === true ? undefined : asked }, flags);
  const ofProjects = await agentsOfProjects(resolved, io);
  const config = ofProjects[0] ?? resolved;
  const neededNames = [...new Set([config, ...ofProjects].map(({ agent }) => agent))];
  const settings = settingsOf(config, io);
  const names = [
    ...new Set([...neededNames, ...config.fallbacks, ...agentsToShow(settings), ...Object.keys(config.agents)]),
  ];
  const sandboxes = await checkSandboxes(io.env);
  const isHeld = config.sandbox !== "host" && sandboxes.some(({ ok }) => ok);
  const [redis, git, agents, here, state] = await Promise.all([
    redisFindings(config),
    gitFindings(io.cwd),
    Promise.all(names.map((name) => agentFinding(name, neededNames.includes(name), settings, isHeld))),
    folderFinding("this folder", io.cwd),
    folderFinding("state folder", config.stateDir),
  ]);
  const trust = await trustFindings(flags, io);
  const redact = redactorFor(config, io);
  const held = sandboxes.map((each) => ({ ...each, needed: config.sandbox === each.name }));
  const found = [
    nodeFinding(process.version),
    ...git,
    ...agents,
    ...held,
    ...redis,
    ...(await pluginFindings(config, io)),
    here,
    state,
    ...trust,
  ];
  const answer = probe ? await probed(config.agent, config, settings, io) : undefined;
  const tried = withoutSecrets(answer, redact) as typeof answer;
  // An agent that has just answered is ready, whatever it says of its login: a provider of the user's own needs none.
  const isProven = ({ name }: Finding) => name === config.agent && tried?.ok === true;
  const findings = withoutSecrets(
    found.map((finding) => (isProven(finding) ? { ...finding, needed: false } : finding)),
    redact,
  ) as typeof found;
  const ready = findings.every(({ ok, needed }) => ok || !needed) && tried?.ok !== false;
  if (json) {
    io.stdout(`${JSON.stringify({ ready, findings, probe: tried }, null, 2)}\n`);
    return ready ? 0 : 1;
  }
  const room = io.tableWidth - 1;
  const told = [...findings, ...(tried === undefined ? [] : [{ ...tried, name: "probe", needed: true }])];
  const chosen = withoutSecrets(config.agent, redact) as string;
  const whose =
    ofProjects.length === 0
      ? `${chosen}, the default agent`
      : `${withoutSecrets(neededNames.join(" and "), redact) as string}, with which the projects here go on`;
  const about = `This is about ${whose}; research-ralph doctor --agent <name> checks another.`;
  const lines = [
    ...told.flatMap((finding) => findingLines(finding, room)),
    ...(ready
      ? readyLines(chosen, probe || createAgent(config.agent, { ...settings, unconfined: true }).free === true, room)
      : wrap(notReady(findings, chosen, [...installedAgents(io.env), "ralph"]), room)),
    ...(!ready && config.origins.agent === "default" ? wrap(about, room) : []),
  ];
  io.stdout(`${lines.join("\n")}\n`);
  return ready ? 0 : 1;
}

/**
 * The settings that the projects of this folder go on with, one for each agent; none if the user chose an agent.
 */
async function agentsOfProjects(config: ResolvedConfig, io: Io): Promise<ResolvedConfig[]> {
  if (config.origins.agent !== "default") return [];
  const found = new Map<string, ResolvedConfig>();
  for (const folder of await listResearches(io.cwd)) {
    // What is wrong with a project that can't be read, 'verify' says.
    const itsConfig = await withLastAgent(config, folder, io).catch(() => undefined);
    if (itsConfig !== undefined) found.set(itsConfig.agent, itsConfig);
  }
  return [...found.values()];
}

/** A mark, the name, what was found, and below it how to mend it. */
function findingLines({ name, ok, needed, detail, fix }: Finding, room: number): string[] {
  const lines = labelledLines(`${ok ? "✓" : needed ? "✗" : "–"} ${name.padEnd(13)} `, detail, room);
  return ok || fix === undefined ? lines : [...lines, ...labelledLines(`${" ".repeat(16)}→ `, fix, room)];
}

/** What stands at the end where nothing is missing. `isTried`: the agent has answered, or there is no model to ask. */
function readyLines(chosen: string, isTried: boolean, room: number): string[] {
  if (isTried) return [`Ready to run with ${chosen}.`];
  const found = `Ready to run with ${chosen}, as far as its program and your settings tell: nothing was sent to it. This sends it one word, which costs a call:`;
  return [...wrap(found, room), `  research-ralph doctor --agent ${shellWord(chosen)} --probe`];
}

/** What stands at the end where something is missing, with the agent of `withModel` that could do the work instead. */
function notReady(findings: readonly Finding[], chosen: string, withModel: readonly string[]): string {
  const isThere = (name: string) => findings.some((finding) => finding.name === name && finding.ok);
  const other = isThere(chosen) ? undefined : withModel.find(isThere);
  const instead = other === undefined ? "" : ` ${other} is ready: research-ralph config agent=${other} chooses it.`;
  return `Not ready: see the lines marked ✗.${instead}`;
}

/** Of the folder's settings that are left out here because the user does not trust them: no run begins with them. */
async function trustFindings(flags: ConfigFlags, io: Io): Promise<Finding[]> {
  const { needTrust } = await settingsIn({ ...io, onlyShown: true }, flags);
  try {
    await requireTrust(needTrust, { env: io.env });
    return [];
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return [{ name: "settings", ok: false, needed: true, detail: error.message }];
  }
}

/** Of the plugins: a run goes on without one that can't be loaded. */
async function pluginFindings(config: ResolvedConfig, io: Io): Promise<Finding[]> {
  const checks = await addExtensions(config, io);
  return checks.map((check) => ({ needed: false, ...check }));
}

/** Of the Redis server, where one is set or needed. A run needs it only for agents on other machines. */
async function redisFindings(config: ResolvedConfig): Promise<Finding[]> {
  const needed = [config.agent, ...config.fallbacks].some(isRemote);
  if (config.redis === undefined && !needed) return [];
  try {
    const { checkRedis } = await import("../../fleet/checks.js");
    return (await checkRedis(redisOf(config))).map((finding) => ({ ...finding, needed: needed && finding.needed }));
  } catch (error) {
    if (error instanceof ExpectedError) return [{ name: "Redis", ok: false, needed, detail: error.message }];
    throw error;
  }
}

/**
 * A name that is not known, or an agent that needs --unconfined, is a finding like any other: the rest is still worth
 * reading.
 */
async function agentFinding(name: string, chosen: boolean, settings: AgentSettings, isHeld: boolean): Promise<Finding> {
  try {
    if (isRemote(name)) {
      createAgent(name, settings);
      return {
        name,
        ok: true,
        needed: chosen,
        detail: "runs where a worker offers it; see research-ralph worker --list",
      };
    }
    const { ok, detail, fix } = await checkAgent(name, settings);
    if (ok && chosen) createAgent(name, { ...settings, unconfined: settings.unconfined || isHeld });
    return { name, ok, needed: chosen, detail, fix };
  } catch (error) {
    if (error instanceof ExpectedError) return { name, ok: false, needed: chosen, detail: error.message };
    throw error;
  }
}

/** One word through the agent, in the sandbox that a run would give it. */
async function probed(spec: string, config: ResolvedConfig, settings: AgentSettings, io: Io): Promise<Probe> {
  const housing = await sandboxFor(config, io, settings, [spec]);
  try {
    return await probeAgent(spec, inSandbox(settings, housing), io.clock.now);
  } finally {
    await housing.sandbox?.close();
  }
}

/** Settings for checking and probing; a probe that takes longer than five minutes is of no use to anybody. */
const settingsOf = (config: ResolvedConfig, io: Io): AgentSettings => {
  const iterationMs = Math.min(config.iterationMs, 300_000);
  return { ...settingsFor({ ...config, iterationMs }, io), transcript: () => undefined };
};
