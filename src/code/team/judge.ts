import { rmSync } from "node:fs";
import { join } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { resultName } from "../../engine/lib/layout.js";
import { wasContextFull } from "../../engine/loop/stop-conditions/context-window.js";
import { countsTowardLimit } from "../../engine/loop/stop-conditions/limits.js";
import type { FinalOutcome } from "../../engine/loop/run-record/observation.js";
import type { AgentRun, Work } from "../../engine/loop/types.js";
import { saveAnswer, readCheckedResult, replaceResult } from "../../engine/storage/result-file.js";
import { quantity } from "../../engine/lib/words.js";
import { checkTests } from "../../task/criteria/tests.js";
import { changeInfo, transformFiles } from "../../task/project-files/remade-files.js";
import { withProtection } from "../../task/project-files/protect.js";
import { recordOfAttempt } from "../../task/workflow/kept-attempt.js";
import type { AdversaryResult } from "../generated/result-adversary.js";
import type { ArtisanResult } from "../generated/result-artisan.js";
import type { CriticResult } from "../generated/result-critic.js";
import type { LibrarianResult } from "../generated/result-librarian.js";
import type { AdversarialFinding, Round, Step, TaskState, Tested } from "../../task/generated/ralph-state.js";
import { adversaryFolder } from "../project-files/layout.js";
import { placeTests } from "../roles/adversarial-tests.js";
import { checkPlan } from "../roles/plan.js";
import type { TeamOptions } from "./options.js";
import { commandOf } from "./role-text.js";
import { maxNamedPaths } from "./round-end.js";
import { roundOf, type TeamUnit } from "./rounds.js";
import { testSummaryOf, runTestFiles } from "./tests.js";

export type RefusedResult = { readonly reasons: readonly string[] };

/** The result of a role: the event for the round, and the fields that the round's record gets. */
export interface JudgedResult {
  readonly event: Step["event"];
  readonly set: Partial<Round>;
  readonly summary: string;
  /** The snapshot after an artisan's work. */
  readonly after?: string;
}

/** Judges the run of an agent, according to its role. */
export async function judge(
  options: TeamOptions,
  state: TaskState,
  unit: TeamUnit,
  run: AgentRun,
  work: Work,
): Promise<JudgedResult | RefusedResult> {
  const { workspace } = options;
  const round = roundOf(state, unit.round);
  if (unit.kind === "artisan") {
    await transformFiles(options, round?.before, changeInfo(unit, run), work.tell);
    return await judgeArtisan(options, round, run);
  }
  if (unit.kind === "librarian") {
    const answer = await readAnswer<LibrarianResult>(options, "result-librarian", run, true);
    if ("reasons" in answer) return answer;
    const plan = checkPlan(workspace, answer.value);
    return "reasons" in plan ? plan : { event: "ok", set: { plan: plan.plan }, summary: plan.plan.cause.slice(0, 160) };
  }
  if (unit.kind === "critic") {
    const answer = await readAnswer<CriticResult>(options, "result-critic", run, true);
    if ("reasons" in answer) return answer;
    const { decision, findings } = answer.value;
    if (decision === "revise" && findings.length === 0)
      return { reasons: ["/findings is empty; say what must change, or approve."] };
    return {
      event: decision,
      set: { review: answer.value },
      summary: findings.length === 0 ? decision : `${decision}: ${quantity(findings.length, "finding")}`,
    };
  }
  const answer = await readAnswer<AdversaryResult>(options, "result-adversary", run, true);
  if ("reasons" in answer) return answer;
  const findings = await tryTests(options, state, answer.value, work);
  return { event: "ok", set: { findings }, summary: quantity(findings.length, "finding") };
}

