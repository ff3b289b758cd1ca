import { join } from "node:path";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { resultName } from "../../../engine/lib/layout.js";
import type { Redact } from "../../../engine/lib/redact.js";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import { withErrorVerdict } from "../../../engine/loop/in-workflows.js";
import { ledgerLine } from "../../../engine/loop/run-record/ledger-line.js";
import type { Account, AgentRun, Outcome, ToolServer, Unit, Verdict, Workflow } from "../../../engine/loop/types.js";
import { saveAnswer, readCheckedResult } from "../../../engine/storage/result-file.js";
import type { Answer } from "../../generated/answer.js";
import type { AnswerResult } from "../../generated/result-answer.js";
import { loadPrompt } from "../../workflow/brief/prompt-file.js";
import { type AnswerIteration, summaryOf } from "../../workflow/steering/fold-answer.js";
import type { Workspaces } from "../../workflow/workspace.js";
import { withOpenCheck } from "./answer-as-report.js";
import { type AnswerRepair, questionBrief } from "./brief-question.js";
import { checkAnswer, needsRepair, reasonsFor } from "./judge-answer.js";
import type { Pool } from "./pool.js";

interface AnswerOptions {
  readonly pool: Pool;
  readonly question: string;
  /** The id of the unit, such as `answer-3`. */
  readonly unit: string;
  /** The name of the project or projects. */
  readonly project: string;
  /** If several projects are asked: their folders as named in the answer. */
  readonly projects?: readonly string[];
  /** The last iteration of the project at the time of the question. */
  readonly lastIteration: number;
  /** The same for each project, if several are asked. */
  readonly lastIterations?: readonly number[];
  readonly root: string;
  readonly workspaces: Workspaces;
  readonly redact: Redact;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The cost of the project so far, and its limit. */
  readonly account: () => Account;
  /** Set if the agent can use tools. */
  readonly tools?: ToolServer;
  /** Stores an iteration in the project's files. */
  readonly keep: (iteration: AnswerIteration) => Promise<void>;
  /** True if the sentences of the answer are checked afterwards. */
  readonly isChecked: boolean;
  /** Called with the answer when it is stored. */
  readonly onAnswer: (answer: Answer) => void;
}

/** The state of a question. */
interface AnswerState {
  readonly answer?: Answer;
  /** Number of results that could not be used. */
  readonly refusedCount: number;
  readonly repair?: AnswerRepair;
}

type AnswerUnit = Unit & { readonly kind: "question" };

/** The question is given up after this many unusable results. */
const maxRefused = 3;
/** Maximum number of passages that are shown if the papers do not answer the question. */
const maxNearest = 3;

/**
 * The workflow for one question about the papers of a project: one iteration of one agent, and a second one if less
 * than half of its quotes were found. It changes only the ledger, the log and the file of answers.
 */
