import { createColors } from "picocolors";
import { poolOf } from "../../research/overview/questions/stored-pool.js";
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
import { answerLines, inNames, withKeys } from "./answer-lines.js";

/** An answer with what became of it. */
export interface AnswerStanding {
  readonly answer: Answer;
  /** The projects that it was asked of, as far as they are there. */
  readonly projects: readonly [string, ...string[]];
  /** What people call their papers, as the answer names these. */
  readonly names: ReadonlyMap<string, string>;
  /** How those who checked its sentences answered to controls. */
  readonly checkers: Checkers;
  /** The last to its question. */
  readonly latest: boolean;
  /** Why it no longer stands, a clause each; empty where it does. */
  readonly why: readonly string[];
  /** Nobody can say: one of its projects is not there, or can't be read. */
  readonly isUnchecked?: true;
}

/** Lists the questions of a project with their answers, and which of them no longer stand and why. */
export async function answersCommand({ folder: argument, json }: FolderOptions, io: Io): Promise<number> {
  const folder = await findResearch(io.cwd, argument);
  const all = await standings(folder, io);
  if (json) {
    io.stdout(`${JSON.stringify(all.map(asJson), null, 2)}\n`);
    return 0;
  }
  if (all.length === 0) {
    say(io, `No question has been put to this project yet: 'research-ralph ask ${nameFor(io.cwd, folder)} "…?"'`);
    return 0;
  }
  const colors = createColors(io.color);
  const columns = Math.max(30, Math.min(io.columns, 100));
  const lines = all.flatMap(({ answer, names, checkers, latest, why }) => [
    ...wrap(`${answer.id} · ${answer.at.slice(0, 10)} · ${oneLine(answer.question)}`, columns).map(colors.bold),
    ...(latest ? [] : ["Asked again since."]),
    ...(why.length === 0
      ? []
      : wrap(`Out of date: ${oneLine(why.map(inNames(names)).join("; "))}.`, columns).map(colors.yellow)),
    ...answerLines(answer, names, io, checkers),
    "",
  ]);
  const stale = all.filter(({ latest, why }) => latest && why.length > 0).length;
  const advice =
    stale === 0
      ? []
      : [
          `${quantity(stale, "answer")} no longer ${stale === 1 ? "stands" : "stand"}: 'research-ralph ask ${nameFor(io.cwd, folder)} --again'`,
        ];
  io.stdout(`${[...lines, ...advice].join("\n").trimEnd()}\n`);
  return 0;
}

/** An answer for programs, with what people read of its check in the same words. */
export function asJson({ answer, names, checkers, latest, why }: AnswerStanding) {
  const statements = answer.statements.map((said) => ({
    ...said,
    meaning: meaningField(said.check, checkers).meaning?.says,
  }));
  return { ...withKeys(answer, names), statements, checked: answerMeaning(answer, checkers)?.says, latest, stale: why };
}

/** The answers of a project, oldest first, with whether they still stand. */
export async function standings(
  folder: string,
  io: Pick<Io, "stderr" | "isTTY" | "columns">,
): Promise<AnswerStanding[]> {
  const { lines: answers, notices } = await readAnswers(folder);
  for (const notice of notices) say(io, `warning: ${notice}`);
  const opened = new Map<string, { readonly pool: Pool; readonly asked: readonly ProjectState[] }>();
  const last = new Map(answers.map((answer) => [questionKey(answer), answer.id]));
  const { rrd } = await readResearch(folder);
  const checkers = rrd.meaning?.checkers ?? {};
  const all: AnswerStanding[] = [];
  for (const answer of answers) {
    const projects = questionFolders(folder, answer);
    const key = projects.join("\n");
    const latest = last.get(questionKey(answer)) === answer.id;
    try {
      const { pool, asked } = opened.get(key) ?? { pool: await poolOf(projects), asked: await standingsOf(projects) };
      opened.set(key, { pool, asked });
      const [names, why] = [namesByKey(pool.papers), await staleReasons(answer, asked, pool)];
      all.push({ answer, projects, names, checkers, latest, why });
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      const why = `it can't be checked: ${error.message.replace(/\.$/, "")}`;
      all.push({ answer, projects, names: new Map(), checkers, latest, why: [why], isUnchecked: true });
    }
  }
  return all;
}

const standingsOf = (folders: readonly string[]): Promise<ProjectState[]> =>
  Promise.all(folders.map(async (folder) => ({ folder, ledger: (await readResearch(folder)).ledger })));
