import type { Reading, Rrd } from "../../generated/rrd.js";

/** Numbers of records by the decisions of two readers. */
export interface DecisionTable {
  readonly both_include: number;
  readonly both_exclude: number;
  readonly only_first: number;
  readonly only_second: number;
}

export interface Agreement extends DecisionTable {
  /** The first and the second reader. Several agents in one role are joined by `+`. */
  readonly readers: readonly string[];
  readonly judged: number;
  /** 0 to 1. */
  readonly agreement: number;
  /** Cohen's kappa, -1 to 1; null if it is undefined, because chance explains all agreement. */
  readonly kappa: number | null;
  readonly kappa_interval: readonly number[] | null;
  /** Number of records on which they disagree. */
  readonly conflicts: number;
  /** Number of these records that wait for the user's decision. */
  readonly open: number;
}

/** The quantile of the standard normal distribution for a 95 % interval. */
const zValue = 1.959964;

/**
 * Cohen's kappa and its 95 % confidence interval, limited to -1 and 1. Null if both readers always gave the same single
 * answer, because kappa is then 0 / 0.
 *
 * Kappa: J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20 (1960),
 * 37–46. Its standard error in large samples: J. L. Fleiss, J. Cohen, B. S. Everitt, Large sample standard errors of
 * kappa and weighted kappa, Psychological Bulletin 72 (1969), 323–327, equation 13. With few records the
 * interval is not precise. Its width is 0 if they never disagree.
 */
export function kappaOf({
  both_include: a,
  only_first: b,
  only_second: c,
  both_exclude: d,
}: DecisionTable): { readonly kappa: number; readonly interval: [number, number] } | null {
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
  const margin = zValue * Math.sqrt(Math.max(0, variance));
  return { kappa, interval: [Math.max(-1, kappa - margin), Math.min(1, kappa + margin)] };
}

/** A record with the decisions of its two readers. */
interface JudgedRecord {
  readonly id: string;
  readonly title?: string | null;
  readonly first: Reading;
  readonly second: Reading;
  /** Whether it waits for the user's decision. */
  readonly isOpen: boolean;
}

/** The records that two readers judged, first those of the pool. */
function judgedByTwo(rrd: Pick<Rrd, "papers_pool" | "excluded">): readonly JudgedRecord[] {
  const seen = new Set<string>();
  return [...rrd.papers_pool, ...(rrd.excluded ?? [])].flatMap((record) => {
    const { id, title, readings = [], override } = record;
    const [first, second] = [readingByRole(readings, "reader-1"), readingByRole(readings, "reader-2")];
    if (first === undefined || second === undefined || seen.has(id)) return [];
    seen.add(id);
    const isOpen = "status" in record && record.status === "waiting" && override === undefined;
    return [{ id, title: title ?? null, first, second, isOpen: isOpen && first.decision !== second.decision }];
  });
}

const readingByRole = (readings: readonly Reading[], role: Reading["role"]): Reading | undefined =>
  readings.find((reading) => reading.role === role);

/** The records on which the two readers disagree. */
export const conflictsIn = (rrd: Pick<Rrd, "papers_pool" | "excluded">): readonly JudgedRecord[] =>
  judgedByTwo(rrd).filter(({ first, second }) => first.decision !== second.decision);

/** The agreement of two readers on the records that both judged; undefined without such records. Pure. */
export function agreementOf(rrd: Pick<Rrd, "papers_pool" | "excluded">): Agreement | undefined {
  const judged = judgedByTwo(rrd);
  if (judged.length === 0) return undefined;
  const count = (firstDecision: Reading["decision"], secondDecision: Reading["decision"]) =>
    judged.filter(({ first, second }) => first.decision === firstDecision && second.decision === secondDecision).length;
  const table = {
    both_include: count("include", "include"),
    both_exclude: count("exclude", "exclude"),
    only_first: count("include", "exclude"),
    only_second: count("exclude", "include"),
  };
  const names = (readingOf: (record: JudgedRecord) => Reading) =>
    [...new Set(judged.map((record) => readingOf(record).by))].join("+");
  const kappaResult = kappaOf(table);
  const round = (value: number) => Math.round(value * 1000) / 1000;
  return {
    readers: [names(({ first }) => first), names(({ second }) => second)],
    judged: judged.length,
    ...table,
    agreement: round((table.both_include + table.both_exclude) / judged.length),
    kappa: kappaResult === null ? null : round(kappaResult.kappa),
    kappa_interval: kappaResult === null ? null : [round(kappaResult.interval[0]), round(kappaResult.interval[1])],
    conflicts: table.only_first + table.only_second,
    open: judged.filter(({ isOpen }) => isOpen).length,
  };
}

/** Minimum number of records for a notice about a reader with only one answer. */
const minOneSided = 10;

/** A notice about a reader that gives the same answer for every record; undefined if both readers give both answers. */
export function oneSidedText(agreement: Agreement | undefined): string | undefined {
  if (agreement === undefined || agreement.judged < minOneSided) return undefined;
  const { readers, judged, both_include, only_first, only_second } = agreement;
  const included = [both_include + only_first, both_include + only_second];
  const parts = readers.flatMap((name, index) =>
    included[index] === judged ? [`${name} included`] : included[index] === 0 ? [`${name} excluded`] : [],
  );
  if (parts.length === 0) return undefined;
  return `${parts.join(" and ")} every one of the ${judged} records that both readers judged. A reader that gives one answer to everything checks nothing: look at its reasons with 'research-ralph show', and make the requirements or the criteria clearer, or choose another agent.`;
}

/** For example "claude and codex agree on 22 of 24 records, kappa 0.81 (95 % CI 0.56 to 1)". */
export function agreementText({ readers, judged, conflicts, kappa, kappa_interval: interval }: Agreement): string {
  const kappaText =
    kappa === null || interval === null
      ? "kappa says nothing, as both gave one answer to all of them"
      : `kappa ${kappa} (95 % CI ${interval[0]} to ${interval[1]})`;
  return `${readers.join(" and ")} agree on ${judged - conflicts} of ${judged} records, ${kappaText}`;
}

/** The readers' decisions on a record: "claude would include it (a randomised trial); codex would exclude it". */
export const readingsText = (readings: readonly Reading[]): string =>
  readings
    .map(({ by, decision, reason }) => `${by} would ${decision} it${reason === undefined ? "" : ` (${reason})`}`)
    .join("; ");