export function answerWorkflow(options: AnswerOptions): Workflow<AnswerState, AnswerUnit> {
  const { pool, question, workspaces, redact } = options;
  let state: AnswerState = { refusedCount: 0 };
  let startedCount = 0;
  const unit: AnswerUnit = { kind: "question", id: options.unit, phase: "QUESTION", title: "Question" };
  const query = pool.query(question);

  const acceptAnswer = async (line: LedgerLine, fields: Partial<Answer>): Promise<Outcome> => {
    const answer: Answer = {
      id: unit.id,
      at: line.at,
      question,
      seen: options.lastIteration,
      statements: [],
      quotes: [],
      ...withoutUndefined({
        agent: line.agent,
        model: line.model,
        projects: options.projects?.slice(),
        seen_in: options.lastIterations?.slice(),
      }),
      ...fields,
      ...(pool.withoutText.length === 0 ? {} : { without_text: pool.withoutText.slice(0, maxWithoutText) }),
      ...(line.tokens === undefined ? {} : { tokens: { input: line.tokens.input, output: line.tokens.output } }),
    };
    const withCheckOpen = options.isChecked ? withOpenCheck(answer) : answer;
    const completeAnswer =
      answer.statements.length > 0 ? withCheckOpen : { ...answer, nearest: await nearestPassages(pool, query) };
    await options.keep({ line, answer: completeAnswer });
    state = { ...state, answer: completeAnswer };
    options.onAnswer(completeAnswer);
    return { outcome: "accepted", summary: summaryOf(completeAnswer) };
  };

  const judge = async (run: AgentRun): Promise<Outcome> => {
    const at = new Date(options.now());
    const { workspace } = run.brief;
    const lineOf = (outcome: LedgerLine["outcome"], reasons: readonly string[] = []): LedgerLine => ({
      ...ledgerLine(unit, run, at, outcome),
      ...(reasons.length === 0 ? {} : { reasons: [...reasons] }),
    });
    if (run.failure !== undefined) {
      const { kind, message } = run.failure;
      await options.keep({ line: { ...lineOf("failed", [message]), failure: kind } });
      await workspaces.remove(run.iteration);
      return { outcome: "failed", failure: run.failure };
    }
    await saveAnswer(workspace, run.message);
    const checkedResult = await readCheckedResult("result-answer", join(workspace, resultName), (text) => redact(text));
    await workspaces.remove(run.iteration);
    const refuse = async (reasons: readonly string[], repair?: AnswerRepair): Promise<Outcome> => {
      const { repair: _, ...rest } = state;
      state = { ...rest, refusedCount: state.refusedCount + 1, ...withoutUndefined({ repair }) };
      await options.keep({ line: lineOf("refused", reasons) });
      return { outcome: "refused", reasons: [...reasons] };
    };
    if ("reasons" in checkedResult) return refuse(checkedResult.reasons);
    const result = checkedResult.value as AnswerResult;
    if (result.unit !== unit.id) return refuse([`unit is "${result.unit.slice(0, 60)}"; this unit is "${unit.id}"`]);
    const checkedAnswer = await checkAnswer(pool, question, result);
    if (needsRepair(checkedAnswer) && state.repair === undefined && state.refusedCount < maxRefused - 1) {
      const reasons = reasonsFor(checkedAnswer);
      return refuse(reasons, { reasons, previous: result, missing: checkedAnswer.missing });
    }
    const { found, leftOut, missing, statements, quotes } = checkedAnswer;
    const evidence = { verified: found, not_in_text: missing.length };
    return acceptAnswer(
      { ...lineOf("accepted"), evidence },
      {
        statements: [...statements],
        quotes: [...quotes],
        ...(leftOut.length === 0 ? {} : { left_out: leftOut }),
        ...(missing.length === 0 ? {} : { missing: missing.slice(0, 10).map(({ quote }) => quote.slice(0, 300)) }),
        ...(result.not_found?.trim() ? { not_found: result.not_found.trim() } : {}),
      },
    );
  };

  return {
    name: "ask",
    load: async () => state,
    next: ({ answer, refusedCount }, busy): AnswerUnit | "wait" | Verdict => {
      if (busy.length > 0) return "wait";
      if (answer !== undefined) {
        const isAnswered = answer.statements.length > 0;
        return {
          verdict: "complete",
          reason: isAnswered ? "The question is answered." : "No answer was found in these papers.",
        };
      }
      const reason = `The agent's answers could not be used ${maxRefused} times; another --agent may do better.`;
      return refusedCount < maxRefused ? unit : { verdict: "blocked", reason };
    },
    progress: ({ answer }) => ({ done: answer === undefined ? 0 : 1, total: 1 }),
    account: options.account,
    prepare: async () => ({ ready: undefined }),
    brief: (_state, _unit, _prepared, notes) =>
      withErrorVerdict(async () => {
        startedCount += 1;
        const workspace = await workspaces.create(startedCount);
        const text = await questionBrief({
          pool,
          question,
          unit: unit.id,
          project: options.project,
          prompt: await loadPrompt(options.root, workspaces.stateDir),
          resultFile: join(workspace, resultName),
          ...withoutUndefined({ refusal: notes.refusal, repair: state.repair }),
          hasTools: options.tools !== undefined,
        });
        const tools = state.repair === undefined ? options.tools : undefined;
        const access = { web: false, read: false, everything: false, ...withoutUndefined({ tools }) };
        const tokens = estimateTokens(text);
        return { brief: { iteration: startedCount, text, tokens, workspace, access }, context: undefined };
      }),
    accept: (_state, _unit, done) =>
      withErrorVerdict(async () => {
        if (!("run" in done)) throw new Error("A question is not answered without an agent.");
        return judge(done.run);
      }),
    close: async () => {
      await workspaces.sweep();
      await workspaces.close();
    },
  };
}

/** Maximum number of papers without a text in an answer. */
const maxWithoutText = 200;

/** A text on one line, without headings and page marks. */
const plainLine = (text: string): string =>
  text
    .replace(/^(?:#{1,6} [^\n]*|\[p\. ?\d+\])$/gm, "")
    .replace(/\s+/g, " ")
    .trim();

/** The passages nearest to a question, one for each paper. */
async function nearestPassages(pool: Pool, query: ReturnType<Pool["query"]>): Promise<NonNullable<Answer["nearest"]>> {
  const hits = pool.search(query, maxNearest).perPaper.slice(0, maxNearest);
  return Promise.all(
    hits.map(async ({ passage: { paper, start, end, locator } }) => ({
      paper: pool.papers[paper]?.key ?? "",
      ...withoutUndefined({ locator }),
      text: plainLine((await pool.textOf(paper))?.text.slice(start, end) ?? ""),
    })),
  );
}
