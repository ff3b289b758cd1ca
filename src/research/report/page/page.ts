import { createHash } from "node:crypto";
import { type Markup, markup, trustMarkup } from "../../../engine/lib/markup.js";
import { client } from "./client.js";
import { style } from "./style.js";
import type { Section } from "../sections/section.js";
import { sectionsWithContent, sections } from "../sections/sections.js";
import type { PageContext } from "./context.js";
import { masthead, titleOf } from "./first-screen.js";

/** The sections with content. */
export const shownSections = ({ model }: PageContext): Section[] =>
  sections.filter(({ isAlways, hasContent }) => isAlways || hasContent(model));

/** A section with its heading, in pieces. A live page replaces the element with this id. */
function* sectionPieces(section: Section, context: PageContext): Iterable<string> {
  const { name, title, isAtTop } = section;
  yield `<section id="${name}">${isAtTop ? "" : `<h2>${title}</h2>`}`;
  for (const piece of section.page(context, sectionsWithContent(context.model))) yield piece.text;
  yield "</section>\n";
}

/** A section as one text. */
export const sectionText = (section: Section, context: PageContext): string =>
  [...sectionPieces(section, context)].join("");

export const contents = (context: PageContext): Markup =>
  markup`<nav class="contents" aria-label="Contents"><ul>${shownSections(context)
    .filter(({ isAtTop }) => !isAtTop)
    .map(({ name, title }) => markup`<li><a href="#${name}">${title}</a></li>`)}</ul></nav>
`;

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing may be fetched, and no other script or style may run. */
const contentPolicy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(client)}; img-src data:; base-uri 'none'; form-action 'none'`;

/** The page before its body, with the style and the script. */
export const head = (title: string): Markup => markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta http-equiv="Content-Security-Policy" content="${contentPolicy}"><meta name="referrer" content="no-referrer"><meta name="generator" content="research-ralph"><title>${title}</title><link rel="icon" href="data:,"><style>${trustMarkup(style)}</style><script>${trustMarkup(client)}</script></head>
`;

/** The button that switches between light and dark. */
const themeButton = markup`<button type="button" id="theme" class="theme">Light or dark</button>`;

/** report.html in pieces, so that a page with ten thousand papers need not be in memory as one text. */
export function* reportPage(context: PageContext): Iterable<string> {
  const { model } = context;
  yield head(titleOf(model)).text;
  yield markup`<body>${themeButton}<main>
${masthead(context)}`.text;
  for (const section of shownSections(context)) {
    yield* sectionPieces(section, context);
    if (section.name === "figures") yield contents(context).text;
  }
  yield markup`<footer class="quiet"><p>Made by research-ralph from the records of this project${model.day === "" ? "" : ` as of ${model.day}`}. ${narrativeFrom[model.narrative]} Counts, ${model.scores.rows.length === 0 ? "" : "points, "}tables and pictures are derived by code.</p></footer></main></body></html>
`.text;
}

const narrativeFrom = {
  data: "The sentences of the findings are an agent’s; each names the quotes it rests on.",
  headings: "The sentences of the findings are those of research-report.md.",
  nothing: "",
};
