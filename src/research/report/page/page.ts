import { createHash } from "node:crypto";
import { type Markup, markup, trustMarkup } from "../../../engine/lib/markup.js";
import { reportScript } from "./client.js";
import { style } from "./style.js";
import type { Section } from "../sections/section.js";
import { sectionsWithContent, sections } from "../sections/sections.js";
import type { PageContext } from "./context.js";
import { reportHeader, titleOf } from "./first-screen.js";

/** The sections with content. */
export const shownSections = ({ model }: PageContext): Section[] =>
  sections.filter(({ isAlways, hasContent }) => isAlways || hasContent(model));

/** A section with its heading, in pieces. A page that shows a running project replaces the element with this id. */
function* sectionPieces(section: Section, context: PageContext): Iterable<string> {
  const { name, title, isAtTop } = section;
  yield `<section id="${name}">${isAtTop ? "" : `<h2>${title}</h2>`}`;
  for (const piece of section.page(context, sectionsWithContent(context.model))) yield piece.text;
  yield "</section>\n";
}

/** A section as one text. */
export const sectionText = (section: Section, context: PageContext): string =>
  [...sectionPieces(section, context)].join("");

/** The table of contents. */
export const contents = (context: PageContext): Markup =>
  markup`<nav class="contents" aria-label="Contents"><ul>${shownSections(context)
    .filter(({ isAtTop }) => !isAtTop)
    .map(({ name, title }) => markup`<li><a href="#${name}">${title}</a></li>`)}</ul></nav>
`;

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The page may load nothing from other addresses, and only its own style and script are allowed. */
const contentPolicy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(reportScript)}; img-src data:; base-uri 'none'; form-action 'none'`;

/** The page before its body, with the style and the script. */
export const head = (title: string): Markup => markup`<!doctype html>
<html lang="en"><head>${metaElements}<title>${title}</title><link rel="icon" href="data:,"><style>${trustMarkup(style)}</style><script>${trustMarkup(reportScript)}</script></head>
`;

const metaElements = [
  markup`<meta charset="utf-8">`,
  markup`<meta name="viewport" content="width=device-width,initial-scale=1">`,
  markup`<meta http-equiv="Content-Security-Policy" content="${contentPolicy}">`,
  markup`<meta name="referrer" content="no-referrer">`,
  markup`<meta name="generator" content="research-ralph">`,
];

/** The button that switches between light and dark. */
const themeButton = markup`<button type="button" id="theme" class="theme">Light or dark</button>`;

/** report.html in pieces, so that a page with ten thousand papers need not be in memory as one text. */
export function* reportPage(context: PageContext): Iterable<string> {
  const { model } = context;
  yield head(titleOf(model)).text;
  yield markup`<body>${themeButton}<main>
${reportHeader(context)}`.text;
  for (const section of shownSections(context)) {
    yield* sectionPieces(section, context);
    if (section.name === "figures") yield contents(context).text;
  }
  const dayText = model.day === "" ? "" : ` as of ${model.day}`;
  const pointsText = model.scores.rows.length === 0 ? "" : "points, ";
  yield markup`<footer class="quiet"><p>Made by research-ralph from the records of this project${dayText}. ${narrativeNotes[model.narrative]} Counts, ${pointsText}tables and pictures are derived by code.</p></footer></main></body></html>
`.text;
}

/** A sentence on the origin of the findings, by the form of the narrative. */
const narrativeNotes = {
  data: "The sentences of the findings are an agent’s; each names the quotes it rests on.",
  headings: "The sentences of the findings are those of research-report.md.",
  nothing: "",
};
