import { basename } from "node:path";
import { configToRead } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { approve, reject } from "../../engine/storage/guard/held-edits.js";
import { waitingEdits } from "../../research/project-files/guarded/guarded-files.js";
import { findResearch, displayPath } from "../../research/overview/find-research.js";
import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { requirePerson } from "../steer/require-person.js";
import { say } from "../../engine/ui/terminal/format.js";

interface ApproveArguments {
  readonly folder?: string;
  /** Undo the edits instead of approving them. */
  readonly reject: boolean;
  readonly json: boolean;
}

/**
 * Approves or rejects the edits of AGENTS.md, CLAUDE.md, prompt.md and progress.txt that were made while an unconfined
 * agent ran.
 */
export async function approveCommand(
  { folder: argument, reject: isRejected, json }: ApproveArguments,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  const { stateDir } = await configToRead(io, {}, ["state_dir"]);
  const edits = await waitingEdits(folder, rootOf(folder, io.cwd), stateDir);
  for (const edit of edits) await (isRejected ? reject(folder, stateDir, edit) : approve(stateDir, edit));
  const files = edits.map(({ path }) => path);
  if (json) io.stdout(`${JSON.stringify({ [isRejected ? "rejected" : "approved"]: files })}\n`);
  else if (files.length === 0) say(io, `No edit in ${displayPath(io.cwd, folder)} waits for your approval.`);
  else
    say(
      io,
      `${files.map((path) => basename(path)).join(", ")}: ${isRejected ? "the edits are undone" : "approved"}, from the next iteration on.`,
    );
  return 0;
}
