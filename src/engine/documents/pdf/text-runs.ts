import type { Operators } from "./ink.js";

/** A run of characters as pdf.js's own list of a page's text has it. */
export interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  /** Of writing from top to bottom its length, else that of the font. */
  readonly height: number;
  /** "ttb" of writing from top to bottom. */
  readonly dir: string;
  readonly fontName: string;
  readonly hasEOL: boolean;
}

/** What of a font tells where its glyphs stand. */
export interface FontFacts {
  readonly name: string;
  /** Width of a glyph, for one of the font's own units, at a size of 1. */
  readonly unit: number;
  /** It draws its glyphs itself (Type 3), or is for writing from top to bottom. */
  readonly isSpecial: boolean;
}

interface Glyph {
  readonly unicode: string;
  readonly width: number;
  readonly originalCharCode: number;
  readonly category: {
    readonly isWhitespace: boolean;
    readonly isZeroWidthDiacritic: boolean;
    readonly isInvisibleFormatMark: boolean;
  };
}

interface Page {
  /** pdf.js's names of its operations, at their numbers. */
  readonly names: readonly (string | undefined)[];
  /** What of the page is shown: left, bottom, right and top, in points. */
  readonly view: readonly number[];
  readonly fonts: ReadonlyMap<string, FontFacts>;
}

type Matrix = [number, number, number, number, number, number];

interface State {
  ctm: Matrix;
  text: Matrix;
  line: Matrix;
  fontName: string;
  font: FontFacts | undefined;
  size: number;
  charSpace: number;
  wordSpace: number;
  scale: number;
  leading: number;
  rise: number;
}

/** Letters of scripts that are written from right to left: pdf.js puts them in order. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
/** What pdf.js writes as other characters: spaces, ligatures and letters of compatibility. */
const compatible = /[\u00a0\u00b5\u037e\u0eb3\u2000-\u200a\u202f\u2126\ufb00-\ufb04\ufb06]+/g;
const beyondAscii = /[^\0-\x7f]/;

/** Gaps of so much of the font's size, and more, part words; larger ones part runs. In pdf.js's own measures. */
const [leastSpace, maxSpace] = [0.102, 0.6];
/** Smaller ones part nothing; so far back a new run begins. */
const [noSpace, backwards] = [0.03, -0.2];
/** A run ends where its baseline moves by so much of its height. */
const shift = 0.25;

const times = (a: Matrix, b: Matrix): Matrix => [
  a[0] * b[0] + a[2] * b[1],
  a[1] * b[0] + a[3] * b[1],
  a[0] * b[2] + a[2] * b[3],
  a[1] * b[2] + a[3] * b[3],
  a[0] * b[4] + a[2] * b[5] + a[4],
  a[1] * b[4] + a[3] * b[5] + a[5],
];
const identity = (): Matrix => [1, 0, 0, 1, 0, 0];

/**
 * The text of a page, made of what it draws: the runs that pdf.js's getTextContent gives, which reads the page once
 * more for them and takes as long again. Undefined where a page shows what only pdf.js puts in order: fonts that draw
 * their glyphs themselves, writing from top to bottom or from right to left.
 */
