import { constants, existsSync } from "node:fs";
import { appendFile, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ExpectedError, hasCode, messageOf } from "../../engine/lib/errors.js";
import { packageFile } from "../../engine/lib/package-root.js";
import { explainSystemError } from "../../engine/storage/explain-system-error.js";
import { runGit } from "../../engine/storage/git-command.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { installedAgents } from "../../engine/agents/adapters.js";
import { settingsFor } from "../../compose/agents.js";
import { configKeys, configToRead } from "../../compose/config.js";
import { checkAgent } from "../../engine/agents/registry.js";
import { projectFiles } from "../../engine/config/config-file.js";
import { displayPath } from "../../research/overview/find-research.js";
import { choose } from "../run/ask-person.js";
import { claudeName, hiddenName, lessonsName, mcpServersName } from "../../engine/lib/layout.js";
import { promptName, researchesName, rrdName } from "../../research/project-files/layout.js";

/** Packaged defaults that people may edit. */
const editable = [promptName, lessonsName, claudeName];
/**
 * Journal, lock, transcripts, caches and broken files that were set aside belong to this machine; temporary files of
 * atomic writes never to anybody.
 */
const ignored = [`${hiddenName}/`, ".*.ralph-tmp", `${rrdName}.broken-*`];

interface Step {
  readonly file: string;
  readonly did: "made" | "kept" | "added to";
}

/**
 * Makes the current folder a home for projects: files to edit, a git repository, what git should ignore. Overwrites
 * nothing.
 */
export async function initCommand(
  { json, yes }: { readonly json: boolean; readonly yes: boolean },
  io: Io,
): Promise<number> {
  const steps: Step[] = [];
  const warnings: string[] = [];
  try {
    for (const file of editable) steps.push(await copyOnce(file, io.cwd));
    const researches = join(io.cwd, researchesName);
    steps.push({
      file: `${researchesName}/`,
      did: (await mkdir(researches, { recursive: true })) === undefined ? "kept" : "made",
    });
    steps.push(await ignore(io.cwd));
  } catch (error) {
    const explained = explainSystemError(error, io.cwd);
    throw explained instanceof ExpectedError
      ? explained
      : new ExpectedError(`${io.cwd} can't be set up: ${messageOf(error)}.`);
  }
  const git = await makeRepository(io.cwd);
  if (typeof git === "string") warnings.push(git);
  else steps.push(git);

  if (json) io.stdout(`${JSON.stringify({ steps, warnings })}\n`);
  else {
    const tell = ({ file, did }: Step) => io.stdout(`${did === "kept" ? "kept as it is" : did}: ${file}\n`);
    for (const step of steps) tell(step);
    for (const warning of warnings) say(io, `warning: ${warning}`);
    // Without an answer the rest is done all the same.
    const file = io.canAsk && !yes ? await askForAgent(io).catch(unlessUnexpected) : undefined;
    if (file !== undefined) tell({ file: displayPath(io.cwd, file), did: "made" });
    if (io.canAsk && !yes) for (const step of (await askForSkill(io).catch(unlessUnexpected)) ?? []) tell(step);
    io.stdout(`Next:\n  research-ralph doctor\n  research-ralph new "<topic>"\n`);
  }
  return 0;
}

function unlessUnexpected(error: unknown): undefined {
  if (!(error instanceof ExpectedError)) throw error;
}

/**
 * Lets the person choose among the agents that are installed, and writes that down; the file, where anything was
 * written.
 */
async function askForAgent(io: Io): Promise<string | undefined> {
  const files = projectFiles(io.cwd);
  if (files.some((file) => existsSync(file))) return undefined;
  const installed = installedAgents(io.env);
  const agent = await choose(io, "Which agent should do the work?", [
    ...installed.map((name) => ({ value: name, label: name })),
    ...(await builtIn(io)),
    {
      value: "",
      label: installed.length === 0 ? "no agent that research-ralph knows is installed: decide later" : "decide later",
    },
    { value: "baseline", label: "baseline: no model, no key; it only extracts sentences" },
  ]);
  if (agent === "" || agent === "claude") return undefined;
  const { writeConfigValue } = await import("../../engine/config/write.js");
  return writeConfigValue(configKeys, files, "agent", agent, io.env);
}

/** Where agents look for the skills of a folder: Claude Code, and Codex, Amp and their kin. */
const skillFolders = [".claude/skills", ".agents/skills"];

