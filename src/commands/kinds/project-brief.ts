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
import { kindOfLine, workBasisHash } from "../../research/units/kinds.js";
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
 * The brief for the agent of a project's next iteration. If a run would ask sources first, the brief is made from the
 * stored records, and `firstSteps` names the sources.
 */
export async function projectBrief(
  folder: string,
  flags: ConfigFlags,
  io: Io,
): Promise<NextBrief | { readonly reason: string }> {
  const config = await configToRead(io, flags);
  const { rrd: storedRrd, ledger } = await readResearch(folder);
  const rrd = withInstructions(
    storedRrd,
    await messagesFor(folder, redactorFor(config, io)),
    new Date(io.clock.now()).toISOString(),
  );
  const { agentNotes } = await loadAgentNotes(folder, ledger, (line) =>
    workBasisHash(rrd, kindOfLine(line), line.unit),
  );
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
  const context = { ...sources, folder, signal, now: io.clock.now };
  const next = classic === undefined ? await nextFromStored(context, state) : nextClassicUnit(rrd, folder);
  if (isVerdict(next)) return { reason: next.reason };
  const settledCount = "material" in next ? next.settledCount : 0;
  const lastIteration = ledger.reduce((max, line) => Math.max(max, line.iteration), rrd.loop?.iteration ?? 0);
  const iteration = lastIteration + 1 + settledCount;
  const notes = memoryNotes(memoryOf(rrd, ledger, config.history.limits));
  let text = classicBrief(classic?.prompt ?? "", folder, notes.steering);
  if ("material" in next) {
    const tools = doAgentsTakeTools(config, io) ? { tools: toolsOf([folder], config, io.env) } : {};
    const briefContext = {
      folder,
      root,
      services: sources.services,
      workspaces: workspacesOf(config.stateDir, folder),
      sharing,
      ...tools,
    };
    // For an agent without tools, a long text is written into this folder.
    const workspace = makeTemporaryFolder("brief");
    try {
      const { brief } = await briefFor(
        briefContext,
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
  const { unit, firstSteps } = "material" in next ? next : { unit: next, firstSteps: [] };
  return { iteration, unit: unit.id, title: unit.title, text, firstSteps };
}

/** Whether all agents of the next run accept tools. No agent is started here, so the user need not allow anything. */
const doAgentsTakeTools = (config: ResolvedConfig, io: Io): boolean =>
  crewFor(config, settingsFor({ ...config, unconfined: true }, io), roleNamesOf(config)).everyone.every(
    ({ takesTools: isTakingTools }) => isTakingTools === true,
  );
