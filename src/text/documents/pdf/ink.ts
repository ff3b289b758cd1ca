import { type Colour, colourOf, isUnseen, white } from "../html/colour.js";
import type { PlacedGlyph } from "./letter-spacing.js";

/** pdf.js's list of what is drawn on a page. */
export interface Operators {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

/** What a page says besides its operations. */
export interface Sheet {
  /** pdf.js's names of its operations, at their numbers. */
  readonly names: readonly (string | undefined)[];
  /** What of the page is shown: left, bottom, right and top, in points. */
  readonly view: readonly number[];
}

/** A run of text. In points from the bottom left. */
interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Ink {
  /** Glyphs that the page shows, spaces left out. */
  readonly glyphs: number;
  /** Those of them for which their font names no character: they are missing from the text. */
  readonly unnamed: number;
  /**
   * By font, what stands for glyphs of which the font does not say which characters they are: the numbers of the
   * glyphs, as pdf.js gives them.
   */
  readonly unknown: ReadonlyMap<string, ReadonlySet<string>>;
  /** Text outside of what of the page is shown; pdf.js leaves it out without a word. */
  readonly outside: readonly string[];
  /** Whether so much of a run of text is unseen that a reader does not see it. */
  isUnseen(run: Place & { readonly text: string }): boolean;
  /** The glyphs that are drawn on the baseline of a run, from left to right writing alone. */
  glyphsOn(run: Place): readonly PlacedGlyph[];
}

type Matrix = readonly [number, number, number, number, number, number];
interface Box {
  readonly left: number;
  readonly right: number;
  readonly low: number;
  readonly high: number;
}
/** What was painted. Its colour is known of a plain rectangle alone: on anything else any text may stand. */
interface Area extends Box {
  readonly colour: Colour | undefined;
  readonly isPicture: boolean;
}
interface Glyph {
  readonly width?: number;
  readonly isSpace?: boolean;
  readonly unicode?: string;
  readonly originalCharCode?: number;
}
type Drawn = readonly (number | Glyph | null)[];

interface State {
  ctm: Matrix;
  fill: Colour | undefined;
  mode: number;
  alpha: number;
  isBlended: boolean;
  font: string;
  size: number;
  charSpace: number;
  wordSpace: number;
  scale: number;
  leading: number;
  lineWidth: number;
  /** Nothing is painted outside of it. */
  clip: Box;
}
interface Shown {
  readonly from: number;
  readonly to: number;
  readonly y: number;
  readonly isInvisible: boolean;
  /** Whether it is not to be seen, in the invisible mode unless the page is a scan. */
  readonly isLost: boolean;
  readonly text: string;
  /** What it is drawn of, and how. */
  readonly drawn: Drawn;
  readonly set: Pick<State, "size" | "charSpace" | "wordSpace">;
  /** Points on the page for one of the text's own units. */
  readonly unit: number;
}

/** Operations that are looked at, on one page; a drawing has more, and a page of text fewer. */
const maxOperators = 300_000;
/** Areas that text may lie on, on one page. Of a drawing with more, the ground of a text is not known. */
const maxAreas = 1000;
/** Stretches on one baseline that are compared with a run; a page that hides more hides by their number. */
const maxStretches = 2000;
/** Points above and below a baseline in which what is unseen is looked for. */
const maxReach = 50;
/** Colours of one page that are told apart. */
const maxColours = 100_000;
/** Points in either direction; on a smaller area no letter stands. */
const minArea = 1;
/** A line drawn as thick as this, in points, is a bar that text may stand on. */
const minBar = 4;
const invisible = 3;
/** pdf.js's names of what is done to a path. */
const strokes = new Set("stroke closeStroke fillStroke eoFillStroke closeFillStroke closeEOFillStroke".split(" "));
const fills = new Set("fill eoFill fillStroke eoFillStroke closeFillStroke closeEOFillStroke rawFillPath".split(" "));
/** pdf.js calls a space so in fonts of single bytes alone. */
const isBlank = (character: string | undefined): boolean => character === " " || character === "\u00a0";
/** pdf.js gives signs of punctuation that stand in columns another number, whatever the font says of them. */
const isForColumns = (character: string | undefined): boolean => {
  const code = character?.charCodeAt(0) ?? 0;
  return code >= 0xfe10 && code < 0xfe50;
};
const identity: Matrix = [1, 0, 0, 1, 0, 0];
const everywhere: Box = { left: -1e9, right: 1e9, low: -1e9, high: 1e9 };

/**
 * Follows what a page draws and tells which text is not to be seen: in the colour of its ground, in the invisible mode
 * where no picture of the page lies under it (a scan carries its text so), or outside of what is shown.
 */
export function inkOf({ fnArray, argsArray }: Operators, { names, view }: Sheet): Ink {
  const pen = new Pen(names, view);
  const count = Math.min(fnArray.length, maxOperators);
  for (let at = 0; at < count; at += 1)
    pen.follow(names[fnArray[at] ?? -1] ?? "", (argsArray[at] ?? []) as readonly unknown[]);
  const { shown, glyphs, unnamed, outside } = pen;
  const isScan = pen.hasGround() && shown.filter(({ isInvisible }) => isInvisible).length > 0.8 * shown.length;
  const isHidden = ({ isLost, isInvisible }: Shown): boolean => isLost && !(isInvisible && isScan);
  const hidden = shown.filter(isHidden);
  const onHidden = byBaseline(hidden);
  const onSeen = byBaseline(hidden.length === 0 ? [] : shown.filter((each) => !isHidden(each)));
  let onLine: ((run: Place) => readonly Shown[]) | undefined;
  return {
    glyphs,
    unnamed,
    outside,
    unknown: pen.unknown(),
    glyphsOn: (run) => {
      onLine ??= byBaseline(shown);
      return onLine(run).flatMap(placesOf);
    },
    isUnseen: (run) => {
      if (hidden.length === 0 || run.width <= 0) return false;
      const overlap = onHidden(run).reduce((sum, { from, to }) => sum + shared(run, from, to), 0);
      if (overlap <= 0.6 * run.width) return false;
      // The same text may be set at the same place once more.
      const letters = lettersOf(run.text);
      return !onSeen(run).some(
        ({ from, to, text: other }) =>
          shared(run, from, to) > 0 && letters.includes(lettersOf(other)) && lettersOf(other) !== "",
      );
    },
  };
}

/** Follows the operations of one page. */
class Pen {
  readonly shown: Shown[] = [];
  readonly outside: string[] = [];
  glyphs = 0;
  unnamed = 0;
  readonly #names: readonly (string | undefined)[];
  readonly #page: Box;
  readonly #stack: State[] = [];
  readonly #areas: Area[] = [];
  readonly #fonts = new Map<string, { readonly numbers: Set<string>; translated: number }>();
  readonly #colours = new Map<string, Colour | undefined>();
  #state: State;
  #text: Matrix = identity;
  #line: Matrix = identity;
  /** Whether the last operation set a place, at which nothing has been painted yet. */
  #isPlaced = false;
  #isCutting = false;

