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
import { linesAfterCheck, withCitationKeys } from "./answer-lines.js";
import { type AnswerWithPapers, storeIteration } from "./open-question.js";

/**
 * Checks the sentences of a stored answer, if the configuration has a checker, and prints the results.
 * `isWithinLimits`: the command may still spend something. The exit code is 0 unless the user stopped the command: an
 * answer remains valid, whatever the result of its check is.
 */
export async function checkAnswer(
  { answer, pool, names }: AnswerWithPapers,
  folder: string,
  outputOptions: { readonly quiet: boolean; readonly json: boolean },
  config: ResolvedConfig,
  io: Io,
  isWithinLimits: boolean,
): Promise<{ readonly code: number; readonly spent: Spending }> {
  const roles = checkerNamesOf(config);
  const { checkers = [] } = sharingOf(config);
  if (Object.keys(roles).length === 0 || answer.open === undefined) return { code: 0, spent: zeroSpending };
  const command = `'research-ralph ask ${shellWord(nameFor(io.cwd, folder))} ${answer.id} --check'`;
  if (!isWithinLimits) {
    say(io, `The limit of this command is reached; ${command} checks the sentences of the answer.`);
    return { code: 0, spent: zeroSpending };
  }
  const storedLines: LedgerLine[] = [];
  let output: string | undefined;
  const { rrd, ledger } = await readResearch(folder);
  const verdict = await drive(
    config,
    io,
    { ...outputOptions, iterations: maxCheckIterations, roles, hasRun: true },
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
          const { forecast: _, ...account } = accountOf(rrd, [...ledger, ...storedLines]);
          return account;
        },
        keep: async (iteration) => {
          storedLines.push(iteration.line);
          const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
          await storeIteration(folder, iteration, { config, now: io.clock.now, notify });
        },
        onChecked: (checkedAnswer, rates) => {
          output = outputOptions.json
            ? `${JSON.stringify({ type: "answer", ...withCitationKeys(checkedAnswer, names) })}\n`
            : `\n${linesAfterCheck(checkedAnswer, rates, names, io).join("\n")}\n`;
        },
      }),
  );
  if (output === undefined) say(io, `The check of ${answer.id} is not complete; ${command} continues it.`);
  else io.stdout(output);
  const code = exitCodeOf(verdict);
  return { code: code > 128 ? code : 0, spent: spentOn({}, storedLines) };
}
