import { rmSync } from "node:fs";
import { join } from "node:path";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { resultName } from "../../engine/lib/layout.js";
import { wasFull } from "../../engine/loop/stop-conditions/context-window.js";
import { usesAllowance } from "../../engine/loop/stop-conditions/limits.js";
import type { OwnOutcome } from "../../engine/loop/run-record/observation.js";
import type { AgentRun, Work } from "../../engine/loop/types.js";
import { keepAnswer, readChecked, replaceResult } from "../../engine/storage/result-file.js";
import { many } from "../../engine/lib/words.js";
import { checkTests } from "../../task/criteria/tests.js";
import { changeInfo, remakeFiles } from "../../task/project-files/remade-files.js";
import { withProtection } from "../../task/project-files/protect.js";
import { recordOfAttempt } from "../../task/workflow/kept-attempt.js";
import type { AdversaryResult } from "../generated/result-adversary.js";
import type { ArtisanResult } from "../generated/result-artisan.js";
import type { CriticResult } from "../generated/result-critic.js";
import type { LibrarianResult } from "../generated/result-librarian.js";
import type { AdversarialFinding, Round, Step, TaskState, Tested } from "../../task/generated/ralph-state.js";
import { adversaryFolder } from "../project-files/layout.js";
import { layTests } from "../roles/adversarial-tests.js";
import { planIn } from "../roles/plan.js";
import type { TeamOptions } from "./options.js";
import { commandOf } from "./role-text.js";
import { maxChanged } from "./round-end.js";
import { roundOf, type TeamUnit } from "./standing.js";
import { testedIn, testFiles } from "./tests.js";

export type Refused = { readonly reasons: readonly string[] };

/** What a role has brought: the event of the round, and what is kept of it. */
export interface Judged {
  readonly event: Step["event"];
  readonly set: Partial<Round>;
  readonly summary: string;
  /** The snapshot after an artisan's work. */
  readonly after?: string;
}

/** What came of an agent's run, by its role. */
export async function judge(
  options: TeamOptions,
  state: TaskState,
  unit: TeamUnit,
  run: AgentRun,
  work: Work,
): Promise<Judged | Refused> {
  const { workspace } = options;
  const round = roundOf(state, unit.round);
  if (unit.kind === "artisan") {
    await remakeFiles(options, round?.before, changeInfo(unit, run), work.tell);
    return await judgeArtisan(options, round, run);
  }
  if (unit.kind === "librarian") {
    const said = await answered<LibrarianResult>(options, "result-librarian", run, true);
    if ("reasons" in said) return said;
    const plan = planIn(workspace, said.value);
    return "reasons" in plan ? plan : { event: "ok", set: { plan: plan.plan }, summary: plan.plan.cause.slice(0, 160) };
  }
  if (unit.kind === "critic") {
    const said = await answered<CriticResult>(options, "result-critic", run, true);
    if ("reasons" in said) return said;
    const { decision, findings } = said.value;
    if (decision === "revise" && findings.length === 0)
      return { reasons: ["/findings is empty; say what must change, or approve."] };
    return {
      event: decision,
      set: { review: said.value },
      summary: findings.length === 0 ? decision : `${decision}: ${many(findings.length, "finding")}`,
    };
  }
  const said = await answered<AdversaryResult>(options, "result-adversary", run, true);
  if ("reasons" in said) return said;
  const findings = await tryTests(options, state, said.value, work);
  return { event: "ok", set: { findings }, summary: many(findings.length, "finding") };
}

async function judgeArtisan(options: TeamOptions, round: Round | undefined, run: AgentRun): Promise<Judged | Refused> {
  const { snapshots } = options;
  const changes = async () => {
    const snapshot = await snapshots.take(run.iteration);
    const before = round?.before;
    const files =
      snapshot === undefined || before === undefined ? [] : await snapshots.changes(before, snapshot.commit);
    return { files, after: snapshot?.commit };
  };
  const first = await changes();
  const isAnswer = first.files.some(({ path, kind }) => path === resultName && kind === "added");
  const { files, after } = isAnswer && (await tookAnswer(options, run)) ? await changes() : first;
  if (files.length === 0)
    return {
      reasons: [
        "No file was changed. Make the change in the current folder, then give your answer; files that git ignores, and files of a repository inside this one, do not count.",
      ],
    };
  const said = await answered<ArtisanResult>(options, "result-artisan", run, false);
  const { hypothesis, action_taken } = "reasons" in said ? wordsIn(run.message, round?.plan?.cause) : said.value;
  const changed = files.map(({ path }) => path);
  return {
    event: "ok",
    set: { hypothesis, action_taken, changed: changed.slice(0, maxChanged), ...withoutUndefined({ after }) },
    summary: `changed ${changed.slice(0, 3).join(", ")}${changed.length > 3 ? ` and ${changed.length - 3} more` : ""}`,
    ...withoutUndefined({ after }),
  };
}

/** Takes an answer that the artisan left as a file in the project out of it: the change does not hold it. */
async function tookAnswer({ workspace, roleFolder, redact }: TeamOptions, { iteration }: AgentRun): Promise<boolean> {
  const left = join(workspace, resultName);
  const read = await readChecked("result-artisan", left, redact);
  if ("reasons" in read) return false;
  await replaceResult(roleFolder(iteration), read.value);
  rmSync(left, { force: true });
  return true;
}

