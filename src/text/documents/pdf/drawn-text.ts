import { type Colour, colourOf, isUnseen, white } from "../html/colour.js";
import type { PlacedGlyph } from "./letter-spacing.js";

/** The drawing operations of a page and their arguments, as pdf.js lists them. */
export interface OperatorList {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

/** What is needed about a page besides its operations. */
export interface PageInfo {
  /** pdf.js's name of each operation; the index is the operation's number. */
  readonly operatorNames: readonly (string | undefined)[];
  /** The visible part of the page: left, bottom, right and top, in points. */
  readonly view: readonly number[];
}

/** Position and size of a run of text, in points from the bottom left of the page. */
interface RunPosition {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The text that the operations of a page draw. */
interface DrawnText {
  /** Number of glyphs in the visible part of the page, without spaces. */
  readonly glyphCount: number;
  /** Number of these glyphs whose font does not name their character; they are missing from the text. */
  readonly unnamedCount: number;
  /**
   * For each font, the false characters in its text: if a font does not say which character a glyph is, pdf.js uses the
   * number of the glyph as the code of a character.
   */
  readonly falseCharacters: ReadonlyMap<string, ReadonlySet<string>>;
  /** Texts outside the visible part of the page. pdf.js leaves them out of the text. */
  readonly textsOutside: readonly string[];
  /** Whether a reader can't see this run of text, or can't see most of it. */
  isHidden(run: RunPosition & { readonly text: string }): boolean;
  /** The glyphs on the baseline of a run. Their order is right only for text from left to right. */
  glyphsOn(run: RunPosition): readonly PlacedGlyph[];
}

type Matrix = readonly [number, number, number, number, number, number];
interface Box {
  readonly left: number;
  readonly right: number;
  readonly low: number;
  readonly high: number;
}
/** A painted area of the page. */
interface Area extends Box {
  /** Known only for a rectangle with one opaque colour. On any other area, text of every colour may be visible. */
  readonly colour: Colour | undefined;
  readonly isPicture: boolean;
}
/** A glyph as pdf.js gives it. */
interface Glyph {
  readonly width?: number;
  readonly isSpace?: boolean;
  readonly unicode?: string;
  readonly originalCharCode?: number;
}
/** Glyphs, and numbers between them: the next glyph moves back by so many thousandths of the font size. */
type GlyphList = readonly (number | Glyph | null)[];

/** The graphics state of PDF, as far as it matters for text. */
interface State {
  /** The current transformation matrix: from the units of the operations to points on the page. */
  ctm: Matrix;
  fillColour: Colour | undefined;
  /** PDF's text rendering mode, such as 0 for filled letters. */
  renderingMode: number;
  alpha: number;
  isBlended: boolean;
  font: string;
  fontSize: number;
  charSpace: number;
  wordSpace: number;
  horizontalScale: number;
  leading: number;
  lineWidth: number;
  /** Nothing is painted outside of it. */
  clip: Box;
}
/** One text that the page shows, on a horizontal baseline. */
interface ShownText {
  readonly left: number;
  readonly right: number;
  readonly y: number;
  /** Whether it is in the text rendering mode that paints nothing. */
  readonly hasInvisibleMode: boolean;
  /** Whether a reader does not see it. For text in the invisible mode, this is wrong if the page is a scan. */
  readonly isUnseen: boolean;
  readonly text: string;
  readonly glyphs: GlyphList;
  readonly spacing: Pick<State, "fontSize" | "charSpace" | "wordSpace">;
  /** Points on the page for one unit of the text. */
  readonly pointsPerUnit: number;
}

/** Maximum number of operations of a page that are followed. A page of text has fewer, a large drawing has more. */
const maxOperators = 300_000;
/** Maximum number of painted areas of a page. If there are more, the background of a text is not known. */
const maxAreas = 1000;
/** Maximum number of texts on one baseline that a run is compared with. The others are ignored. */
const maxTextsPerBaseline = 2000;
/** Maximum vertical distance of a run from hidden text that may be the same text, in points. */
const maxBaselineDistance = 50;
/** Maximum number of colours of a page that are kept in memory. */
const maxColours = 100_000;
/** Minimum width and height of an area in points. No letter fits on a smaller one. */
const minAreaSide = 1;
/** A line of at least this width in points is a bar that text may be on. */
const minBarWidth = 4;
/** PDF's number of the text rendering mode that paints nothing. Adding 4 to a mode also clips to the text. */
const invisibleMode = 3;
/** pdf.js's names of the operations that draw the line of a path. */
const strokeNames = new Set("stroke closeStroke fillStroke eoFillStroke closeFillStroke closeEOFillStroke".split(" "));
/** pdf.js's names of the operations that fill a path. */
const fillNames = new Set(
  "fill eoFill fillStroke eoFillStroke closeFillStroke closeEOFillStroke rawFillPath".split(" "),
);
/** Needed besides `isSpace` of pdf.js, which is true only in fonts with one byte for each character. */
const isSpaceCharacter = (character: string | undefined): boolean => character === " " || character === "\u00a0";
/** Punctuation for vertical text. pdf.js replaces punctuation by it, whatever the font says. */
const isVerticalForm = (character: string | undefined): boolean => {
  const code = character?.charCodeAt(0) ?? 0;
  return code >= 0xfe10 && code < 0xfe50;
};
const identity: Matrix = [1, 0, 0, 1, 0, 0];
/** A box that contains every page. */
const everywhere: Box = { left: -1e9, right: 1e9, low: -1e9, high: 1e9 };

/**
 * Follows the drawing operations of a page and finds the text that a reader does not see: text in the colour of its
 * background, text outside the visible part of the page, and text in the invisible mode. On a page that is a scan, the
 * text is in the invisible mode over the picture of the page; such text counts as visible.
 */
export function drawnTextOf({ fnArray, argsArray }: OperatorList, { operatorNames, view }: PageInfo): DrawnText {
  const drawing = new PageDrawing(operatorNames, view);
  const count = Math.min(fnArray.length, maxOperators);
  for (let index = 0; index < count; index += 1)
    drawing.follow(operatorNames[fnArray[index] ?? -1] ?? "", (argsArray[index] ?? []) as readonly unknown[]);
  const { shownTexts, glyphCount, unnamedCount, textsOutside } = drawing;
  const invisibleCount = shownTexts.filter(({ hasInvisibleMode }) => hasInvisibleMode).length;
  const isScan = drawing.mayHavePicture() && invisibleCount > 0.8 * shownTexts.length;
  const isHiddenText = ({ isUnseen, hasInvisibleMode }: ShownText): boolean =>
    isUnseen && !(hasInvisibleMode && isScan);
  const hiddenTexts = shownTexts.filter(isHiddenText);
  const findHidden = finderByBaseline(hiddenTexts);
  const findVisible = finderByBaseline(
    hiddenTexts.length === 0 ? [] : shownTexts.filter((text) => !isHiddenText(text)),
  );
  let findShown: ((run: RunPosition) => readonly ShownText[]) | undefined;
  return {
    glyphCount,
    unnamedCount,
    textsOutside,
    falseCharacters: drawing.falseCharacters(),
    glyphsOn: (run) => {
      findShown ??= finderByBaseline(shownTexts);
      return findShown(run).flatMap(placedGlyphsOf);
    },
    isHidden: (run) => {
      if (hiddenTexts.length === 0 || run.width <= 0) return false;
      const hiddenWidth = findHidden(run).reduce((sum, text) => sum + overlapWidth(run, text), 0);
      if (hiddenWidth <= 0.6 * run.width) return false;
      // The page may show the same text a second time at the same position, and visibly.
      const letters = lettersOf(run.text);
      return !findVisible(run).some((visible) => {
        const visibleLetters = lettersOf(visible.text);
        return overlapWidth(run, visible) > 0 && letters.includes(visibleLetters) && visibleLetters !== "";
      });
    },
  };
}

/** Follows the drawing operations of one page. */
class PageDrawing {
  readonly shownTexts: ShownText[] = [];
  readonly textsOutside: string[] = [];
  glyphCount = 0;
  unnamedCount = 0;
  readonly #operatorNames: readonly (string | undefined)[];
  readonly #page: Box;
  readonly #savedStates: State[] = [];
  readonly #areas: Area[] = [];
  readonly #fonts = new Map<string, { readonly untranslated: Set<string>; translatedCount: number }>();
  readonly #colours = new Map<string, Colour | undefined>();
  #state: State;
  #textMatrix: Matrix = identity;
  #lineMatrix: Matrix = identity;
  /** Whether a transformation was set, and nothing has been painted since then. */
  #hasUnusedTransform = false;
  /** Whether the next path becomes part of the clip. */
  #isClipPending = false;

