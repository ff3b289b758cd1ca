import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { libraryFor } from "../compose/library.js";
import { resolveConfig } from "../config/resolve.js";
import { isVerdict } from "../loop/types.js";
import { recall } from "../loop/recall.js";
import { readResearch } from "../store/research.js";
import type { Io } from "../ui/io.js";
import { nextClassicUnit } from "../workflows/research/classic.js";
import { memoryOf } from "../workflows/research/observations.js";
import { nextUnit } from "../workflows/research/next.js";
import { fill, loadPrompt, rootOf } from "../workflows/research/prompt.js";
import type { ResearchUnit } from "../workflows/research/state.js";
import { standingOf } from "../workflows/research/standing.js";
import { briefFor } from "../workflows/research/workflow.js";
import { workspacesOf } from "../workflows/research/workspace.js";
import { estimateTokens } from "../lib/tokens.js";
import { classicPrompt } from "./classic-prompt.js";
import { findResearch } from "./find-research.js";

/** Prints what the next iteration's agent would be given. Runs no agent; a paper's text is fetched where it is not kept yet. */
export async function briefCommand({ folder: argument, json }: { readonly folder?: string; readonly json: boolean }, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  const config = await resolveConfig({ env: io.env, cwd: io.cwd });
  const { rrd, ledger } = await readResearch(folder);
  const state = { rrd, ledger, standing: standingOf(rrd, ledger) };
  const classic = await classicPrompt(folder, false, { cwd: io.cwd, canAsk: false });
  const unit = classic === undefined ? nextUnit(state, []) : nextClassicUnit(rrd, folder);
  if (unit === "wait" || isVerdict(unit)) {
    const reason = unit === "wait" ? "Nothing to do." : unit.reason;
    if (json) io.stdout(`${JSON.stringify({ unit: null, reason })}\n`);
    else io.stderr(`No agent would be started. ${reason}\n`);
    return 0;
  }
  const root = rootOf(folder, io.cwd);
  const iteration = ledger.reduce((most, line) => Math.max(most, line.iteration), 0) + 1;
  let text: string;
  if (classic !== undefined) text = fill(classic, { RESEARCH_DIR: folder });
  else {
    const workspace = await mkdtemp(join(tmpdir(), "research-ralph-brief-"));
    try {
      const library = libraryFor(folder, root, config, io.env, new AbortController().signal);
      const where = { folder, root, prompt: await loadPrompt(root), library, workspaces: workspacesOf(config.stateDir, folder) };
      text = (await briefFor(where, state, unit as ResearchUnit, recall(memoryOf(rrd, ledger)), iteration, workspace)).brief.text;
    } finally {
      await rm(workspace, { recursive: true, force: true });
    }
  }
  const tokens = estimateTokens(text);
  if (json) io.stdout(`${JSON.stringify({ iteration, unit: unit.id, title: unit.title, tokens, text })}\n`);
  else {
    io.stdout(text);
    io.stderr(`Iteration ${iteration}, ${unit.id}: about ${tokens} tokens.\n`);
  }
  return 0;
}
