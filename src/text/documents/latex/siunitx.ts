/** The symbols of siunitx's commands for units and prefixes. */
const units: Readonly<Record<string, string>> = {
  per: "/",
  squared: "²",
  square: "",
  cubed: "³",
  percent: "%",
  degree: "°",
  celsius: "°C",
  degreeCelsius: "°C",
  angstrom: "Å",
  micro: "µ",
  milli: "m",
  centi: "c",
  deci: "d",
  kilo: "k",
  mega: "M",
  giga: "G",
  tera: "T",
  nano: "n",
  pico: "p",
  meter: "m",
  metre: "m",
  gram: "g",
  second: "s",
  minute: "min",
  hour: "h",
  day: "d",
  newton: "N",
  pascal: "Pa",
  joule: "J",
  watt: "W",
  volt: "V",
  ampere: "A",
  ohm: "Ω",
  hertz: "Hz",
  kelvin: "K",
  mole: "mol",
  radian: "rad",
  liter: "L",
  litre: "L",
  bit: "bit",
  byte: "B",
  decibel: "dB",
};

/** The symbol of a unit, such as "mm/s" for `\milli\meter\per\second`. */
export const unitText = (latex: string): string =>
  latex
    .replace(/\\([a-zA-Z]+)\s*/g, (_, name: string) => units[name] ?? name.replace(microPrefix, "µ"))
    .replace(
      /\^\{?(-?\d)\}?/g,
      (_, power: string) => ({ "2": "²", "3": "³", "-1": "⁻¹", "-2": "⁻²" })[power] ?? `^${power}`,
    )
    .replace(/[{}~]/g, "")
    .replace(/(?<=\w)\.(?=\w)/g, "·")
    .trim();

/** The prefix for "micro" in abbreviations such as `\um` and `\umol`. */
const microPrefix = /^u(?=(?:mol|[msgAVWMLlNFJ])$)/;

/** A number as siunitx prints it: "5e-3" becomes "5 × 10^{-3}", and "1.5+-0.2" becomes "1.5 ± 0.2". */
export const numberText = (latex: string): string =>
  latex
    .trim()
    .replace(/\s{0,3}(?:\\pm|\+-|\+\/-)\s{0,3}/g, " ± ")
    .replace(/(?<=\d)\s?[eEdD]\s?([-+]?\d{1,4})$/, (_, power: string) => ` × 10^{${power.replace("+", "")}}`)
    .replace(/^[eE](-?\d{1,4})$/, "10^{$1}");

/** An angle in degrees, minutes and seconds: "45" becomes "45°", and "10;5;3" becomes "10°5′3″". */
export const angleText = (latex: string): string =>
  latex
    .split(";")
    .slice(0, 3)
    .map((part, index) => (part.trim() === "" ? "" : `${part.trim()}${"°′″"[index] ?? ""}`))
    .join("");

/** A number with its unit. There is no space before a percent sign and a degree sign, except in "°C". */
export const quantityText = (number: string, unit: string): string =>
  `${numberText(number)}${unit === "" || /^[%°](?!C)/.test(unit) ? "" : " "}${unit}`;

/** The text of a list of numbers, which are separated by semicolons in LaTeX. */
export const listText = (latex: string, unit: string): string => {
  const quantities = latex.split(";").map((number) => quantityText(number, unit));
  return quantities.length < 2 ? quantities.join("") : `${quantities.slice(0, -1).join(", ")} and ${quantities.at(-1)}`;
};