  constructor(operatorNames: readonly (string | undefined)[], view: readonly number[]) {
    const [left = 0, low = 0, right = 0, high = 0] = view;
    this.#operatorNames = operatorNames;
    this.#page = right > left && high > low ? { left, right, low, high } : everywhere;
    const textState = {
      font: "",
      fontSize: 0,
      charSpace: 0,
      wordSpace: 0,
      horizontalScale: 1,
      leading: 0,
      renderingMode: 0,
    };
    const paintState = { fillColour: [0, 0, 0, 1] as const, alpha: 1, isBlended: false, lineWidth: 1 };
    this.#state = { ctm: identity, ...paintState, ...textState, clip: this.#page };
  }

  /**
   * Pictures are painted in several ways, and not all are followed. Only a page with nothing but text surely has none.
   */
  mayHavePicture(): boolean {
    return this.#areas.length > 0 || this.#hasUnusedTransform;
  }

  /**
   * A character with the same code as its glyph was not translated. If the font's codes are Unicode, no character is
   * translated, and all are right. If most characters of a font are translated, the others are false.
   */
  falseCharacters(): ReadonlyMap<string, ReadonlySet<string>> {
    return new Map(
      [...this.#fonts]
        .filter(([, { translatedCount, untranslated }]) => translatedCount > untranslated.size && untranslated.size > 0)
        .map(([name, { untranslated }]) => [name, untranslated]),
    );
  }

  follow(name: string, args: readonly unknown[]): void {
    const state = this.#state;
    // The most frequent names are first, because the names are compared in this order.
    switch (name) {
      case "constructPath":
        this.#hasUnusedTransform = false;
        return this.#addPath(args);
      case "showText":
        this.#hasUnusedTransform = false;
        return this.#showText((args[0] ?? []) as GlyphList);
      case "save":
        return void this.#savedStates.push({ ...state });
      case "restore":
        // Pictures are not decoded. In place of one, there is only the transformation that was set for it.
        if (this.#hasUnusedTransform) this.#addArea(boxOf(state.ctm, 0, 0, 1, 1), undefined, true);
        this.#hasUnusedTransform = false;
        this.#state = this.#savedStates.pop() ?? state;
        return;
      case "transform":
        state.ctm = multiply(state.ctm, args as unknown as Matrix);
        this.#hasUnusedTransform = true;
        return;
      case "setFillRGBColor":
        state.fillColour = typeof args[0] === "string" ? this.#parseColour(args[0]) : undefined;
        return;
      case "setFillColorN":
      case "setFillTransparent":
        state.fillColour = undefined;
        return;
      case "setGState":
        for (const [key, value] of (args[0] ?? []) as readonly (readonly [string, unknown])[]) {
          if (key === "ca") state.alpha = Number(value);
          if (key === "BM") state.isBlended = value !== "source-over" && value !== "normal";
        }
        return;
      case "paintFormXObjectBegin":
        this.#hasUnusedTransform = false;
        return this.#beginForm(args);
      case "paintFormXObjectEnd":
        this.#state = this.#savedStates.pop() ?? state;
        return;
      case "clip":
      case "eoClip":
        this.#isClipPending = true;
        return;
      case "shadingFill":
        return this.#addArea(everywhere, undefined, false);
      default:
        return this.#setTextState(name, args);
    }
  }

  /** Follows an operation that sets the style or the position of the next text. */
  #setTextState(name: string, args: readonly unknown[]): void {
    const state = this.#state;
    const number = Number(args[0] ?? 0);
    switch (name) {
      case "beginText":
        this.#textMatrix = this.#lineMatrix = identity;
        return;
      case "setTextMatrix":
        this.#textMatrix = this.#lineMatrix = (args.length === 1 ? args[0] : args) as Matrix;
        return;
      case "setLeadingMoveText":
        state.leading = -Number(args[1] ?? 0);
        return this.#moveLine(number, Number(args[1] ?? 0));
      case "moveText":
        return this.#moveLine(number, Number(args[1] ?? 0));
      case "nextLine":
        return this.#moveLine(0, -state.leading);
      case "setFont":
        state.font = String(args[0]);
        state.fontSize = Number(args[1] ?? 0);
        return;
      case "setHScale":
        state.horizontalScale = number / 100;
        return;
      case "setTextRenderingMode":
        state.renderingMode = number;
        return;
      default: {
        const field = stateFields.get(name);
        if (field !== undefined) state[field] = number;
      }
    }
  }

  #moveLine(x: number, y: number): void {
    this.#textMatrix = this.#lineMatrix = multiply(this.#lineMatrix, [1, 0, 0, 1, x, y]);
  }

