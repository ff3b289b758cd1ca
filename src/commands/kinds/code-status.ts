import { existsSync } from "node:fs";
import { join } from "node:path";
import { codeReportName } from "../../code/project-files/layout.js";
import { codeFormat, roundsOf } from "../../code/project-files/state-file.js";
import { latestTests, notCounted, spentIn, testsText } from "../../code/workflow/status.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { count, duration } from "../../engine/lib/words.js";
import { wordsInForce } from "../../engine/storage/state/from-outside.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import type { Standing } from "../../engine/ui/standing.js";
import { costText, idleText } from "../../engine/ui/terminal/tally.js";
import type { Status } from "./kind.js";

/** Rounds that are listed, the last ones. */
const maxRounds = 5;

/** Where the coding run of a folder stands: its tests and rounds. */
export async function codeStatus(folder: string, { running, held }: Standing): Promise<Status> {
  const { state } = await readRecords(folder, codeFormat);
  const { id, job, flaky = [], loop } = state;
  const [rounds, tests, spent] = [roundsOf(state), latestTests(state), spentIn(state)];
  const last_run = loop?.last_run ?? null;
  const steering = await wordsInForce(folder, loop?.steering ?? []);
  const done = state.done === true;
  const json = { folder, id, job, running, done, tests, flaky, rounds, spent, steering, held, last_run };
  const rows: [string, string][] = [];
  const say = (label: string, text: string) => void rows.push([label, text]);
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
  return { json, rows };
}
