import { questionIfNotTitle, type ReportModel } from "../model.js";
import { minMapped } from "../pictures/map.js";
import { changes, question, answer, figures } from "../page/first-screen.js";
import { findings, recommendations, agreed, disputed, gaps, comparison, removedSentences } from "../page/findings.js";
import { questions } from "../page/questions.js";
import { scores, map, flow } from "../page/pictures.js";
import { papers } from "../page/papers.js";
import { themes, ideas } from "../page/themes.js";
import { method, checklist, references } from "../page/method.js";
import { extracted } from "../page/extracted.js";
import { formOf } from "../../project-files/form.js";
import { isReview } from "./checklist.js";
import { rowsOfTable } from "./extracted.js";
import { texts } from "./sections-in-markdown.js";
import type { Held, Section } from "./section.js";

/**
 * The sections of a report, in its order. A further one is an entry here: when it stands there, and the functions that
 * draw it, for the Markdown in `sections-in-markdown.ts`, for the page in a file of `../page/`.
 */
export const sections: readonly Section[] = [
  {
    name: "changes",
    title: "What changed",
    holds: ({ changes }) => changes !== undefined,
    markdown: texts.changes,
    page: changes,
  },
  {
    name: "question",
    title: "Question",
    isAtTop: true,
    holds: (model) => questionIfNotTitle(model) !== "",
    markdown: texts.question,
    page: question,
  },
  {
    name: "answer",
    title: "Answer",
    isAtTop: true,
    isAlways: true,
    holds: ({ answer }) => answer.length > 0,
    markdown: texts.answer,
    page: answer,
  },
  { name: "figures", title: "In figures", isAtTop: true, holds: ({ figures }) => figures.length > 0, page: figures },
  {
    name: "findings",
    title: "Findings",
    holds: ({ findings }) => findings.length > 0,
    markdown: texts.findings,
    page: findings,
  },
  {
    name: "recommendations",
    title: "What to do first",
    holds: ({ recommendations }) => recommendations.length > 0,
    markdown: texts.recommendations,
    page: recommendations,
  },
  {
    name: "agreed",
    title: "What the papers agree on",
    holds: ({ agreed, pairs }) => agreed.length > 0 || pairs.some(({ stand }) => stand === "agreed"),
    markdown: texts.agreed,
    page: agreed,
  },
  {
    name: "disputed",
    title: "What is disputed",
    holds: ({ disputed, pairs }) => disputed.length > 0 || pairs.some(({ stand }) => stand !== "agreed"),
    markdown: texts.disputed,
    page: disputed,
  },
  { name: "gaps", title: "What is not known", holds: ({ gaps }) => gaps.length > 0, markdown: texts.gaps, page: gaps },
  {
    name: "unborne",
    title: "Not borne out",
    holds: ({ meaning }) => (meaning?.removed.length ?? 0) > 0,
    markdown: texts.unborne,
    page: removedSentences,
  },
  {
    name: "questions",
    title: "Questions asked",
    holds: ({ questions }) => questions.length > 0,
    markdown: texts.questions,
    page: questions,
  },
  {
    name: "comparison",
    title: "Comparison",
    holds: ({ comparison }) => comparison !== undefined,
    markdown: texts.comparison,
    page: comparison,
  },
  {
    name: "scores",
    title: "How the papers score",
    holds: ({ scores }) => scores.rows.length > 0,
    markdown: texts.scores,
    page: scores,
  },
  { name: "papers", title: "Papers", holds: ({ rows }) => rows.length > 0, markdown: texts.papers, page: papers },
  {
    name: "extracted",
    title: "What the papers report",
    holds: ({ rrd, rows }) => formOf(rrd).length > 0 && rowsOfTable({ rrd, rows }).length > 0,
    markdown: texts.extracted,
    page: extracted,
  },
  {
    name: "themes",
    title: "Insights by theme",
    holds: ({ insightCount }) => insightCount > 0,
    markdown: texts.themes,
    page: themes,
  },
  {
    name: "map",
    title: "How the papers are related",
    holds: (model) => model.map().papers.length >= minMapped,
    markdown: texts.map,
    page: map,
  },
  {
    name: "flow",
    title: "How papers were found",
    holds: ({ rows, rrd }) => rows.length + (rrd.excluded?.length ?? 0) > 0,
    markdown: texts.flow,
    page: flow,
  },
  { name: "method", title: "Method and limits", holds: () => true, markdown: texts.method, page: method },
  {
    name: "checklist",
    title: "PRISMA 2020 checklist",
    holds: (model) => model.rows.length > 0 && isReview(model),
    markdown: texts.checklist,
    page: checklist,
  },
  {
    name: "references",
    title: "References",
    holds: ({ rows }) => rows.length > 0,
    markdown: texts.references,
    page: references,
  },
  { name: "ideas", title: "Ideas", holds: ({ ideas }) => ideas.length > 0, markdown: texts.ideas, page: ideas },
];

/** Titles of the sections that hold something, by their names. */
export const heldBy = (model: ReportModel): Held =>
  new Map(sections.flatMap(({ name, title, holds }) => (holds(model) ? [[name, title]] : [])));
