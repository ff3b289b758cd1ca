import { type ConfigFlags, configToRead } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { findResearch, nameFor } from "../../research/overview/find-research.js";
import { mergeTwo, separateRecord, type MergeResult } from "../../research/overview/same-work.js";
import { withKeys } from "../../research/papers/paper-keys.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { readResearch } from "../../research/project-files/research.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import { derive } from "../../research/workflow/derive.js";
import { requirePerson } from "./require-person.js";

interface CommonArguments {
  readonly folder: string;
  readonly flags: ConfigFlags;
  readonly json: boolean;
}

interface JoinArguments extends CommonArguments {
  readonly papers: readonly [string, string];
}

interface PartArguments extends CommonArguments {
  readonly paper: string;
}

/** Joins two records of one work: the second becomes a duplicate of the first. */
export const joinCommand = ({ papers: [first, second], ...common }: JoinArguments, io: Io): Promise<number> =>
  settle(common, (rrd, where) => mergeTwo(rrd, first, second, where), io);

/** Separates a duplicate from its work again. */
export const partCommand = ({ paper, ...common }: PartArguments, io: Io): Promise<number> =>
  settle(common, (rrd, where) => separateRecord(rrd, paper, where), io);

async function settle(
  { folder: argument, flags, json }: CommonArguments,
  change: (rrd: Rrd, where: string) => MergeResult,
  io: Io,
): Promise<number> {
  requirePerson(io.env);
  const folder = await findResearch(io.cwd, argument);
  const { git, stateDir } = await configToRead(io, flags, ["state_dir"]);
  const where = nameFor(io.cwd, folder);
  const { says } = change((await readResearch(folder)).rrd, where);
  const notify = (_: string, message: string) => say(io, message);
  await editResearch(folder, (rrd) => change(withKeys(rrd), where).rrd, { derive, git, notify });
  await signState(folder, stateDir);
  io.stdout(json ? `${JSON.stringify({ folder, says })}\n` : `${says}\n`);
  return 0;
}
