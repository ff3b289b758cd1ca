import { type Colour, colourOf, isUnseen, white } from "../html/colour.js";

/** pdf.js's list of what is drawn on a page, and its numbers of the operations. */
export interface Operators {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}
export type OperatorNumbers = Readonly<Record<string, number>>;

/** Stretches on one baseline that are compared with a run; a page that hides more hides by their number. */
const maxStretches = 2000;

/** Where text stands that no reader sees, on one baseline. In points from the bottom left. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly y: number;
}

interface Ink {
  /** Glyphs that the page shows, spaces left out. */
  readonly glyphs: number;
  /**
   * By font, what stands for glyphs of which the font does not say which characters they are: the numbers of the
   * glyphs, as pdf.js gives them.
   */
  readonly unknown: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether so much of a run of text is unseen that it is none for a reader. */
  isUnseen(run: { readonly x: number; readonly y: number; readonly width: number; readonly height: number }): boolean;
}

type Matrix = readonly [number, number, number, number, number, number];
interface Box {
  readonly left: number;
  readonly right: number;
  readonly low: number;
  readonly high: number;
}
interface State {
  readonly ctm: Matrix;
  readonly fill: Colour | undefined;
  readonly mode: number;
  readonly alpha: number;
  readonly isBlended: boolean;
  readonly font: string;
  readonly size: number;
  readonly charSpace: number;
  readonly wordSpace: number;
  readonly scale: number;
  readonly leading: number;
  readonly lineWidth: number;
}

interface Glyph {
  readonly width?: number;
  readonly isSpace?: boolean;
  readonly unicode?: string;
  readonly originalCharCode?: number;
}

/** Operations that are looked at, on one page; a drawing has more, and text of a paper fewer. */
const maxOperators = 300_000;
/** Areas that text may lie on or under, on one page. Of a drawing with more, the ground of a text is not known. */
const maxAreas = 2000;
const invisible = 3;
/** A line drawn as thick as this, in points, is a bar that text may stand on. */
const minBar = 4;

/**
 * Follows what a page draws and tells which text is not to be seen: in the colour of its ground, in the invisible mode
 * where no picture of the page lies under it (a scan carries its text so), or under an area that is painted over it.
 */
