import { join } from "node:path";
import { resultName } from "../../../engine/lib/layout.js";
import { many } from "../../../engine/lib/words.js";
import { readChecked } from "../../../engine/storage/result-file.js";
import type { DiscoveryResult } from "../../generated/result-discovery.js";
import { isReader } from "../shared-unit.js";
import type { PartOutcome, SharedResult } from "../unit-kind.js";
import { acceptDiscovery } from "./judge-batch.js";
import type { ScreeningMaterial } from "./prepare.js";
import { combined, conflictsBetween, type Screened } from "./readers.js";
import { checkedAnswers } from "./screen-by-criteria.js";
import { screeningsOf } from "./readers.js";

/** Hears one of the agents that screen the same batch: the last of them has the batch accepted. */
export async function hearReader({
  state,
  unit,
  material: { batch },
  workspace,
  sharing: { readers: { conflicts: rule } = { conflicts: "include" } },
  judging,
  redact,
}: SharedResult<ScreeningMaterial>): Promise<PartOutcome | undefined> {
  if (!isReader(unit)) return undefined;
  const { rrd } = state;
  const read = await readChecked("result-discovery", join(workspace, resultName), redact);
  if ("reasons" in read) return read;
  const { value, redacted, dropped } = read;
  const said = { redacted, dropped };
  const result = value as DiscoveryResult;
  const wrong = acceptDiscovery(rrd, unit.id, result, batch, judging);
  if ("reasons" in wrong) return { ...said, reasons: wrong.reasons };
  const before = screeningsOf(state, unit);
  const candidates = before[0]?.value.candidates ?? batch.candidates;
  // Where there is nothing to judge, nobody can judge it again.
  if (unit.role === "reader-1" && candidates.length === 0) return said;
  const screened = async ({
    role,
    agent,
    iteration,
    value: { result: its },
  }: (typeof before)[number]): Promise<Screened> => ({
    role: role as Screened["role"],
    by: agent,
    iteration,
    result: its,
    answers: await checkedAnswers(rrd, its, { ...batch, candidates }),
  });
  const { agent, iteration } = judging;
  const own = { iteration, role: unit.role ?? "", round: 1, agent, basis: "", value: { result, candidates } };
  const [first, second, ...others] = await Promise.all([...before, own].map(screened));
  const counts = `${result.kept?.length ?? 0} of ${batch.candidates.length} records kept`;
  if (first === undefined || second === undefined) return { ...said, note: own.value, summary: counts };
  const conflicts = conflictsBetween(rrd, candidates, [first, second]);
  if (rule === "third" && conflicts.length > 0 && others.length === 0)
    return {
      ...said,
      note: { ...own.value, conflicts: conflicts.map(({ id }) => id) },
      summary: `${counts}, ${many(conflicts.length, "conflict")} for a third reader`,
    };
  const all = combined(rrd, unit.id, candidates, [first, second, ...others], rule);
  const shared = { ...batch, candidates: all.candidates };
  return { ...said, judged: acceptDiscovery(rrd, unit.id, all.result, shared, judging, all.answers, all) };
}
