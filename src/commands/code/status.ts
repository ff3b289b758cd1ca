import { existsSync } from "node:fs";
import { join } from "node:path";
import { codeFormat, roundsOf } from "../../code/project-files/state-file.js";
import { codeReportName } from "../../code/project-files/layout.js";
import { latestTests, notCounted, spentIn, testsText } from "../../code/workflow/status.js";
import { lockFile } from "../../engine/lib/layout.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isHeldByRun } from "../../engine/storage/lock.js";
import { wordsInForce } from "../../engine/storage/state/from-outside.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { count, duration } from "../../engine/lib/words.js";
import { statusRow } from "../../engine/ui/terminal/format.js";
import { costText, idleText } from "../../engine/ui/terminal/tally.js";
import type { Io } from "../../engine/ui/io.js";
import { headLines, heldIn } from "../task/status.js";

/** Rounds that are listed, the last ones. */
const maxRounds = 5;

/** Prints where the coding run of a folder stands; reads only. */
export async function codeStatus(folder: string, json: boolean, io: Io): Promise<number> {
  const { state } = await readRecords(folder, codeFormat);
  const running = await isHeldByRun(lockFile(folder));
  const held = heldIn(folder);
  const { id, job, flaky = [], loop } = state;
  const [rounds, tests, spent] = [roundsOf(state), latestTests(state), spentIn(state)];
  const last_run = loop?.last_run ?? null;
  const steering = await wordsInForce(folder, loop?.steering ?? []);
  if (json) {
    const report = {
      folder,
      id,
      job,
      running,
      done: state.done === true,
      tests,
      flaky,
      rounds,
      spent,
      steering,
      held,
      last_run,
    };
    io.stdout(`${JSON.stringify(report, null, 2)}\n`);
    return 0;
  }
  const out = headLines(job.text ?? "Repair the failing tests", folder, { running, lastRun: loop?.last_run }, io);
  const say = (label: string, text: string) => void out.push(...statusRow(label, text, io.columns));
  say("Tests", tests === undefined ? "not run yet" : testsText(state, tests));
  for (const { test } of (tests?.failures ?? []).slice(0, 5)) say("", `✗ ${oneLine(test)}`);
  say("Rounds", `${rounds.length} of ${job.rounds}`);
  for (const { round, steps } of rounds.slice(-maxRounds))
    say("", `round ${round}: ${steps.map(({ role, event }) => `${role} ${event}`).join(", ") || "begun"}`);
  say("Iterations", `${spent.iterations}${idleText(notCounted(state))}`);
  if (spent.minutes > 0) say("Time", `${duration(spent.minutes * 60_000)} of work`);
  if (spent.tokens > 0) say("Tokens", count(spent.tokens));
  if (spent.usd > 0) say("Cost", costText({ cost_usd: spent.usd }));
  for (const words of steering) say("Steering", oneLine(words));
  if (existsSync(join(folder, codeReportName))) say("Report", codeReportName);
  io.stdout(`${out.join("\n")}\n`);
  return 0;
}
