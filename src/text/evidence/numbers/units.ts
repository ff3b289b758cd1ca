/** What a unit measures. `factor`: its size in the first unit listed for its dimension, such as 60 for a minute. */
export interface Unit {
  readonly dimension: string;
  readonly factor: number;
  /** Added to the value before it is multiplied by `factor`: 25 °C is 298.15 K. */
  readonly offset?: number;
  /** Papers often leave it out: "mean age 65.2", "systolic 140". */
  readonly isOptional?: true;
}

const units = new Map<string, Unit>();
const prefixes: Readonly<Record<string, number>> = {
  f: 1e-15,
  p: 1e-12,
  n: 1e-9,
  µ: 1e-6,
  u: 1e-6,
  m: 1e-3,
  c: 1e-2,
  d: 1e-1,
  h: 1e2,
  k: 1e3,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
};
/** Unit symbols, also with prefixes. Capitals and small letters are different: mW is not MW. */
const symbols = new Set<string>();
// For each unit: its dimension, its symbol, the prefixes that are used with it, and its factor.
for (const [dimension, symbol, prefixesOfUnit, factor] of [
  ["time", "s", "fpnµum", 1],
  ["length", "m", "fpnµumcdk", 1],
  ["mass", "g", "fpnµumckMGT", 1],
  ["frequency", "Hz", "mkMGT", 1],
  ["bytes", "B", "kKMGTP", 1],
  ["bits", "b", "kKMGT", 1],
  ["bits", "bit", "kMGT", 1],
  ["bit rate", "bps", "kKMGT", 1],
  ["bit rate", "Bps", "kKMGT", 8],
  ["power", "W", "fpnµumkMGT", 1],
  ["energy", "J", "fpnµumkMGTP", 1],
  ["electronvolts", "eV", "fpnµumkMGTP", 1],
  ["voltage", "V", "pnµumkM", 1],
  ["current", "A", "fpnµumk", 1],
  ["resistance", "Ω", "mkMG", 1],
  ["resistance", "Ohm", "mkMG", 1],
  ["capacitance", "F", "fpnµum", 1],
  ["conductance", "S", "pnµum", 1],
  ["activity", "Bq", "mkMGT", 1],
  ["dose", "Sv", "nµum", 1],
  ["dose in matter", "Gy", "nµumck", 1],
  ["field", "T", "nµum", 1],
  ["temperature", "K", "nµumkM", 1],
  ["pressure", "Pa", "mhkMGT", 1],
  ["force", "N", "fpnµumkM", 1],
  ["volume", "L", "fpnµumdc", 1],
  ["volume", "l", "fpnµumdc", 1],
  ["concentration", "M", "fpnµum", 1],
  ["amount", "mol", "fpnµumkM", 1],
] as const)
  for (const prefix of ["", ...prefixesOfUnit]) {
    symbols.add(prefix + symbol);
    units.set(prefix + symbol, { dimension, factor: factor * (prefixes[prefix] ?? 1) });
  }
// More units: name and factor.
for (const [dimension, unitList] of [
  ["time", "sec:1 secs:1 second:1 seconds:1 msec:1e-3 millisecond:1e-3 milliseconds:1e-3 microseconds:1e-6"],
  ["time", "nanoseconds:1e-9 min:60 mins:60 minute:60 minutes:60 h:3600 hr:3600 hrs:3600 hour:3600 hours:3600"],
  ["time", "d:86400 day:86400 days:86400 week:604800 weeks:604800 wk:604800 wks:604800"],
  ["length", "meter:1 meters:1 metre:1 metres:1 centimeters:1e-2 centimetres:1e-2 millimeters:1e-3 Å:1e-10"],
  [
    "length",
    "millimetres:1e-3 kilometers:1e3 kilometres:1e3 inch:0.0254 inches:0.0254 foot:0.3048 feet:0.3048 ft:0.3048",
  ],
  ["length", "mile:1609.344 miles:1609.344 yard:0.9144 yards:0.9144"],
  ["months", "month:1 months:1 mo:1 mos:1 year:12 years:12 yr:12 yrs:12 y:12"],
  ["area", "m²:1 cm²:1e-4 mm²:1e-6 km²:1e6 m2:1 cm2:1e-4 mm2:1e-6 km2:1e6 ha:1e4 acre:4046.8564224 acres:4046.8564224"],
  ["volume", "m³:1e3 dm³:1 cm³:1e-3 mm³:1e-6 m3:1e3 dm3:1 cm3:1e-3 mm3:1e-6 cc:1e-3 liter:1 liters:1 litre:1 litres:1"],
  ["pressure", "mmHg:133.322387415 torr:133.322368421 atm:101325 bar:1e5 mbar:100 psi:6894.757293168"],
  ["energy", "cal:4.184 kcal:4184 Wh:3600 kWh:3.6e6 MWh:3.6e9"],
  ["mass", "gram:1 grams:1 mcg:1e-6 t:1e6 lb:453.59237 lbs:453.59237 pound:453.59237 pounds:453.59237 oz:28.349523125"],
  ["ratio", "%:1e-2 percent:1e-2 ‰:1e-3 ppm:1e-6 ppb:1e-9"],
  ["count", "thousand:1e3 million:1e6 billion:1e9 trillion:1e12 mio:1e6 bn:1e9"],
] as const)
  for (const unit of unitList.split(" ")) {
    const [name = "", factor] = unit.split(":");
    const isOptional = dimension === "months" || name === "mmHg";
    units.set(name, { dimension, factor: Number(factor), ...(isOptional ? { isOptional } : {}) });
  }

units.set("°C", { dimension: "temperature", factor: 1, offset: 273.15 });
units.set("°F", { dimension: "temperature", factor: 5 / 9, offset: 459.67 });

/** The unit that a word names, or undefined. Case counts: mW is not MW. */
export const unitOf = (word: string): Unit | undefined =>
  units.get(
    word
      .normalize("NFC")
      .replace(/^[\u03bcµ]/u, "µ")
      .replace("\u212b", "Å")
      .replace(/^(?:° ?C|℃|[Dd]egrees? C(?:elsius)?)$/u, "°C")
      .replace(/^(?:° ?F|℉|[Dd]egrees? F(?:ahrenheit)?)$/u, "°F"),
  );

/** All symbols in lower case, and other units whose case matters. */
const unitsInLowerCase = new Set(
  [...symbols, "k", "C", "h", "cal"].map((name) => name.normalize("NFKC").toLowerCase()),
);
/** Whether the case of this word after a number may change the unit: mW and MW, Gb and GB, mm and mM. */
export const caseMatters = (word: string): boolean => unitsInLowerCase.has(word.normalize("NFKC").toLowerCase());

/** Whether a word is a unit symbol of two or more letters, such as mW: it needs no number before it. */
export const isSymbol = (word: string): boolean => word.length > 1 && symbols.has(word);
