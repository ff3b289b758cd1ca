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
  /** Whether a group of optional content is switched on. */
  readonly isOn: (group: unknown) => boolean;
}

/** Stretches on one baseline that are compared with a run; a page that hides more hides by their number. */
const maxStretches = 2000;

/** Where text stands that no reader sees, on one baseline. In points from the bottom left. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly y: number;
}

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

interface Glyph {
  readonly width?: number;
  readonly isSpace?: boolean;
  readonly unicode?: string;
  readonly originalCharCode?: number;
}

interface Area extends Box {
  readonly at: number;
  readonly colour: Colour | undefined;
  readonly isPicture: boolean;
}
interface Shown extends Stretch {
  readonly box: Box;
  readonly at: number;
  readonly colour: Colour | undefined;
  readonly mode: number;
  readonly glyphs: number;
  readonly text: string;
  /** Outside of the page or of what it is cut to, or in a group that is switched off. */
  readonly isAway: boolean;
  /** What it is drawn of, and how. */
  readonly drawn: readonly (number | Glyph | null)[];
  readonly set: Pick<State, "size" | "charSpace" | "wordSpace">;
  /** Points on the page for one of the text's own units. */
  readonly unit: number;
}

/** Operations that are looked at, on one page; a drawing has more, and a page of text fewer. */
const maxOperators = 300_000;
/** Areas that text may lie on or under, on one page. Of a drawing with more, the ground of a text is not known. */
const maxAreas = 2000;
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
/** Colours of one page that are told apart. */
const maxColours = 100_000;
/** Points in either direction; a smaller area neither carries nor covers text. */
const minArea = 1;
const invisible = 3;
/** A line drawn as thick as this, in points, is a bar that text may stand on. */
const minBar = 4;
/** Text under a picture that is painted over it is a line of so many glyphs, not a label in a transparent figure, */
const minCovered = 20;
/** and at most this share of the page's, since a scan may lie over its text, and a watermark over all. */
const maxCovered = 0.25;

/**
 * Follows what a page draws and tells which text is not to be seen: in the colour of its ground, in the invisible mode
 * where no picture of the page lies under it (a scan carries its text so), under an area or a picture that is painted
 * over it, outside of the page or of the path that it is cut to, or in a group of optional content that is off.
 */
