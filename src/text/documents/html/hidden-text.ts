import type { CheerioAPI } from "cheerio";
import { type Colour, colourOf, isUnseen, maxUnseenAlpha, white } from "./colour.js";
import { type Node, removeNodes } from "./select.js";
import { type Style, stylesOf } from "./styles.js";

/** The appearance that the content of an element inherits. */
interface Appearance {
  /** Undefined for the page's own colour, which is visible. */
  readonly colour: Colour | undefined;
  /** Whether the colour was set for the page or the document, and not for an element in it. */
  readonly isPageColour: boolean;
  /** The colour of the background. Undefined for a picture or gradient, on which any colour may be visible. */
  readonly background: Colour | undefined;
  readonly fontSizePx: number;
  readonly isVisible: boolean;
}

/** Text of at most this font size, and elements of at most this size, in CSS pixels, can't be read. */
const maxUnreadablePx = 2;
/** An element that was moved so many CSS pixels out of its position is not visible. */
const farOffPx = 100;
/** The same for elements that were moved up: headings are often moved up by the height of a page's bar. */
const farUpPx = 900;
/** If more than this share of a page's text is unseen in the page's own colour, it does not count as hidden. */
const maxUnseenShare = 0.25;
/** Elements whose content is not text of the page. */
const nonTextElements = new Set(["script", "style", "head", "template", "noscript"]);
const emptyStyle: Style = new Map();

/**
 * Removes the text that a page does not show on a screen, because of attributes, styles or style sheets. The elements
 * around the document are never removed, because some pages hide their body until a script has run.
 * @returns the removed text.
 */
export function removeHidden(page: CheerioAPI): string {
  const styles = stylesOf(page);
  const hiddenTexts: string[] = [];
  const removedNodes: Node[] = [];
  const unseenInPageColour: (Node & { data: string })[] = [];
  let visibleChars = 0;
  const pageAppearance: Appearance = {
    colour: undefined,
    isPageColour: false,
    background: white,
    fontSizePx: 16,
    isVisible: true,
  };
  const pending: { readonly node: Node; readonly appearance: Appearance }[] = [];
  const addPending = (nodes: readonly Node[], appearance: Appearance): void => {
    for (const node of nodes.toReversed()) pending.push({ node, appearance });
  };
  const removeText = (node: Node & { data: string }): void => {
    hiddenTexts.push(node.data);
    node.data = " ";
  };
  addPending((page.root().toArray()[0]?.children ?? []) as Node[], pageAppearance);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, appearance } = next;
    if (node.type === "text") {
      if (node.data.trim() === "") continue;
      const hasUnseenColour = isColourUnseen(appearance);
      const { isVisible, fontSizePx, isPageColour } = appearance;
      if (!isVisible || fontSizePx <= maxUnreadablePx || (hasUnseenColour && !isPageColour)) removeText(node);
      else if (hasUnseenColour) unseenInPageColour.push(node);
      else visibleChars += node.data.length;
      continue;
    }
    if (!("attribs" in node) || nonTextElements.has(node.name)) continue;
    const style = styles.get(node) ?? emptyStyle;
    const containsDocument = /^(?:html|body|main|article)$/.test(node.name);
    if (!containsDocument && ("hidden" in node.attribs || isInvisible(style))) {
      hiddenTexts.push(page(node).text());
      removedNodes.push(node);
    } else addPending(node.children as Node[], appearanceIn(style, appearance, containsDocument));
  }
  // All text of a page may have the colour of its background until a script has run; then it is not removed.
  const unseenChars = unseenInPageColour.reduce((sum, { data }) => sum + data.length, 0);
  if (unseenChars <= maxUnseenShare * (visibleChars + unseenChars))
    for (const node of unseenInPageColour) removeText(node);
  removeNodes(removedNodes);
  return hiddenTexts.join(" ").replace(/\s+/g, " ").trim();
}

const isColourUnseen = ({ colour, background }: Appearance): boolean =>
  colour !== undefined && (background === undefined ? colour[3] <= maxUnseenAlpha : isUnseen(colour, background));

/** Whether an element with all its content is not visible. */
function isInvisible(style: Style): boolean {
  if (style.size === 0) return false;
  const valueOf = (name: string): string => style.get(name) ?? "";
  if (valueOf("display") === "none" || valueOf("content-visibility") === "hidden") return true;
  const sizes = [pixelsOf(valueOf("height")), pixelsOf(valueOf("width"))];
  const hasHiddenOverflow = /hidden|clip/.test(valueOf("overflow"));
  if (sizes.some((size) => size === 0 || (hasHiddenOverflow && size <= maxUnreadablePx))) return true;
  // An animation may move an element into view or make it visible.
  const animation = style.get("animation-name") ?? style.get("animation") ?? "none";
  if (!/^none\b/.test(animation)) return false;
  return Number.parseFloat(valueOf("opacity")) <= 0.05 || isMovedOrClipped(valueOf);
}