async function judgeArtisan(
  options: TeamOptions,
  round: Round | undefined,
  run: AgentRun,
): Promise<JudgedResult | RefusedResult> {
  const { snapshots } = options;
  const changes = async () => {
    const snapshot = await snapshots.take(run.iteration);
    const before = round?.before;
    const files =
      snapshot === undefined || before === undefined ? [] : await snapshots.changes(before, snapshot.commit);
    return { files, after: snapshot?.commit };
  };
  const firstChange = await changes();
  const isAnswer = firstChange.files.some(({ path, kind }) => path === resultName && kind === "added");
  const { files, after } = isAnswer && (await moveAnswer(options, run)) ? await changes() : firstChange;
  if (files.length === 0)
    return {
      reasons: [
        "No file was changed. Make the change in the current folder, then give your answer; files that git ignores, and files of a repository inside this one, do not count.",
      ],
    };
  const answer = await readAnswer<ArtisanResult>(options, "result-artisan", run, false);
  const { hypothesis, action_taken } =
    "reasons" in answer ? fallbackResult(run.message, round?.plan?.cause) : answer.value;
  const changed = files.map(({ path }) => path);
  return {
    event: "ok",
    set: { hypothesis, action_taken, changed: changed.slice(0, maxNamedPaths), ...withoutUndefined({ after }) },
    summary: `changed ${changed.slice(0, 3).join(", ")}${changed.length > 3 ? ` and ${changed.length - 3} more` : ""}`,
    after,
  };
}

/**
 * Moves an answer that the artisan left as a file in the project to the role's folder, so that it is not part of the
 * change.
 */
async function moveAnswer({ workspace, roleFolder, redact }: TeamOptions, { iteration }: AgentRun): Promise<boolean> {
  const resultPath = join(workspace, resultName);
  const result = await readCheckedResult("result-artisan", resultPath, redact);
  if ("reasons" in result) return false;
  await replaceResult(roleFolder(iteration), result.value);
  rmSync(resultPath, { force: true });
  return true;
}

/** Runs an adversary's tests in the project. Afterwards it removes them, and puts back the files that they changed. */
async function tryTests(
  options: TeamOptions,
  state: TaskState,
  result: AdversaryResult,
  { signal, tell }: Work,
): Promise<AdversarialFinding[]> {
  const { workspace, place, keepTests, protect, snapshots } = options;
  const reportedFindings: AdversarialFinding[] = result.findings.map(({ title, detail, file }) => ({
    title,
    ...withoutUndefined({ detail, file }),
  }));
  const placedTests = placeTests(workspace, result, commandOf(state));
  try {
    if (placedTests.written.length === 0) return reportedFindings;
    const runPlace = { ...place, signal };
    // Snapshots are refs of the repository. The guard may protect these too, so snapshots are taken outside of it.
    const treeBefore = await snapshots.tree();
    const iteration = state.attempts.at(-1)?.iteration;
    const testRun = await withProtection(protect, iteration, "tests of the adversary ran", tell, async () => {
      const checkResult = await checkTests({ type: "tests_pass" }, runPlace, {
        seenTests: [],
        flaky: state.flaky ?? [],
      });
      const tested = testSummaryOf({ checks: [], tests: [], runs: [checkResult] }, "");
      const hasRun =
        tested.failing > 0 || state.tested === undefined || testCountOf(tested) > testCountOf(state.tested);
      // The project's settings may make its test run skip the adversary's folder.
      return hasRun || signal.aborted
        ? { ran: testCountOf(tested), failures: tested.failures }
        : await runTestFiles(runPlace, placedTests.written);
    });
    const treeAfter = signal.aborted ? undefined : await snapshots.tree();
    if (treeBefore === undefined || treeAfter === undefined) return reportedFindings;
    const changes = await snapshots.changes(treeBefore, treeAfter);
    const changed = changes.map(({ path }) => path).filter((path) => !placedTests.written.includes(path));
    const undoRef = changed.length === 0 ? "" : await snapshots.putBackFiles(treeBefore, changed);
    return [...reportedFindings, ...findingsOf(testRun, changed, undoRef)];
  } finally {
    placedTests.remove(keepTests);
  }
}