export function textRunsOf({ fnArray, argsArray }: Operators, { names, view, fonts }: Page): TextItem[] | undefined {
  let state: State = {
    ctm: identity(),
    text: identity(),
    line: identity(),
    fontName: "",
    font: undefined,
    size: 0,
    charSpace: 0,
    wordSpace: 0,
    scale: 1,
    leading: 0,
    rise: 0,
  };
  const stack: State[] = [];
  let run = new RunBuilder(view, []);
  const outer: RunBuilder[] = [];
  /** Groups that are drawn for a mask and not shown, within one another. */
  let masks = 0;
  for (const [at, operation] of fnArray.entries()) {
    const args = (argsArray[at] ?? []) as readonly unknown[];
    const number = (index: number): number => Number(args[index] ?? 0);
    switch (names[operation]) {
      case "showText":
        if (masks > 0 || state.font === undefined) break;
        if (state.font.isSpecial) return undefined;
        if (!run.show((args[0] ?? []) as readonly (Glyph | number | null)[], state, state.font)) return undefined;
        break;
      case "setTextMatrix": {
        const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = (args.length === 1 ? args[0] : args) as readonly number[];
        state.text = [a, b, c, d, e, f];
        state.line = [a, b, c, d, e, f];
        run.rescale(state);
        break;
      }
      case "setLeadingMoveText":
        state.leading = -number(1);
        move(state, number(0), number(1));
        break;
      case "moveText":
        move(state, number(0), number(1));
        break;
      case "nextLine":
        move(state, 0, -state.leading);
        break;
      case "setFont":
        setFont(state, args, fonts);
        break;
      case "setGState":
        for (const [key, value] of (args[0] ?? []) as readonly (readonly [string, unknown])[])
          if (key === "Font") {
            run.flush();
            setFont(state, value as readonly unknown[], fonts);
          }
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
      case "setTextRise":
        state.rise = number(0);
        break;
      case "beginText":
        state.text = identity();
        state.line = identity();
        break;
      case "save":
        stack.push(copyOf(state));
        break;
      case "restore":
        state = stack.pop() ?? state;
        break;
      case "transform":
        state.ctm = times(state.ctm, args as unknown as Matrix);
        break;
      case "paintFormXObjectBegin":
        stack.push(copyOf(state));
        if (args[0] !== null && args[0] !== undefined) state.ctm = times(state.ctm, args[0] as Matrix);
        run.flush();
        outer.push(run);
        run = new RunBuilder(view, run.items);
        break;
      case "paintFormXObjectEnd":
        run.flush();
        run = outer.pop() ?? run;
        state = stack.pop() ?? state;
        break;
      case "beginGroup":
        if (masks > 0 || isMask(args[0])) masks += 1;
        break;
      case "endGroup":
        masks = Math.max(0, masks - 1);
        break;
      case "beginMarkedContent":
      case "beginMarkedContentProps":
      case "endMarkedContent":
        run.flush();
        break;
      default:
        break;
    }
  }
  run.flush();
  return run.items.some(({ str }) => rightToLeft.test(str)) ? undefined : run.items;
}

/** Glyphs that stand for several letters, as they have been turned. */
const turnedGlyphs = new WeakSet<object>();

/**
 * A glyph may stand for several Arabic or Hebrew letters (لا). pdf.js turns each line letter by letter, and these with
 * it; turned before, they come out as they are written. The glyphs are those that pdf.js keeps.
 */
export function turnLigatures({ fnArray, argsArray }: Operators, names: Page["names"]): void {
  for (const [at, operation] of fnArray.entries()) {
    if (names[operation] !== "showText") continue;
    const [glyphs] = (argsArray[at] ?? []) as readonly ({ unicode?: string } | number | null)[][];
    for (const glyph of glyphs ?? []) {
      if (glyph === null || typeof glyph === "number" || (glyph.unicode?.length ?? 0) < 2) continue;
      if (turnedGlyphs.has(glyph) || !rightToLeft.test(glyph.unicode ?? "")) continue;
      turnedGlyphs.add(glyph);
      glyph.unicode = Array.from(glyph.unicode ?? "")
        .toReversed()
        .join("");
    }
  }
}

const isMask = (group: unknown): boolean => Boolean((group as { readonly smask?: unknown } | undefined)?.smask);
const copyOf = (state: State): State => ({ ...state, text: [...state.text], line: [...state.line] });

function setFont(state: State, [name, size]: readonly unknown[], fonts: ReadonlyMap<string, FontFacts>): void {
  state.fontName = String(name);
  state.font = fonts.get(state.fontName);
  state.size = Number(size);
}

function move(state: State, x: number, y: number): void {
  const { line } = state;
  line[4] += line[0] * x + line[2] * y;
  line[5] += line[1] * x + line[3] * y;
  state.text = [...line];
}

const advanceScale = ({ ctm, line }: State): number => Math.hypot(ctm[0], ctm[1]) * Math.hypot(line[0], line[1]);