  constructor(names: readonly (string | undefined)[], view: readonly number[]) {
    const [left = 0, low = 0, right = 0, high = 0] = view;
    this.#names = names;
    this.#page = right > left && high > low ? { left, right, low, high } : everywhere;
    const set = { font: "", size: 0, charSpace: 0, wordSpace: 0, scale: 1, leading: 0, mode: 0 };
    const ink = { fill: [0, 0, 0, 1] as const, alpha: 1, isBlended: false, lineWidth: 1 };
    this.#state = { ctm: identity, ...ink, ...set, clip: this.#page };
  }

  /**
   * A picture set in a way that is not followed may be anywhere: of a page of nothing but text it is known that it has
   * none.
   */
  hasGround(): boolean {
    return this.#areas.length > 0 || this.#isPlaced;
  }

  /**
   * In a font that is encoded by characters all numbers are; in any other, those that are left over when the rest has
   * been translated.
   */
  unknown(): ReadonlyMap<string, ReadonlySet<string>> {
    return new Map(
      [...this.#fonts]
        .filter(([, { translated, numbers }]) => translated > numbers.size && numbers.size > 0)
        .map(([name, { numbers }]) => [name, numbers]),
    );
  }

  /** Takes the next operation. */
  follow(name: string, args: readonly unknown[]): void {
    const state = this.#state;
    // The most frequent first: they are compared one after the other.
    switch (name) {
      case "constructPath":
        this.#isPlaced = false;
        return this.#path(args);
      case "showText":
        this.#isPlaced = false;
        return this.#show((args[0] ?? []) as Drawn);
      case "save":
        return void this.#stack.push({ ...state });
      case "restore":
        // Pictures are not decoded and leave this behind: a place, and nothing painted there.
        if (this.#isPlaced) this.#paint(boxOf(state.ctm, 0, 0, 1, 1), undefined, true);
        this.#isPlaced = false;
        this.#state = this.#stack.pop() ?? state;
        return;
      case "transform":
        state.ctm = times(state.ctm, args as unknown as Matrix);
        this.#isPlaced = true;
        return;
      case "setFillRGBColor":
        state.fill = typeof args[0] === "string" ? this.#colourNamed(args[0]) : undefined;
        return;
      case "setFillColorN":
      case "setFillTransparent":
        state.fill = undefined;
        return;
      case "setGState":
        for (const [key, value] of (args[0] ?? []) as readonly (readonly [string, unknown])[]) {
          if (key === "ca") state.alpha = Number(value);
          if (key === "BM") state.isBlended = value !== "source-over" && value !== "normal";
        }
        return;
      case "paintFormXObjectBegin":
        this.#isPlaced = false;
        return this.#beginForm(args);
      case "paintFormXObjectEnd":
        this.#state = this.#stack.pop() ?? state;
        return;
      case "clip":
      case "eoClip":
        this.#isCutting = true;
        return;
      case "shadingFill":
        return this.#paint(everywhere, undefined, false);
      default:
        return this.#set(name, args);
    }
  }

  /** How and where the next text is set. */
  #set(name: string, args: readonly unknown[]): void {
    const state = this.#state;
    const number = Number(args[0] ?? 0);
    switch (name) {
      case "beginText":
        this.#text = this.#line = identity;
        return;
      case "setTextMatrix":
        this.#text = this.#line = (args.length === 1 ? args[0] : args) as Matrix;
        return;
      case "setLeadingMoveText":
        state.leading = -Number(args[1] ?? 0);
        return this.#move(number, Number(args[1] ?? 0));
      case "moveText":
        return this.#move(number, Number(args[1] ?? 0));
      case "nextLine":
        return this.#move(0, -state.leading);
      case "setFont":
        state.font = String(args[0]);
        state.size = Number(args[1] ?? 0);
        return;
      case "setHScale":
        state.scale = number / 100;
        return;
      case "setTextRenderingMode":
        state.mode = number;
        return;
      default: {
        const measure = measures.get(name);
        if (measure !== undefined) state[measure] = number;
      }
    }
  }

  #move(x: number, y: number): void {
    this.#text = this.#line = times(this.#line, [1, 0, 0, 1, x, y]);
  }

