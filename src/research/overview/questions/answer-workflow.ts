import { join } from "node:path";
import type { LedgerLine } from "../../../engine/generated/ledger.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { resultName } from "../../../engine/lib/layout.js";
import type { Redact } from "../../../engine/lib/redact.js";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import { orVerdict } from "../../../engine/loop/in-workflows.js";
import { ledgerLine } from "../../../engine/loop/run-record/ledger-line.js";
import type { Account, AgentRun, Outcome, ToolServer, Unit, Verdict, Workflow } from "../../../engine/loop/types.js";
import { keepAnswer, readChecked } from "../../../engine/storage/result-file.js";
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
  /** The unit that the answer will be, such as `answer-3`. */
  readonly unit: string;
  /** What the projects are called. */
  readonly project: string;
  /** The projects' folders as an answer names them, where several are asked. */
  readonly projects?: readonly string[];
  /** The last iteration of the project when the question was put. */
  readonly seen: number;
  /** The same of each project, where several are asked. */
  readonly seenIn?: readonly number[];
  readonly root: string;
  readonly workspaces: Workspaces;
  readonly redact: Redact;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** What the project has cost, and what it may. */
  readonly account: () => Account;
  /** Set where the agent takes tools. */
  readonly tools?: ToolServer;
  /** Puts an iteration into the project's files, and answers with the unit that it became. */
  readonly keep: (iteration: AnswerIteration) => Promise<void>;
  /** Its sentences are checked once it is kept. */
  readonly isChecked: boolean;
  /** Told the answer once it is kept. */
  readonly answered: (answer: Answer) => void;
}

/** A question, from its brief to its answer. */
interface AnswerState {
  readonly answer?: Answer;
  /** Results that could not be used. */
  readonly refused: number;
  readonly repair?: AnswerRepair;
}

type AnswerUnit = Unit & { readonly kind: "question" };

/** After so many results that can't be used the question is given up. */
const maxRefused = 3;
/** Passages shown where these papers do not answer. */
const maxNearest = 3;

/**
 * One question to the papers of a project: one iteration of one agent, a second one where less than half of its quotes
 * was found. Nothing of the project's own work is touched but the ledger, the log and the file of answers.
 */
export function answerWorkflow(options: AnswerOptions): Workflow<AnswerState, AnswerUnit> {
  const { pool, question, workspaces, redact } = options;
  let state: AnswerState = { refused: 0 };
  let started = 0;
  const unit: AnswerUnit = { kind: "question", id: options.unit, phase: "QUESTION", title: "Question" };
  const query = pool.query(question);

  const accepted = async (line: LedgerLine, part: Partial<Answer>): Promise<Outcome> => {
    const answer: Answer = {
      id: unit.id,
      at: line.at,
      question,
      seen: options.seen,
      statements: [],
      quotes: [],
      ...withoutUndefined({
        agent: line.agent,
        model: line.model,
        projects: options.projects?.slice(),
        seen_in: options.seenIn?.slice(),
      }),
      ...part,
      ...(pool.withoutText.length === 0 ? {} : { without_text: pool.withoutText.slice(0, maxWithoutText) }),
      ...(line.tokens === undefined ? {} : { tokens: { input: line.tokens.input, output: line.tokens.output } }),
    };
    const judged = options.isChecked ? withOpenCheck(answer) : answer;
    const whole = answer.statements.length > 0 ? judged : { ...answer, nearest: await nearest(pool, query) };
    await options.keep({ line, answer: whole });
    state = { ...state, answer: whole };
    options.answered(whole);
    return { outcome: "accepted", summary: summaryOf(whole) };
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
    await keepAnswer(workspace, run.message);
    const read = await readChecked("result-answer", join(workspace, resultName), (text) => redact(text));
    await workspaces.remove(run.iteration);
    const refuse = async (reasons: readonly string[], repair?: AnswerRepair): Promise<Outcome> => {
      const { repair: _, ...rest } = state;
      state = { ...rest, refused: state.refused + 1, ...withoutUndefined({ repair }) };
      await options.keep({ line: lineOf("refused", reasons) });
      return { outcome: "refused", reasons: [...reasons] };
    };
    if ("reasons" in read) return refuse(read.reasons);
    const result = read.value as AnswerResult;
    if (result.unit !== unit.id) return refuse([`unit is "${result.unit.slice(0, 60)}"; this unit is "${unit.id}"`]);
    const checked = await checkAnswer(pool, question, result);
    if (needsRepair(checked) && state.repair === undefined && state.refused < maxRefused - 1) {
      const reasons = reasonsFor(checked);
      return refuse(reasons, { reasons, previous: result, missing: checked.missing });
    }
    const { found, leftOut, missing, statements, quotes } = checked;
    const evidence = { verified: found, not_in_text: missing.length };
    return accepted(
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
    next: ({ answer, refused }, busy): AnswerUnit | "wait" | Verdict => {
      if (busy.length > 0) return "wait";
      if (answer !== undefined) {
        const isFound = answer.statements.length > 0;
        return {
          verdict: "complete",
          reason: isFound ? "The question is answered." : "These papers do not answer it.",
        };
      }
      const reason = `The agent's answers could not be used ${maxRefused} times; another --agent may do better.`;
      return refused < maxRefused ? unit : { verdict: "blocked", reason };
    },
    progress: ({ answer }) => ({ done: answer === undefined ? 0 : 1, total: 1 }),
    account: options.account,
    prepare: async () => ({ ready: undefined }),
    brief: (_state, _unit, _prepared, notes) =>
      orVerdict(async () => {
        started += 1;
        const workspace = await workspaces.create(started);
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
        return { brief: { iteration: started, text, tokens, workspace, access }, context: undefined };
      }),
    accept: (_state, _unit, done) =>
      orVerdict(async () => {
        if (!("run" in done)) throw new Error("A question is not answered without an agent.");
        return judge(done.run);
      }),
    close: async () => {
      await workspaces.sweep();
      await workspaces.close();
    },
  };
}

/** Papers without a text that an answer names. */
const maxWithoutText = 200;

/** On one line, without the lines that only say where it stands. */
const bare = (text: string): string =>
  text
    .replace(/^(?:#{1,6} [^\n]*|\[p\. ?\d+\])$/gm, "")
    .replace(/\s+/g, " ")
    .trim();

/** The passages nearest to a question, one a paper. */
async function nearest(pool: Pool, query: ReturnType<Pool["query"]>): Promise<NonNullable<Answer["nearest"]>> {
  const hits = pool.search(query, maxNearest).perPaper.slice(0, maxNearest);
  return Promise.all(
    hits.map(async ({ passage: { paper, start, end, locator } }) => ({
      paper: pool.papers[paper]?.key ?? "",
      ...withoutUndefined({ locator }),
      text: bare((await pool.textOf(paper))?.text.slice(start, end) ?? ""),
    })),
  );
}
