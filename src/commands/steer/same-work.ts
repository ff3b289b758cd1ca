import type { ConfigFlags } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { mergeTwo, separateRecord, type MergeResult } from "../../research/overview/same-work.js";
import { withKeys } from "../../research/papers/paper-keys.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { readResearch } from "../../research/project-files/research.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import { derive } from "../../research/workflow/derive.js";
import { projectToChange } from "./require-person.js";

interface CommonArguments {
  readonly folder: string;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

interface MergeArguments extends CommonArguments {
  readonly papers: readonly [string, string];
}

interface SeparateArguments extends CommonArguments {
  readonly paper: string;
}

/** Merges two records of one work: the second becomes a duplicate of the first. */
export const joinCommand = ({ papers: [first, second], ...common }: MergeArguments, io: Io): Promise<number> =>
  changeProject(common, (rrd, projectName) => mergeTwo(rrd, first, second, projectName), io);

/** Separates a duplicate from its work again. */
export const partCommand = ({ paper, ...common }: SeparateArguments, io: Io): Promise<number> =>
  changeProject(common, (rrd, projectName) => separateRecord(rrd, paper, projectName), io);

/** Stores a change of the records, and prints what was changed. */
async function changeProject(
  { folder: typedName, flags, json }: CommonArguments,
  change: (rrd: Rrd, projectName: string) => MergeResult,
  io: Io,
): Promise<number> {
  const { folder, projectName, git, stateDir } = await projectToChange(io, typedName, flags);
  const { says: sentence } = change((await readResearch(folder)).rrd, projectName);
  const notify = (_: string, message: string) => say(io, message);
  await editResearch(folder, (rrd) => change(withKeys(rrd), projectName).rrd, { derive, git, notify });
  await signState(folder, stateDir);
  io.stdout(json ? `${JSON.stringify({ folder, says: sentence })}\n` : `${sentence}\n`);
  return 0;
}
