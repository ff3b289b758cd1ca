import { existsSync } from "node:fs";
import { join } from "node:path";
import { codeStateName } from "../../code/project-files/layout.js";
import { codeFormat, codePhase } from "../../code/project-files/state-file.js";
import { codeFolderOf, steeredCode } from "../../code/project-files/steered-code.js";
import { progressOf, spentIn } from "../../code/workflow/status.js";
import { given } from "../../engine/lib/given.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { commandsOf } from "../../engine/storage/state/from-outside.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { seenFromOutside } from "../../engine/storage/under-way.js";
import { totalOf, workCosts } from "../../research/overview/costs.js";
import type { Kind } from "./kind.js";

/** A coding run, in the folder of the project that it works on. */
export const code: Kind = {
  noun: "coding run",
  stateName: codeStateName,
  ledger: codeFormat.ledger,
  isIn: (folder) => existsSync(join(folder, codeStateName)),
  find: async (cwd, argument) => codeFolderOf(cwd, argument),
  async look(folder, where) {
    const { state, ledger } = await readRecords(folder, codeFormat);
    const { at, verdict, reason = "", cause } = state.loop?.last_run ?? {};
    const { minutes } = spentIn(state);
    return {
      ...(await seenFromOutside(folder)),
      noun: "coding run",
      folder,
      title: oneLine(state.job.text ?? "Repair the failing tests"),
      phase: codePhase,
      finished: state.done === true,
      progress: progressOf(state),
      counts: "failing tests repaired",
      waits: [],
      ledger,
      spending: totalOf(state, ledger),
      commands: commandsOf(steeredCode(folder, where)),
      ...(at === undefined || verdict === undefined ? {} : { lastRun: { at, verdict, reason, ...given({ cause }) } }),
      ...(minutes > 0 ? { spentMs: minutes * 60_000 } : {}),
    };
  },
  steered: steeredCode,
  heard: async (folder) => (await readRecords(folder, codeFormat)).state.loop?.steering ?? [],
  status: async (folder, _, { standing }) => (await import("./code-status.js")).codeStatus(folder, standing),
  async costs(folder) {
    const { state, ledger } = await readRecords(folder, codeFormat);
    return workCosts(state, ledger);
  },
};