  #colourNamed(name: string): Colour | undefined {
    if (!this.#colours.has(name) && this.#colours.size < maxColours) this.#colours.set(name, colourOf(name));
    return this.#colours.get(name);
  }

  #paint(box: Box, colour: Colour | undefined, isPicture: boolean): void {
    if (this.#areas.length >= maxAreas) return;
    const area = within(box, this.#state.clip);
    if (area.right - area.left < minArea || area.high - area.low < minArea) return;
    this.#areas.push({ ...area, colour, isPicture });
  }

  #path(args: readonly unknown[]): void {
    const state = this.#state;
    const bounds = args[2] as ArrayLike<number> | null | undefined;
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = [bounds?.[0], bounds?.[1], bounds?.[2], bounds?.[3]];
    if (this.#isCutting && bounds) state.clip = within(boxOf(state.ctm, x0, y0, x1, y1), state.clip);
    this.#isCutting = false;
    if (!bounds || state.alpha <= 0.5) return;
    const paint = this.#names[Number(args[0] ?? 0)] ?? "";
    const half = state.lineWidth / 2;
    if (state.lineWidth >= minBar && strokes.has(paint))
      this.#paint(boxOf(state.ctm, x0 - half, y0 - half, x1 + half, y1 + half), undefined, false);
    if (!fills.has(paint)) return;
    const [points] = (args[1] ?? []) as readonly (ArrayLike<number> | null)[];
    const isRectangle = points !== null && points !== undefined && points.length <= 16 && points.length >= 10;
    const isPlain = isRectangle && state.alpha > 0.95 && !state.isBlended;
    this.#paint(boxOf(state.ctm, x0, y0, x1, y1), isPlain ? state.fill : undefined, false);
  }

  #beginForm(args: readonly unknown[]): void {
    const state = this.#state;
    this.#stack.push({ ...state });
    if (args[0] !== null && args[0] !== undefined) state.ctm = times(state.ctm, args[0] as Matrix);
    const [x0, y0, x1, y1] = (args[1] ?? []) as readonly (number | undefined)[];
    if (x0 !== undefined && y0 !== undefined && x1 !== undefined && y1 !== undefined)
      state.clip = within(boxOf(state.ctm, x0, y0, x1, y1), state.clip);
  }

