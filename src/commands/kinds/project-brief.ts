import { rm } from "node:fs/promises";
import { crewFor, redactorFor, settingsFor } from "../../compose/agents.js";
import { roleNamesOf, sharingOf } from "../../compose/sharing.js";
import { localSources } from "../../compose/library.js";
import { type ConfigFlags, type ResolvedConfig, configToRead } from "../../compose/config.js";
import { isVerdict } from "../../engine/loop/types.js";
import { memoryNotes } from "../../engine/loop/notes.js";
import { readResearch } from "../../research/project-files/research.js";
import { makeTemporaryFolder } from "../../engine/storage/regular-file.js";
import { say } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { classicBrief, nextClassicUnit } from "../../research/workflow/classic.js";
import { messagesFor, withInstructions } from "../../research/workflow/steering/apply-steering.js";
import { memoryOf } from "../../research/derived/observations.js";
import { withPart } from "../../research/workflow/next-unit.js";
import { kindOfLine, workBasis } from "../../research/units/kinds.js";
import { loadAgentNotes } from "../../research/units/shared-unit.js";
import { nextFromStored } from "../../research/workflow/prepare.js";
import { serviceNames } from "../../research/units/screening/search-session.js";
import { rootOf, unusedPrompt } from "../../research/workflow/brief/prompt-file.js";
import { statusOf } from "../../research/workflow/next-unit.js";
import { briefFor } from "../../research/workflow/brief/write-brief.js";
import { workspacesOf } from "../../research/workflow/workspace.js";
import { classicPrompt } from "../run/classic-prompt.js";
import { toolsOf } from "../../compose/tools.js";
import type { NextBrief } from "./kind.js";

/**
 * What the next iteration's agent of a project would be given. Where a run would ask sources first, it is made from
 * what is known so far, and `first` says who would be asked.
 */
export async function projectBrief(
  folder: string,
  flags: ConfigFlags,
  io: Io,
): Promise<NextBrief | { readonly reason: string }> {
  const config = await configToRead(io, flags);
  const { rrd: read, ledger } = await readResearch(folder);
  const rrd = withInstructions(
    read,
    await messagesFor(folder, redactorFor(config, io)),
    new Date(io.clock.now()).toISOString(),
  );
  const { agentNotes } = await loadAgentNotes(folder, ledger, (line) => workBasis(rrd, kindOfLine(line), line.unit));
  const state = { rrd, ledger, status: statusOf(rrd, ledger), agentNotes };
  const sharing = sharingOf(config);
  const classic = await classicPrompt(folder, config.stateDir, false, {
    cwd: io.cwd,
    env: io.env,
    stdin: io.stdin,
    terminal: io.terminal,
    canAsk: false,
  });
  const root = rootOf(folder, io.cwd);
  if (classic === undefined)
    for (const message of await unusedPrompt(root, config.stateDir)) say(io, `warning: ${message}`);
  const { signal } = new AbortController();
  const sources = { ...localSources(folder, root, signal), ...serviceNames(root) };
  const disk = { ...sources, folder, signal, now: io.clock.now };
  const next = classic === undefined ? await nextFromStored(disk, state) : nextClassicUnit(rrd, folder);
  if (isVerdict(next)) return { reason: next.reason };
  const settled = "material" in next ? next.settledCount : 0;
  const last = ledger.reduce((most, line) => Math.max(most, line.iteration), rrd.loop?.iteration ?? 0);
  const iteration = last + 1 + settled;
  const notes = memoryNotes(memoryOf(rrd, ledger, config.history.limits));
  let text = classicBrief(classic?.prompt ?? "", folder, notes.steering);
  if ("material" in next) {
    const tools = takesTools(config, io) ? { tools: toolsOf([folder], config, io.env) } : {};
    const where = {
      folder,
      root,
      services: sources.services,
      workspaces: workspacesOf(config.stateDir, folder),
      sharing,
      ...tools,
    };
    // A long text is laid into it, for an agent without tools.
    const workspace = makeTemporaryFolder("brief");
    try {
      const { brief } = await briefFor(
        where,
        next.state,
        withPart(next.unit, next.state, sharing),
        next.material,
        notes,
        iteration,
        workspace,
      );
      text = brief.text;
    } finally {
      await rm(workspace, { recursive: true, force: true });
    }
  }
  const { unit, firstSteps: first } = "material" in next ? next : { unit: next, firstSteps: [] };
  return { iteration, unit: unit.id, title: unit.title, text, first };
}

/** Whether the agents that a run would start are given tools. None is started, so nothing has to be allowed. */
const takesTools = (config: ResolvedConfig, io: Io): boolean =>
  crewFor(config, settingsFor({ ...config, unconfined: true }, io), roleNamesOf(config)).everyone.every(
    ({ takesTools: takes }) => takes === true,
  );
