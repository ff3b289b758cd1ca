import type { Paper, ProjectUpdate, Rrd } from "../generated/rrd.js";

/** The update that is under way; undefined where there was none, or the last one is closed. */
export function openUpdate({ updates }: Pick<Rrd, "updates">): ProjectUpdate | undefined {
  const last = updates?.at(-1);
  return last?.closed_at === undefined ? last : undefined;
}

/** Papers whose text is another one than the text read, and that the open update has not read again yet. */
export function papersToReadAgain(rrd: Rrd): readonly Paper[] {
  const update = openUpdate(rrd);
  if (update === undefined) return [];
  const ids = new Set((update.changed ?? []).flatMap(({ id, read_again }) => (read_again ? [id] : [])));
  return rrd.papers_pool.filter(
    ({ id, iteration, retracted }) => ids.has(id) && retracted !== true && (iteration ?? 0) <= (update.iteration ?? 0),
  );
}

/** The state with the last update changed. */
export const withLastUpdate = (rrd: Rrd, set: Partial<ProjectUpdate>): NonNullable<Rrd["updates"]> =>
  (rrd.updates ?? []).map((update, index, all) => (index === all.length - 1 ? { ...update, ...set } : update));
