import { existsSync } from "node:fs";
import { join } from "node:path";
import { codeFormat } from "../../code/project-files/state-file.js";
import { codeReportName } from "../../code/project-files/layout.js";
import { latestTests, notCounted, roundsOf, spentIn, testsText } from "../../code/workflow/status.js";
import { lockFile, pauseName, stopName } from "../../engine/lib/layout.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { isHeldByRun } from "../../engine/storage/lock.js";
import { readRecords } from "../../engine/storage/state/record-store.js";
import { count, duration, timeText, wrap } from "../../engine/ui/terminal/format.js";
import { costText, idleText } from "../../engine/ui/terminal/tally.js";
import type { Io } from "../../engine/ui/io.js";
import { shown } from "../../research/overview/find-research.js";

/** Rounds that are listed, the last ones. */
const maxRounds = 5;

/** Prints where the coding run of a folder stands; reads only. */
export async function codeStatus(folder: string, json: boolean, io: Io): Promise<number> {
  const { state } = await readRecords(folder, codeFormat);
  const running = await isHeldByRun(lockFile(folder));
  const held = [pauseName, stopName].filter((name) => existsSync(join(folder, name)));
  const { id, job, flaky = [], loop } = state;
  const [rounds, tests, spent] = [roundsOf(state), latestTests(state), spentIn(state)];
  const last_run = loop?.last_run ?? null;
  if (json) {
    const report = { folder, id, job, running, done: state.done === true, tests, flaky, rounds, spent, held, last_run };
    io.stdout(`${JSON.stringify(report, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(20, io.columns - 14);
  const say = (label: string, text: string) => {
    const [first = "", ...rest] = wrap(text, width);
    io.stdout(`${[`  ${label.padEnd(10)} ${first}`, ...rest.map((line) => `${" ".repeat(13)}${line}`)].join("\n")}\n`);
  };
  const title = wrap(oneLine(job.text ?? "Repair the failing tests"), Math.max(20, io.columns - 1)).slice(0, 3);
  io.stdout(`${title.join("\n")}\n${shown(io.cwd, folder)}\n\n`);
  if (held.length > 0) {
    const by = held[0] === pauseName ? "paused" : "stopped";
    say("State", `${running ? "a run ends before its next iteration, " : ""}${by}; research-ralph resume lets it run`);
  } else if (running) say("State", "a run is under way");
  if (!running && last_run?.verdict !== undefined) {
    const { verdict, at = "", reason = "" } = last_run;
    say("Last run", `${oneLine(verdict)}, ${timeText(at, io.clock.now())}: ${oneLine(reason)}`);
  }
  say("Tests", tests === undefined ? "not run yet" : testsText(state, tests));
  for (const { test } of (tests?.failures ?? []).slice(0, 5)) say("", `✗ ${oneLine(test)}`);
  say("Rounds", `${rounds.length} of ${job.rounds}`);
  for (const { round, steps } of rounds.slice(-maxRounds))
    say("", `round ${round}: ${steps.map(({ role, event }) => `${role} ${event}`).join(", ") || "begun"}`);
  say("Iterations", `${spent.iterations}${idleText(notCounted(state))}`);
  if (spent.minutes > 0) say("Time", `${duration(spent.minutes * 60_000)} of work`);
  if (spent.tokens > 0) say("Tokens", count(spent.tokens));
  if (spent.usd > 0) say("Cost", costText({ cost_usd: spent.usd }));
  if (existsSync(join(folder, codeReportName))) say("Report", codeReportName);
  return 0;
}
