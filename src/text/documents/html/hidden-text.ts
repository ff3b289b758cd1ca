import type { CheerioAPI } from "cheerio";
import { type Colour, colourOf, isUnseen, white } from "./colour.js";
import { type Node, takeAway } from "./select.js";
import { type Style, stylesOf } from "./styles.js";

/** What an element hands down to those in it. */
interface Look {
  /** Undefined: the page's own, which can be seen. */
  readonly colour: Colour | undefined;
  /** Whether the elements that hold the document give the colour. */
  readonly isOfPage: boolean;
  /** Undefined: a picture or a gradient, on which any colour may stand. */
  readonly ground: Colour | undefined;
  /** In CSS pixels. */
  readonly size: number;
  readonly isVisible: boolean;
}

/** Text set at most so large, in CSS pixels, is not meant for eyes. */
const maxUnreadable = 2;
/** So far off its place, in CSS pixels, nothing is seen. Headings are set off upwards by the height of a page's bar. */
const [farOff, farUp] = [100, 900];
/** The share of a page's text that may be in the colour of the page and count as hidden. */
const maxDoubtful = 0.25;
/** Their content is not text of the page. */
const unshown = new Set(["script", "style", "head", "template", "noscript"]);
const none: Style = new Map();

/**
 * Takes out what the page does not show on a screen (by attribute, style or its own style sheets) and returns its text.
 * Pages that fade in hide their whole body until a script has run, so nothing hides the elements that hold the document
 * itself.
 */
export function removeHidden(page: CheerioAPI): string {
  const styles = stylesOf(page);
  const hidden: string[] = [];
  const gone: Node[] = [];
  const doubtful: (Node & { data: string })[] = [];
  let shown = 0;
  const start: Look = { colour: undefined, isOfPage: false, ground: white, size: 16, isVisible: true };
  const waiting: { readonly node: Node; readonly look: Look }[] = [];
  const enter = (nodes: readonly Node[], look: Look): void => {
    for (const node of nodes.toReversed()) waiting.push({ node, look });
  };
  const hide = (node: Node & { data: string }): void => {
    hidden.push(node.data);
    node.data = " ";
  };
  enter((page.root().toArray()[0]?.children ?? []) as Node[], start);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, look } = next;
    if (node.type === "text") {
      if (node.data.trim() === "") continue;
      const isBlank = isInkUnseen(look);
      if (!look.isVisible || look.size <= maxUnreadable || (isBlank && !look.isOfPage)) hide(node);
      else if (isBlank) doubtful.push(node);
      else shown += node.data.length;
      continue;
    }
    if (!("attribs" in node) || unshown.has(node.name)) continue;
    const style = styles.get(node) ?? none;
    const holdsDocument = /^(?:html|body|main|article)$/.test(node.name);
    if (!holdsDocument && ("hidden" in node.attribs || isAway(style))) {
      hidden.push(page(node).text());
      gone.push(node);
    } else enter(node.children as Node[], lookOf(style, look, holdsDocument));
  }
  // A page may be set in the colour of its ground as a whole, until its script has run.
  const unsure = doubtful.reduce((sum, { data }) => sum + data.length, 0);
  if (unsure <= maxDoubtful * (shown + unsure)) for (const node of doubtful) hide(node);
  takeAway(gone);
  return hidden.join(" ").replace(/\s+/g, " ").trim();
}

const isInkUnseen = ({ colour, ground }: Look): boolean =>
  colour !== undefined && (ground === undefined ? colour[3] <= 0.08 : isUnseen(colour, ground));

/** Whether an element and all that is in it is nowhere to be seen. */
function isAway(style: Style): boolean {
  if (style.size === 0) return false;
  const of = (name: string): string => style.get(name) ?? "";
  if (of("display") === "none" || of("content-visibility") === "hidden") return true;
  const sizes = [pixels(of("height")), pixels(of("width"))];
  const isCut = /hidden|clip/.test(of("overflow"));
  if (sizes.some((size) => size === 0 || (isCut && size <= maxUnreadable))) return true;
  // What is not in its place, or not yet to be seen, may be brought there.
  const animation = style.get("animation-name") ?? style.get("animation") ?? "none";
  return !/^none\b/.test(animation) ? false : Number.parseFloat(of("opacity")) <= 0.05 || isOff(of);
}

