import type { CheerioAPI } from "cheerio";
import { type Colour, colourOf, isUnseen, white } from "./colour.js";
import { type Node, takeAway } from "./select.js";
import { type Style, stylesOf } from "./styles.js";

/** The appearance that an element passes on to its content. */
interface Look {
  /** Undefined for the page's own colour, which is visible. */
  readonly colour: Colour | undefined;
  /** Whether the colour comes from the elements around the document. */
  readonly isOfPage: boolean;
  /** Undefined for a picture or gradient, on which any colour may be visible. */
  readonly ground: Colour | undefined;
  /** In CSS pixels. */
  readonly size: number;
  readonly isVisible: boolean;
}

/** Text of at most this size, in CSS pixels, can't be read. */
const maxUnreadable = 2;
/** Distance in CSS pixels from its place at which nothing is visible. */
const farOff = 100;
/** The same for elements that are moved up: headings are moved by the height of a page's bar. */
const farUp = 900;
/** The maximum share of a page's text in the page's colour that counts as hidden. */
const maxDoubtful = 0.25;
/** Elements whose content is not text of the page. */
const notText = new Set(["script", "style", "head", "template", "noscript"]);
const none: Style = new Map();

/**
 * Removes what the page does not show on a screen (by attributes, styles or style sheets) and returns its text. The
 * elements around the document are never removed, because some pages hide their body until a script has run.
 */
export function removeHidden(page: CheerioAPI): string {
  const styles = stylesOf(page);
  const hidden: string[] = [];
  const removed: Node[] = [];
  const doubtful: (Node & { data: string })[] = [];
  let shownChars = 0;
  const start: Look = { colour: undefined, isOfPage: false, ground: white, size: 16, isVisible: true };
  const pending: { readonly node: Node; readonly look: Look }[] = [];
  const enter = (nodes: readonly Node[], look: Look): void => {
    for (const node of nodes.toReversed()) pending.push({ node, look });
  };
  const hide = (node: Node & { data: string }): void => {
    hidden.push(node.data);
    node.data = " ";
  };
  enter((page.root().toArray()[0]?.children ?? []) as Node[], start);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, look } = next;
    if (node.type === "text") {
      if (node.data.trim() === "") continue;
      const isBlank = isInkUnseen(look);
      if (!look.isVisible || look.size <= maxUnreadable || (isBlank && !look.isOfPage)) hide(node);
      else if (isBlank) doubtful.push(node);
      else shownChars += node.data.length;
      continue;
    }
    if (!("attribs" in node) || notText.has(node.name)) continue;
    const style = styles.get(node) ?? none;
    const holdsDocument = /^(?:html|body|main|article)$/.test(node.name);
    if (!holdsDocument && ("hidden" in node.attribs || isInvisible(style))) {
      hidden.push(page(node).text());
      removed.push(node);
    } else enter(node.children as Node[], lookOf(style, look, holdsDocument));
  }
  // A page may have the colour of its background as a whole until its script has run.
  const doubtfulChars = doubtful.reduce((sum, { data }) => sum + data.length, 0);
  if (doubtfulChars <= maxDoubtful * (shownChars + doubtfulChars)) for (const node of doubtful) hide(node);
  takeAway(removed);
  return hidden.join(" ").replace(/\s+/g, " ").trim();
}

const isInkUnseen = ({ colour, ground }: Look): boolean =>
  colour !== undefined && (ground === undefined ? colour[3] <= 0.08 : isUnseen(colour, ground));

/** Whether an element with all its content is not visible. */
function isInvisible(style: Style): boolean {
  if (style.size === 0) return false;
  const valueOf = (name: string): string => style.get(name) ?? "";
  if (valueOf("display") === "none" || valueOf("content-visibility") === "hidden") return true;
  const sizes = [pixels(valueOf("height")), pixels(valueOf("width"))];
  const isCut = /hidden|clip/.test(valueOf("overflow"));
  if (sizes.some((size) => size === 0 || (isCut && size <= maxUnreadable))) return true;
  // An animation may move an element into view or make it visible.
  const animation = style.get("animation-name") ?? style.get("animation") ?? "none";
  return !/^none\b/.test(animation) ? false : Number.parseFloat(valueOf("opacity")) <= 0.05 || isOff(valueOf);
}