/**
 * The findings from a run of an adversary's tests. `changed`: files that were put back; `undoRef`: the ref with their
 * content.
 */
function findingsOf(
  { ran, failures }: Awaited<ReturnType<typeof runTestFiles>>,
  changed: readonly string[],
  undoRef: string,
): AdversarialFinding[] {
  const notRun = {
    title: "The adversary's tests did not run: the project's own settings name other folders",
    detail: `They stood in ${adversaryFolder}/, but no run of the tests found them there.`,
  };
  const fileChanges = {
    title: `A test of the adversary changed files, which were put back: ${changed.join(", ")}`.slice(0, 300),
    detail: `The earlier content is in ${undoRef}.`,
  };
  return [
    ...(ran > 0 ? [] : [notRun]),
    ...(changed.length === 0 ? [] : [fileChanges]),
    ...failures
      .slice(0, 20)
      .map(({ test: name, message, file }) => ({
        title: `A test of the adversary fails: ${name}`.slice(0, 300),
        detail: message.slice(0, 600),
        test: name,
        ...withoutUndefined({ file }),
      })),
  ];
}

const testCountOf = ({ passed, failing, skipped = 0 }: Tested): number => passed + failing + skipped;

/** The role's answer: its final message, or the result.json in its folder. */
async function readAnswer<Result>(
  { roleFolder, redact }: TeamOptions,
  schema: "result-artisan" | "result-librarian" | "result-critic" | "result-adversary",
  run: AgentRun,
  isRequired: boolean,
): Promise<{ readonly value: Result } | RefusedResult> {
  const answerFolder = isRequired ? run.brief.workspace : roleFolder(run.iteration);
  await saveAnswer(answerFolder, run.message);
  const result = await readCheckedResult(schema, join(answerFolder, resultName), redact);
  return "reasons" in result ? { reasons: result.reasons } : { value: result.value as Result };
}

/** The result of an artisan that gave no JSON. It is accepted, because the tests judge the change. */
const fallbackResult = (message: string, cause: string | undefined): ArtisanResult => ({
  hypothesis: (cause ?? "not said").slice(0, 600),
  action_taken: message.replace(/\s+/g, " ").trim().slice(0, 600) || "not said",
});

export function outcomeOf({ failure }: AgentRun, judged: JudgedResult | RefusedResult | undefined): FinalOutcome {
  if (failure !== undefined || judged === undefined)
    return { outcome: "failed", failure: failure ?? { kind: "crashed", message: "The agent left nothing." } };
  return "reasons" in judged
    ? { outcome: "refused", reasons: [...judged.reasons] }
    : { outcome: "accepted", summary: judged.summary };
}

/** The event for the round; undefined if the role did not work, or its first brief was too large for the model. */
export function eventOf(
  { attempts }: TaskState,
  { kind, round }: TeamUnit,
  { failure }: AgentRun,
  judged: JudgedResult | RefusedResult | undefined,
): Step["event"] | undefined {
  if (failure === undefined) return judged === undefined || "reasons" in judged ? "refused" : judged.event;
  if (!countsTowardLimit(failure.kind) || failure.kind === "aborted") return undefined;
  const isSecondTime = attempts.some(
    (attempt) => attempt.role === kind && attempt.round === round && attempt.failure === "context",
  );
  return failure.kind === "context" && !isSecondTime ? undefined : "failed";
}

/** The fields that the state stores for a role's attempt. */
export const attemptRecord = (
  unit: TeamUnit,
  run: AgentRun,
  outcome: FinalOutcome,
  at: string,
  judged: JudgedResult | RefusedResult | undefined,
) => ({
  ...recordOfAttempt(run, outcome, at),
  role: unit.kind,
  round: unit.round,
  ...(wasContextFull(run) ? { full: true } : {}),
  ...withoutUndefined({ snapshot: judged === undefined || "reasons" in judged ? undefined : judged.after }),
});
