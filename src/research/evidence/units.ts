/** What a unit measures, and how many of the dimension's first unit it is. */
export interface Unit {
  readonly dimension: string;
  readonly factor: number;
}

const units = new Map<string, Unit>();
const define = (dimension: string, listed: string) => {
  for (const each of listed.split(" ")) {
    const [name = "", factor = "1"] = each.split(":");
    units.set(name, { dimension, factor: Number(factor) });
  }
};
define(
  "time",
  "s:1 sec:1 secs:1 second:1 seconds:1 ms:1e-3 msec:1e-3 millisecond:1e-3 milliseconds:1e-3 µs:1e-6 us:1e-6",
);
define(
  "time",
  "microseconds:1e-6 ns:1e-9 nanoseconds:1e-9 min:60 mins:60 minute:60 minutes:60 h:3600 hr:3600 hrs:3600 hour:3600",
);
define("time", "hours:3600 d:86400 day:86400 days:86400 week:604800 weeks:604800 wk:604800 wks:604800");
define("length", "m:1 meter:1 meters:1 metre:1 metres:1 cm:1e-2 mm:1e-3 µm:1e-6 um:1e-6 nm:1e-9 km:1e3 Å:1e-10");
define("length", "centimeters:1e-2 centimetres:1e-2 millimeters:1e-3 millimetres:1e-3 kilometers:1e3 kilometres:1e3");
define("mass", "g:1 gram:1 grams:1 kg:1e3 mg:1e-3 µg:1e-6 ug:1e-6 mcg:1e-6 ng:1e-9 pg:1e-12 t:1e6");
define("frequency", "Hz:1 kHz:1e3 MHz:1e6 GHz:1e9 THz:1e12");
define("bytes", "B:1 KB:1e3 kB:1e3 MB:1e6 GB:1e9 TB:1e12 PB:1e15");
define("bits", "Kb:1e3 kb:1e3 Mb:1e6 Gb:1e9 Tb:1e12 Mbit:1e6 Gbit:1e9 kbit:1e3");
define("power", "W:1 mW:1e-3 µW:1e-6 kW:1e3 MW:1e6 GW:1e9");
define("energy", "J:1 mJ:1e-3 kJ:1e3 MJ:1e6");
define("voltage", "V:1 mV:1e-3 kV:1e3 µV:1e-6");
define("current", "A:1 mA:1e-3 µA:1e-6 kA:1e3");
define("pressure", "Pa:1 kPa:1e3 MPa:1e6 GPa:1e9 hPa:1e2");
define("force", "N:1 mN:1e-3 kN:1e3 µN:1e-6");
define("volume", "L:1 l:1 mL:1e-3 ml:1e-3 µL:1e-6 µl:1e-6 ul:1e-6 dL:1e-1 dl:1e-1");
define("concentration", "M:1 mM:1e-3 µM:1e-6 uM:1e-6 nM:1e-9 pM:1e-12");
define("amount", "mol:1 mmol:1e-3 µmol:1e-6 nmol:1e-9 kmol:1e3");
define("ratio", "%:1e-2 percent:1e-2 ‰:1e-3");
define("count", "thousand:1e3 million:1e6 billion:1e9 trillion:1e12");

/** The unit that a word names, or undefined. Case counts: mW is no MW. */
export const unitOf = (word: string): Unit | undefined =>
  units.get(
    word
      .normalize("NFC")
      .replace(/^[\u03bcµ]/u, "µ")
      .replace("\u212b", "Å"),
  );

/** Words behind a number that are its unit although nothing is converted to them. */
const others =
  "° °c °f ′ ″ fold times percent per dpi px pixels pixel rpm fps dof mmhg bpm iu ppm ppb db ev kev mev gev cal kcal kat sv gy bq wh kwh mah " +
  "vol wt mol/l mg/kg mg/dl m/s km/h kg/m degrees degree deg dozen hundred hundreds thousands millions billions percentage k c f month months " +
  "year years points";
const lower = new Set([...units.keys(), ...others.split(" ")].map((name) => name.normalize("NFKC").toLowerCase()));

/** Whether a word, in any case, is a unit or multiplier, which belongs to the number before it. */
export const isUnit = (word: string): boolean => lower.has(word.normalize("NFKC").toLowerCase());

const cases = new Map<string, Set<string>>();
for (const name of [
  ...units.keys(),
  "K",
  "k",
  "S",
  "G",
  "g",
  "F",
  "C",
  "b",
  "T",
  "H",
  "pS",
  "nS",
  "Mbps",
  "MBps",
  "Gbps",
  "GBps",
  "eV",
]) {
  const key = name.toLowerCase();
  cases.set(key, (cases.get(key) ?? new Set()).add(name));
}
/** Whether two spellings of a unit that differ in case alone may name different units: mW and MW, Gb and GB, mm and mM. */
export const caseMatters = (word: string): boolean =>
  cases.has(word.toLowerCase()) &&
  word.length <= 4 &&
  !/^(?:sec|secs|min|mins|hrs|hr|day|days|week|hour|wk|wks|mol)$/i.test(word);