/** Puts the glyphs of one content stream together to runs. */
class RunBuilder {
  readonly items: TextItem[];
  readonly #view: readonly number[];
  #isBegun = false;
  #text = "";
  #total = 0;
  #width = 0;
  #height = 0;
  #advance = 0;
  #size = 0;
  #fontName = "";
  #transform: Matrix = identity();
  /** Where the last glyph ended. */
  #last: Matrix | undefined;
  #lastRise = 0;
  /** Whether the last two characters are a space behind another character. */
  #beforeLast = " ";
  #lastCharacter = " ";
  #set: { readonly size: number; readonly fontName: string; readonly font: FontFacts } | undefined;

  constructor(view: readonly number[], items: TextItem[]) {
    this.#view = view;
    this.items = items;
  }

  /** False where a glyph has no kind. */
  show(glyphs: readonly (Glyph | number | null)[], state: State, font: FontFacts): boolean {
    const set = this.#set;
    if (
      set === undefined ||
      set.size !== state.size ||
      (set.fontName !== state.fontName && set.font.name !== font.name)
    ) {
      this.flush();
      this.#set = { size: state.size, fontName: state.fontName, font };
    }
    const { text, ctm, size, scale, rise } = state;
    // Only the place moves from glyph to glyph.
    const turned = times(ctm, times(text, [size * scale, 0, 0, size, 0, rise]));
    const [stepX, stepY] = [ctm[0] * text[0] + ctm[2] * text[1], ctm[1] * text[0] + ctm[3] * text[1]];
    let along = 0;
    const [startX, startY] = [turned[4], turned[5]];
    const walk = (by: number): void => {
      along += by;
      turned[4] = startX + stepX * along;
      turned[5] = startY + stepY * along;
    };
    const unit = font.unit * size;
    const count = glyphs.length;
    let isEmpty = true;
    for (let at = 0; at < count; at += 1) {
      const glyph = glyphs[at];
      if (glyph === null || glyph === undefined || glyph === 0) continue;
      if (typeof glyph === "number") {
        // Behind a glyph it went with that.
        if (isEmpty) walk((state.charSpace - (glyph * size) / 1000) * scale);
        isEmpty = true;
        continue;
      }
      isEmpty = false;
      const { category } = glyph;
      if (category === undefined) return false;
      if (category.isInvisibleFormatMark) continue;
      let next = at + 1;
      while (glyphs[next] === 0) next += 1;
      const extra = glyphs[next];
      let space = state.charSpace - (typeof extra === "number" ? (extra * size) / 1000 : 0);
      if (glyph.originalCharCode === 0x20) space += state.wordSpace;
      let width = glyph.width * unit;
      if (category.isWhitespace) {
        walk((space + width) * scale);
        this.#saveCharacter(" ");
        continue;
      }
      if (!category.isZeroWidthDiacritic && !this.#compare(width, turned, state)) {
        walk(width * scale);
        continue;
      }
      if (!this.#isBegun) this.#begin(turned, state);
      if (category.isZeroWidthDiacritic) width = 0;
      width *= scale;
      walk(width);
      this.#width += width;
      if (width !== 0) {
        const last = (this.#last ??= identity());
        for (let index = 0; index < 6; index += 1) last[index] = turned[index] ?? 0;
        this.#lastRise = rise;
      }
      if (this.#saveCharacter(glyph.unicode)) this.#text += " ";
      this.#text += glyph.unicode;
      if (space !== 0) walk(space * scale);
    }
    text[4] += text[0] * along;
    text[5] += text[1] * along;
    return true;
  }

  /** A new text matrix may have another scale. */
  rescale(state: State): void {
    if (!this.#isBegun) return;
    const advance = advanceScale(state);
    if (advance === this.#advance) return;
    this.#total += this.#width * this.#advance;
    this.#width = 0;
    this.#advance = advance;
  }

  flush(hasEOL = false): void {
    if (!this.#isBegun) return;
    this.#total += this.#width * this.#advance;
    this.items.push({
      str: beyondAscii.test(this.#text)
        ? this.#text.replace(compatible, (some) => some.normalize("NFKC")).replaceAll("ﬅ", "ſt")
        : this.#text,
      dir: "ltr",
      width: Math.abs(this.#total),
      height: this.#height,
      transform: this.#transform,
      fontName: this.#fontName,
      hasEOL,
    });
    this.#isBegun = false;
    this.#text = "";
  }

  #begin(transform: Matrix, state: State): void {
    this.#fontName = state.fontName;
    this.#transform = [...transform];
    this.#width = this.#total = 0;
    this.#height = Math.hypot(transform[2], transform[3]);
    this.#advance = advanceScale(state);
    this.#size = state.size;
    this.#isBegun = true;
  }

  /** Whether the character is the first one behind a space that is behind another one. */
  #saveCharacter(character: string): boolean {
    const isBehindSpace = this.#isBehindSpace();
    this.#beforeLast = this.#lastCharacter;
    this.#lastCharacter = character;
    return isBehindSpace;
  }

  #isBehindSpace(): boolean {
    return this.#beforeLast !== " " && this.#lastCharacter === " ";
  }

  #forget(): void {
    this.#beforeLast = this.#lastCharacter = " ";
  }

  /** Ends the run, or its word, where the next glyph stands apart. False where it stands outside of the page. */
  #compare(width: number, now: Matrix, state: State): boolean {
    const [left = 0, low = 0, right = 0, high = 0] = this.#view;
    let [x, y] = [now[4], now[5]];
    if (x + width < left || x > right || y < low || y > high) return false;
    const last = this.#last;
    if (last === undefined) return true;
    let [lastX, lastY] = [last[4], last[5]];
    if (lastX === x && lastY === y) return true;
    if (now[1] === 0 && now[2] === 0 && now[0] !== 0) {
      if (now[0] < 0) [x, y, lastX, lastY] = [-x, -y, -lastX, -lastY];
    } else if (now[0] === 0 && now[3] === 0 && now[1] !== 0) {
      if (now[1] > 0) [x, y, lastX, lastY] = [y, x, lastY, lastX];
      else [x, y, lastX, lastY] = [-y, -x, -lastY, -lastX];
    } else {
      [x, y] = unturned(x, y, now);
      [lastX, lastY] = unturned(lastX, lastY, last);
    }
    const [advanceX, advanceY] = [(x - lastX) / this.#advance, y - lastY];
    const direction = Math.sign(this.#width || this.#total);
    if (advanceX < direction * backwards * this.#size) {
      if (Math.abs(advanceY) > 0.5 * this.#height) return this.#endLine(now, state);
      this.#forget();
      this.flush();
      return true;
    }
    const raised = state.rise - this.#lastRise;
    const fallen = raised === 0 ? advanceY : advanceY - (now[3] / state.size) * raised;
    if (Math.abs(fallen) > this.#height) return this.#endLine(now, state);
    if (advanceX <= direction * noSpace * this.#size) this.#forget();
    if (advanceX <= direction * leastSpace * this.#size) {
      if (this.#isBehindSpace()) {
        this.#forget();
        this.flush();
        this.#space(Math.abs(advanceX));
      } else this.#width += advanceX;
    } else if (this.#addSpace(advanceX, direction)) {
      if (this.#text === "") {
        this.#forget();
        this.#space(Math.abs(advanceX));
      } else this.#width += advanceX;
    }
    if (Math.abs(advanceY) > this.#height * shift) this.flush();
    return true;
  }

  #endLine(now: Matrix, { fontName }: State): true {
    this.#forget();
    if (this.#isBegun) this.flush(true);
    else this.items.push({ str: "", dir: "ltr", width: 0, height: 0, transform: [...now], fontName, hasEOL: true });
    return true;
  }

  /** Whether the run goes on behind a gap; else it ends, and a space stands by itself. */
  #addSpace(width: number, direction: number): boolean {
    if (direction * leastSpace * this.#size <= width && width <= direction * maxSpace * this.#size) {
      if (this.#isBegun) {
        this.#forget();
        this.#text += " ";
      }
      return true;
    }
    this.flush();
    this.#forget();
    this.#space(Math.abs(width));
    return false;
  }

  #space(width: number): void {
    this.items.push({
      str: " ",
      dir: "ltr",
      width,
      height: 0,
      transform: [...(this.#last ?? identity())],
      fontName: this.#fontName,
      hasEOL: false,
    });
  }
}

function unturned(x: number, y: number, [a, b, c, d]: Matrix): [number, number] {
  const scale = Math.hypot(a, b);
  return [(a * x + b * y) / scale, (c * x + d * y) / scale];
}