  #show(drawn: Drawn): void {
    const state = this.#state;
    const start = times(state.ctm, this.#text);
    const { width, letters, nameless, text } = this.#count(drawn);
    const along: Matrix = [1, 0, 0, 1, width * state.scale, 0];
    const end = times(start, along);
    this.#text = times(this.#text, along);
    if (letters === 0) return;
    const [from, to] = [Math.min(start[4], end[4]), Math.max(start[4], end[4])];
    const height = Math.abs(state.size) * Math.hypot(start[2], start[3]);
    const [low, top] = [Math.min(start[5], end[5]), Math.max(start[5], end[5])];
    const box = { left: from, right: to, low, high: top + 0.6 * height };
    if (isOutside(box, this.#page, 0)) this.outside.push(text);
    else {
      this.glyphs += letters;
      this.unnamed += nameless;
    }
    if (top - low >= 1) return;
    const isInvisible = state.mode % 4 === invisible;
    const isLost = isOutside(box, state.clip, height) || this.#isWithoutInk(box);
    const { size, charSpace, wordSpace } = state;
    const set = { size, charSpace, wordSpace };
    this.shown.push({ from, to, y: start[5], isInvisible, isLost, text, drawn, set, unit: start[0] * state.scale });
  }

  /** How far a text reaches, in its own units, and how many letters it has. */
  #count(drawn: Drawn): { width: number; letters: number; nameless: number; text: string } {
    const { font: name, size, charSpace, wordSpace } = this.#state;
    const font = this.#fonts.get(name) ?? { numbers: new Set<string>(), translated: 0 };
    this.#fonts.set(name, font);
    let [width, letters, nameless, text] = [0, 0, 0, ""];
    for (const glyph of drawn) {
      if (typeof glyph === "number") width -= (glyph / 1000) * size;
      else if (glyph !== null) {
        width += ((glyph.width ?? 0) / 1000) * size + charSpace + (glyph.isSpace === true ? wordSpace : 0);
        text += glyph.unicode ?? "";
        if (glyph.isSpace === true || isBlank(glyph.unicode)) continue;
        letters += 1;
        if (glyph.unicode === "\0") nameless += 1;
        const code = glyph.originalCharCode ?? 0;
        if (code < 256) continue;
        if (glyph.unicode === String.fromCharCode(code)) font.numbers.add(glyph.unicode);
        else if (!isForColumns(glyph.unicode)) font.translated += 1;
      }
    }
    return { width, letters, nameless, text };
  }

  /** Whether text at a place is in the invisible mode on no picture, or in the colour of what it stands on. */
  #isWithoutInk(box: Box): boolean {
    const { mode, fill, alpha } = this.#state;
    const below = this.#areas.findLast((area) => lies(box, area));
    if (mode % 4 === invisible) return below?.isPicture !== true;
    if (mode % 4 !== 0 || fill === undefined || this.#areas.length >= maxAreas) return false;
    const ground = below === undefined ? white : below.colour;
    return ground !== undefined && isUnseen([fill[0], fill[1], fill[2], alpha], ground);
  }
}

const measures: ReadonlyMap<string, "lineWidth" | "charSpace" | "wordSpace" | "leading"> = new Map([
  ["setLineWidth", "lineWidth"],
  ["setCharSpacing", "charSpace"],
  ["setWordSpacing", "wordSpace"],
  ["setLeading", "leading"],
]);

/** Where the glyphs of a stretch are drawn. */
function placesOf({ from, drawn, set, unit }: Shown): PlacedGlyph[] {
  const places: PlacedGlyph[] = [];
  if (!(unit > 0)) return places;
  let at = from;
  for (const glyph of drawn) {
    if (typeof glyph === "number") at -= (glyph / 1000) * set.size * unit;
    else if (glyph !== null) {
      const width = ((glyph.width ?? 0) / 1000) * set.size * unit;
      const isSpace = glyph.isSpace === true || isBlank(glyph.unicode);
      places.push({ text: glyph.unicode ?? "", from: at, to: at + width, isSpace });
      at += width + (set.charSpace + (glyph.isSpace === true ? set.wordSpace : 0)) * unit;
    }
  }
  return places;
}

const shared = ({ x, width }: Place, from: number, to: number): number =>
  Math.max(0, Math.min(to, x + width) - Math.max(from, x));
const lettersOf = (text: string): string => text.normalize("NFKC").replace(/[^\p{L}\p{N}]/gu, "");

/** Finds what stands on the baseline of a run, or a little raised or lowered. */
function byBaseline(all: readonly Shown[]): (run: Place) => readonly Shown[] {
  const rows = new Map<number, Shown[]>();
  for (const each of all) {
    const there = rows.get(Math.round(each.y));
    if (there === undefined) rows.set(Math.round(each.y), [each]);
    else if (there.length < maxStretches) there.push(each);
  }
  return ({ y, height }) => {
    const reach = Math.min(maxReach, Math.max(1, Math.round(0.2 * height)));
    return Array.from({ length: 2 * reach + 1 }, (_, step) => rows.get(Math.round(y) - reach + step) ?? []).flat();
  };
}

const lies = (box: Box, area: Box): boolean =>
  area.left <= box.left + 1 && area.right >= box.right - 1 && area.low <= box.low + 1 && area.high >= box.high - 1;

const within = (box: Box, clip: Box): Box => ({
  left: Math.max(box.left, clip.left),
  right: Math.min(box.right, clip.right),
  low: Math.max(box.low, clip.low),
  high: Math.min(box.high, clip.high),
});

/** By more than a line's height, since bounds are not exact. */
const isOutside = (box: Box, clip: Box, margin: number): boolean =>
  box.right < clip.left - margin ||
  box.left > clip.right + margin ||
  box.high < clip.low - margin ||
  box.low > clip.high + margin;

const times = (a: Matrix, b: Matrix): Matrix => [
  a[0] * b[0] + a[2] * b[1],
  a[1] * b[0] + a[3] * b[1],
  a[0] * b[2] + a[2] * b[3],
  a[1] * b[2] + a[3] * b[3],
  a[0] * b[4] + a[2] * b[5] + a[4],
  a[1] * b[4] + a[3] * b[5] + a[5],
];

function boxOf([a, b, c, d, e, f]: Matrix, x0: number, y0: number, x1: number, y1: number): Box {
  // Each corner is the sum of one of two in x and one of two in y.
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
