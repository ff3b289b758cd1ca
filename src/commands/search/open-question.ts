import { basename, join } from "node:path";
import { keptTextOf, keptTexts, projectsIn } from "../../research/overview/questions/stored-pool.js";
import type { ResolvedConfig } from "../../compose/config.js";
import type { Run } from "../../compose/drive.js";
import { libraryFor } from "../../compose/library.js";
import { toolsOf } from "../../compose/tools.js";
import { given } from "../../engine/lib/given.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { lockFile } from "../../engine/lib/layout.js";
import { isHeld } from "../../engine/storage/lock.js";
import { requireKnownFormats } from "../../engine/storage/records/format-version.js";
import { leaveMessage } from "../../engine/storage/records/steering-inbox.js";
import type { Io } from "../../engine/ui/io.js";
import { answerWorkflow } from "../../research/overview/questions/answer-workflow.js";
import { openPool, type ReadText } from "../../research/overview/questions/pool.js";
import { nextAnswerUnit, readAnswers } from "../../research/folder/logs/answers-log.js";
import { openResearch, readResearch } from "../../research/folder/research.js";
import { researchFormat } from "../../research/folder/rrd-file.js";
import { signState } from "../../research/folder/tamper/other-projects.js";
import type { Answer } from "../../research/generated/answer.js";
import { rootOf } from "../../research/workflow/brief/prompt.js";
import { type AskedIteration, foldAsked } from "../../research/workflow/derived/fold-answer.js";
import { accountOf } from "../../research/workflow/derived/forecast.js";
import { derive } from "../../research/workflow/derived/statistics.js";
import { workspacesOf } from "../../research/workflow/workspace.js";

interface QuestionWish {
  /** Absolute; the first keeps the answer. */
  readonly folders: readonly [string, ...string[]];
  readonly question: string;
  /** Fetch the texts that are not kept. */
  readonly fetch: boolean;
  readonly answered: (answer: Answer) => void;
}

/** Makes a question to one or more projects ready for a run. Takes no lock before there is something to keep. */
export async function openQuestion(
  { folders, question, fetch, answered }: QuestionWish,
  config: ResolvedConfig,
  io: Io,
  { everyone, redact, tell, ending }: Run,
) {
  const [home] = folders;
  await requireKnownFormats(home, researchFormat);
  const projects = await projectsIn(folders);
  const { rrd, ledger } = await readResearch(home);
  const { answers } = await readAnswers(home);
  const root = rootOf(home, io.cwd);
  const read = fetch ? fetching(config, io, ending) : keptTextOf;
  const pool = await openPool(projects, read, keptTexts());
  const unit = nextAnswerUnit(
    answers,
    ledger.map((line) => line.unit),
  );
  const takesTools = everyone.every((agent) => agent.takesTools === true);
  const notify = (level: "info" | "warning", message: string) => void tell({ type: "notice", level, message });
  return answerWorkflow({
    ...{ pool, question, unit, root, redact, answered },
    project: projects.map(({ rrd: { project } }) => project).join("; "),
    ...(folders.length === 1 ? {} : { projects: folders.map((folder) => basename(folder)) }),
    seen: ledger.reduce((most, { iteration }) => Math.max(most, iteration), 0),
    workspaces: workspacesOf(config.stateDir, join(home, `ask-${process.pid}`)),
    now: io.clock.now,
    account: () => {
      const { forecast: _, ...account } = accountOf(rrd, ledger);
      return account;
    },
    ...given({
      tools: takesTools && folders.length === 1 ? toolsOf(home, config, io.env)(["find_passages"]) : undefined,
    }),
    keep: (iteration) => keepIteration(home, iteration, { config, now: io.clock.now, notify }),
  });
}

interface Keeping {
  readonly config: ResolvedConfig;
  readonly now: () => number;
  readonly notify: (level: "info" | "warning", message: string) => void;
}

/** Folds an iteration into the project, or leaves it to the run that holds the project. */
async function keepIteration(
  folder: string,
  iteration: AskedIteration,
  { config, now, notify }: Keeping,
): Promise<void> {
  const lock = lockFile(folder);
  const foldNow = async (): Promise<void> => {
    const options = { derive, git: config.git, notify, short: true };
    const research = await openResearch(folder, options);
    try {
      await foldAsked(research, iteration);
    } finally {
      await signState(folder, config.stateDir);
      await research.close();
    }
  };
  if (!(await isHeld(lock)))
    try {
      return await foldNow();
    } catch (error) {
      // A run may have begun since.
      if (!(error instanceof ExpectedError) || !(await isHeld(lock))) throw error;
    }
  const { message: _, ...beside } = iteration;
  await leaveMessage(folder, { beside }, now(), config.stateDir);
  notify("info", "A run holds the project; it keeps the answer before its next iteration.");
}

/** Reads texts, and fetches what is not kept. */
function fetching(config: ResolvedConfig, io: Io, signal: AbortSignal): ReadText {
  const libraries = new Map<string, ReturnType<typeof libraryFor>>();
  return async (folder, paper) => {
    const kept = await keptTextOf(folder, paper);
    if (kept !== undefined || signal.aborted) return kept;
    const library = libraries.get(folder) ?? libraryFor(folder, rootOf(folder, io.cwd), config, io.env, signal);
    libraries.set(folder, library);
    const answer = await library.text?.(paper);
    return answer !== undefined && "text" in answer ? answer.text : undefined;
  };
}