  #parseColour(name: string): Colour | undefined {
    if (!this.#colours.has(name) && this.#colours.size < maxColours) this.#colours.set(name, colourOf(name));
    return this.#colours.get(name);
  }

  #addArea(box: Box, colour: Colour | undefined, isPicture: boolean): void {
    if (this.#areas.length >= maxAreas) return;
    const area = intersect(box, this.#state.clip);
    if (area.right - area.left < minAreaSide || area.high - area.low < minAreaSide) return;
    this.#areas.push({ ...area, colour, isPicture });
  }

  #addPath(args: readonly unknown[]): void {
    const state = this.#state;
    const bounds = args[2] as ArrayLike<number> | null | undefined;
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = [bounds?.[0], bounds?.[1], bounds?.[2], bounds?.[3]];
    if (this.#isClipPending && bounds) state.clip = intersect(boxOf(state.ctm, x0, y0, x1, y1), state.clip);
    this.#isClipPending = false;
    if (!bounds || state.alpha <= 0.5) return;
    const paintName = this.#operatorNames[Number(args[0] ?? 0)] ?? "";
    const halfWidth = state.lineWidth / 2;
    if (state.lineWidth >= minBarWidth && strokeNames.has(paintName)) {
      const box = boxOf(state.ctm, x0 - halfWidth, y0 - halfWidth, x1 + halfWidth, y1 + halfWidth);
      this.#addArea(box, undefined, false);
    }
    if (!fillNames.has(paintName)) return;
    const [points] = (args[1] ?? []) as readonly (ArrayLike<number> | null)[];
    const isRectangle = points !== null && points !== undefined && points.length <= 16 && points.length >= 10;
    const isPlain = isRectangle && state.alpha > 0.95 && !state.isBlended;
    this.#addArea(boxOf(state.ctm, x0, y0, x1, y1), isPlain ? state.fillColour : undefined, false);
  }

  #beginForm(args: readonly unknown[]): void {
    const state = this.#state;
    this.#savedStates.push({ ...state });
    if (args[0] !== null && args[0] !== undefined) state.ctm = multiply(state.ctm, args[0] as Matrix);
    const [x0, y0, x1, y1] = (args[1] ?? []) as readonly (number | undefined)[];
    if (x0 !== undefined && y0 !== undefined && x1 !== undefined && y1 !== undefined)
      state.clip = intersect(boxOf(state.ctm, x0, y0, x1, y1), state.clip);
  }

