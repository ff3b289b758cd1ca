import type { AnswerResult } from "../../generated/result-answer.js";
import { checkResult, reasonsOf } from "../../../engine/storage/result-file.js";
import { wrongCall } from "../../../engine/tools/tool.js";
import type { ProjectSearch } from "../../tools/context.js";
import { checkAnswer } from "./judge-answer.js";
import type { Pool } from "./pool.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** The search functions for tools. The pool is opened with the first call, and again if the files have changed. */
export const projectSearchFor = (open: () => Promise<Pool>): ProjectSearch => ({
  async passages(query, maxHits) {
    const pool = await open();
    const hits = pool.search(pool.query(query), maxHits).best;
    return Promise.all(
      hits.map(async ({ passage: { paper, start, end, locator } }) => ({
        key: pool.papers[paper]?.key ?? "",
        ...withoutUndefined({ locator }),
        text: ((await pool.textOf(paper))?.text.slice(start, end) ?? "").trim(),
      })),
    );
  },
  async check(question, answer) {
    const { value, problems } = checkResult("result-answer", { ...(answer as object), unit: "answer-1" });
    if (problems.length > 0)
      return wrongCall(`The answer has another form: ${reasonsOf(problems).slice(0, 3).join("; ")}.`);
    const checkedAnswer = await checkAnswer(await open(), question, value as AnswerResult);
    const { statements, leftOut, missing } = checkedAnswer;
    const head = `Statements that stand: ${statements.length}; that do not: ${leftOut.length}. Quotes that were not found: ${missing.length}.`;
    const lines = [
      ...statements.map(({ text, rests_on, marks = [] }) =>
        `stands: ${text} (${rests_on.join(", ")}) ${marks.join(" ")}`.trim(),
      ),
      ...leftOut.map(({ text, why }) => `does not stand: ${text}: ${why}`),
      ...missing.map(
        ({ quote, why, nearest }) => `not found: ${quote}: ${why}${nearest === "" ? "" : `; nearest: ${nearest}`}`,
      ),
    ];
    return { head, lines };
  },
});
