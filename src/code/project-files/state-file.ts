import { createHash } from "node:crypto";
import { join } from "node:path";
import { hiddenName, lastGoodOf, ledgerName } from "../../engine/lib/layout.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import { attemptsFormat } from "../../engine/storage/state/format.js";
import type { CodeState, Job, Round } from "../generated/ralph-code.js";
import { codeLogName, codeStateName } from "./layout.js";

/** The phase that the roles of a coding run belong to. */
export const codePhase = "CODE";

/** The state of a coding run, for the record store. */
export const codeFormat = attemptsFormat<CodeState>({
  schema: "ralph-code",
  file: codeStateName,
  log: codeLogName,
  ledger: `${hiddenName}/${ledgerName}`,
  top: "code",
  phase: codePhase,
  others: ["rounds"],
  noun: "coding run",
  howToBegin: "research-ralph code begins one",
  resetCommand: (folder) =>
    `cp ${shellWord(lastGoodOf(folder, codeStateName))} ${shellWord(join(folder, codeStateName))}`,
});

/** The state of a coding run that never began. Its id names it in git; two folders of one repository have two. */
export const newCodeState = (job: Job, folder: string): CodeState => ({
  id: `code-${createHash("sha256").update(folder).digest("hex").slice(0, 8)}`,
  job,
  rounds: [],
  attempts: [],
});

/** The rounds of this job. */
export const roundsOf = ({ rounds, begun = 0 }: CodeState): readonly Round[] =>
  rounds.filter(({ round }) => round > begun);
