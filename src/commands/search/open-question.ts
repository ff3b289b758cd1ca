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
import { writeMessage } from "../../engine/storage/state/steering-inbox.js";
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

interface QuestionOptions {
  /** Absolute paths of the projects. The answer is stored in the first one. */
  readonly folders: readonly [string, ...string[]];
  readonly question: string;
  /** True if texts that are not stored are fetched. */
  readonly fetch: boolean;
  /** True if the sentences of the answer are checked afterwards. */
  readonly isChecked: boolean;
  /** Called with the answer when it is stored. */
  readonly onAnswer: (answer: AnswerWithPapers) => void;
  /** Called after each iteration with the cost of this question so far. */
  readonly onSpending: (spent: Spending) => void;
}

/** An answer, and the papers that were searched for it. */
export interface AnswerWithPapers {
  readonly answer: Answer;
  readonly pool: Pool;
  /** The citation keys of its papers, by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** Returns the workflow that answers a question. Locks the project only while it stores an iteration. */
export async function openQuestion(
  { folders, question, fetch, isChecked, onAnswer, onSpending }: QuestionOptions,
  config: ResolvedConfig,
  io: Io,
  { everyone, redact, tell, ending }: Run,
) {
  const [homeFolder] = folders;
  await requireKnownFormats(homeFolder, researchFormat);
  const projectStates = await Promise.all(folders.map(readResearch));
  const projects = folders.map((folder, index) => ({
    folder,
    rrd: (projectStates[index] as (typeof projectStates)[number]).rrd,
  }));
  const { rrd, ledger } = projectStates[0] as (typeof projectStates)[number];
  const { lines: answers } = await readAnswers(homeFolder);
  const root = rootOf(homeFolder, io.cwd);
  const readText = fetch ? fetchingReader(config, io, ending) : storedTextOf;
  const pool = await openPool(projects, readText, storedTexts({ readOnly: false }));
  const unitId = nextAnswerUnit(
    answers,
    ledger.map((line) => line.unit),
  );
  const canUseTools = everyone.every((agent) => agent.takesTools === true);
  const storedLines: LedgerLine[] = [];
  const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
  return answerWorkflow({
    pool,
    question,
    unit: unitId,
    root,
    redact,
    isChecked,
    onAnswer: (answer) => onAnswer({ answer, pool, names: namesByKey(pool.papers) }),
    project: projects.map(({ rrd: { project } }) => project).join("; "),
    ...(folders.length === 1
      ? {}
      : { projects: namesOfProjects(folders), lastIterations: projectStates.map(lastIteration) }),
    lastIteration: lastIteration({ ledger }),
    workspaces: workspacesOf(config.stateDir, join(homeFolder, `ask-${process.pid}`)),
    now: io.clock.now,
    account: () => {
      const { forecast: _, ...account } = accountOf(rrd, [...ledger, ...storedLines]);
      return account;
    },
    tools: canUseTools ? toolsOf(folders, config, io.env)(["find_passages"]) : undefined,
    keep: async (iteration) => {
      storedLines.push(iteration.line);
      onSpending(spentOn({}, storedLines));
      await storeIteration(homeFolder, iteration, { config, now: io.clock.now, notify });
    },
  });
}

/** The number of the last iteration; 0 before the first one. */
const lastIteration = ({ ledger }: { readonly ledger: readonly LedgerLine[] }): number =>
  ledger.reduce((max, { iteration }) => Math.max(max, iteration), 0);

interface StoreOptions {
  readonly config: ResolvedConfig;
  readonly now: () => number;
  readonly notify: (level: "info" | "warning", message: string) => void;
}

/** Stores an iteration in the project. If a run holds the project, it gets the iteration as a message and stores it. */
export async function storeIteration(
  folder: string,
  iteration: AnswerIteration,
  storeOptions: StoreOptions,
): Promise<void> {
  const { config, now, notify } = storeOptions;
  if (await doUnlessRunning(folder, storeOptions, (research) => foldAnswer(research, iteration))) return;
  // The inbox gives the message its own id.
  const { message: _, ...beside } = iteration;
  await writeMessage(folder, { beside }, now(), config.stateDir);
  if (iteration.answer !== undefined && (iteration.checks === undefined || iteration.answer.open === undefined))
    notify("info", "The project is running; the run stores the answer before its next iteration.");
}

/** Finishes what a killed process wrote only in part. Returns false if a run holds the project. */
export const finishInterruptedWrites = (folder: string, storeOptions: StoreOptions): Promise<boolean> =>
  doUnlessRunning(folder, storeOptions, async () => undefined);

/** Opens the project and does `work` with it. Returns false, and does nothing, if a run holds the project. */
async function doUnlessRunning(
  folder: string,
  { config, notify }: StoreOptions,
  work: (research: Awaited<ReturnType<typeof openResearch>>) => Promise<unknown>,
): Promise<boolean> {
  const lock = lockFile(folder);
  if (await isHeld(lock)) return false;
  let research: Awaited<ReturnType<typeof openResearch>>;
  try {
    research = await openResearch(folder, { derive, git: config.git, notify, isShortCommand: true });
  } catch (error) {
    // A run may have started after the first look at the lock.
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

/** Returns a reader of texts that fetches those that are not stored. */
function fetchingReader(config: ResolvedConfig, io: Io, signal: AbortSignal): ReadText {
  const libraries = new Map<string, ReturnType<typeof libraryFor>>();
  return async (folder, paper) => {
    const storedText = await storedTextOf(folder, paper);
    if (storedText !== undefined || signal.aborted) return storedText;
    const library = libraries.get(folder) ?? libraryFor(folder, rootOf(folder, io.cwd), config, io.env, signal);
    libraries.set(folder, library);
    const answer = await library.text(paper);
    return "text" in answer ? answer.text : undefined;
  };
}
