import { type Markup, markup, trusted } from "../../../engine/lib/markup.js";
import { sanitise } from "../../../engine/lib/sanitise.js";
import { tablesAsText } from "../quotes.js";
import type { ReportModel } from "../model.js";
import type { Statement } from "../statements.js";

/** What the functions of the sections are given. */
export interface PageContext {
  readonly model: ReportModel;
  /** A sentence of an agent, whose Markdown is rendered: emphasis, code, links; never HTML, never a picture. */
  readonly say: (text: string) => Markup;
  /** Whether a sentence rests on the quote of this handle: only such a quote needs an id to be linked by. */
  readonly isNamed: (handle: string) => boolean;
  /** What of the folder could not be read, a sentence each. */
  readonly notices?: readonly string[];
  /** Of the local page: where a paper's quotes stand next to its text. */
  readonly readingAt?: (id: string) => string;
}

/** Signs that mean something in a line of Markdown. Most sentences have none, and the library costs 60 ms. */
const marked = /[*_`[\]!~\\&]|https?:/;

/** The context of a model. Loads the Markdown library if a sentence of the narrative needs it. */
export async function contextOf(model: ReportModel): Promise<PageContext> {
  const statements = statementsOf(model);
  const handles = new Set(statements.flatMap(({ quotes }) => quotes.map(({ handle }) => handle)));
  const isNamed = (handle: string) => handles.has(handle);
  if (![...statements, ...model.disputed].some(({ text }) => marked.test(text)))
    return { model, isNamed, say: (text) => markup`${shownLine(text)}` };
  const { default: MarkdownIt } = await import("markdown-it");
  const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false });
  markdown.validateLink = (address: string) => /^https?:\/\//i.test(address);
  const { rules } = markdown.renderer;
  rules.image = (tokens, index) => markup`${tokens[index]?.content ?? ""}`.text;
  rules.link_open = (tokens, index) => markup`<a href="${tokens[index]?.attrGet("href")}">`.text;
  return {
    model,
    isNamed,
    say: (text) => {
      const line = shownLine(text);
      return marked.test(line) ? trusted(markdown.renderInline(sanitise(line))) : markup`${line}`;
    },
  };
}

const shownLine = (text: string): string => joinedUnits(tablesAsText(text));

/** No line ends between a number and its percent sign. */
const joinedUnits = (text: string): string => text.replace(/(\d) (?=%)/g, "$1\u00a0");

/** Every sentence of the narrative. */
const statementsOf = (model: ReportModel): Statement[] => [
  ...[model.answer, model.findings, model.recommendations, model.agreed, model.gaps].flat(),
  ...model.disputed.flatMap(({ sides }) => sides),
  ...model.pairs.flatMap(({ differs }) => differs ?? []),
  ...(model.comparison?.rows.flatMap(({ cells }) => cells) ?? []),
  ...model.themes().flatMap(({ statement }) => statement ?? []),
];
