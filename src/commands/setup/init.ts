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

/** Files of the package that are copied, so that the user can edit them. */
const editableFiles = [promptName, lessonsName, claudeName];
/**
 * Entries for .gitignore: the journal, lock, transcripts and caches, copies of broken files, and temporary files of
 * atomic writes.
 */
const ignoreEntries = [`${hiddenName}/`, ".*.ralph-tmp", `${rrdName}.broken-*`];

interface Step {
  readonly file: string;
  readonly did: "made" | "kept" | "added to";
}

/**
 * Prepares the current folder for projects: copies files that the user can edit, makes a git repository and adds to
 * .gitignore. Overwrites nothing.
 */
export async function initCommand(
  { json, yes }: { readonly json: boolean; readonly yes: boolean },
  io: Io,
): Promise<number> {
  const steps: Step[] = [];
  const warnings: string[] = [];
  try {
    for (const file of editableFiles) steps.push(await copyOnce(file, io.cwd));
    const researches = join(io.cwd, researchesName);
    steps.push({
      file: `${researchesName}/`,
      did: (await mkdir(researches, { recursive: true })) === undefined ? "kept" : "made",
    });
    steps.push(await addIgnoreEntries(io.cwd));
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
    const printStep = ({ file, did }: Step) => io.stdout(`${did === "kept" ? "kept as it is" : did}: ${file}\n`);
    for (const step of steps) printStep(step);
    for (const warning of warnings) say(io, `warning: ${warning}`);
    // If the user does not answer, the other steps are still done.
    const file = io.canAsk && !yes ? await askForAgent(io).catch(rethrowUnexpected) : undefined;
    if (file !== undefined) printStep({ file: displayPath(io.cwd, file), did: "made" });
    if (io.canAsk && !yes) for (const step of (await askForSkill(io).catch(rethrowUnexpected)) ?? []) printStep(step);
    io.stdout(`Next:\n  research-ralph doctor\n  research-ralph new "<topic>"\n`);
  }
  return 0;
}

function rethrowUnexpected(error: unknown): undefined {
  if (!(error instanceof ExpectedError)) throw error;
}

/**
 * Lets the user choose one of the installed agents, and writes the choice into the configuration. Returns the path of
 * the file, or undefined if nothing was written.
 */
async function askForAgent(io: Io): Promise<string | undefined> {
  const files = projectFiles(io.cwd);
  if (files.some((file) => existsSync(file))) return undefined;
  const installed = installedAgents(io.env);
  const agent = await choose(io, "Which agent should do the work?", [
    ...installed.map((name) => ({ value: name, label: name })),
    ...(await builtInChoices(io)),
    { value: "", label: installed.length === 0 ? "decide later (no known agent is installed)" : "decide later" },
    { value: "baseline", label: "baseline: no model, no key; it only extracts sentences" },
  ]);
  if (agent === "" || agent === "claude") return undefined;
  const { writeConfigValue } = await import("../../engine/config/write.js");
  return writeConfigValue(configKeys, files, "agent", agent, io.env);
}

/** Folders from which agents read skills: the first is for Claude Code, the second for Codex, Amp and others. */
const skillFolders = [".claude/skills", ".agents/skills"];

const pluginFile = ".claude-plugin/plugin.json";

/** Offers to copy the skill that tells interactive agents in this folder how to use research-ralph. */
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
  const steps: Step[] = answer === "claude" ? await copyPlugin(io.cwd) : [];
  for (const folder of skillFolders) {
    await mkdir(join(io.cwd, folder, "research-ralph"), { recursive: true });
    steps.push(await copyOnce(join("skills", file), io.cwd, join(folder, file)));
  }
  return steps;
}

/** Copies the plugin for Claude Code as files of the folder. There, the names of its tools have a shorter prefix. */
async function copyPlugin(cwd: string): Promise<Step[]> {
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

/** The choice of the built-in agent, which needs no program; empty if it has no key. */
async function builtInChoices(io: Io): Promise<readonly { readonly value: string; readonly label: string }[]> {
  const config = await configToRead(io);
  const { ok } = await checkAgent("ralph", settingsFor(config, io));
  return ok ? [{ value: "ralph", label: "ralph: built in, asks a model with your key" }] : [];
}

async function copyOnce(packagePath: string, cwd: string, file = packagePath): Promise<Step> {
  try {
    await copyFile(packageFile(packagePath), join(cwd, file), constants.COPYFILE_EXCL);
    return { file, did: "made" };
  } catch (error) {
    if (hasCode(error, "EEXIST")) return { file, did: "kept" };
    throw error;
  }
}

async function addIgnoreEntries(cwd: string): Promise<Step> {
  const path = join(cwd, ".gitignore");
  const oldText = existsSync(path) ? await readFile(path, "utf8") : "";
  const lines = oldText.split("\n").map((line) => line.trim());
  const missingEntries = ignoreEntries.filter((entry) => !lines.includes(entry));
  if (missingEntries.length === 0) return { file: ".gitignore", did: "kept" };
  const separator = oldText === "" || oldText.endsWith("\n") ? "" : "\n";
  // Appending keeps the old content, in any encoding, even if the disk is full.
  await appendFile(path, `${separator}${missingEntries.join("\n")}\n`);
  return { file: ".gitignore", did: oldText === "" ? "made" : "added to" };
}

/** Makes a git repository if the folder is not in one. Returns a warning if that fails: git is optional. */
async function makeRepository(cwd: string): Promise<Step | string> {
  if (!(await runGit(cwd, ["--version"])).ok)
    return "git is not installed, so there is no history; install it and run init again.";
  if ((await runGit(cwd, ["rev-parse", "--is-inside-work-tree"])).ok) return { file: "git repository", did: "kept" };
  const gitResult = await runGit(cwd, ["init", "--quiet"]);
  return gitResult.ok ? { file: "git repository", did: "made" } : `git init failed: ${gitResult.stderr.split("\n")[0]}`;
}
