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
import { sectionTexts } from "./sections-in-markdown.js";
import type { ShownSections, Section } from "./section.js";

/**
 * The sections of a report, in their order. A new section is a new entry here, with its condition and the functions
 * that render it: for the Markdown in `sections-in-markdown.ts`, for the page in a file of `../page/`.
 */
export const sections: readonly Section[] = [
  {
    name: "changes",
    title: "What changed",
    hasContent: ({ changes }) => changes !== undefined,
    markdown: sectionTexts.changes,
    page: changes,
  },
  {
    name: "question",
    title: "Question",
    isAtTop: true,
    hasContent: (model) => questionIfNotTitle(model) !== "",
    markdown: sectionTexts.question,
    page: question,
  },
  {
    name: "answer",
    title: "Answer",
    isAtTop: true,
    isAlways: true,
    hasContent: ({ answer }) => answer.length > 0,
    markdown: sectionTexts.answer,
    page: answer,
  },
  {
    name: "figures",
    title: "In figures",
    isAtTop: true,
    hasContent: ({ figures }) => figures.length > 0,
    page: figures,
  },
  {
    name: "findings",
    title: "Findings",
    hasContent: ({ findings }) => findings.length > 0,
    markdown: sectionTexts.findings,
    page: findings,
  },
  {
    name: "recommendations",
    title: "What to do first",
    hasContent: ({ recommendations }) => recommendations.length > 0,
    markdown: sectionTexts.recommendations,
    page: recommendations,
  },
  {
    name: "agreed",
    title: "What the papers agree on",
    hasContent: ({ agreed, pairs }) => agreed.length > 0 || pairs.some(({ stand }) => stand === "agreed"),
    markdown: sectionTexts.agreed,
    page: agreed,
  },
  {
    name: "disputed",
    title: "What is disputed",
    hasContent: ({ disputed, pairs }) => disputed.length > 0 || pairs.some(({ stand }) => stand !== "agreed"),
    markdown: sectionTexts.disputed,
    page: disputed,
  },
  {
    name: "gaps",
    title: "What is not known",
    hasContent: ({ gaps }) => gaps.length > 0,
    markdown: sectionTexts.gaps,
    page: gaps,
  },
  {
    name: "unborne",
    title: "Not supported",
    hasContent: ({ meaning }) => (meaning?.removed.length ?? 0) > 0,
    markdown: sectionTexts.unborne,
    page: removedSentences,
  },
  {
    name: "questions",
    title: "Questions asked",
    hasContent: ({ questions }) => questions.length > 0,
    markdown: sectionTexts.questions,
    page: questions,
  },
  {
    name: "comparison",
    title: "Comparison",
    hasContent: ({ comparison }) => comparison !== undefined,
    markdown: sectionTexts.comparison,
    page: comparison,
  },
  {
    name: "scores",
    title: "Points of the papers",
    hasContent: ({ scores }) => scores.rows.length > 0,
    markdown: sectionTexts.scores,
    page: scores,
  },
  {
    name: "papers",
    title: "Papers",
    hasContent: ({ rows }) => rows.length > 0,
    markdown: sectionTexts.papers,
    page: papers,
  },
  {
    name: "extracted",
    title: "What the papers report",
    hasContent: ({ rrd, rows }) => formOf(rrd).length > 0 && rowsOfTable({ rrd, rows }).length > 0,
    markdown: sectionTexts.extracted,
    page: extracted,
  },
  {
    name: "themes",
    title: "Insights by theme",
    hasContent: ({ insightCount }) => insightCount > 0,
    markdown: sectionTexts.themes,
    page: themes,
  },
  {
    name: "map",
    title: "How the papers are related",
    hasContent: (model) => model.map().papers.length >= minMapped,
    markdown: sectionTexts.map,
    page: map,
  },
  {
    name: "flow",
    title: "How papers were found",
    hasContent: ({ rows, rrd }) => rows.length + (rrd.excluded?.length ?? 0) > 0,
    markdown: sectionTexts.flow,
    page: flow,
  },
  { name: "method", title: "Method and limits", hasContent: () => true, markdown: sectionTexts.method, page: method },
  {
    name: "checklist",
    title: "PRISMA 2020 checklist",
    hasContent: (model) => model.rows.length > 0 && isReview(model),
    markdown: sectionTexts.checklist,
    page: checklist,
  },
  {
    name: "references",
    title: "References",
    hasContent: ({ rows }) => rows.length > 0,
    markdown: sectionTexts.references,
    page: references,
  },
  {
    name: "ideas",
    title: "Ideas",
    hasContent: ({ ideas }) => ideas.length > 0,
    markdown: sectionTexts.ideas,
    page: ideas,
  },
];

/** The titles of the sections with content, by section name. */
export const sectionsWithContent = (model: ReportModel): ShownSections =>
  new Map(sections.flatMap(({ name, title, hasContent }) => (hasContent(model) ? [[name, title]] : [])));
