import { type PaperStatus, statusWords } from "../papers.js";
import { type Markup, type Piece, markup } from "../../../engine/lib/markup.js";
import { round } from "./words.js";

/** The widths of pictures, for a text column and for a phone. Only one of the two is shown. */
const widths = { wide: 720, narrow: 350 } as const;

/** A drawing for a given width. Its text is not scaled, so that it can be read on a phone. */
export interface Drawing {
  readonly height: number;
  readonly parts: Piece;
}

/** A picture with its caption, drawn for both widths. `description`: a text for screen readers. */
export const figure = (description: string, caption: Piece, draw: (width: number) => Drawing, legend?: Piece): Markup =>
  markup`<figure>${legend}${(["wide", "narrow"] as const).map((kind) => {
    const width = widths[kind];
    const { height, parts } = draw(width);
    return markup`<svg class="${kind}" viewBox="0 0 ${width} ${Math.ceil(height)}" role="img" aria-label="${description}">${parts}</svg>`;
  })}<figcaption>${caption}</figcaption></figure>`;

/** The id of a paper on the page, without characters that must be escaped in addresses. */
export const anchorOf = (id: string): string =>
  `p-${id.replace(/[^\w.-]/gu, (character) => `~${character.codePointAt(0)?.toString(16)}`)}`;

/** The mark of a decision: a diamond for a paper that is kept for insights, otherwise a circle. `size`: its radius. */
export function mark(status: PaperStatus, x: number, y: number, size: number): Markup {
  const [cx, cy, radius] = [x, y, size].map(round) as [number, number, number];
  if (status !== "insights") return markup`<circle class="${status}" cx="${cx}" cy="${cy}" r="${radius}"/>`;
  const half = Math.round(radius * 12) / 10;
  return markup`<path class="insights" d="M${cx} ${cy - half}l${half} ${half}-${half} ${half}-${half}-${half}z"/>`;
}

/** The legend of the marks in a picture. */
export const legendOf = (kinds: readonly PaperStatus[]): Markup =>
  markup`<p class="legend">${kinds.map((kind) => markup`<span><svg viewBox="0 0 14 14" aria-hidden="true">${mark(kind, 7, 7, kind === "waiting" ? 3 : 5)}</svg>${statusWords[kind]}</span>`)}</p>`;

/** All statuses of papers, in the order of legends. */
export const statuses = Object.keys(statusWords) as readonly PaperStatus[];
