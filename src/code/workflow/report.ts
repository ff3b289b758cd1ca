import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Redact } from "../../engine/lib/redact.js";
import { inodeAt, writeFileAtomic } from "../../engine/storage/atomic-file.js";
import { textNow } from "../../engine/storage/regular-file.js";
import { codeReportName, roundFolder } from "../project-files/layout.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";
import type { CodeState, Round, Tested } from "../generated/ralph-code.js";
import { roundsOf } from "../project-files/state-file.js";

const mark = "<!-- Written by research-ralph from ralph.code.json. -->";

/** Rounds of earlier jobs that are shown where this one has none. */
const maxRounds = 10;

/** code-report.md: what each round found and did. */
function reportText(state: CodeState): string {
  const { job, baseline, flaky = [] } = state;
  // A run that found all tests passing has no rounds of its own; what those before it found stays to be read.
  const own = roundsOf(state);
  const rounds = own.length > 0 ? own : state.rounds.slice(-maxRounds);
  const last = state.loop?.last_run;
  return [
    mark,
    `# ${oneLine(job.text ?? "Repair the failing tests").slice(0, 120)}`,
    "",
    ...(last?.verdict === undefined ? [] : [`Last run: ${last.verdict}. ${oneLine(last.reason ?? "")}`, ""]),
    ...(baseline === undefined ? [] : [`Before: ${testsLine(baseline)}`]),
    ...(flaky.length === 0 ? [] : ["", `Flaky tests, which are not counted: ${flaky.map(oneLine).join(", ")}`]),
    ...rounds.flatMap(roundLines),
    "",
  ].join("\n");
}

function testsLine({ framework, passed, failing, coverage, unmet = [] }: Tested): string {
  const { line_coverage: lines, branch_coverage: branches } = coverage ?? {};
  const covered = [
    ...(lines === undefined ? [] : [`${lines} % of lines`]),
    ...(branches === undefined ? [] : [`${branches} % of branches`]),
  ].join(", ");
  const open = unmet.map((each) => ` ${oneLine(each)}`).join("");
  return `${framework}, ${many(passed, "test")} passed, ${failing} failing${covered === "" ? "" : `, ${covered} covered`}.${open}`;
}

function roundLines({ round, plan, hypothesis, action_taken, changed, review, tests, ...rest }: Round): string[] {
  const { put_back, left_alone, findings, veto } = rest;
  const line = (label: string, text: string | undefined) =>
    text === undefined ? [] : [`- ${label}: ${oneLine(text)}`];
  const list = (names: readonly string[] | undefined) =>
    names === undefined || names.length === 0 ? undefined : names.join(", ");
  return [
    "",
    `## Round ${round}`,
    "",
    ...line("Cause", plan?.cause),
    ...line("Hypothesis", hypothesis),
    ...line("Action", action_taken),
    ...line("Changed", list(changed)),
    ...line(
      "Critic",
      review && [review.decision, ...review.findings.map(({ file, reason }) => `${file ?? ""} ${reason}`)].join("; "),
    ),
    ...line("Tests", tests && testsLine(tests)),
    ...(tests?.failures ?? [])
      .slice(0, 10)
      .map(({ test, message }) => `  - ${oneLine(test)}: ${oneLine(message).slice(0, 200)}`),
    ...line("Put back, because more tests failed than before", list(put_back)),
    ...line("Left alone, because somebody changed it meanwhile", list(left_alone)),
    ...line("Veto", list(veto)),
    ...(findings === undefined || findings.length === 0 ? [] : ["", "What the adversary found:", ""]),
    ...(findings ?? []).map(
      ({ title, detail, file, test }) =>
        `- ${oneLine(title)}${file === undefined ? "" : ` (${oneLine(file)})`}${test === undefined ? "" : `, shown by the test ${oneLine(test)}`}${detail === undefined ? "" : `: ${oneLine(detail)}`}`,
    ),
  ];
}

/** A report that we write is smaller. */
const maxBytes = 10_000_000;

/** Writes the report into the project; false: a file of its name that the user has written stays as it is. */
export async function keepReport(folder: string, state: CodeState, redact: Redact): Promise<boolean> {
  const path = join(folder, codeReportName);
  if (inodeAt(path) !== undefined && textNow(path, maxBytes)?.startsWith(mark) !== true) return false;
  await writeFileAtomic(path, redact(reportText(state)), { durable: false });
  return true;
}

/** Keeps a text among those of a round. `text`: without secrets. */
export async function keepOfRound(folder: string, round: number, name: string, text: string): Promise<void> {
  const target = roundFolder(folder, round);
  mkdirSync(target, { recursive: true });
  await writeFileAtomic(join(target, name), text, { durable: false });
}
