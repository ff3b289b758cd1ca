import { type PaperStatus, statusWords } from "../papers.js";
import { type Markup, type Piece, markup } from "../../../engine/lib/markup.js";

/** How wide pictures are drawn: for a column of text, and for a phone. One of the two is shown. */
const widths = { wide: 720, narrow: 350 } as const;

/** A drawing of a given width; its text is not scaled, so that it can be read on a phone. */
export interface Drawing {
  readonly height: number;
  readonly parts: Piece;
}

/** A picture with its caption, drawn for both widths. `says` is for people who don't see it. */
export const figure = (says: string, caption: Piece, draw: (width: number) => Drawing, legend?: Piece): Markup =>
  markup`<figure>${legend}${(["wide", "narrow"] as const).map((kind) => {
    const width = widths[kind];
    const { height, parts } = draw(width);
    return markup`<svg class="${kind}" viewBox="0 0 ${width} ${Math.ceil(height)}" role="img" aria-label="${says}">${parts}</svg>`;
  })}<figcaption>${caption}</figcaption></figure>`;

/** The id by which links reach a paper on the page: what an address needs no escape for. */
export const anchorOf = (id: string): string =>
  `p-${id.replace(/[^\w.-]/gu, (sign) => `~${sign.codePointAt(0)?.toString(16)}`)}`;

/** The sign of a decision: a disc, a diamond, a ring, a small ring. `size` is its radius. */
export function mark(status: PaperStatus, x: number, y: number, size: number): Markup {
  const [at, down, reach] = [x, y, size].map((value) => Math.round(value * 10) / 10) as [number, number, number];
  if (status !== "insights") return markup`<circle class="${status}" cx="${at}" cy="${down}" r="${reach}"/>`;
  const half = Math.round(reach * 12) / 10;
  return markup`<path class="insights" d="M${at} ${down - half}l${half} ${half}-${half} ${half}-${half}-${half}z"/>`;
}

/** Which sign means what, of those that there are. */
export const legendOf = (kinds: readonly PaperStatus[]): Markup =>
  markup`<p class="legend">${kinds.map((kind) => markup`<span><svg viewBox="0 0 14 14" aria-hidden="true">${mark(kind, 7, 7, kind === "waiting" ? 3 : 5)}</svg>${statusWords[kind]}</span>`)}</p>`;

export const statuses: readonly PaperStatus[] = ["presented", "insights", "rejected", "waiting"];
