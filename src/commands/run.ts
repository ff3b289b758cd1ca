import { copyFile, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { createAgent } from "../agents/registry.js";
import { drive, openForWork, settingsFor } from "../compose.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../config/resolve.js";
import type { Rrd } from "../generated/rrd.js";
import { ExpectedError } from "../lib/errors.js";
import { writeFileAtomic } from "../store/files.js";
import { readResearch } from "../store/research.js";
import { formatRrd } from "../store/rrd-file.js";
import { explaining } from "../store/system-error.js";
import { exitCodeOf } from "../ui/exit-code.js";
import type { Io } from "../ui/io.js";
import { sentinel } from "../workflows/research/sentinel.js";
import { standingOf, targetOf } from "../workflows/research/standing.js";
import { askOpenQuestions, choose, needTerminal } from "./ask.js";
import { classicPrompt } from "./classic-prompt.js";
import { few, findResearch, listResearches, shown } from "./find-research.js";

export interface RunArguments {
  readonly folder?: string;
  readonly flags: ConfigFlags;
  readonly force: boolean;
  readonly classic: boolean;
  readonly ask: boolean;
  readonly quiet: boolean;
  readonly json: boolean;
}

/** Works on a research until there is a verdict; its exit code is the verdict's. */
export async function runCommand(args: RunArguments, io: Io): Promise<number> {
  if (args.ask) needTerminal(io);
  const config = await resolveConfig({ flags: args.flags, env: io.env, cwd: io.cwd });
  const folder = args.folder === undefined ? await unfinished(io) : await findResearch(io.cwd, args.folder);
  if (folder === undefined) {
    if (!args.json) io.stdout(`${sentinel}\n`);
    return 0;
  }
  let { rrd } = await readResearch(folder);
  const prompt = await classicPrompt(folder, args.classic, io);
  // An agent that can't be used must be known before the file is changed for it.
  createAgent(config.agent, settingsFor(config, io, undefined, prompt !== undefined));
  if (args.flags.papers !== undefined && args.flags.papers !== targetOf(rrd)) rrd = await retarget(folder, rrd, args.flags.papers, args.force, io);
  if (args.ask) rrd = await askOpenQuestions(folder, rrd);
  return work(folder, rrd, config, io, args, prompt);
}

/** The last part of every command that works on a research: run it, and say the sentinel where it is complete. */
export async function work(
  folder: string,
  rrd: Rrd,
  config: ResolvedConfig,
  io: Io,
  how: { readonly json: boolean; readonly quiet: boolean },
  classic?: string,
): Promise<number> {
  const iterations = config.iterations ?? Math.max(targetOf(rrd), rrd.papers_pool.length) + 6;
  const verdict = await drive(config, io, { ...how, iterations, folder }, (signal) => openForWork(folder, config, io, signal, classic));
  if (verdict.verdict === "complete" && !how.json) io.stdout(`${sentinel}\n`);
  return exitCodeOf(verdict);
}

/** The one research under ./researches that is not finished; of several, the one the person picks; undefined where all are complete. */
async function unfinished(io: Io): Promise<string | undefined> {
  const all = await listResearches(io.cwd);
  if (all.length <= 1) return findResearch(io.cwd, undefined);
  const open: string[] = [];
  const broken: string[] = [];
  for (const folder of all) {
    const read = await readResearch(folder).catch(() => undefined);
    if (read === undefined) broken.push(folder);
    else if (standingOf(read.rrd, read.ledger).phase !== "COMPLETE") open.push(folder);
  }
  const [first, second] = open;
  const names = open.map((folder) => basename(folder));
  if (first === undefined && broken[0] !== undefined) {
    throw new ExpectedError(`No research here can be run: ${basename(broken[0])} is broken; 'research-ralph validate ${basename(broken[0])}' says where.`);
  }
  if (first === undefined) {
    io.stderr(`All ${all.length} researches here are complete; make a new one with research-ralph new "<topic>".\n`);
    return undefined;
  }
  if (second === undefined) return first;
  if (!io.canAsk) throw new ExpectedError(`There are ${open.length} unfinished researches: ${few(names)}; say which, as in research-ralph run ${names[0]}.`, 2);
  return choose("Which research?", open.map((folder) => ({ value: folder, label: basename(folder) })));
}

/** Changes the target. Once papers were found that needs --force, and the file is copied first. */
async function retarget(folder: string, rrd: Rrd, papers: number, force: boolean, io: Io): Promise<Rrd> {
  const started = rrd.papers_pool.length > 0;
  if (started && !force) {
    throw new ExpectedError(
      `${basename(folder)} has begun with a target of ${targetOf(rrd)} papers; add --force to change it to ${papers} (a backup is made), or leave -p out.`,
      2,
    );
  }
  if (started) {
    const backups = join(folder, ".ralph", "backups", new Date().toISOString().replace(/[:.]/g, "-"));
    await explaining(backups, async () => {
      await mkdir(backups, { recursive: true });
      await copyFile(join(folder, "rrd.json"), join(backups, "rrd.json"));
    });
    io.stderr(`Target changed from ${targetOf(rrd)} to ${papers} papers; the backup is ${shown(io.cwd, join(backups, "rrd.json"))}.\n`);
  }
  const phase = papers > rrd.papers_pool.length ? "DISCOVERY" : rrd.phase;
  const changed: Rrd = { ...rrd, requirements: { ...rrd.requirements, target_papers: papers }, phase };
  await writeFileAtomic(join(folder, "rrd.json"), formatRrd(changed));
  return changed;
}
