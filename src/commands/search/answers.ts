import { createColors } from "picocolors";
import { openStoredPool } from "../../research/overview/questions/stored-pool.js";
import { ExpectedError } from "../../engine/lib/errors.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";
import { say, wrap } from "../../engine/ui/terminal/format.js";
import type { Io } from "../../engine/ui/io.js";
import { namesByKey, type Pool } from "../../research/overview/questions/pool.js";
import { type ProjectState, staleReasons } from "../../research/overview/questions/stale.js";
import { questionFolders, questionKey, readAnswers } from "../../research/project-files/logs/answers-log.js";
import { readResearch } from "../../research/project-files/research.js";
import type { Checkers } from "../../research/derived/checker-rates.js";
import { meaningField } from "../../research/derived/meaning-mark.js";
import { answerMeaning } from "../../research/report/narrative/questions.js";
import type { Answer } from "../../research/generated/answer.js";
import { findResearch, type FolderOptions, nameFor } from "../../research/overview/find-research.js";
import { answerLines, replaceIds, withCitationKeys } from "./answer-lines.js";

/** An answer, and whether it is still up to date. */
export interface AnswerStatus {
  readonly answer: Answer;
  /** The folders of the projects that were asked, with the home of the answer first. */
  readonly projects: readonly [string, ...string[]];
  /** The citation keys of their papers, by the ids in the answer. */
  readonly names: ReadonlyMap<string, string>;
  /** The checkers' answers to control sentences. */
  readonly checkers: Checkers;
  /** Whether it is the newest answer to its question. */
  readonly isNewest: boolean;
  /** Why it is outdated, one clause for each reason; empty if it is up to date. */
  readonly outdatedReasons: readonly string[];
  /** One of its projects is missing or can't be read, so the program can't tell whether it is outdated. */
  readonly isProjectMissing?: true;
}

/** Lists the questions of a project with their answers, and tells which are outdated and why. */
export async function answersCommand({ folder: projectName, json }: FolderOptions, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, projectName);
  const statuses = await answerStatuses(folder, io);
  if (json) {
    io.stdout(`${JSON.stringify(statuses.map(toJson), null, 2)}\n`);
    return 0;
  }
  if (statuses.length === 0) {
    say(io, `This project has not been asked a question yet: 'research-ralph ask ${nameFor(io.cwd, folder)} "…?"'`);
    return 0;
  }
  const colors = createColors(io.color);
  const columns = Math.max(30, Math.min(io.columns, 100));
  const lines = statuses.flatMap(({ answer, names, checkers, isNewest, outdatedReasons }) => [
    ...wrap(`${answer.id} · ${answer.at.slice(0, 10)} · ${oneLine(answer.question)}`, columns).map(colors.bold),
    ...(isNewest ? [] : ["There is a newer answer to this question."]),
    ...(outdatedReasons.length === 0
      ? []
      : wrap(`Out of date: ${oneLine(outdatedReasons.map(replaceIds(names)).join("; "))}.`, columns).map(
          colors.yellow,
        )),
    ...answerLines(answer, names, io, checkers),
    "",
  ]);
  const outdatedCount = statuses.filter(
    ({ isNewest, outdatedReasons }) => isNewest && outdatedReasons.length > 0,
  ).length;
  const advice =
    outdatedCount === 0
      ? []
      : [
          `${quantity(outdatedCount, "answer")} ${outdatedCount === 1 ? "is" : "are"} out of date: 'research-ralph ask ${nameFor(io.cwd, folder)} --again'`,
        ];
  io.stdout(`${[...lines, ...advice].join("\n").trimEnd()}\n`);
  return 0;
}

/** An answer for programs. The results of its check have the same words as for people. */
export function toJson({ answer, names, checkers, isNewest, outdatedReasons }: AnswerStatus) {
  const statements = answer.statements.map((statement) => ({
    ...statement,
    meaning: meaningField(statement.check, checkers).meaning?.says,
  }));
  return {
    ...withCitationKeys(answer, names),
    statements,
    checked: answerMeaning(answer, checkers)?.says,
    latest: isNewest,
    stale: outdatedReasons,
  };
}

/**
 * The answers of a project, compared with the present state of the projects that were asked. The oldest answer comes
 * first.
 */
export async function answerStatuses(
  folder: string,
  io: Pick<Io, "stderr" | "isTTY" | "columns">,
): Promise<AnswerStatus[]> {
  const { lines: answers, notices } = await readAnswers(folder);
  for (const notice of notices) say(io, `warning: ${notice}`);
  /** The opened projects, by their folders: several answers often have the same. */
  const openedProjects = new Map<string, { readonly pool: Pool; readonly states: readonly ProjectState[] }>();
  const newestIds = new Map(answers.map((answer) => [questionKey(answer), answer.id]));
  const { rrd } = await readResearch(folder);
  const checkers = rrd.meaning?.checkers ?? {};
  const statuses: AnswerStatus[] = [];
  for (const answer of answers) {
    const projects = questionFolders(folder, answer);
    const key = projects.join("\n");
    const isNewest = newestIds.get(questionKey(answer)) === answer.id;
    try {
      const { pool, states } = openedProjects.get(key) ?? {
        pool: await openStoredPool(projects),
        states: await projectStates(projects),
      };
      openedProjects.set(key, { pool, states });
      const outdatedReasons = await staleReasons(answer, states, pool);
      statuses.push({ answer, projects, names: namesByKey(pool.papers), checkers, isNewest, outdatedReasons });
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      const outdatedReasons = [`it can't be checked: ${error.message.replace(/\.$/, "")}`];
      const common = { answer, projects, checkers, isNewest, outdatedReasons };
      statuses.push({ ...common, names: new Map(), isProjectMissing: true });
    }
  }
  return statuses;
}

const projectStates = (folders: readonly string[]): Promise<ProjectState[]> =>
  Promise.all(folders.map(async (folder) => ({ folder, ledger: (await readResearch(folder)).ledger })));
