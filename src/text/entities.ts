const greek =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega";
const greekLetters = greek.split(" ").flatMap((name, index): readonly (readonly [string, string])[] => [
  [name, String.fromCodePoint(0x3b1 + index)],
  [`${name[0]?.toUpperCase()}${name.slice(1)}`, String.fromCodePoint(0x391 + index)],
]);
const namedCharacters: Readonly<Record<string, string>> = {
  ...Object.fromEntries(greekLetters),
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  shy: "",
  ndash: "–",
  mdash: "—",
  minus: "−",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  bdquo: "„",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  hellip: "…",
  bull: "•",
  middot: "·",
  prime: "′",
  times: "×",
  plusmn: "±",
  deg: "°",
  le: "≤",
  ge: "≥",
  ne: "≠",
  asymp: "≈",
  infin: "∞",
  rarr: "→",
  micro: "µ",
  szlig: "ß",
  oslash: "ø",
  Oslash: "Ø",
  aelig: "æ",
  AElig: "Æ",
  oelig: "œ",
  OElig: "Œ",
  lstrok: "ł",
  Lstrok: "Ł",
  inodot: "ı",
  copy: "©",
  reg: "®",
  trade: "™",
};

/** The accent names in entities such as `&eacute;`, and the combining characters. */
const accents: Readonly<Record<string, string>> = {
  acute: "\u0301",
  grave: "\u0300",
  circ: "\u0302",
  uml: "\u0308",
  tilde: "\u0303",
  cedil: "\u0327",
  ring: "\u030a",
  caron: "\u030c",
};

function characterNamed(name: string): string | undefined {
  const [, letter, accent] = /^([a-z])(acute|grave|circ|uml|tilde|cedil|ring|caron)$/i.exec(name) ?? [];
  if (letter !== undefined) return `${letter}${accents[accent ?? ""] ?? ""}`.normalize("NFC");
  return namedCharacters[name] ?? namedCharacters[name.toLowerCase()];
}

/**
 * Replaces the character references of HTML and XML (`&eacute;`, `&#233;`) by their characters. Unknown references
 * stay.
 */
export const withoutReferences = (text: string): string =>
  text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
    (reference, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return characterNamed(name) ?? reference;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      const isText = code >= 0x20 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff);
      return isText ? String.fromCodePoint(code) : "";
    },
  );