export function inkOf({ fnArray, argsArray }: Operators, numbers: OperatorNumbers): Ink {
  const nameOf = new Map(Object.entries(numbers).map(([name, number]) => [number, name]));
  const identity: Matrix = [1, 0, 0, 1, 0, 0];
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
  };
  const stack: State[] = [];
  let text: Matrix = identity;
  let line: Matrix = identity;
  let isPlaced = false;
  let glyphs = 0;
  const fonts = new Map<string, { readonly numbers: Set<string>; translated: number }>();
  const shown: (Stretch & {
    readonly box: Box;
    readonly at: number;
    readonly colour: Colour | undefined;
    readonly mode: number;
  })[] = [];
  const areas: (Box & { readonly at: number; readonly colour: Colour | undefined; readonly isPicture: boolean })[] = [];
  const addArea = (box: Box, at: number, colour: Colour | undefined, isPicture: boolean): void => {
    if (areas.length < maxAreas) areas.push({ ...box, at, colour, isPicture });
  };
  const move = (x: number, y: number): void => {
    line = times(line, [1, 0, 0, 1, x, y]);
    text = line;
  };

  for (let at = 0; at < Math.min(fnArray.length, maxOperators); at += 1) {
    const args = (argsArray[at] ?? []) as readonly unknown[];
    const number = (index: number): number => Number(args[index] ?? 0);
    const name = nameOf.get(fnArray[at] ?? -1);
    switch (name) {
      case "save":
        stack.push(state);
        break;
      case "restore":
        // Pictures are not decoded and leave this behind: a place, and nothing painted there.
        if (isPlaced) addArea(boxOf(state.ctm, 0, 0, 1, 1), at, undefined, true);
        isPlaced = false;
        state = stack.pop() ?? state;
        break;
      case "transform":
        state = { ...state, ctm: times(state.ctm, args as unknown as Matrix) };
        isPlaced = true;
        break;
      case "paintFormXObjectBegin":
        stack.push(state);
        if (args[0] !== null && args[0] !== undefined) state = { ...state, ctm: times(state.ctm, args[0] as Matrix) };
        break;
      case "paintFormXObjectEnd":
        state = stack.pop() ?? state;
        break;
      case "setFillRGBColor":
        state = { ...state, fill: typeof args[0] === "string" ? colourOf(args[0]) : undefined };
        break;
      case "setFillColorN":
      case "setFillTransparent":
        state = { ...state, fill: undefined };
        break;
      case "setGState":
        for (const [key, value] of (args[0] ?? []) as readonly (readonly [string, unknown])[]) {
          if (key === "ca") state = { ...state, alpha: Number(value) };
          if (key === "BM") state = { ...state, isBlended: value !== "source-over" && value !== "normal" };
        }
        break;
      case "beginText":
        text = line = identity;
        break;
      case "setTextMatrix":
        text = line = (args.length === 1 ? args[0] : args) as Matrix;
        break;
      case "setLeadingMoveText":
        state = { ...state, leading: -number(1) };
        move(number(0), number(1));
        break;
      case "moveText":
        move(number(0), number(1));
        break;
      case "nextLine":
        move(0, -state.leading);
        break;
      case "setLineWidth":
        state = { ...state, lineWidth: number(0) };
        break;
      case "setFont":
        state = { ...state, font: String(args[0]), size: number(1) };
        break;
      case "setCharSpacing":
        state = { ...state, charSpace: number(0) };
        break;
      case "setWordSpacing":
        state = { ...state, wordSpace: number(0) };
        break;
      case "setHScale":
        state = { ...state, scale: number(0) / 100 };
        break;
      case "setLeading":
        state = { ...state, leading: -number(0) };
        break;
      case "setTextRenderingMode":
        state = { ...state, mode: number(0) };
        break;
      case "constructPath": {
        const paint = nameOf.get(number(0));
        const [points] = (args[1] ?? []) as readonly (ArrayLike<number> | null)[];
        const bounds = args[2] as ArrayLike<number> | null | undefined;
        if (!bounds || state.alpha <= 0.5) break;
        if (/stroke/i.test(paint ?? "") && state.lineWidth >= minBar) {
          const half = state.lineWidth / 2;
          const [left = 0, low = 0, right = 0, high = 0] = Array.from(bounds);
          addArea(boxOf(state.ctm, left - half, low - half, right + half, high + half), at, undefined, false);
        }
        if (!/fill/i.test(paint ?? "")) break;
        const isRectangle = points !== null && points !== undefined && points.length <= 16 && points.length >= 10;
        const isPlain = isRectangle && state.alpha > 0.95 && !state.isBlended;
        const box = boxOf(state.ctm, bounds[0] ?? 0, bounds[1] ?? 0, bounds[2] ?? 0, bounds[3] ?? 0);
        // Of another shape the bounds alone are known: text may stand on it, and is not called covered by it.
        addArea(box, at, isPlain ? state.fill : undefined, false);
        break;
      }
      case "shadingFill":
        addArea(everywhere, at, undefined, false);
        break;
      case "showText": {
        const start = times(state.ctm, text);
        let width = 0;
        let count = 0;
        const font = fonts.get(state.font) ?? { numbers: new Set<string>(), translated: 0 };
        fonts.set(state.font, font);
        for (const glyph of (args[0] ?? []) as readonly (number | Glyph | null)[]) {
          if (typeof glyph === "number") width -= (glyph / 1000) * state.size;
          else if (glyph !== null) {
            width +=
              ((glyph.width ?? 0) / 1000) * state.size +
              state.charSpace +
              (glyph.isSpace === true ? state.wordSpace : 0);
            if (glyph.isSpace === true) continue;
            count += 1;
            const code = glyph.originalCharCode ?? 0;
            if (code < 256) continue;
            if (glyph.unicode === String.fromCharCode(code)) font.numbers.add(glyph.unicode);
            else font.translated += 1;
          }
        }
        glyphs += count;
        const end = times(start, [1, 0, 0, 1, width * state.scale, 0]);
        text = times(text, [1, 0, 0, 1, width * state.scale, 0]);
        const [from, to] = [Math.min(start[4], end[4]), Math.max(start[4], end[4])];
        const height = Math.abs(state.size) * Math.hypot(start[2], start[3]);
        const box = { left: from, right: to, low: start[5], high: start[5] + 0.6 * height };
        const [red, green, blue] = state.fill ?? [];
        const colour: Colour | undefined =
          red === undefined || green === undefined || blue === undefined ? undefined : [red, green, blue, state.alpha];
        if (count > 0 && Math.abs(end[5] - start[5]) < 1)
          shown.push({ from, to, y: start[5], box, at, colour, mode: state.mode });
        break;
      }
      default:
        break;
    }
    if (name === "showText" || name === "constructPath" || name === "paintFormXObjectBegin") isPlaced = false;
  }

  const lies = (box: Box, area: Box): boolean =>
    area.left <= box.left + 1 && area.right >= box.right - 1 && area.low <= box.low + 1 && area.high >= box.high - 1;
  const unseen = new Map<number, Stretch[]>();
  const isScan = shown.filter(({ mode }) => mode % 4 === invisible).length > 0.8 * shown.length;
  for (const each of shown) {
    const below = areas.findLast((area) => area.at < each.at && lies(each.box, area));
    const isCovered = areas.some(
      (area) => area.at > each.at && !area.isPicture && area.colour !== undefined && lies(each.box, area),
    );
    const isWithoutInk = each.mode % 4 === invisible && !isScan && below?.isPicture !== true;
    const isKnown = areas.length < maxAreas;
    const ground = !isKnown ? undefined : below === undefined ? white : below.isPicture ? undefined : below.colour;
    const isInGround =
      each.mode % 4 === 0 && each.colour !== undefined && ground !== undefined && isUnseen(each.colour, ground);
    if (!isCovered && !isWithoutInk && !isInGround) continue;
    const key = Math.round(each.y);
    const there = unseen.get(key);
    if (there === undefined) unseen.set(key, [each]);
    else there.push(each);
  }
  // In a font that is encoded by characters all numbers are; in any other, those that are left over when the rest has
  // been translated.
  const unknown = new Map(
    [...fonts]
      .filter(([, { translated, numbers: own }]) => translated > own.size && own.size > 0)
      .map(([name, font]) => [name, font.numbers]),
  );
  return {
    glyphs,
    unknown,
    isUnseen: ({ x, y, width, height }) => {
      if (unseen.size === 0 || width <= 0) return false;
      const reach = Math.max(1, Math.round(0.2 * height));
      let overlap = 0;
      for (let key = Math.round(y) - reach; key <= Math.round(y) + reach; key += 1)
        for (const { from, to } of (unseen.get(key) ?? []).slice(0, maxStretches))
          overlap += Math.max(0, Math.min(to, x + width) - Math.max(from, x));
      return overlap > 0.6 * width;
    },
  };
}

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

function boxOf(matrix: Matrix, x0: number, y0: number, x1: number, y1: number): Box {
  const xs = [x0, x1].flatMap((x) => [y0, y1].map((y) => matrix[0] * x + matrix[2] * y + matrix[4]));
  const ys = [x0, x1].flatMap((x) => [y0, y1].map((y) => matrix[1] * x + matrix[3] * y + matrix[5]));
  return { left: Math.min(...xs), right: Math.max(...xs), low: Math.min(...ys), high: Math.max(...ys) };
}
