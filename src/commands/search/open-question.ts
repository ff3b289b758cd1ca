import { join } from "node:path";
import { storedTextOf, storedTexts } from "../../research/overview/questions/stored-pool.js";
import type { ResolvedConfig } from "../../compose/config.js";
import type { Run } from "../../compose/drive.js";
import { libraryFor } from "../../compose/library.js";
import { toolsOf } from "../../compose/tools.js";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { lockFile } from "../../engine/lib/layout.js";
import type { Spending } from "../../engine/loop/types.js";
import { isHeld } from "../../engine/storage/lock.js";
import { requireKnownFormats } from "../../engine/storage/state/format-version.js";
import { leaveMessage } from "../../engine/storage/state/steering-inbox.js";
import type { Io } from "../../engine/ui/io.js";
import { answerWorkflow } from "../../research/overview/questions/answer-workflow.js";
import { namesByKey, openPool, type Pool, type ReadText } from "../../research/overview/questions/pool.js";
import { namesOfProjects, nextAnswerUnit, readAnswers } from "../../research/project-files/logs/answers-log.js";
import { openResearch, readResearch } from "../../research/project-files/research.js";
import { researchFormat } from "../../research/project-files/rrd-file.js";
import { signState } from "../../research/project-files/guarded/signed-state.js";
import type { Answer } from "../../research/generated/answer.js";
import { rootOf } from "../../research/workflow/brief/prompt-file.js";
import { type AnswerIteration, foldAnswer } from "../../research/workflow/steering/fold-answer.js";
import { accountOf, spentOn } from "../../research/workflow/forecast.js";
import { derive } from "../../research/workflow/derive.js";
import { workspacesOf } from "../../research/workflow/workspace.js";

interface QuestionWish {
  /** Absolute; the first keeps the answer. */
  readonly folders: readonly [string, ...string[]];
  readonly question: string;
  /** Fetch the texts that are not kept. */
  readonly fetch: boolean;
  /** Its sentences are checked once it is kept. */
  readonly isChecked: boolean;
  /** Told the answer once it is kept. */
  readonly answered: (answered: Answered) => void;
  /** Told what this question has cost so far, after each iteration. */
  readonly paid: (spent: Spending) => void;
}

/** An answer with what it was made from. */
export interface Answered {
  readonly answer: Answer;
  readonly pool: Pool;
  /** What people call its papers. */
  readonly names: ReadonlyMap<string, string>;
}

/** Makes a question to one or more projects ready for a run. Takes no lock before there is something to keep. */
export async function openQuestion(
  { folders, question, fetch, isChecked, answered, paid }: QuestionWish,
  config: ResolvedConfig,
  io: Io,
  { everyone, redact, tell, ending }: Run,
) {
  const [home] = folders;
  await requireKnownFormats(home, researchFormat);
  const states = await Promise.all(folders.map(readResearch));
  const projects = folders.map((folder, index) => ({ folder, rrd: (states[index] as (typeof states)[number]).rrd }));
  const { rrd, ledger } = states[0] as (typeof states)[number];
  const { lines: answers } = await readAnswers(home);
  const root = rootOf(home, io.cwd);
  const read = fetch ? fetching(config, io, ending) : storedTextOf;
  const pool = await openPool(projects, read, storedTexts({ readOnly: false }));
  const unit = nextAnswerUnit(
    answers,
    ledger.map((line) => line.unit),
  );
  const takesTools = everyone.every((agent) => agent.takesTools === true);
  const kept: LedgerLine[] = [];
  const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
  return answerWorkflow({
    pool,
    question,
    unit,
    root,
    redact,
    isChecked,
    answered: (answer) => answered({ answer, pool, names: namesByKey(pool.papers) }),
    project: projects.map(({ rrd: { project } }) => project).join("; "),
    ...(folders.length === 1 ? {} : { projects: namesOfProjects(folders), seenIn: states.map(lastOf) }),
    seen: lastOf({ ledger }),
    workspaces: workspacesOf(config.stateDir, join(home, `ask-${process.pid}`)),
    now: io.clock.now,
    account: () => {
      const { forecast: _, ...account } = accountOf(rrd, [...ledger, ...kept]);
      return account;
    },
    tools: takesTools ? toolsOf(folders, config, io.env)(["find_passages"]) : undefined,
    keep: async (iteration) => {
      kept.push(iteration.line);
      paid(spentOn({}, kept));
      await keepIteration(home, iteration, { config, now: io.clock.now, notify });
    },
  });
}

const lastOf = ({ ledger }: { readonly ledger: readonly LedgerLine[] }): number =>
  ledger.reduce((most, { iteration }) => Math.max(most, iteration), 0);

interface Keeping {
  readonly config: ResolvedConfig;
  readonly now: () => number;
  readonly notify: (level: "info" | "warning", message: string) => void;
}

/** Folds an iteration into the project, or leaves it to the run that holds the project. */
export async function keepIteration(folder: string, iteration: AnswerIteration, keeping: Keeping): Promise<void> {
  const { config, now, notify } = keeping;
  if (await whileFree(folder, keeping, (research) => foldAnswer(research, iteration))) return;
  const { message: _, ...beside } = iteration;
  await leaveMessage(folder, { beside }, now(), config.stateDir);
  if (iteration.answer !== undefined && (iteration.checks === undefined || iteration.answer.open === undefined))
    notify("info", "A run is under way; it records the answer before its next iteration.");
}

/** Writes to its end what a kill has left half written, so that the files tell all that was done. */
export const finishWriting = (folder: string, keeping: Keeping): Promise<boolean> =>
  whileFree(folder, keeping, async () => undefined);

/** Does this with the project, unless a run holds it; whether it was done. */
async function whileFree(
  folder: string,
  { config, notify }: Keeping,
  work: (research: Awaited<ReturnType<typeof openResearch>>) => Promise<unknown>,
): Promise<boolean> {
  const lock = lockFile(folder);
  if (await isHeld(lock)) return false;
  let research: Awaited<ReturnType<typeof openResearch>>;
  try {
    research = await openResearch(folder, { derive, git: config.git, notify, short: true });
  } catch (error) {
    // A run may have begun since.
    if (!(error instanceof ExpectedError) || !(await isHeld(lock))) throw error;
    return false;
  }
  try {
    await work(research);
    return true;
  } finally {
    await signState(folder, config.stateDir);
    await research.close();
  }
}

/** Reads texts, and fetches what is not kept. */
function fetching(config: ResolvedConfig, io: Io, signal: AbortSignal): ReadText {
  const libraries = new Map<string, ReturnType<typeof libraryFor>>();
  return async (folder, paper) => {
    const kept = await storedTextOf(folder, paper);
    if (kept !== undefined || signal.aborted) return kept;
    const library = libraries.get(folder) ?? libraryFor(folder, rootOf(folder, io.cwd), config, io.env, signal);
    libraries.set(folder, library);
    const answer = await library.text?.(paper);
    return answer !== undefined && "text" in answer ? answer.text : undefined;
  };
}
