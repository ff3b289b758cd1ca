import { join } from "node:path";
import { storeTrust, type TrustedPart } from "../../engine/config/trust.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { writeFileAtomic } from "../../engine/storage/atomic-file.js";
import type { Io } from "../../engine/ui/io.js";
import {
  classicPart,
  withoutFrontMatter,
  withWorkspace,
  workspaceOf,
} from "../../research/workflow/brief/front-matter.js";
import { agreedPrompt, rootOf } from "../../research/workflow/brief/prompt-file.js";
import { choose } from "./ask-person.js";
import { displayPath } from "../../research/overview/find-research.js";
import { promptName } from "../../research/project-files/layout.js";

/**
 * The prompt for classic mode, and the parts of it that the user must trust; undefined if the packaged prompt is used.
 * If the folder's prompt.md is for the original tool and does not name a mode, the user chooses one, and it is stored
 * in prompt.md.
 * @throws ExpectedError (exit code 2) with the two choices, if there is no terminal.
 */
export async function classicPrompt(
  folder: string,
  stateDir: string,
  isForced: boolean,
  io: Pick<Io, "cwd" | "env" | "canAsk" | "stdin" | "terminal">,
): Promise<{ readonly prompt: string; readonly needTrust: readonly TrustedPart[] } | undefined> {
  const root = rootOf(folder, io.cwd);
  const path = join(root, promptName);
  const text = await agreedPrompt(root, stateDir);
  if (text === undefined) {
    if (isForced) throw new ExpectedError(`--classic needs the original's prompt.md; ${path} does not exist.`, 2);
    return undefined;
  }
  const kind = workspaceOf(text);
  if (isForced || kind === "folder") return classicResult(text, isForced ? [] : classicPart(text, path));
  if (kind === "fresh") return undefined;
  if (!io.canAsk) {
    throw new ExpectedError(
      `${path} is a prompt of the original tool (it names {{RESEARCH_DIR}}), and without a terminal, as in cron, nobody can be asked how agents should work: add --classic, as in 'ralph.sh <folder> --classic', to let them edit the project folder itself as the original's did, or put "---\\nworkspace: fresh\\n---" at its top to use the packaged prompt.`,
      2,
    );
  }
  const choice = await choose(
    io,
    `${displayPath(io.cwd, path)} is a prompt of the original tool. How should agents work?`,
    [
      { value: "fresh", label: "in separate workspaces, with the packaged prompt" },
      { value: "folder", label: "in the project folder itself, unconfined, with this prompt" },
    ],
  );
  const newText = withWorkspace(text, choice);
  await writeFileAtomic(path, newText);
  // The user has just agreed to it.
  await storeTrust(classicPart(newText, path), io.env);
  return choice === "folder" ? classicResult(text, []) : undefined;
}

const classicResult = (text: string, needTrust: readonly TrustedPart[]) => ({
  prompt: withoutFrontMatter(text),
  needTrust,
});