/** Whether an element is moved off the page, or cut to nothing. */
function isOff(of: (name: string) => string): boolean {
  const along = ["left", "right", "top", "text-indent", "margin-left"].map((name) => pixels(of(name)));
  const sides = `${of("inset")} ${of("margin")} ${of("bottom")} ${of("margin-top")}`.split(" ").map(pixels);
  if (along.some((length) => length <= -farOff) || sides.some((length) => length <= -farUp)) return true;
  const moved = /\btranslate(?:x|y|3d)?\(([^()]{1,80})\)/.exec(of("transform"))?.[1] ?? of("translate");
  if (moved.split(/[\s,]+/).some((length) => Math.abs(pixels(length)) >= farUp)) return true;
  const [top, right, bottom, left] = (/^rect\(([^()]{1,80})\)/.exec(of("clip"))?.[1] ?? "").split(/[\s,]+/).map(pixels);
  const isNothing = (from = Number.NaN, to = Number.NaN) => to - from <= maxUnreadable;
  return isNothing(left, right) || isNothing(top, bottom) || /^inset\((?:[5-9]\d|100)%/.test(of("clip-path"));
}

const units: Readonly<Record<string, number>> = {
  px: 1,
  pt: 4 / 3,
  em: 16,
  rem: 16,
  ch: 8,
  vw: 12.8,
  vh: 8,
  "%": 12.8,
};

/** A length in CSS pixels; NaN for what is not a length, or a formula. */
function pixels(length: string): number {
  const found = /^(-?\d{0,9}\.?\d{1,9})(px|pt|r?em|ch|vw|vh|%)?$/.exec(length.trim());
  return found === null ? Number.NaN : Number(found[1]) * (units[found[2] ?? "px"] ?? 1);
}

/** How what stands in an element of this style looks. */
function lookOf(style: Style, above: Look, holdsDocument: boolean): Look {
  if (style.size === 0) return above;
  const painted = style.get("background-color") ?? style.get("background");
  const ground = painted === undefined ? above.ground : groundOf(painted, above.ground);
  // A picture that is cut to the shape of the letters is their colour.
  const isCutOut = (style.get("background-clip") ?? style.get("-webkit-background-clip")) === "text";
  const ink = style.get("-webkit-text-fill-color") ?? style.get("color") ?? "inherit";
  const visibility = style.get("visibility") ?? "inherit";
  const isInherited = ink === "inherit";
  return {
    ground,
    colour: isCutOut ? undefined : isInherited ? above.colour : colourOf(ink),
    isOfPage: isInherited ? above.isOfPage : holdsDocument,
    size: holdsDocument ? above.size : sizeOf(style, above.size),
    isVisible: visibility === "inherit" || holdsDocument ? above.isVisible : !/^(?:hidden|collapse)$/.test(visibility),
  };
}

/** The ground that a background gives: that of the elements around where it is transparent, undefined where unknown. */
function groundOf(value: string, above: Colour | undefined): Colour | undefined {
  if (/^(?:none|transparent|inherit|initial|unset)?$/.test(value)) return above;
  const colour = /url\(|gradient\(/.test(value) ? undefined : (colourOf(value) ?? colourOf(value.split(" ")[0] ?? ""));
  return colour === undefined || colour[3] >= 0.5 ? colour : above;
}

function sizeOf(style: Style, above: number): number {
  const short = /(?:^|\s)(0|\d{0,4}\.?\d{1,4}(?:px|pt|r?em|%))(?=[\s/]|$)/.exec(style.get("font") ?? "")?.[1];
  const given = style.get("font-size") ?? short ?? "";
  const size = /^[\d.]+(?:em|%)$/.test(given)
    ? (Number.parseFloat(given) / (given.endsWith("%") ? 100 : 1)) * above
    : pixels(given);
  return Number.isNaN(size) ? above : size;
}
