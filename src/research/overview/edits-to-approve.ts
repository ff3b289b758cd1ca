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

/** The edits of what instructs agents that wait for a person's yes during a run of the project, one after the other. */
export function editsToApprove(folder: string, stateDir: string, io: Pick<Io, "cwd" | "env">): Questions | undefined {
  // As the command: only a person says yes.
  if (isStartedByAgent(io.env)) return undefined;
  return async () => {
    const waiting = () => waitingEdits(folder, rootOf(folder, io.cwd), stateDir);
    const [edit] = await waiting();
    return edit && asked(folder, stateDir, edit, waiting);
  };
}

/** Undefined where there is no file. */
const textOf = (path: string): Promise<string | undefined> => readRegularText(path).catch(() => undefined);

async function asked(
  folder: string,
  stateDir: string,
  edit: Edit,
  waiting: () => Promise<readonly Edit[]>,
): Promise<Question> {
  const name = basename(edit.path);
  const now = await textOf(edit.path);
  return {
    about: `The edit of ${name}`,
    otherwise: `research-ralph trust ${shellWord(basename(folder))} --edits`,
    shows: [`${edit.path} changed while ${edit.agent} ran:`, ...changesIn(edit, now)],
    asks: `Let briefs use this ${name}? n takes the edit back.`,
    async answer(yes) {
      const still = (await waiting()).find(({ path }) => path === edit.path);
      if (still === undefined) return `${name}: nothing waits any more.`;
      // A log grows; what was added to it and waits stands in the record.
      const isSame = edit.before === undefined || (await textOf(edit.path)) === now;
      if (!isSame || !isDeepStrictEqual(still, edit))
        return `${name} has changed since it was shown, so nothing is decided; look again.`;
      if (!yes) await reject(folder, stateDir, edit);
      else await approve(stateDir, edit);
      return `${name}: ${yes ? "approved" : "as before"}, from the next iteration on.`;
    },
  };
}

/** The lines that an edit took away and added, those that all of both sides begin or end with left out. */
function changesIn({ before, added }: Edit, now: string | undefined): string[] {
  if (before === undefined) return (added ?? []).flatMap(linesOf).map((line) => `+ ${line}`);
  const [old, lines] = [linesOf(before ?? ""), linesOf(now ?? "")];
  const shorter = Math.min(old.length, lines.length);
  let [start, end] = [0, 0];
  while (start < shorter && old[start] === lines[start]) start += 1;
  while (end < shorter - start && old.at(-1 - end) === lines.at(-1 - end)) end += 1;
  return [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...lines.slice(start, lines.length - end).map((line) => `+ ${line}`),
  ];
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
