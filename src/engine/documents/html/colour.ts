/** Red, green and blue from 0 to 255, and how opaque from 0 to 1. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

export const white: Colour = [255, 255, 255, 1];

/**
 * The names that texts are hidden in, and those that designs put white on; an unknown name is not a colour that could
 * be compared.
 */
const named: Readonly<Record<string, string>> = {
  white: "ffffff",
  snow: "fffafa",
  ivory: "fffff0",
  ghostwhite: "f8f8ff",
  floralwhite: "fffaf0",
  whitesmoke: "f5f5f5",
  mintcream: "f5fffa",
  azure: "f0ffff",
  aliceblue: "f0f8ff",
  honeydew: "f0fff0",
  seashell: "fff5ee",
  lightyellow: "ffffe0",
  lavenderblush: "fff0f5",
  oldlace: "fdf5e6",
  linen: "faf0e6",
  black: "000000",
  silver: "c0c0c0",
  gray: "808080",
  grey: "808080",
  gainsboro: "dcdcdc",
  lightgray: "d3d3d3",
  lightgrey: "d3d3d3",
  red: "ff0000",
  green: "008000",
  blue: "0000ff",
  navy: "000080",
  teal: "008080",
  maroon: "800000",
  purple: "800080",
  orange: "ffa500",
  yellow: "ffff00",
};

/** A colour as CSS writes it, in lower case; undefined where it is not understood. */
export function colourOf(text: string): Colour | undefined {
  const value = text.trim();
  if (value === "transparent") return [255, 255, 255, 0];
  const hex = /^#?([\da-f]{3,8})$/.exec(named[value] ?? (value.startsWith("#") ? value : ""))?.[1];
  if (hex !== undefined) {
    const wide = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join("") : hex;
    if (wide.length !== 6 && wide.length !== 8) return undefined;
    const [red = 0, green = 0, blue = 0, alpha = 255] = (wide.match(/../g) ?? []).map((pair) =>
      Number.parseInt(pair, 16),
    );
    return [red, green, blue, alpha / 255];
  }
  const given = /^(rgb|hsl|hwb|color|lab|lch|oklab|oklch)a?\(([^()]{1,80})\)$/.exec(value.replace("(srgb ", "("));
  if (given === null) return undefined;
  const parts = (given[2] ?? "").split(/[\s,/]+/).filter(Boolean);
  const share = (part: string | undefined, whole: number): number =>
    part?.endsWith("%") === true ? (Number.parseFloat(part) / 100) * whole : Number.parseFloat(part ?? "");
  const alpha = parts[3] === undefined ? 1 : share(parts[3], 1);
  const numbers = numbersOf(given[1] ?? "", parts, share);
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN] = numbers;
  return [red, green, blue, alpha].every(Number.isFinite) ? [red, green, blue, alpha] : undefined;
}

function numbersOf(
  space: string,
  parts: readonly string[],
  share: (part: string | undefined, whole: number) => number,
): number[] {
  if (space === "rgb") return parts.slice(0, 3).map((part) => share(part, 255));
  if (space === "color") return parts.slice(0, 3).map((part) => 255 * share(part, 1));
  if (space === "hsl") return fromHsl(Number.parseFloat(parts[0] ?? ""), share(parts[1], 1), share(parts[2], 1));
  if (space === "hwb") {
    const [pale, dark] = [share(parts[1], 1), share(parts[2], 1)];
    const pure = fromHsl(Number.parseFloat(parts[0] ?? ""), 1, 0.5);
    return pale + dark >= 1
      ? [0, 0, 0].map(() => (255 * pale) / (pale + dark))
      : pure.map((part) => part * (1 - pale - dark) + 255 * pale);
  }
  // Of the others the greys alone, which text is hidden in: lightness, and next to no colour.
  const whole = space.startsWith("ok") ? 1 : 100;
  const [lightness, ...tint] = parts.slice(0, space.endsWith("ch") ? 2 : 3).map((part) => share(part, whole) / whole);
  return tint.every((part) => Math.abs(part) <= 0.03) ? [0, 0, 0].map(() => 255 * (lightness ?? 0)) : [];
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