const pluginFile = ".claude-plugin/plugin.json";

/** Offers the skill by which an agent that the person talks to in this folder can drive research-ralph. */
async function askForSkill(io: Io): Promise<Step[]> {
  const file = "research-ralph/SKILL.md";
  if (!existsSync(packageFile("skills", file))) return [];
  if (skillFolders.every((folder) => existsSync(join(io.cwd, folder, file)))) return [];
  const answer = await choose(io, "Shall agents that you talk to in this folder know how to use research-ralph?", [
    { value: "no", label: "no" },
    { value: "yes", label: `yes: put a skill into ${skillFolders.join(" and ")}` },
    ...(existsSync(packageFile(pluginFile))
      ? [{ value: "claude", label: "yes, and for Claude Code also the commands and the MCP server of the plugin" }]
      : []),
  ]);
  if (answer !== "yes" && answer !== "claude") return [];
  const steps: Step[] = answer === "claude" ? await putPlugin(io.cwd) : [];
  for (const folder of skillFolders) {
    await mkdir(join(io.cwd, folder, "research-ralph"), { recursive: true });
    steps.push(await copyOnce(join("skills", file), io.cwd, join(folder, file)));
  }
  return steps;
}

/** What the plugin for Claude Code brings, as files of a folder, where its tools have shorter names. */
async function putPlugin(cwd: string): Promise<Step[]> {
  const { mcpServers, commands } = JSON.parse(await readFile(packageFile(pluginFile), "utf8")) as {
    readonly mcpServers: object;
    readonly commands: readonly string[];
  };
  const steps = [await writeOnce(mcpServersName, cwd, `${JSON.stringify({ mcpServers }, null, 2)}\n`)];
  for (const command of commands) {
    const file = join(".claude/commands/research-ralph", basename(command));
    const text = await readFile(packageFile(command), "utf8");
    steps.push(await writeOnce(file, cwd, text.replaceAll("mcp__plugin_research-ralph_", "mcp__")));
  }
  return steps;
}

async function writeOnce(file: string, cwd: string, text: string): Promise<Step> {
  const path = join(cwd, file);
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, text, { flag: "wx" });
    return { file, did: "made" };
  } catch (error) {
    if (hasCode(error, "EEXIST")) return { file, did: "kept" };
    throw error;
  }
}

/** The agent that needs no program, where there is a key for it. */
async function builtIn(io: Io): Promise<readonly { readonly value: string; readonly label: string }[]> {
  const config = await configToRead(io);
  const { ok } = await checkAgent("ralph", settingsFor(config, io));
  return ok ? [{ value: "ralph", label: "ralph: built in, asks a model with your key" }] : [];
}

async function copyOnce(from: string, cwd: string, file = from): Promise<Step> {
  try {
    await copyFile(packageFile(from), join(cwd, file), constants.COPYFILE_EXCL);
    return { file, did: "made" };
  } catch (error) {
    if (hasCode(error, "EEXIST")) return { file, did: "kept" };
    throw error;
  }
}

async function ignore(cwd: string): Promise<Step> {
  const path = join(cwd, ".gitignore");
  const before = existsSync(path) ? await readFile(path, "utf8") : "";
  const lines = before.split("\n").map((line) => line.trim());
  const missing = ignored.filter((entry) => !lines.includes(entry));
  if (missing.length === 0) return { file: ".gitignore", did: "kept" };
  const gap = before === "" || before.endsWith("\n") ? "" : "\n";
  // What stands there stays as it is, whatever its encoding, and also where the disk is full.
  await appendFile(path, `${gap}${missing.join("\n")}\n`);
  return { file: ".gitignore", did: before === "" ? "made" : "added to" };
}

/** A repository where it is missing, or why there can't be one; projects work without. */
async function makeRepository(cwd: string): Promise<Step | string> {
  if (!(await runGit(cwd, ["--version"])).ok)
    return "git is not installed, so there is no history; install it and run init again.";
  if ((await runGit(cwd, ["rev-parse", "--is-inside-work-tree"])).ok) return { file: "git repository", did: "kept" };
  const made = await runGit(cwd, ["init", "--quiet"]);
  return made.ok ? { file: "git repository", did: "made" } : `git init failed: ${made.stderr.split("\n")[0]}`;
}