export function inkOf({ fnArray, argsArray }: Operators, { names, view, isOn }: Sheet): Ink {
  const identity: Matrix = [1, 0, 0, 1, 0, 0];
  const [left = 0, low = 0, right = 0, high = 0] = view;
  let state: State = {
    ctm: identity,
    fill: [0, 0, 0, 1],
    mode: 0,
    alpha: 1,
    isBlended: false,
    font: "",
    size: 0,
    charSpace: 0,
    wordSpace: 0,
    scale: 1,
    leading: 0,
    lineWidth: 1,
    clip: right > left && high > low ? { left, right, low, high } : everywhere,
  };
  const stack: State[] = [];
  let text: Matrix = identity;
  let line: Matrix = identity;
  let isPlaced = false;
  let isCutting = false;
  let glyphs = 0;
  let unnamed = 0;
  /** Of the marked contents that are open, whether each is switched off. */
  const marked: boolean[] = [];
  const page = state.clip;
  const outside: string[] = [];
  let off = 0;
  const fonts = new Map<string, { readonly numbers: Set<string>; translated: number }>();
  const shown: Shown[] = [];
  const areas: Area[] = [];
  const addArea = (box: Box, at: number, colour: Colour | undefined, isPicture: boolean): void => {
    if (areas.length >= maxAreas || off > 0) return;
    const { left: from, right: to, low: bottom, high: top } = within(box, state.clip);
    // No letter fits into it.
    if (to - from < minArea || top - bottom < minArea) return;
    areas.push({ left: from, right: to, low: bottom, high: top, at, colour, isPicture });
  };
  const move = (x: number, y: number): void => {
    line = times(line, [1, 0, 0, 1, x, y]);
    text = line;
  };

  let args: readonly unknown[] = [];
  const number = (index: number): number => Number(args[index] ?? 0);
  const colours = new Map<string, Colour | undefined>();
  const inkNamed = (name: string): Colour | undefined => {
    if (!colours.has(name) && colours.size < maxColours) colours.set(name, colourOf(name));
    return colours.get(name);
  };
  const count = Math.min(fnArray.length, maxOperators);
  for (let at = 0; at < count; at += 1) {
    args = (argsArray[at] ?? []) as readonly unknown[];
    const name = names[fnArray[at] ?? -1];
    // The most frequent first: they are compared one after the other.
    switch (name) {
      case "constructPath": {
        const bounds = args[2] as ArrayLike<number> | null | undefined;
        const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = [bounds?.[0], bounds?.[1], bounds?.[2], bounds?.[3]];
        if (isCutting && bounds) state.clip = within(boxOf(state.ctm, x0, y0, x1, y1), state.clip);
        isCutting = false;
        if (!bounds || state.alpha <= 0.5) break;
        const paint = names[number(0)] ?? "";
        if (state.lineWidth >= minBar && strokes.has(paint)) {
          const half = state.lineWidth / 2;
          addArea(boxOf(state.ctm, x0 - half, y0 - half, x1 + half, y1 + half), at, undefined, false);
        }
        if (!fills.has(paint)) break;
        const [points] = (args[1] ?? []) as readonly (ArrayLike<number> | null)[];
        const isRectangle = points !== null && points !== undefined && points.length <= 16 && points.length >= 10;
        const isPlain = isRectangle && state.alpha > 0.95 && !state.isBlended;
        // Of another shape the bounds alone are known: text may stand on it, and is not called covered by it.
        addArea(boxOf(state.ctm, x0, y0, x1, y1), at, isPlain ? state.fill : undefined, false);
        break;
      }
      case "showText": {
        const start = times(state.ctm, text);
        let width = 0;
        let letters = 0;
        let nameless = 0;
        let written = "";
        const font = fonts.get(state.font) ?? { numbers: new Set<string>(), translated: 0 };
        fonts.set(state.font, font);
        for (const glyph of (args[0] ?? []) as readonly (number | Glyph | null)[]) {
          if (typeof glyph === "number") width -= (glyph / 1000) * state.size;
          else if (glyph !== null) {
            width +=
              ((glyph.width ?? 0) / 1000) * state.size +
              state.charSpace +
              (glyph.isSpace === true ? state.wordSpace : 0);
            written += glyph.unicode ?? "";
            if (glyph.isSpace === true || isBlank(glyph.unicode)) continue;
            letters += 1;
            if (glyph.unicode === "\0") nameless += 1;
            const code = glyph.originalCharCode ?? 0;
            if (code < 256) continue;
            if (glyph.unicode === String.fromCharCode(code)) font.numbers.add(glyph.unicode);
            else if (!isForColumns(glyph.unicode)) font.translated += 1;
          }
        }
        const end = times(start, [1, 0, 0, 1, width * state.scale, 0]);
        text = times(text, [1, 0, 0, 1, width * state.scale, 0]);
        if (letters === 0) break;
        const [from, to] = [Math.min(start[4], end[4]), Math.max(start[4], end[4])];
        const height = Math.abs(state.size) * Math.hypot(start[2], start[3]);
        const isLevel = Math.abs(end[5] - start[5]) < 1;
        const [bottom, top] = [Math.min(start[5], end[5]), Math.max(start[5], end[5])];
        const box = { left: from, right: to, low: bottom, high: top + 0.6 * height };
        if (isOutside(box, page, 0)) outside.push(written);
        else {
          glyphs += letters;
          unnamed += nameless;
        }
        const isAway = off > 0 || isOutside(box, state.clip, height);
        const [red, green, blue] = state.fill ?? [];
        const colour: Colour | undefined =
          red === undefined || green === undefined || blue === undefined ? undefined : [red, green, blue, state.alpha];
        if (isLevel)
          shown.push({
            from,
            to,
            y: start[5],
            box,
            at,
            colour,
            mode: state.mode,
            glyphs: letters,
            text: written,
            isAway,
            drawn: (args[0] ?? []) as readonly (number | Glyph | null)[],
            set: { size: state.size, charSpace: state.charSpace, wordSpace: state.wordSpace },
            unit: start[0] * state.scale,
          });
        break;
      }
      case "save":
        stack.push({ ...state });
        break;
      case "restore":
        // Pictures are not decoded and leave this behind: a place, and nothing painted there.
        if (isPlaced) addArea(boxOf(state.ctm, 0, 0, 1, 1), at, undefined, true);
        isPlaced = false;
        state = stack.pop() ?? state;
        break;
      case "transform":
        state.ctm = times(state.ctm, args as unknown as Matrix);
        isPlaced = true;
        break;
      case "paintFormXObjectBegin": {
        stack.push({ ...state });
        if (args[0] !== null && args[0] !== undefined) state.ctm = times(state.ctm, args[0] as Matrix);
        const [x0, y0, x1, y1] = (args[1] ?? []) as readonly (number | undefined)[];
        if (x0 !== undefined && y0 !== undefined && x1 !== undefined && y1 !== undefined)
          state.clip = within(boxOf(state.ctm, x0, y0, x1, y1), state.clip);
        break;
      }
      case "paintFormXObjectEnd":
        state = stack.pop() ?? state;
        break;
      case "beginMarkedContent":
      case "beginMarkedContentProps": {
        const isOff = args[0] === "OC" && !isOn(args[1]);
        marked.push(isOff);
        if (isOff) off += 1;
        break;
      }
      case "endMarkedContent":
        if (marked.pop() === true) off -= 1;
        break;
      case "setFillRGBColor":
        state.fill = typeof args[0] === "string" ? inkNamed(args[0]) : undefined;
        break;
      case "setFillColorN":
      case "setFillTransparent":
        state.fill = undefined;
        break;
      case "setGState":
        for (const [key, value] of (args[0] ?? []) as readonly (readonly [string, unknown])[]) {
          if (key === "ca") state.alpha = Number(value);
          if (key === "BM") state.isBlended = value !== "source-over" && value !== "normal";
        }
        break;
      case "beginText":
        text = line = identity;
        break;
      case "setTextMatrix":
        text = line = (args.length === 1 ? args[0] : args) as Matrix;
        break;
      case "setLeadingMoveText":
        state.leading = -number(1);
        move(number(0), number(1));
        break;
      case "moveText":
        move(number(0), number(1));
        break;
      case "nextLine":
        move(0, -state.leading);
        break;
      case "setLineWidth":
        state.lineWidth = number(0);
        break;
      case "setFont":
        state.font = String(args[0]);
        state.size = number(1);
        break;
      case "setCharSpacing":
        state.charSpace = number(0);
        break;
      case "setWordSpacing":
        state.wordSpace = number(0);
        break;
      case "setHScale":
        state.scale = number(0) / 100;
        break;
      case "setLeading":
        state.leading = number(0);
        break;
      case "setTextRenderingMode":
        state.mode = number(0);
        break;
      case "clip":
      case "eoClip":
        isCutting = true;
        break;
      case "shadingFill":
        addArea(everywhere, at, undefined, false);
        break;
      default:
        break;
    }
    if (name === "showText" || name === "constructPath" || name === "paintFormXObjectBegin") isPlaced = false;
  }

  const areasAt = areasByPlace(areas);
  const lies = (box: Box, area: Box): boolean =>
    area.left <= box.left + 1 && area.right >= box.right - 1 && area.low <= box.low + 1 && area.high >= box.high - 1;
  // A picture set in a way that is not followed may be anywhere: of a page of nothing but text it is known that it has
  // none.
  const hasGround = areas.length > 0 || isPlaced;
  const isScan = hasGround && shown.filter(({ mode }) => mode % 4 === invisible).length > 0.8 * shown.length;
  const isKnown = areas.length < maxAreas;
  const unseen = new Set<Shown>();
  const underPictures: Shown[] = [];
  for (const each of shown) {
    const around = areasAt(each.box).filter((area) => lies(each.box, area));
    const below = around.findLast((area) => area.at < each.at);
    const isInvisible = each.mode % 4 === invisible;
    // Beneath a scan and its white ground text may lie that was never to be seen, but read.
    const isCovered =
      !(isInvisible && isScan) &&
      around.some((area) => area.at > each.at && !area.isPicture && area.colour !== undefined);
    const isWithoutInk = isInvisible && !isScan && below?.isPicture !== true;
    const ground = !isKnown ? undefined : below === undefined ? white : below.isPicture ? undefined : below.colour;
    const isInGround =
      each.mode % 4 === 0 && each.colour !== undefined && ground !== undefined && isUnseen(each.colour, ground);
    if (each.isAway || isCovered || isWithoutInk || isInGround) unseen.add(each);
    else if (each.mode % 4 !== invisible && around.some((area) => area.at > each.at && area.isPicture))
      underPictures.push(each);
  }
  // Lines of a page are set in one piece or word by word.
  const lines = new Map<number, number>();
  for (const { y, glyphs: count } of underPictures) lines.set(Math.round(y), (lines.get(Math.round(y)) ?? 0) + count);
  const covered = underPictures.reduce((sum, each) => sum + each.glyphs, 0);
  if (covered <= maxCovered * glyphs)
    for (const each of underPictures) if ((lines.get(Math.round(each.y)) ?? 0) >= minCovered) unseen.add(each);

  const [away, seen] = [
    byBaseline(shown.filter((each) => unseen.has(each))),
    byBaseline(shown.filter((each) => unseen.size > 0 && !unseen.has(each))),
  ];
  // In a font that is encoded by characters all numbers are; in any other, those that are left over when the rest has
  // been translated.
  const unknown = new Map(
    [...fonts]
      .filter(([, { translated, numbers: own }]) => translated > own.size && own.size > 0)
      .map(([name, font]) => [name, font.numbers]),
  );
  let onLine: ((run: Place) => readonly Shown[]) | undefined;
  return {
    glyphs,
    unnamed,
    outside,
    unknown,
    glyphsOn: (run) => {
      onLine ??= byBaseline(shown);
      return onLine(run).flatMap(placesOf);
    },
    isUnseen: (run) => {
      if (unseen.size === 0 || run.width <= 0) return false;
      const overlap = away(run).reduce((sum, { from, to }) => sum + shared(run, from, to), 0);
      if (overlap <= 0.6 * run.width) return false;
      // The same text may be set at the same place once more.
      const letters = lettersOf(run.text);
      return !seen(run).some(
        ({ from, to, text: other }) =>
          shared(run, from, to) > 0 && letters.includes(lettersOf(other)) && lettersOf(other) !== "",
      );
    },
  };
}

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

/** Points above and below a baseline in which what is unseen is looked for. */
const maxReach = 50;

/** Heights of the rows in which areas are looked up, in points. */
const rowHeight = 16;
/** An area over more rows is in no row, but in all. */
const maxRows = 64;

/** Which areas lie around a box, in the order in which they were painted; others may be among them. */
function areasByPlace(areas: readonly Area[]): (box: Box) => readonly Area[] {
  const rows = new Map<number, Area[]>();
  const tall: Area[] = [];
  for (const area of areas) {
    const [first, last] = [Math.floor(area.low / rowHeight), Math.floor(area.high / rowHeight)];
    if (!(last - first <= maxRows)) tall.push(area);
    else
      for (let row = first; row <= last; row += 1) {
        const there = rows.get(row);
        if (there === undefined) rows.set(row, [area]);
        else there.push(area);
      }
  }
  return (box) => {
    const row = rows.get(Math.floor((box.low + box.high) / 2 / rowHeight)) ?? [];
    return tall.length === 0 ? row : [...tall, ...row].toSorted((a, b) => a.at - b.at);
  };
}

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

/** A gradient fills what was cut out before. */
const everywhere: Box = { left: -1e9, right: 1e9, low: -1e9, high: 1e9 };

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
