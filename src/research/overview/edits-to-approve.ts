import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isStartedByAgent } from "../../engine/process/descendants.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import type { Question, Questions } from "../../engine/ui/terminal/questions.js";
import { type Edit, approve, reject } from "../../engine/storage/guard/held-edits.js";
import { waitingEdits } from "../project-files/guarded/guarded-files.js";
import { rootOf } from "../workflow/brief/prompt-file.js";

/**
 * The questions about edits of agents' instructions that need the user's approval during a run, one after the other.
 */
export function editsToApprove(folder: string, stateDir: string, io: Pick<Io, "cwd" | "env">): Questions | undefined {
  // As in the command, only a person can approve.
  if (isStartedByAgent(io.env)) return undefined;
  return async () => {
    const waitingNow = () => waitingEdits(folder, rootOf(folder, io.cwd), stateDir);
    const [edit] = await waitingNow();
    return edit && questionAbout(folder, stateDir, edit, waitingNow);
  };
}

/** Undefined if the file does not exist. */
const textOf = (path: string): Promise<string | undefined> => readRegularText(path).catch(() => undefined);

async function questionAbout(
  folder: string,
  stateDir: string,
  edit: Edit,
  waitingNow: () => Promise<readonly Edit[]>,
): Promise<Question> {
  const name = basename(edit.path);
  const shownText = await textOf(edit.path);
  return {
    subject: `The edit of ${name}`,
    answerCommand: `research-ralph trust ${shellWord(basename(folder))} --edits`,
    detailLines: [`${edit.path} changed while ${edit.agent} ran:`, ...changesIn(edit, shownText)],
    text: `Let briefs use this ${name}? n takes the edit back.`,
    async answer(yes) {
      const stillWaiting = (await waitingNow()).find(({ path }) => path === edit.path);
      if (stillWaiting === undefined) return `${name}: nothing waits any more.`;
      // A log grows during the run; its waiting additions are part of the edit.
      const isSame = edit.before === undefined || (await textOf(edit.path)) === shownText;
      if (!isSame || !isDeepStrictEqual(stillWaiting, edit))
        return `${name} has changed since it was shown, so nothing is decided; look again.`;
      if (!yes) await reject(folder, stateDir, edit);
      else await approve(stateDir, edit);
      return `${name}: ${yes ? "approved" : "the edit is undone"}, from the next iteration on.`;
    },
  };
}

/** The removed and added lines of an edit, without common lines at the beginning and the end. */
function changesIn({ before, added }: Edit, now: string | undefined): string[] {
  if (before === undefined) return (added ?? []).flatMap(linesOf).map((line) => `+ ${line}`);
  const [oldLines, newLines] = [linesOf(before ?? ""), linesOf(now ?? "")];
  const shorter = Math.min(oldLines.length, newLines.length);
  let [start, end] = [0, 0];
  while (start < shorter && oldLines[start] === newLines[start]) start += 1;
  while (end < shorter - start && oldLines.at(-1 - end) === newLines.at(-1 - end)) end += 1;
  return [
    ...oldLines.slice(start, oldLines.length - end).map((line) => `- ${line}`),
    ...newLines.slice(start, newLines.length - end).map((line) => `+ ${line}`),
  ];
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
