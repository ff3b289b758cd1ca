/** Red, green and blue from 0 to 255, and how opaque from 0 to 1. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

export const white: Colour = [255, 255, 255, 1];

/** The names that texts are hidden in, and the dark ones that designs put white on; any other is not compared. */
const named: Readonly<Record<string, string>> = {
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

/** A colour as CSS writes it, in lower case; undefined where it is not understood. */
export function colourOf(text: string): Colour | undefined {
  const value = named[text.trim()] ?? text.trim();
  const hex = /^#([\da-f]{3,8})$/.exec(value)?.[1];
  if (hex !== undefined) {
    const wide = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join("") : hex;
    const pairs = wide.length === 6 || wide.length === 8 ? (wide.match(/../g) ?? []) : [];
    const [red, green, blue, alpha = 255] = pairs.map((pair) => Number.parseInt(pair, 16));
    return red === undefined || green === undefined || blue === undefined ? undefined : [red, green, blue, alpha / 255];
  }
  const [, space, inside = ""] = /^(rgb|hsl)a?\(([^()]{1,80})\)$/.exec(value) ?? [];
  if (space === undefined) return undefined;
  const parts = inside.split(/[\s,/]+/).filter(Boolean);
  const part = (index: number, whole: number): number => {
    const number = Number.parseFloat(parts[index] ?? "");
    return parts[index]?.endsWith("%") === true ? (number / 100) * whole : number;
  };
  const rgb =
    space === "rgb" ? [part(0, 255), part(1, 255), part(2, 255)] : fromHsl(part(0, 360), part(1, 1), part(2, 1));
  const [red = 0, green = 0, blue = 0] = rgb;
  const alpha = parts[3] === undefined ? 1 : part(3, 1);
  return [red, green, blue, alpha].every(Number.isFinite) ? [red, green, blue, alpha] : undefined;
}

function fromHsl(hue: number, saturation: number, lightness: number): number[] {
  const amount = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((offset) => {
    const step = (offset + hue / 30) % 12;
    return 255 * (lightness - amount * Math.max(-1, Math.min(step - 3, 9 - step, 1)));
  });
}

/** So near in every part that no eye tells text from its ground. */
const unseen = 24;

/** Whether text in this colour cannot be seen on this ground. */
export function isUnseen([red, green, blue, alpha]: Colour, ground: Colour): boolean {
  if (alpha <= 0.08) return true;
  // Mixed with the ground as far as it shines through.
  return [red, green, blue].every(
    (part, index) => Math.abs(part - (ground[index] ?? 255)) * Math.min(alpha, 1) <= unseen,
  );
}
