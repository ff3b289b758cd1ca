import type { Reading, Rrd } from "../../generated/rrd.js";

/** How two readers judged the same records. */
export interface Table {
  readonly both_include: number;
  readonly both_exclude: number;
  readonly only_first: number;
  readonly only_second: number;
}

export interface Agreement extends Table {
  /** The first and the second reader; several agents of one are joined by `+`. */
  readonly readers: readonly string[];
  readonly judged: number;
  /** 0 to 1. */
  readonly agreement: number;
  /** Cohen's kappa, -1 to 1; null where chance alone explains all agreement. */
  readonly kappa: number | null;
  readonly kappa_interval: readonly number[] | null;
  /** Records on which they disagree, and those of them that wait for a person. */
  readonly conflicts: number;
  readonly open: number;
}

/** The standard normal's quantile for an interval of 95 %. */
const z = 1.959964;

/**
 * Cohen's kappa and its 95 % confidence interval, cut to -1 and 1. Null where both gave the same one answer each time:
 * chance then explains all agreement, and kappa is 0 / 0.
 *
 * Kappa: J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20 (1960),
 * 37–46. Its standard error in large samples: J. L. Fleiss, J. Cohen, B. S. Everitt, Large sample standard errors of
 * kappa and weighted kappa, Psychological Bulletin 72 (1969), 323–327, equation 13. With few records the interval is
 * rough, and of width 0 where they never disagree.
 */
export function kappaOf({
  both_include: a,
  only_first: b,
  only_second: c,
  both_exclude: d,
}: Table): { readonly kappa: number; readonly interval: [number, number] } | null {
  const n = a + b + c + d;
  if (n === 0) return null;
  const cells = [
    [a / n, b / n],
    [c / n, d / n],
  ] as const;
  const first = [cells[0][0] + cells[0][1], cells[1][0] + cells[1][1]] as const;
  const second = [cells[0][0] + cells[1][0], cells[0][1] + cells[1][1]] as const;
  const observed = cells[0][0] + cells[1][1];
  const chance = first[0] * second[0] + first[1] * second[1];
  if (1 - chance < 1e-12) return null;
  const kappa = (observed - chance) / (1 - chance);
  const agreeing =
    cells[0][0] * (1 - (first[0] + second[0]) * (1 - kappa)) ** 2 +
    cells[1][1] * (1 - (first[1] + second[1]) * (1 - kappa)) ** 2;
  const disagreeing =
    (1 - kappa) ** 2 * (cells[0][1] * (second[0] + first[1]) ** 2 + cells[1][0] * (second[1] + first[0]) ** 2);
  const variance = (agreeing + disagreeing - (kappa - chance * (1 - kappa)) ** 2) / (n * (1 - chance) ** 2);
  const margin = z * Math.sqrt(Math.max(0, variance));
  return { kappa, interval: [Math.max(-1, kappa - margin), Math.min(1, kappa + margin)] };
}

/** A record with what its readers decided. */
interface Judged {
  readonly id: string;
  readonly title?: string | null;
  readonly first: Reading;
  readonly second: Reading;
  /** It waits for a person. */
  readonly isOpen: boolean;
}

/** Records that two readers judged, those of the pool first. */
export function judgedByTwo(rrd: Pick<Rrd, "papers_pool" | "excluded">): readonly Judged[] {
  const seen = new Set<string>();
  return [...rrd.papers_pool, ...(rrd.excluded ?? [])].flatMap((record) => {
    const { id, title, readings = [], override } = record;
    const [first, second] = [roleOf(readings, "reader-1"), roleOf(readings, "reader-2")];
    if (first === undefined || second === undefined || seen.has(id)) return [];
    seen.add(id);
    const isOpen = "status" in record && record.status === "waiting" && override === undefined;
    return [{ id, title: title ?? null, first, second, isOpen: isOpen && first.decision !== second.decision }];
  });
}

const roleOf = (readings: readonly Reading[], wanted: Reading["role"]): Reading | undefined =>
  readings.find(({ role }) => role === wanted);

/** Records on which they disagree. */
export const conflictsIn = (rrd: Pick<Rrd, "papers_pool" | "excluded">): readonly Judged[] =>
  judgedByTwo(rrd).filter(({ first, second }) => first.decision !== second.decision);

/** How far two readers agree, over the records that both judged; undefined where they are missing. Pure. */
export function agreementOf(rrd: Pick<Rrd, "papers_pool" | "excluded">): Agreement | undefined {
  const judged = judgedByTwo(rrd);
  if (judged.length === 0) return undefined;
  const count = (one: Reading["decision"], other: Reading["decision"]) =>
    judged.filter(({ first, second }) => first.decision === one && second.decision === other).length;
  const table = {
    both_include: count("include", "include"),
    both_exclude: count("exclude", "exclude"),
    only_first: count("include", "exclude"),
    only_second: count("exclude", "include"),
  };
  const names = (of: (one: Judged) => Reading) => [...new Set(judged.map((one) => of(one).by))].join("+");
  const found = kappaOf(table);
  const rounded = (value: number) => Math.round(value * 1000) / 1000;
  return {
    readers: [names(({ first }) => first), names(({ second }) => second)],
    judged: judged.length,
    ...table,
    agreement: rounded((table.both_include + table.both_exclude) / judged.length),
    kappa: found === null ? null : rounded(found.kappa),
    kappa_interval: found === null ? null : [rounded(found.interval[0]), rounded(found.interval[1])],
    conflicts: table.only_first + table.only_second,
    open: judged.filter(({ isOpen }) => isOpen).length,
  };
}

/** From so many records on, one answer to all of them is not an accident. */
const minOneSided = 10;

/** What a person has to know of a reader that gives every record the same answer; undefined where none does. */
export function oneSided(agreement: Agreement | undefined): string | undefined {
  if (agreement === undefined || agreement.judged < minOneSided) return undefined;
  const { readers, judged, both_include, only_first, only_second } = agreement;
  const included = [both_include + only_first, both_include + only_second];
  const said = readers.flatMap((name, index) =>
    included[index] === judged ? [`${name} included`] : included[index] === 0 ? [`${name} excluded`] : [],
  );
  if (said.length === 0) return undefined;
  return `${said.join(" and ")} every one of the ${judged} records that both readers judged. A reader that gives one answer to everything checks nothing: look at its reasons with 'research-ralph show', and make the requirements or the criteria clearer, or choose another agent.`;
}

/** "claude and codex agree on 22 of 24 records, kappa 0.81 (95 % CI 0.56 to 1)". */
export function agreementText({ readers, judged, conflicts, kappa, kappa_interval: interval }: Agreement): string {
  const beyond =
    kappa === null || interval === null
      ? "kappa says nothing, as both gave one answer to all of them"
      : `kappa ${kappa} (95 % CI ${interval[0]} to ${interval[1]})`;
  return `${readers.join(" and ")} agree on ${judged - conflicts} of ${judged} records, ${beyond}`;
}

/** What readers decided on a record: "claude would include it (a randomised trial); codex would exclude it". */
export const readingsText = (readings: readonly Reading[]): string =>
  readings
    .map(({ by, decision, reason }) => `${by} would ${decision} it${reason === undefined ? "" : ` (${reason})`}`)
    .join("; ");
