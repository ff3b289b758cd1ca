import { createHash } from "node:crypto";
import { type Markup, markup, trusted } from "../../../engine/lib/markup.js";
import { type SectionName, sectionTitles } from "../checklist.js";
import { client } from "./client.js";
import type { PageContext, Section } from "./context.js";
import { agreed, comparison, disputed, findings, gaps, recommendations } from "./findings.js";
import { checklist, method, references } from "./method.js";
import { papers } from "./papers.js";
import { flow, map, scores } from "./pictures.js";
import { questions } from "./questions.js";
import { style } from "./style.js";
import { ideas, themes } from "./themes.js";
import { answer, changes, figures, masthead, question, titleOf } from "./first-screen.js";

/** The sections in the order of the page. */
export const sections: readonly Section[] = [
  { name: "changes", body: changes },
  { name: "question", body: question },
  { name: "answer", body: answer },
  { name: "figures", body: figures },
  { name: "findings", body: findings },
  { name: "recommendations", body: recommendations },
  { name: "agreed", body: agreed },
  { name: "disputed", body: disputed },
  { name: "gaps", body: gaps },
  { name: "questions", body: questions },
  { name: "comparison", body: comparison },
  { name: "scores", body: scores },
  { name: "papers", body: papers },
  { name: "themes", body: themes },
  { name: "map", body: map },
  { name: "flow", body: flow },
  { name: "method", body: method },
  { name: "checklist", body: checklist },
  { name: "references", body: references },
  { name: "ideas", body: ideas },
];

/** Those at the top need no heading, and no entry in the contents; the answer says so where it is missing. */
const atTop: ReadonlySet<SectionName> = new Set(["question", "answer", "figures"]);

/** The sections that hold something. */
export const heldSections = ({ model }: PageContext): Section[] =>
  sections.filter(({ name }) => name === "answer" || model.has(name));

/** A section with its heading, in pieces. A live page replaces the element of this id. */
export function* sectionPieces(section: Section, context: PageContext): Iterable<string> {
  const { name } = section;
  yield `<section id="${name}">${atTop.has(name) ? "" : `<h2>${sectionTitles[name]}</h2>`}`;
  for (const piece of section.body(context)) yield piece.text;
  yield "</section>\n";
}

/** The same as one text. */
export const sectionText = (section: Section, context: PageContext): string =>
  [...sectionPieces(section, context)].join("");

export const contents = (context: PageContext): Markup =>
  markup`<nav class="contents" aria-label="Contents"><ul>${heldSections(context)
    .filter(({ name }) => !atTop.has(name))
    .map(({ name }) => markup`<li><a href="#${name}">${sectionTitles[name]}</a></li>`)}</ul></nav>
`;

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing is fetched, and no script or style runs but these two. */
export const contentPolicy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(client)}; img-src data:; base-uri 'none'; form-action 'none'`;

/** What stands before the body of a page; the style and the script inline. */
export const head = (title: string): Markup => markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta http-equiv="Content-Security-Policy" content="${contentPolicy}"><meta name="referrer" content="no-referrer"><meta name="generator" content="research-ralph"><title>${title}</title><link rel="icon" href="data:,"><style>${trusted(style)}</style><script>${trusted(client)}</script></head>
`;

/** The button that changes between light and dark. */
export const themeButton = markup`<button type="button" id="theme" class="theme">Light or dark</button>`;

/** report.html in pieces, so that ten thousand papers never lie in memory as one text. */
export function* reportPage(context: PageContext): Iterable<string> {
  const { model } = context;
  yield head(titleOf(model)).text;
  yield markup`<body>${themeButton}<main>
${masthead(context)}`.text;
  for (const section of heldSections(context)) {
    yield* sectionPieces(section, context);
    if (section.name === "figures") yield contents(context).text;
  }
  yield markup`<footer class="quiet"><p>Made by research-ralph from the records of this project${model.day === "" ? "" : ` as of ${model.day}`}. ${narrativeFrom[model.narrative]} Counts, scores, tables and pictures are derived by code.</p></footer></main></body></html>
`.text;
}

const narrativeFrom = {
  data: "The sentences of the findings are an agent’s; each names the quotes it rests on.",
  headings: "The sentences of the findings are those of research-report.md.",
  nothing: "",
};
