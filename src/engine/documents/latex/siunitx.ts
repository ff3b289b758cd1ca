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
    .replace(/\\([a-zA-Z]+)\s*/g, (_, name: string) => units[name] ?? name)
    .replace(
      /\^\{?(-?\d)\}?/g,
      (_, power: string) => ({ "2": "²", "3": "³", "-1": "⁻¹", "-2": "⁻²" })[power] ?? `^${power}`,
    )
    .replace(/[{}~]/g, "")
    .replace(/(?<=\w)\.(?=\w)/g, "·")
    .trim();
