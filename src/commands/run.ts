import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { drive, openForWork } from "../compose.js";
import { type ConfigFlags, type ResolvedConfig, resolveConfig } from "../config/resolve.js";
import type { Rrd } from "../generated/rrd.js";
import { ExpectedError } from "../lib/errors.js";
import { writeFileAtomic } from "../store/files.js";
import { readResearch } from "../store/research.js";
import { formatRrd } from "../store/rrd-file.js";
import { exitCodeOf } from "../ui/exit-code.js";
import type { Io } from "../ui/io.js";
import { withoutFrontMatter, workspaceOf } from "../workflows/research/classic.js";
import { readPromptFile, rootOf } from "../workflows/research/prompt.js";
import { sentinel } from "../workflows/research/sentinel.js";
import { standingOf, targetOf } from "../workflows/research/standing.js";
import { askOpenQuestions } from "./ask.js";
import { findResearch, listResearches, shown } from "./find-research.js";

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
  const config = await resolveConfig({ flags: args.flags, env: io.env, cwd: io.cwd });
  const folder = args.folder === undefined ? await unfinished(io) : await findResearch(io.cwd, args.folder);
  let { rrd } = await readResearch(folder);
  if (args.flags.papers !== undefined && args.flags.papers !== targetOf(rrd)) rrd = await retarget(folder, rrd, args.flags.papers, args.force, io);
  if (args.ask) rrd = await askOpenQuestions(folder, rrd, io);
  const prompt = await classicPrompt(folder, args.classic, io);
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

/** The one research under ./researches that is not finished; of several, the one the person picks. */
async function unfinished(io: Io): Promise<string> {
  const all = await listResearches(io.cwd);
  if (all.length === 0) return findResearch(io.cwd, undefined);
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
  if (first === undefined) throw new ExpectedError(`All researches here are complete (${all.length}); make a new one with research-ralph new "<topic>".`);
  if (second === undefined) return first;
  if (!io.canAsk) throw new ExpectedError(`There are ${open.length} unfinished researches; say which: ${names.map((name) => `research-ralph run ${name}`).join(", or ")}.`, 2);
  const { select, isCancel } = await import("@clack/prompts");
  const choice = await select({ message: "Which research?", options: open.map((folder) => ({ value: folder, label: basename(folder) })) });
  if (isCancel(choice)) throw new ExpectedError("Nothing was chosen, nothing was started.", 2);
  return choice;
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
    await mkdir(backups, { recursive: true });
    await copyFile(join(folder, "rrd.json"), join(backups, "rrd.json"));
    io.stderr(`Target changed from ${targetOf(rrd)} to ${papers} papers; the backup is ${shown(io.cwd, join(backups, "rrd.json"))}.\n`);
  }
  const phase = papers > rrd.papers_pool.length ? "DISCOVERY" : rrd.phase;
  const changed: Rrd = { ...rrd, requirements: { ...rrd.requirements, target_papers: papers }, phase };
  await writeFileAtomic(join(folder, "rrd.json"), formatRrd(changed));
  return changed;
}

/** The prompt for classic mode, or undefined for ours. A prompt of the original's kind that doesn't say is asked about once. */
async function classicPrompt(folder: string, wanted: boolean, io: Io): Promise<string | undefined> {
  const path = join(rootOf(folder, io.cwd), "prompt.md");
  const text = await readPromptFile(path);
  if (text === undefined) {
    if (wanted) throw new ExpectedError(`--classic needs the original's prompt.md, and there is none at ${path}.`, 2);
    return undefined;
  }
  const kind = workspaceOf(text);
  if (wanted || kind === "folder") return withoutFrontMatter(text);
  if (kind === "fresh") return undefined;
  if (!io.canAsk) {
    throw new ExpectedError(
      `${path} is of the original's kind (it names {{RESEARCH_DIR}}); run with --classic to let the agent edit the folder itself, or put "---\\nworkspace: fresh\\n---" at its top to use the packaged prompt.`,
      2,
    );
  }
  const { select, isCancel } = await import("@clack/prompts");
  const choice = await select({
    message: `${shown(io.cwd, path)} is of the original's kind. How should agents work?`,
    options: [
      { value: "fresh", label: "in a workspace of their own, results checked (the packaged prompt)" },
      { value: "folder", label: "on the research folder itself, unconfined, as the original did (this prompt)" },
    ],
  });
  if (isCancel(choice)) throw new ExpectedError("Nothing was chosen, nothing was started.", 2);
  await writeFile(path, `---\nworkspace: ${choice}\n---\n${withoutFrontMatter(text)}`);
  return choice === "folder" ? withoutFrontMatter(text) : undefined;
}
