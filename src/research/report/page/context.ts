import { type Markup, markup, trustMarkup } from "../../../engine/lib/markup.js";
import { sanitise } from "../../../engine/lib/sanitise.js";
import { tablesAsText } from "../quotes.js";
import type { ReportModel } from "../model.js";
import type { Statement } from "../statements.js";

/** The input of the functions that render sections. */
export interface PageContext {
  readonly model: ReportModel;
  /** Renders the Markdown of an agent's sentence: emphasis, code and links, but no HTML and no pictures. */
  readonly render: (text: string) => Markup;
  /** Whether a sentence cites the quote with this handle. Only such quotes need an id for links. */
  readonly isCited: (handle: string) => boolean;
  /** What could not be read from the folder, one sentence each. */
  readonly notices?: readonly string[];
  /** Only for the local page: the address where a paper's quotes are shown beside its text. */
  readonly readingAddress?: (id: string) => string;
}

/** Characters with a meaning in Markdown. Most sentences have none, and loading the library takes 60 ms. */
const markdownCharacters = /[*_`[\]!~\\&]|https?:/;

/** The context of a model. Loads the Markdown library if a sentence of the narrative needs it. */
export async function contextOf(model: ReportModel): Promise<PageContext> {
  const statements = statementsOf(model);
  const handles = new Set(statements.flatMap(({ quotes }) => quotes.map(({ handle }) => handle)));
  const isCited = (handle: string) => handles.has(handle);
  if (![...statements, ...model.disputed].some(({ text }) => markdownCharacters.test(text)))
    return { model, isCited, render: (text) => markup`${displayLine(text)}` };
  const { default: MarkdownIt } = await import("markdown-it");
  const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false });
  markdown.validateLink = (address: string) => /^https?:\/\//i.test(address);
  const { rules } = markdown.renderer;
  // A picture is shown as its alternative text.
  rules.image = (tokens, index) => markup`${tokens[index]?.content ?? ""}`.text;
  rules.link_open = (tokens, index) => markup`<a href="${tokens[index]?.attrGet("href")}">`.text;
  return {
    model,
    isCited,
    render: (text) => {
      const line = displayLine(text);
      return markdownCharacters.test(line) ? trustMarkup(markdown.renderInline(sanitise(line))) : markup`${line}`;
    },
  };
}

const displayLine = (text: string): string => withoutUnitBreaks(tablesAsText(text));

/** Prevents a line break between a number and its percent sign. */
const withoutUnitBreaks = (text: string): string => text.replace(/(\d) (?=%)/g, "$1\u00a0");

/** All sentences of the narrative. */
const statementsOf = (model: ReportModel): Statement[] => [
  ...[model.answer, model.findings, model.recommendations, model.agreed, model.gaps].flat(),
  ...model.disputed.flatMap(({ sides }) => sides),
  ...model.pairs.flatMap(({ differs }) => differs ?? []),
  ...(model.comparison?.rows.flatMap(({ cells }) => cells) ?? []),
  ...model.themes().flatMap(({ statement }) => statement ?? []),
];
