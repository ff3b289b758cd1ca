import type { CheerioAPI } from "cheerio";
import { shownByAnimation } from "./animation.js";
import { type Colour, colourOf, isUnseen, white } from "./colour.js";
import { costOf, type Element, indexOf, type Node, select, specificityOf, takeAway } from "./select.js";
import { buried, coversOf, onTop, type Stacking, stackingOf } from "./stacking.js";
import { declarationsOf, declare, type Keyframes, plainValue, readStyleSheet, sheetInAddress } from "./style-sheet.js";

type Declarations = ReadonlyMap<string, string>;

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
  readonly stacking: Stacking;
}

/** Text set at most so large, in CSS pixels, is not meant for eyes. */
const maxUnreadable = 2;
/** So far off its place, in CSS pixels, nothing is seen. Headings are set off upwards by the height of a page's bar. */
const offsets = {
  left: 100,
  right: 100,
  top: 100,
  "text-indent": 100,
  "margin-left": 100,
  "inset-inline-start": 100,
  "margin-inline-start": 100,
  "inset-block-start": 900,
  bottom: 900,
  "margin-top": 900,
};
const farOff = 500;
/** Letters that are moved into one another by so many CSS pixels are a blot. */
const maxOverlap = 6;

/**
 * Takes out what the page does not show on a screen (by attribute, style or its own style sheets) and returns its text.
 * Pages that fade in hide their whole body until a script has run, so nothing hides the elements that hold the document
 * itself.
 */
export function removeHidden(page: CheerioAPI): string {
  const { styles, keyframes } = stylesOf(page);
  const variables = variablesOf(styles);
  const styleOf = (node: Node): readonly Declarations[] => {
    const given = styles.get(node);
    return given === undefined ? [none] : shownByAnimation(resolved(given, variables), keyframes);
  };
  const hidden: string[] = [];
  const gone: Node[] = [];
  const doubtful: (Node & { data: string })[] = [];
  let shown = 0;
  const start: Look = { colour: undefined, isOfPage: false, ground: white, size: 16, isVisible: true, stacking: onTop };
  const waiting: { readonly node: Node; readonly look: Look }[] = [];
  const roots = (page.root().toArray()[0]?.children ?? []) as Node[];
  const covers = coversOf(roots, styleOf, (frames) => frames.every(isAway));
  const enter = (nodes: readonly Node[], look: Look): void => {
    for (const node of nodes.toReversed()) {
      const { cover } = look.stacking;
      // Nothing lies over itself.
      const own = cover?.node === node ? undefined : cover;
      waiting.push({
        node,
        look: { ...look, stacking: { ...look.stacking, cover: own ?? covers.movedOver.get(node) } },
      });
    }
  };
  enter(roots, start);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, look } = next;
    if (node.type === "text") {
      if (node.data.trim() === "") continue;
      const isUnread = !look.isVisible || look.size <= maxUnreadable;
      const isBlank = isInkUnseen(look);
      if (isUnread || (isBlank && !look.isOfPage)) {
        hidden.push(node.data);
        node.data = " ";
      } else if (isBlank || look.stacking.cover !== undefined) doubtful.push(node);
      else shown += node.data.length;
      continue;
    }
    if (!("attribs" in node) || unshown.has(node.name)) continue;
    const frames = styleOf(node);
    const [declared = none] = frames;
    const holdsDocument = /^(?:html|body|main|article)$/.test(node.name);
    const isPage = node.name === "html" || node.name === "body";
    const stacking = stackingOf(declared, look.stacking, { isPage, order: covers.orderOf(node) });
    if (!holdsDocument && ("hidden" in node.attribs || frames.every(isAway))) {
      hidden.push(page(node).text());
      gone.push(node);
    } else {
      const own = lookOf(declared, look, holdsDocument);
      const isBehind = stacking.isBehind && !holdsDocument;
      const cover = isBehind ? buried : (stacking.cover ?? (holdsDocument ? undefined : covers.within.get(node)));
      enter(node.children as Node[], { ...own, stacking: { ...stacking, cover } });
    }
  }
  // A page that waits for its script lies under a cover, or is set in the colour of its ground, as a whole.
  const unsure = doubtful.reduce((sum, { data }) => sum + data.length, 0);
  if (unsure <= maxDoubtful * (shown + unsure))
    for (const node of doubtful) {
      hidden.push(node.data);
      node.data = " ";
    }
  takeAway(gone);
  return hidden.join(" ").replace(/\s+/g, " ").trim();
}