/** Whether an element is moved off the page, or clipped to nothing. */
function isOff(valueOf: (name: string) => string): boolean {
  const along = ["left", "right", "top", "text-indent", "margin-left"].map((name) => pixels(valueOf(name)));
  const sides = `${valueOf("inset")} ${valueOf("margin")} ${valueOf("bottom")} ${valueOf("margin-top")}`
    .split(" ")
    .map(pixels);
  if (along.some((length) => length <= -farOff) || sides.some((length) => length <= -farUp)) return true;
  const moved = /\btranslate(?:x|y|3d)?\(([^()]{1,80})\)/.exec(valueOf("transform"))?.[1] ?? valueOf("translate");
  if (moved.split(/[\s,]+/).some((length) => Math.abs(pixels(length)) >= farUp)) return true;
  const [top, right, bottom, left] = (/^rect\(([^()]{1,80})\)/.exec(valueOf("clip"))?.[1] ?? "")
    .split(/[\s,]+/)
    .map(pixels);
  const isNothing = (from = Number.NaN, to = Number.NaN) => to - from <= maxUnreadable;
  return isNothing(left, right) || isNothing(top, bottom) || /^inset\((?:[5-9]\d|100)%/.test(valueOf("clip-path"));
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

/** A length in CSS pixels; NaN for other values and formulas. */
function pixels(length: string): number {
  const found = /^(-?\d{0,9}\.?\d{1,9})(px|pt|r?em|ch|vw|vh|%)?$/.exec(length.trim());
  return found === null ? Number.NaN : Number(found[1]) * (units[found[2] ?? "px"] ?? 1);
}

/** The appearance of the content of an element with this style. */
function lookOf(style: Style, parent: Look, holdsDocument: boolean): Look {
  if (style.size === 0) return parent;
  const background = style.get("background-color") ?? style.get("background");
  const ground = background === undefined ? parent.ground : groundOf(background, parent.ground);
  // A picture that is clipped to the letters is their colour.
  const isCutOut = (style.get("background-clip") ?? style.get("-webkit-background-clip")) === "text";
  const ink = style.get("-webkit-text-fill-color") ?? style.get("color") ?? "inherit";
  const visibility = style.get("visibility") ?? "inherit";
  const isInherited = ink === "inherit";
  return {
    ground,
    colour: isCutOut ? undefined : isInherited ? parent.colour : colourOf(ink),
    isOfPage: isInherited ? parent.isOfPage : holdsDocument,
    size: holdsDocument ? parent.size : sizeOf(style, parent.size),
    isVisible: visibility === "inherit" || holdsDocument ? parent.isVisible : !/^(?:hidden|collapse)$/.test(visibility),
  };
}

/** The background colour: that of the elements around if it is transparent, undefined if unknown. */
function groundOf(value: string, parentGround: Colour | undefined): Colour | undefined {
  if (/^(?:none|transparent|inherit|initial|unset)?$/.test(value)) return parentGround;
  const colour = /url\(|gradient\(/.test(value) ? undefined : (colourOf(value) ?? colourOf(value.split(" ")[0] ?? ""));
  return colour === undefined || colour[3] >= 0.5 ? colour : parentGround;
}

function sizeOf(style: Style, parentSize: number): number {
  const short = /(?:^|\s)(0|\d{0,4}\.?\d{1,4}(?:px|pt|r?em|%))(?=[\s/]|$)/.exec(style.get("font") ?? "")?.[1];
  const sizeText = style.get("font-size") ?? short ?? "";
  const size = /^[\d.]+(?:em|%)$/.test(sizeText)
    ? (Number.parseFloat(sizeText) / (sizeText.endsWith("%") ? 100 : 1)) * parentSize
    : pixels(sizeText);
  return Number.isNaN(size) ? parentSize : size;
}
