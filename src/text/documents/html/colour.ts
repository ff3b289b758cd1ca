/** Red, green and blue from 0 to 255, and the opacity from 0 to 1. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

export const white: Colour = [255, 255, 255, 1];

/** Names of colours in which text is often hidden, and black, which is often behind white text. */
const namedColours: Readonly<Record<string, string>> = {
  white: "#ffffff",
  snow: "#fffafa",
  ivory: "#fffff0",
  ghostwhite: "#f8f8ff",
  floralwhite: "#fffaf0",
  whitesmoke: "#f5f5f5",
  mintcream: "#f5fffa",
  black: "#000000",
  transparent: "#0000",
};

/** Parses a CSS colour in lower case. Undefined for other colour names and formats. */
export function colourOf(text: string): Colour | undefined {
  const value = namedColours[text.trim()] ?? text.trim();
  const hex = /^#([\da-f]{3,8})$/.exec(value)?.[1];
  if (hex !== undefined) {
    const longHex = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join("") : hex;
    const pairs = longHex.length === 6 || longHex.length === 8 ? (longHex.match(/../g) ?? []) : [];
    const [red, green, blue, alpha = 255] = pairs.map((pair) => Number.parseInt(pair, 16));
    return red === undefined || green === undefined || blue === undefined ? undefined : [red, green, blue, alpha / 255];
  }
  const [, colourSpace, argumentText = ""] = /^(rgb|hsl)a?\(([^()]{1,80})\)$/.exec(value) ?? [];
  if (colourSpace === undefined) return undefined;
  const args = argumentText.split(/[\s,/]+/).filter(Boolean);
  /** The number of an argument; `full` is the number for 100 %. */
  const numberAt = (index: number, full: number): number => {
    const number = Number.parseFloat(args[index] ?? "");
    return args[index]?.endsWith("%") === true ? (number / 100) * full : number;
  };
  const rgb =
    colourSpace === "rgb"
      ? [numberAt(0, 255), numberAt(1, 255), numberAt(2, 255)]
      : rgbFromHsl(numberAt(0, 360), numberAt(1, 1), numberAt(2, 1));
  const [red = 0, green = 0, blue = 0] = rgb;
  const alpha = args[3] === undefined ? 1 : numberAt(3, 1);
  return [red, green, blue, alpha].every(Number.isFinite) ? [red, green, blue, alpha] : undefined;
}

function rgbFromHsl(hue: number, saturation: number, lightness: number): number[] {
  const amount = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((offset) => {
    const step = (offset + hue / 30) % 12;
    return 255 * (lightness - amount * Math.max(-1, Math.min(step - 3, 9 - step, 1)));
  });
}

/** If red, green and blue all differ by at most this, nobody can distinguish two colours. */
const maxUnseenDifference = 24;
/** Text of at most this opacity can't be seen. */
export const maxUnseenAlpha = 0.08;

/** Whether text in a colour can't be seen on a background. */
export function isUnseen([red, green, blue, alpha]: Colour, background: Colour): boolean {
  if (alpha <= maxUnseenAlpha) return true;
  return [red, green, blue].every(
    (part, index) => Math.abs(part - (background[index] ?? 255)) * Math.min(alpha, 1) <= maxUnseenDifference,
  );
}