/** The share of a page's text that may lie under covers, or in the colour of the page, and count as hidden. */
const maxDoubtful = 0.25;

const none: Declarations = new Map();
/** Their content is not text of the page. */
const unshown = new Set(["script", "style", "head", "template", "noscript"]);

const isInkUnseen = ({ colour, ground }: Look): boolean =>
  colour !== undefined && (ground === undefined ? colour[3] <= 0.08 : isUnseen(colour, ground));

/** Steps of comparing the rules of a page with its elements; long articles with long style sheets need some million. */
const maxComparisons = 20_000_000;

/**
 * The declarations of each element that has any: of the page's style sheets, the more specific and the later over the
 * others, and of its own attribute over them.
 */
function stylesOf(page: CheerioAPI): {
  readonly styles: ReadonlyMap<Node, Declarations>;
  readonly keyframes: Keyframes;
} {
  const styles = new Map<Node, Map<string, string>>();
  const add = (element: Element, declarations: Declarations): void => {
    const own = styles.get(element) ?? new Map<string, string>();
    styles.set(element, own);
    for (const [name, value] of declarations) declare(own, name, value);
  };
  const index = indexOf(page);
  for (const element of index.all) {
    const { color, bgcolor } = element.attribs;
    if (bgcolor !== undefined) add(element, new Map([["background-color", bgcolor.toLowerCase()]]));
    if (color !== undefined && element.name === "font") add(element, new Map([["color", color.toLowerCase()]]));
  }
  const sheets = page("style, link")
    .toArray()
    .map((element) =>
      readStyleSheet(page(element).is("style") ? page(element).text() : linkedSheet(page(element).attr())),
    );
  const rules = sheets
    .flatMap((sheet) => sheet.rules)
    .flatMap(({ selectors, declarations }) => {
      const telling = new Map([...declarations].filter(([name]) => tells.has(name) || name.startsWith("--")));
      return telling.size === 0
        ? []
        : selectors.map((selector) => ({ selector, telling, weight: specificityOf(selector) }));
    })
    .toSorted((a, b) => a.weight - b.weight);
  let room = maxComparisons;
  for (const { selector, telling } of rules) {
    const cost = costOf(index, selector);
    // One that costs too much leaves room for the others.
    if (cost > room) continue;
    room -= cost;
    for (const element of select(index, selector)) add(element, telling);
  }
  for (const element of index.all) {
    const { style } = element.attribs;
    if (style !== undefined) add(element, declarationsOf(style));
  }
  return { styles, keyframes: new Map(sheets.flatMap((sheet) => [...sheet.keyframes])) };
}

const linkedSheet = ({ rel = "", href = "" }: Readonly<Record<string, string>> = {}): string =>
  /\bstylesheet\b/i.test(rel) ? sheetInAddress(href) : "";

/** What is looked at in a style sheet. */
const tells = new Set(
  "display visibility opacity content-visibility font font-size color -webkit-text-fill-color background background-color clip clip-path transform translate scale zoom left top right bottom text-indent margin-left margin-top height width max-height max-width overflow overflow-x overflow-y position filter inset inset-inline-start inset-block-start margin margin-inline-start block-size inline-size letter-spacing z-index isolation mix-blend-mode background-image animation animation-name animation-duration animation-delay animation-fill-mode animation-play-state animation-iteration-count animation-direction background-clip -webkit-background-clip mask mask-image -webkit-mask -webkit-mask-image".split(
    " ",
  ),
);

/** Custom properties of the whole page; where one is set in several places, its last value. */
function variablesOf(styles: ReadonlyMap<Node, Declarations>): Declarations {
  const variables = new Map<string, string>();
  for (const declarations of styles.values())
    for (const [name, value] of declarations)
      if (name.startsWith("--")) variables.set(name, plainValue(value).slice(0, 200));
  return variables;
}

const maxReplacing = 5;

function resolved(declarations: Declarations, variables: Declarations): Declarations {
  const plain = new Map<string, string>();
  for (const [name, value] of declarations) {
    if (!tells.has(name)) continue;
    let written = plainValue(value).slice(0, 300);
    for (let round = 0; round < maxReplacing && written.includes("var("); round += 1)
      written = written
        .replace(
          /var\(\s?(--[^\s,()]{1,80})\s?(?:,([^()]{0,100}))?\)/g,
          (_, variable: string, otherwise: string | undefined) => variables.get(variable) ?? otherwise?.trim() ?? "",
        )
        .slice(0, 300);
    plain.set(name, written.trim());
  }
  return plain;
}

