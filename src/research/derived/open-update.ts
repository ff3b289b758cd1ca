import type { Paper, ProjectUpdate, Rrd } from "../generated/rrd.js";

/** The update in progress; undefined if no update is open. */
export function openUpdate({ updates }: Pick<Rrd, "updates">): ProjectUpdate | undefined {
  const last = updates?.at(-1);
  return last?.closed_at === undefined ? last : undefined;
}

/** Papers whose text has changed since it was read, and that the open update has not read again yet. */
export function papersToReadAgain(rrd: Rrd): readonly Paper[] {
  const update = openUpdate(rrd);
  if (update === undefined) return [];
  const ids = new Set((update.changed ?? []).flatMap(({ id, read_again }) => (read_again ? [id] : [])));
  return rrd.papers_pool.filter(
    ({ id, iteration, retracted }) => ids.has(id) && retracted !== true && (iteration ?? 0) <= (update.iteration ?? 0),
  );
}

/** The updates with changed fields in the last one. */
export const withLastUpdate = (rrd: Rrd, changes: Partial<ProjectUpdate>): NonNullable<Rrd["updates"]> =>
  (rrd.updates ?? []).map((update, index, updates) =>
    index === updates.length - 1 ? { ...update, ...changes } : update,
  );
