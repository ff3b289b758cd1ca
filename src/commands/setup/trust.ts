import { dirname, join, resolve } from "node:path";
import { configKeys } from "../../compose/config.js";
import { projectFiles, readConfigFile } from "../../engine/config/config-file.js";
import {
  askForTrust,
  storeTrust,
  partLines,
  partsIn,
  removeTrust,
  type TrustedPart,
  trustedFolders,
  findUntrusted,
} from "../../engine/config/trust.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { readStats } from "../../engine/storage/regular-file.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { displayPath } from "../../research/overview/find-research.js";
import { promptName } from "../../research/project-files/layout.js";
import { classicPart } from "../../research/workflow/brief/front-matter.js";
import { readPromptFile } from "../../research/workflow/brief/prompt-file.js";
import type { RalphTask } from "../../task/generated/ralph.js";
import { contextOutside } from "../../task/place/context.js";
import { stateFile, taskFile } from "../../task/project-files/layout.js";
import { agentAndSandboxIn, programCriteriaIn, contextIn } from "../../task/project-files/needs-trust.js";
import { taskFormat } from "../../task/project-files/state-file.js";
import { readTaskFile } from "../../task/project-files/task-file.js";
import { requirePerson } from "../steer/require-person.js";

interface TrustOptions {
  /** A folder, or the file of a task; undefined: the current folder. */
  readonly folder: string | undefined;
  /** Agree without a question. */
  readonly yes: boolean;
  /** Show the folders with trusted settings. */
  readonly list: boolean;
  /** End the trust in all settings of the folder. */
  readonly revoke: boolean;
  /** Print one JSON value. */
  readonly json: boolean;
}

/**
 * Shows which programs the settings of a folder start, which files they open and where they send data. If the user
 * agrees, their current values are trusted.
 */
export async function trustCommand(
  { folder: argument, yes, list, revoke, json }: TrustOptions,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  if (list) return listTrusted(io, json);
  const folder = resolve(io.cwd, argument ?? ".");
  if (revoke) {
    const revoked = await removeTrust(folder, io.env);
    if (json) io.stdout(`${JSON.stringify({ folder, revoked })}\n`);
    else
      say(io, `${displayPath(io.cwd, folder)}: ${revoked ? "nothing is trusted any more." : "nothing was trusted."}`);
    return 0;
  }
  const stats = readStats(folder);
  if (stats === undefined)
    throw new ExpectedError(`There is no folder ${folder}; name the folder whose settings you want to trust.`, 2);
  const parts = stats.isDirectory() ? await partsOfFolder(folder) : await partsOfTask(folder);
  const newParts = findUntrusted(parts, io.env);
  if (newParts.length === 0) {
    if (json) io.stdout(`${JSON.stringify({ folder, trusted: [], already: parts.map(summaryOf) })}\n`);
    else
      say(
        io,
        parts.length === 0
          ? `No setting in ${displayPath(io.cwd, folder)} needs trust.`
          : `All ${quantity(parts.length, "setting")} in ${displayPath(io.cwd, folder)} that need trust are already trusted.`,
      );
    return 0;
  }
  if (!json) io.stdout(`${partLines(newParts).join("\n")}\n`);
  if (!yes) {
    if (!io.canAsk) throw new ExpectedError("Nothing was trusted, because nobody can be asked; add --yes to agree.", 2);
    if (!(await askForTrust(io))) throw new ExpectedError("You did not agree; nothing was trusted.", 2);
  }
  await storeTrust(newParts, io.env);
  if (json) io.stdout(`${JSON.stringify({ folder, trusted: newParts.map(summaryOf) })}\n`);
  else
    say(
      io,
      `${quantity(newParts.length, "setting")} trusted as ${newParts.length === 1 ? "it stands" : "they stand"}; 'research-ralph trust --revoke' takes that back.`,
    );
  return 0;
}

const summaryOf = ({ file, key, value }: TrustedPart) => ({ file, key, value });

function listTrusted(io: Io, json: boolean): number {
  const folders = trustedFolders(io.env);
  if (json) {
    const entries = folders.map(({ folder, trusted }) => ({
      folder,
      trusted: trusted.map(({ file, key }) => ({ file, key })),
    }));
    io.stdout(`${JSON.stringify(entries, null, 2)}\n`);
    return 0;
  }
  if (folders.length === 0) say(io, "You trust the settings of no folder.");
  for (const { folder, trusted } of folders) {
    const names = [...new Set(trusted.map(({ file, key }) => `${file}: ${key}`))];
    io.stdout(`${[oneLine(folder), ...names.map((name) => `  ${oneLine(name)}`)].join("\n")}\n`);
  }
  return 0;
}

/** All settings of a folder, and of its task, that are used only if they are trusted. */
async function partsOfFolder(folder: string): Promise<TrustedPart[]> {
  const config = await readConfigFile(configKeys, projectFiles(folder));
  const prompt = join(folder, promptName);
  const text = await readPromptFile(prompt);
  const hasTask = readStats(taskFile(folder)) !== undefined;
  const hasStateOnly = !hasTask && readStats(stateFile(folder)) !== undefined;
  return [
    ...(config === undefined ? [] : partsIn(configKeys.needsTrust, config.values, config.path)),
    ...(text === undefined ? [] : classicPart(text, prompt)),
    ...(hasTask ? await partsOfTask(taskFile(folder)) : []),
    ...(hasStateOnly
      ? trustedPartsIn((await readRecords(folder, taskFormat)).state.task, stateFile(folder), folder)
      : []),
  ];
}

/** All settings in a task's file that need trust; the file may have any name. */
async function partsOfTask(file: string): Promise<TrustedPart[]> {
  const folder = dirname(file);
  const { values: written = {} } = (await readConfigFile(configKeys, projectFiles(folder))) ?? {};
  const workspace = resolve(folder, String(written["task_workspace"] ?? "."));
  return trustedPartsIn((await readTaskFile(file)).task, file, workspace);
}

const trustedPartsIn = (task: RalphTask, file: string, workspace: string): TrustedPart[] => [
  ...agentAndSandboxIn(task, file),
  ...contextIn(contextOutside(task, workspace), file),
  ...programCriteriaIn(task, file),
];
