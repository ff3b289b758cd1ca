import { join } from "node:path";
import type { ResolvedConfig } from "../../compose/config.js";
import { drive } from "../../compose/drive.js";
import { checkerNamesOf, sharingOf } from "../../compose/sharing.js";
import { exitCodeOf } from "../../engine/loop/exit-codes.js";
import { zeroSpending } from "../../engine/loop/stop-conditions/budget.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Spending } from "../../engine/loop/types.js";
import { shellWord } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import { say } from "../../engine/ui/terminal/format.js";
import { checkWorkflow, maxCheckIterations } from "../../research/overview/questions/check-workflow.js";
import { nameFor } from "../../research/overview/find-research.js";
import { readResearch } from "../../research/project-files/research.js";
import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { accountOf, spentOn } from "../../research/workflow/forecast.js";
import { workspacesOf } from "../../research/workflow/workspace.js";
import { checkedLines, withKeys } from "./answer-lines.js";
import { type Answered, keepIteration } from "./open-question.js";

/**
 * Has the sentences of an answer that is printed and kept judged by a second reader, where the settings name one, and
 * prints what is said of them. `canPay`: something is left of the command's limits. The exit code is 0 unless a person
 * ended it: an answer stands, whatever its check comes to.
 */
export async function checkAnswer(
  { answer, pool, names }: Answered,
  folder: string,
  how: { readonly quiet: boolean; readonly json: boolean },
  config: ResolvedConfig,
  io: Io,
  canPay: boolean,
): Promise<{ readonly code: number; readonly spent: Spending }> {
  const roles = checkerNamesOf(config);
  const { checkers = [] } = sharingOf(config);
  if (Object.keys(roles).length === 0 || answer.open === undefined) return { code: 0, spent: zeroSpending };
  const goesOn = `'research-ralph ask ${shellWord(nameFor(io.cwd, folder))} ${answer.id} --check'`;
  if (!canPay) {
    say(io, `The limit of this command is reached; ${goesOn} has the sentences of the answer checked.`);
    return { code: 0, spent: zeroSpending };
  }
  const kept: LedgerLine[] = [];
  let said: string | undefined;
  const { rrd, ledger } = await readResearch(folder);
  const verdict = await drive(
    config,
    io,
    { ...how, iterations: maxCheckIterations, roles, hasRun: true },
    async ({ redact, tell }) =>
      checkWorkflow({
        answer,
        pool,
        homeProject: rrd,
        checkers,
        redact,
        now: io.clock.now,
        root: rootOf(folder, io.cwd),
        workspaces: workspacesOf(config.stateDir, join(folder, `check-${process.pid}`)),
        account: () => {
          const { forecast: _, ...account } = accountOf(rrd, [...ledger, ...kept]);
          return account;
        },
        keep: async (iteration) => {
          kept.push(iteration.line);
          const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
          await keepIteration(folder, iteration, { config, now: io.clock.now, notify });
        },
        checked: (checked, rates) => {
          said = how.json
            ? `${JSON.stringify({ type: "answer", ...withKeys(checked, names) })}\n`
            : `\n${checkedLines(checked, rates, names, io).join("\n")}\n`;
        },
      }),
  );
  if (said === undefined) say(io, `The check of ${answer.id} is not at its end; ${goesOn} goes on with it.`);
  else io.stdout(said);
  const code = exitCodeOf(verdict);
  return { code: code > 128 ? code : 0, spent: spentOn({}, kept) };
}