/** Runs an adversary's tests in the project, and takes them out again with all that they have changed. */
async function tryTests(
  options: TeamOptions,
  state: TaskState,
  result: AdversaryResult,
  { signal, tell }: Work,
): Promise<AdversarialFinding[]> {
  const { workspace, place, keepTests, protect, snapshots } = options;
  const read: AdversarialFinding[] = result.findings.map(({ title, detail, file }) => ({
    title,
    ...withoutUndefined({ detail, file }),
  }));
  const laid = layTests(workspace, result, commandOf(state));
  try {
    if (laid.written.length === 0) return read;
    const there = { ...place, signal };
    // Snapshots are refs of the repository, which are protected too where an agent could commit: they come around it.
    const before = await snapshots.tree();
    const iteration = state.attempts.at(-1)?.iteration;
    const found = await withProtection(protect, iteration, "tests of the adversary ran", tell, async () => {
      const run = await checkTests({ type: "tests_pass" }, there, { seen: [], flaky: state.flaky ?? [] });
      const tested = testedIn({ checks: [], tests: [], runs: [run] }, "");
      const hasRun = tested.failing > 0 || state.tested === undefined || numberOf(tested) > numberOf(state.tested);
      // The project's own settings may name other folders.
      return hasRun || signal.aborted
        ? { ran: numberOf(tested), failures: tested.failures }
        : await testFiles(there, laid.written);
    });
    const after = signal.aborted ? undefined : await snapshots.tree();
    if (before === undefined || after === undefined) return read;
    const changes = await snapshots.changes(before, after);
    const changed = changes.map(({ path }) => path).filter((path) => !laid.written.includes(path));
    const kept = changed.length === 0 ? "" : await snapshots.put(before, changed);
    return [...read, ...findingsOf(found, changed, kept)];
  } finally {
    laid.remove(keepTests);
  }
}

/** What a run of an adversary's tests shows. `changed`: files that were put back; `kept`: the ref that has them. */
function findingsOf(
  { ran, failures }: Awaited<ReturnType<typeof testFiles>>,
  changed: readonly string[],
  kept: string,
): AdversarialFinding[] {
  const idle = {
    title: "The adversary's tests did not run: the project's own settings name other folders",
    detail: `They stood in ${adversaryFolder}/, but no run of the tests found them there.`,
  };
  const harm = {
    title: `A test of the adversary changed files, which were put back: ${changed.join(", ")}`.slice(0, 300),
    detail: `The earlier content is in ${kept}.`,
  };
  return [
    ...(ran > 0 ? [] : [idle]),
    ...(changed.length === 0 ? [] : [harm]),
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

const numberOf = ({ passed, failing, skipped = 0 }: Tested): number => passed + failing + skipped;

/** The role's answer: its final message, or the result.json that it left in its own folder. */
async function answered<Result>(
  { roleFolder, redact }: TeamOptions,
  schema: "result-artisan" | "result-librarian" | "result-critic" | "result-adversary",
  run: AgentRun,
  isRequired: boolean,
): Promise<{ readonly value: Result } | Refused> {
  const place = isRequired ? run.brief.workspace : roleFolder(run.iteration);
  await keepAnswer(place, run.message);
  const read = await readChecked(schema, join(place, resultName), redact);
  return "reasons" in read ? { reasons: read.reasons } : { value: read.value as Result };
}

/** What an artisan that gave no JSON said of its change: the tests judge the change, not its words. */
const wordsIn = (message: string, cause: string | undefined): ArtisanResult => ({
  hypothesis: (cause ?? "not said").slice(0, 600),
  action_taken: message.replace(/\s+/g, " ").trim().slice(0, 600) || "not said",
});

export function outcomeOf({ failure }: AgentRun, judged: Judged | Refused | undefined): OwnOutcome {
  if (failure !== undefined || judged === undefined)
    return { outcome: "failed", failure: failure ?? { kind: "crashed", message: "The agent left nothing." } };
  return "reasons" in judged
    ? { outcome: "refused", reasons: [...judged.reasons] }
    : { outcome: "accepted", summary: judged.summary };
}

/** What the round is told; undefined where the role was not at work, or its first brief was too large for the model. */
export function eventOf(
  { attempts }: TaskState,
  { kind, round }: TeamUnit,
  { failure }: AgentRun,
  judged: Judged | Refused | undefined,
): Step["event"] | undefined {
  if (failure === undefined) return judged === undefined || "reasons" in judged ? "refused" : judged.event;
  if (!usesAllowance(failure.kind) || failure.kind === "aborted") return undefined;
  const isSecond = attempts.some((each) => each.role === kind && each.round === round && each.failure === "context");
  return failure.kind === "context" && !isSecond ? undefined : "failed";
}

/** What the state keeps of a role's attempt. */
export const attemptRecord = (
  unit: TeamUnit,
  run: AgentRun,
  outcome: OwnOutcome,
  at: string,
  judged: Judged | Refused | undefined,
) => ({
  ...recordOfAttempt(run, outcome, at),
  role: unit.kind,
  round: unit.round,
  ...(wasFull(run) ? { full: true } : {}),
  ...withoutUndefined({ snapshot: judged === undefined || "reasons" in judged ? undefined : judged.after }),
});
