import { join } from "node:path";
import { resultName } from "../../../engine/lib/layout.js";
import { quantity } from "../../../engine/lib/words.js";
import { readCheckedResult } from "../../../engine/storage/result-file.js";
import type { DiscoveryResult } from "../../generated/result-discovery.js";
import { isReader } from "../shared-unit.js";
import type { PartOutcome, SharedResult } from "../unit-kind.js";
import { acceptDiscovery } from "./judge-batch.js";
import type { ScreeningMaterial } from "./prepare.js";
import { mergeReaders, conflictsBetween, type ReaderResult, screeningNotesOf } from "./readers.js";
import { checkedAnswers } from "./screen-by-criteria.js";

/** Handles the result of one of the agents that screen the same batch. The last of them completes the batch. */
export async function receiveScreening({
  state,
  unit,
  material: { batch },
  workspace,
  sharing: { readers: { conflicts: conflictRule } = { conflicts: "include" } },
  judging,
  redact,
}: SharedResult<ScreeningMaterial>): Promise<PartOutcome | undefined> {
  if (!isReader(unit)) return undefined;
  const { rrd } = state;
  const checked = await readCheckedResult("result-discovery", join(workspace, resultName), redact);
  if ("reasons" in checked) return checked;
  const { value, redacted, dropped } = checked;
  const fileNotes = { redacted, dropped };
  const result = value as DiscoveryResult;
  const judged = acceptDiscovery(rrd, unit.id, result, batch, judging);
  if ("reasons" in judged) return { ...fileNotes, reasons: judged.reasons };
  const earlierNotes = screeningNotesOf(state, unit);
  const candidates = earlierNotes[0]?.value.candidates ?? batch.candidates;
  // A batch without candidates needs no second reader.
  if (unit.role === "reader-1" && candidates.length === 0) return fileNotes;
  const toReaderResult = async ({
    role,
    agent,
    iteration,
    value: { result: readerResult },
  }: (typeof earlierNotes)[number]): Promise<ReaderResult> => ({
    role: role as ReaderResult["role"],
    by: agent,
    iteration,
    result: readerResult,
    answers: await checkedAnswers(rrd, readerResult, { ...batch, candidates }),
  });
  const { agent, iteration } = judging;
  const presentNotes = { iteration, role: unit.role ?? "", round: 1, agent, basis: "", value: { result, candidates } };
  const [first, second, ...others] = await Promise.all([...earlierNotes, presentNotes].map(toReaderResult));
  const counts = `${result.kept?.length ?? 0} of ${batch.candidates.length} records kept`;
  if (first === undefined || second === undefined) return { ...fileNotes, note: presentNotes.value, summary: counts };
  const conflicts = conflictsBetween(rrd, candidates, [first, second]);
  if (conflictRule === "third" && conflicts.length > 0 && others.length === 0)
    return {
      ...fileNotes,
      note: { ...presentNotes.value, conflicts: conflicts.map(({ id }) => id) },
      summary: `${counts}, ${quantity(conflicts.length, "conflict")} for a third reader`,
    };
  const merged = mergeReaders(rrd, unit.id, candidates, [first, second, ...others], conflictRule);
  const sharedBatch = { ...batch, candidates: merged.candidates };
  return {
    ...fileNotes,
    judged: acceptDiscovery(rrd, unit.id, merged.result, sharedBatch, judging, merged.answers, merged),
  };
}