/** Whether an element and all that is in it is nowhere to be seen. */
function isAway(style: Declarations): boolean {
  if (style.size === 0) return false;
  const of = (name: string): string => style.get(name) ?? "";
  if (of("display") === "none" || of("content-visibility") === "hidden") return true;
  if (isNothing(of("opacity"), 0.05) || isNothing(of("zoom"), 0.05) || isNothing(of("scale"), 0.05)) return true;
  if (/^opacity\((?:0|0?\.0\d*|[0-5]%)\)/.test(of("filter"))) return true;
  if (Object.entries(offsets).some(([name, far]) => pixels(of(name)) <= -far)) return true;
  // The sides of a shorthand; what is moved so far up may be a heading.
  if (`${of("inset")} ${of("margin")}`.split(" ").some((side) => pixels(side) <= -offsets.bottom)) return true;
  if (pixels(of("letter-spacing")) <= -maxOverlap) return true;
  if (/\brotate[xy]\(\s?-?(?:90|270)deg/.test(of("transform")) || /\bmatrix\(\s?0\s?,\s?0\s?,/.test(of("transform")))
    return true;
  const moved = /\btranslate(?:x|y|3d)?\(([^()]{1,80})\)/.exec(of("transform"))?.[1] ?? of("translate");
  if (moved.split(/[\s,]+/).some((length) => Math.abs(pixels(length)) >= farOff)) return true;
  const scaled = /\bscale(?:x|y|3d)?\(([^()]{1,80})\)/.exec(of("transform"))?.[1];
  if (scaled?.split(/[\s,]+/).some((factor) => isNothing(factor, 0.05)) === true) return true;
  if (isClipped(of("clip"), of("clip-path"))) return true;
  if (["mask", "mask-image", "-webkit-mask", "-webkit-mask-image"].some((name) => isMasked(of(name)))) return true;
  const isCut = /hidden|clip/.test(`${of("overflow")} ${of("overflow-x")} ${of("overflow-y")}`);
  return ["height", "width", "max-height", "max-width", "block-size", "inline-size"].some((name) => {
    const length = style.get(name) === undefined ? Number.NaN : pixels(of(name));
    return length === 0 || (isCut && length <= maxUnreadable);
  });
}

const isNothing = (value: string, most: number): boolean =>
  /^[\d.]+%?$/.test(value) && Number.parseFloat(value) / (value.endsWith("%") ? 100 : 1) <= most;

function isClipped(clip: string, path: string): boolean {
  const sides = /^rect\(([^()]{1,80})\)/
    .exec(clip)?.[1]
    ?.split(/[\s,]+/)
    .map(pixels);
  if (sides !== undefined) {
    const [top = 0, right = 0, bottom = 0, left = 0] = sides;
    if (right - left <= maxUnreadable || bottom - top <= maxUnreadable) return true;
  }
  const inset = /^inset\(\s?(\d{1,5})(?:\.\d+)?(%|px)/.exec(path);
  if (inset !== null && Number(inset[1]) >= (inset[2] === "%" ? 50 : farOff)) return true;
  return /^(?:circle|ellipse)\(\s?0(?:px|%)?[\s)]/.test(path) || /^polygon\([^1-9]{1,200}\)/.test(path);
}

/** The side, angle or shape that a gradient begins with, and a place between two of its colours. */
const noColour = /^(?:to\s|from\s|at\s|circle|ellipse|closest-|farthest-|in\s|-?[\d.]+(?:%|[a-z]+)?(?:\s|$))/;

/** Whether a mask lets nothing through: each of its pictures is a gradient of clear colours alone. */
function isMasked(mask: string): boolean {
  const gradients = [...mask.matchAll(/-gradient\(((?:[^()]|\([^()]{0,80}\)){1,250})\)/g)];
  if (gradients.length === 0 || /\b(?:url|image-set|element)\(/.test(mask)) return false;
  return gradients.every(([, stops = ""]) =>
    stops
      .split(/,(?![^()]{0,80}\))/)
      .map((stop) => stop.trim().replace(/(?:\s-?[\d.]+(?:%|[a-z]+)?){1,2}$/, ""))
      .filter((stop) => !noColour.test(stop))
      .every((stop) => (colourOf(stop)?.[3] ?? 1) <= 0.05),
  );
}

/** A length in CSS pixels, those of formulas too; NaN for what is not a length. */
function pixels(length: string): number {
  if (/^(?:calc|min|max|clamp)\(/.test(length)) return calculated(length);
  const found = /^(-?\d{0,9}\.?\d{1,9}|-?\d{1,9}\.)(px|pt|pc|in|cm|mm|r?em|ex|ch|vw|vh|%)?$/.exec(length.trim());
  if (found === null) return Number.NaN;
  return Number(found[1]) * (units[found[2] ?? ""] ?? 1);
}
/** What a formula of CSS gives, in CSS pixels; NaN for one that is not understood. One pass over its signs. */
function calculated(formula: string): number {
  const signs = formula.match(/(?<![a-z])[a-z]+\(|[-+]?[\d.]+[a-z%]*|[-+*/(),]/g) ?? [];
  let at = 0;
  const product = (): number => {
    let value = single();
    while (signs[at] === "*" || signs[at] === "/") value = signs[at++] === "*" ? value * single() : value / single();
    return value;
  };
  const total = (): number => {
    let value = product();
    for (;;) {
      const sign = signs[at] ?? "";
      if (sign === "+" || sign === "-") {
        at += 1;
        value += (sign === "-" ? -1 : 1) * product();
      } else if (/^[-+]/.test(sign)) value += product();
      else return value;
    }
  };
  const single = (): number => {
    const sign = signs[at++] ?? "";
    if (!sign.endsWith("(")) return pixels(sign.replace(/^\+/, ""));
    const values = [total()];
    while (signs[at] === ",") {
      at += 1;
      values.push(total());
    }
    at += 1;
    if (sign === "min(") return Math.min(...values);
    if (sign === "max(") return Math.max(...values);
    const [least = Number.NaN, wanted, most] = values;
    return wanted === undefined ? least : Math.max(least, Math.min(wanted, most ?? wanted));
  };
  return total();
}

const units: Readonly<Record<string, number>> = {
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 37.8,
  mm: 3.78,
  em: 16,
  rem: 16,
  ex: 8,
  ch: 8,
  vw: 12.8,
  vh: 8,
  "%": 12.8,
};

function lookOf(style: Declarations, above: Look, holdsDocument: boolean): Look {
  if (style.size === 0) return above;
  const painted = style.get("background-color") ?? style.get("background");
  const ground = painted === undefined ? above.ground : groundOf(painted, above.ground);
  const given = style.get("color");
  if (holdsDocument)
    return given === undefined || given === "inherit"
      ? { ...above, ground }
      : { ...above, ground, colour: colourOf(given), isOfPage: true };
  // A picture that is cut to the shape of the letters is their colour; without one they have none.
  const isCutOut =
    (style.get("background-clip") ?? style.get("-webkit-background-clip")) === "text" &&
    ["background", "background-color", "background-image"].some(
      (name) => !/^(?:none|transparent)?$/.test(style.get(name) ?? ""),
    );
  const ink = isCutOut ? "currentcolor" : (style.get("-webkit-text-fill-color") ?? style.get("color"));
  const visibility = style.get("visibility");
  const inherits = ink === undefined || ink === "inherit";
  return {
    ...above,
    ground,
    colour: inherits ? above.colour : colourOf(ink),
    isOfPage: inherits && above.isOfPage,
    size: sizeOf(style.get("font-size") ?? fontSize(style.get("font")), above.size),
    isVisible:
      visibility === undefined || visibility === "inherit"
        ? above.isVisible
        : !/^(?:hidden|collapse)$/.test(visibility),
  };
}

/**
 * The ground that a background gives: that of the elements around where it is transparent, undefined where it is no
 * plain colour.
 */
function groundOf(value: string, above: Colour | undefined): Colour | undefined {
  if (/^(?:none|transparent|inherit|initial|unset)?$/.test(value)) return above;
  if (/url\(|gradient\(/.test(value)) return undefined;
  const colour =
    colourOf(value) ??
    value
      .split(" ")
      .map(colourOf)
      .find((each) => each !== undefined);
  return colour === undefined || colour[3] >= 0.5 ? colour : above;
}

const fontSize = (font: string | undefined): string | undefined =>
  font === undefined ? undefined : /(?:^|\s)(0|\d{0,4}\.?\d{1,4}(?:px|pt|r?em|%))(?=[\s/]|$)/.exec(font)?.[1];

function sizeOf(given: string | undefined, above: number): number {
  if (given === undefined) return above;
  const relative = /^(\d{0,6}\.?\d{1,6})(em|%)$/.exec(given);
  if (relative !== null) return (Number(relative[1]) / (relative[2] === "%" ? 100 : 1)) * above;
  const size = pixels(given);
  return Number.isNaN(size) ? above : size;
}