/** Whether an element is moved off the page, or clipped to nothing. */
function isMovedOrClipped(valueOf: (name: string) => string): boolean {
  const offsets = ["left", "right", "top", "text-indent", "margin-left"].map((name) => pixelsOf(valueOf(name)));
  const upOffsets = `${valueOf("inset")} ${valueOf("margin")} ${valueOf("bottom")} ${valueOf("margin-top")}`
    .split(" ")
    .map(pixelsOf);
  if (offsets.some((offset) => offset <= -farOffPx) || upOffsets.some((offset) => offset <= -farUpPx)) return true;
  const translation = /\btranslate(?:x|y|3d)?\(([^()]{1,80})\)/.exec(valueOf("transform"))?.[1] ?? valueOf("translate");
  if (translation.split(/[\s,]+/).some((offset) => Math.abs(pixelsOf(offset)) >= farUpPx)) return true;
  const [top, right, bottom, left] = (/^rect\(([^()]{1,80})\)/.exec(valueOf("clip"))?.[1] ?? "")
    .split(/[\s,]+/)
    .map(pixelsOf);
  const isTooNarrow = (start = Number.NaN, end = Number.NaN) => end - start <= maxUnreadablePx;
  return isTooNarrow(left, right) || isTooNarrow(top, bottom) || /^inset\((?:[5-9]\d|100)%/.test(valueOf("clip-path"));
}

/** The CSS pixels of one unit, for a font of 16 pixels and a usual screen. */
const pixelsPerUnit: Readonly<Record<string, number>> = {
  px: 1,
  pt: 4 / 3,
  em: 16,
  rem: 16,
  ch: 8,
  vw: 12.8,
  vh: 8,
  "%": 12.8,
};

/** A CSS length in pixels. NaN for other values and formulas. */
function pixelsOf(length: string): number {
  const match = /^(-?\d{0,9}\.?\d{1,9})(px|pt|r?em|ch|vw|vh|%)?$/.exec(length.trim());
  return match === null ? Number.NaN : Number(match[1]) * (pixelsPerUnit[match[2] ?? "px"] ?? 1);
}

/** The appearance of the content of an element with this style. */
function appearanceIn(style: Style, parent: Appearance, containsDocument: boolean): Appearance {
  if (style.size === 0) return parent;
  const backgroundValue = style.get("background-color") ?? style.get("background");
  // With background-clip: text, the picture in the background fills the letters.
  const hasFilledLetters = (style.get("background-clip") ?? style.get("-webkit-background-clip")) === "text";
  const textColour = style.get("-webkit-text-fill-color") ?? style.get("color") ?? "inherit";
  const visibility = style.get("visibility") ?? "inherit";
  const isInherited = textColour === "inherit";
  return {
    background: backgroundValue === undefined ? parent.background : backgroundOf(backgroundValue, parent.background),
    colour: hasFilledLetters ? undefined : isInherited ? parent.colour : colourOf(textColour),
    isPageColour: isInherited ? parent.isPageColour : containsDocument,
    fontSizePx: containsDocument ? parent.fontSizePx : fontSizeOf(style, parent.fontSizePx),
    isVisible:
      visibility === "inherit" || containsDocument ? parent.isVisible : !/^(?:hidden|collapse)$/.test(visibility),
  };
}

/** The colour of a background; that of the element around it if it is transparent. Undefined if it is not known. */
function backgroundOf(value: string, parentBackground: Colour | undefined): Colour | undefined {
  if (/^(?:none|transparent|inherit|initial|unset)?$/.test(value)) return parentBackground;
  const colour = /url\(|gradient\(/.test(value) ? undefined : (colourOf(value) ?? colourOf(value.split(" ")[0] ?? ""));
  return colour === undefined || colour[3] >= 0.5 ? colour : parentBackground;
}

/** The font size of an element in CSS pixels. */
function fontSizeOf(style: Style, parentSizePx: number): number {
  const sizeInFont = /(?:^|\s)(0|\d{0,4}\.?\d{1,4}(?:px|pt|r?em|%))(?=[\s/]|$)/.exec(style.get("font") ?? "")?.[1];
  const sizeText = style.get("font-size") ?? sizeInFont ?? "";
  const sizePx = /^[\d.]+(?:em|%)$/.test(sizeText)
    ? (Number.parseFloat(sizeText) / (sizeText.endsWith("%") ? 100 : 1)) * parentSizePx
    : pixelsOf(sizeText);
  return Number.isNaN(sizePx) ? parentSizePx : sizePx;
}
