/** Units of siunitx and their prefixes; a unit that stands as text is kept as it is. */
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

/** `\milli\meter\per\second` as "mm/s". */
export const unitText = (latex: string): string =>
  latex
    .replace(/\\([a-zA-Z]+)\s*/g, (_, name: string) => units[name] ?? name.replace(micro, "µ"))
    .replace(
      /\^\{?(-?\d)\}?/g,
      (_, power: string) => ({ "2": "²", "3": "³", "-1": "⁻¹", "-2": "⁻²" })[power] ?? `^${power}`,
    )
    .replace(/[{}~]/g, "")
    .replace(/(?<=\w)\.(?=\w)/g, "·")
    .trim();

/** Abbreviations such as `\um` and `\umol`. */
const micro = /^u(?=(?:mol|[msgAVWMLlNFJ])$)/;

/** A number as siunitx prints it: "5e-3" as "5 × 10^{-3}", "1.5+-0.2" with its sign. */
export const numberText = (latex: string): string =>
  latex
    .trim()
    .replace(/\s{0,3}(?:\\pm|\+-|\+\/-)\s{0,3}/g, " ± ")
    .replace(/(?<=\d)\s?[eEdD]\s?([-+]?\d{1,4})$/, (_, power: string) => ` × 10^{${power.replace("+", "")}}`)
    .replace(/^[eE](-?\d{1,4})$/, "10^{$1}");

/** An angle in degrees, minutes and seconds: "45", "10;5;3". */
export const angleText = (latex: string): string =>
  latex
    .split(";")
    .slice(0, 3)
    .map((part, index) => (part.trim() === "" ? "" : `${part.trim()}${"°′″"[index] ?? ""}`))
    .join("");

/** A value with its unit; a percent sign and a degree stand right behind it. */
export const quantityText = (number: string, unit: string): string =>
  `${numberText(number)}${unit === "" || /^[%°](?!C)/.test(unit) ? "" : " "}${unit}`;

/** The numbers of a list, parted by semicolons. */
export const listText = (latex: string, unit = ""): string => {
  const all = latex.split(";").map((number) => quantityText(number, unit));
  return all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
};