  #showText(glyphs: GlyphList): void {
    const state = this.#state;
    const start = multiply(state.ctm, this.#textMatrix);
    const { width, glyphCount, unnamedCount, text } = this.#measure(glyphs);
    const moveByWidth: Matrix = [1, 0, 0, 1, width * state.horizontalScale, 0];
    const end = multiply(start, moveByWidth);
    this.#textMatrix = multiply(this.#textMatrix, moveByWidth);
    if (glyphCount === 0) return;
    const [left, right] = [Math.min(start[4], end[4]), Math.max(start[4], end[4])];
    const height = Math.abs(state.fontSize) * Math.hypot(start[2], start[3]);
    const [low, high] = [Math.min(start[5], end[5]), Math.max(start[5], end[5])];
    const box = { left, right, low, high: high + 0.6 * height };
    if (isOutside(box, this.#page, 0)) this.textsOutside.push(text);
    else {
      this.glyphCount += glyphCount;
      this.unnamedCount += unnamedCount;
    }
    const isHorizontal = high - low < 1;
    if (!isHorizontal) return;
    const { fontSize, charSpace, wordSpace } = state;
    this.shownTexts.push({
      left,
      right,
      y: start[5],
      hasInvisibleMode: state.renderingMode % 4 === invisibleMode,
      isUnseen: isOutside(box, state.clip, height) || this.#isUnseenAt(box),
      text,
      glyphs,
      spacing: { fontSize, charSpace, wordSpace },
      pointsPerUnit: start[0] * state.horizontalScale,
    });
  }

  /** The width of a text in its own units, its glyphs without spaces, and its characters. */
  #measure(glyphs: GlyphList): { width: number; glyphCount: number; unnamedCount: number; text: string } {
    const { font: name, fontSize, charSpace, wordSpace } = this.#state;
    const font = this.#fonts.get(name) ?? { untranslated: new Set<string>(), translatedCount: 0 };
    this.#fonts.set(name, font);
    let [width, glyphCount, unnamedCount, text] = [0, 0, 0, ""];
    for (const glyph of glyphs) {
      if (typeof glyph === "number") width -= (glyph / 1000) * fontSize;
      else if (glyph !== null) {
        width += ((glyph.width ?? 0) / 1000) * fontSize + charSpace + (glyph.isSpace === true ? wordSpace : 0);
        text += glyph.unicode ?? "";
        if (glyph.isSpace === true || isSpaceCharacter(glyph.unicode)) continue;
        glyphCount += 1;
        if (glyph.unicode === "\0") unnamedCount += 1;
        const code = glyph.originalCharCode ?? 0;
        if (code < 256) continue;
        if (glyph.unicode === String.fromCharCode(code)) font.untranslated.add(glyph.unicode);
        else if (!isVerticalForm(glyph.unicode)) font.translatedCount += 1;
      }
    }
    return { width, glyphCount, unnamedCount, text };
  }

  /** Whether text in this box is in the invisible mode and not on a picture, or in the colour of its background. */
  #isUnseenAt(box: Box): boolean {
    const { renderingMode, fillColour, alpha } = this.#state;
    const areaBelow = this.#areas.findLast((area) => isInside(box, area));
    if (renderingMode % 4 === invisibleMode) return areaBelow?.isPicture !== true;
    if (renderingMode % 4 !== 0 || fillColour === undefined || this.#areas.length >= maxAreas) return false;
    const background = areaBelow === undefined ? white : areaBelow.colour;
    const [red, green, blue] = fillColour;
    return background !== undefined && isUnseen([red, green, blue, alpha], background);
  }
}

/** Operations that set one number of the state. */
const stateFields: ReadonlyMap<string, "lineWidth" | "charSpace" | "wordSpace" | "leading"> = new Map([
  ["setLineWidth", "lineWidth"],
  ["setCharSpacing", "charSpace"],
  ["setWordSpacing", "wordSpace"],
  ["setLeading", "leading"],
]);

/** The glyphs of a text with their positions on the page; empty if the text does not run from left to right. */
function placedGlyphsOf({ left, glyphs, spacing, pointsPerUnit }: ShownText): PlacedGlyph[] {
  const placedGlyphs: PlacedGlyph[] = [];
  if (!(pointsPerUnit > 0)) return placedGlyphs;
  let x = left;
  for (const glyph of glyphs) {
    if (typeof glyph === "number") x -= (glyph / 1000) * spacing.fontSize * pointsPerUnit;
    else if (glyph !== null) {
      const width = ((glyph.width ?? 0) / 1000) * spacing.fontSize * pointsPerUnit;
      const isSpace = glyph.isSpace === true || isSpaceCharacter(glyph.unicode);
      placedGlyphs.push({ text: glyph.unicode ?? "", left: x, right: x + width, isSpace });
      x += width + (spacing.charSpace + (glyph.isSpace === true ? spacing.wordSpace : 0)) * pointsPerUnit;
    }
  }
  return placedGlyphs;
}

const overlapWidth = ({ x, width }: RunPosition, { left, right }: ShownText): number =>
  Math.max(0, Math.min(right, x + width) - Math.max(left, x));
const lettersOf = (text: string): string => text.normalize("NFKC").replace(/[^\p{L}\p{N}]/gu, "");

/** Returns a function that finds the texts on the baseline of a run, or a little above or below it. */
function finderByBaseline(texts: readonly ShownText[]): (run: RunPosition) => readonly ShownText[] {
  const textsByY = new Map<number, ShownText[]>();
  for (const text of texts) {
    const textsAtY = textsByY.get(Math.round(text.y));
    if (textsAtY === undefined) textsByY.set(Math.round(text.y), [text]);
    else if (textsAtY.length < maxTextsPerBaseline) textsAtY.push(text);
  }
  return ({ y, height }) => {
    const distance = Math.min(maxBaselineDistance, Math.max(1, Math.round(0.2 * height)));
    const lowest = Math.round(y) - distance;
    return Array.from({ length: 2 * distance + 1 }, (_, step) => textsByY.get(lowest + step) ?? []).flat();
  };
}

/** Whether a box is inside an area. One point is tolerated, because the sizes are not exact. */
const isInside = (box: Box, area: Box): boolean =>
  area.left <= box.left + 1 && area.right >= box.right - 1 && area.low <= box.low + 1 && area.high >= box.high - 1;

const intersect = (box: Box, clip: Box): Box => ({
  left: Math.max(box.left, clip.left),
  right: Math.min(box.right, clip.right),
  low: Math.max(box.low, clip.low),
  high: Math.min(box.high, clip.high),
});

/** Whether a box is outside another one, and further away than `margin`. */
const isOutside = (box: Box, clip: Box, margin: number): boolean =>
  box.right < clip.left - margin ||
  box.left > clip.right + margin ||
  box.high < clip.low - margin ||
  box.low > clip.high + margin;

const multiply = (a: Matrix, b: Matrix): Matrix => [
  a[0] * b[0] + a[2] * b[1],
  a[1] * b[0] + a[3] * b[1],
  a[0] * b[2] + a[2] * b[3],
  a[1] * b[2] + a[3] * b[3],
  a[0] * b[4] + a[2] * b[5] + a[4],
  a[1] * b[4] + a[3] * b[5] + a[5],
];

/** The smallest box around a rectangle that was transformed by a matrix. */
function boxOf([a, b, c, d, e, f]: Matrix, x0: number, y0: number, x1: number, y1: number): Box {
  // Each coordinate of a corner is one of two values from x plus one of two values from y.
  const [ax, bx] = [a * x0, a * x1];
  const [cx, dx] = [c * y0, c * y1];
  const [ay, by] = [b * x0, b * x1];
  const [cy, dy] = [d * y0, d * y1];
  return {
    left: Math.min(ax, bx) + Math.min(cx, dx) + e,
    right: Math.max(ax, bx) + Math.max(cx, dx) + e,
    low: Math.min(ay, by) + Math.min(cy, dy) + f,
    high: Math.max(ay, by) + Math.max(cy, dy) + f,
  };
}
