import type { ConfigFlags } from "../../compose/config.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { allRecords, searchedDuplicates } from "../../research/overview/all-records.js";
import { mergeTwo, separateRecord, type MergeResult } from "../../research/overview/same-work.js";
import { withKeys } from "../../research/papers/paper-keys.js";
import type { Rrd } from "../../research/generated/rrd.js";
import { editResearch } from "../../research/project-files/edit-by-command.js";
import { readResearch } from "../../research/project-files/research.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import type { SearchRecord } from "../../research/search/search-record.js";
import { readKeptSearch } from "../../research/workflow/steering/kept-search.js";
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
  changeProject(
    common,
    (rrd, projectName, search) => {
      const records = allRecords(rrd, [], search);
      const ids = new Map(
        records.flatMap(({ key, id, outcome }) =>
          outcome.stage === "not screened" ? [[key.toLowerCase(), id] as const] : [],
        ),
      );
      return mergeTwo(rrd, first, second, projectName, ids, searchedDuplicates(rrd, search));
    },
    io,
  );

/** Separates a duplicate from its work again. */
export const partCommand = ({ paper, ...common }: SeparateArguments, io: Io): Promise<number> =>
  changeProject(
    common,
    (rrd, projectName, search) => separateRecord(rrd, paper, projectName, searchedDuplicates(rrd, search)),
    io,
  );

/** Stores a change of the records, and prints what was changed. */
async function changeProject(
  { folder: typedName, flags, json }: CommonArguments,
  change: (rrd: Rrd, projectName: string, search: SearchRecord | undefined) => MergeResult,
  io: Io,
): Promise<number> {
  const { folder, projectName, git, stateDir } = await projectToChange(io, typedName, flags);
  const rrd = withKeys((await readResearch(folder)).rrd);
  const search = await readKeptSearch(folder, rrd);
  const { says: sentence } = change(rrd, projectName, search);
  const notify = (_: string, message: string) => say(io, message);
  await editResearch(folder, (current) => change(withKeys(current), projectName, search).rrd, { derive, git, notify });
  await signState(folder, stateDir);
  io.stdout(json ? `${JSON.stringify({ folder, says: sentence })}\n` : `${sentence}\n`);
  return 0;
}
