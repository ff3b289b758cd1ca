import type { LedgerLine } from "../../engine/generated/ledger.js";
import { standingOf } from "../derived/status.js";
import type { Rrd } from "../generated/rrd.js";
import { isWanted, kinds } from "../units/kinds.js";
import type { ProjectStatus } from "../units/unit-kind.js";

/**
 * Where a project stands, derived from the records and the ledger: which kinds of units are done, and the phase of the
 * first that is not. A folder made by the original tool has no ledger, and its phase is then believed.
 */
export function statusOf(rrd: Rrd, ledger: readonly LedgerLine[]): ProjectStatus {
  const standing = standingOf(rrd, ledger);
  const project = { rrd, ledger, status: standing };
  const open = kinds.findIndex((kind) => isWanted(kind, project) && !kind.isDone(project));
  const done = kinds.slice(0, open === -1 ? kinds.length : open).map(({ name }) => name);
  return { ...standing, done, phase: kinds[open]?.phase ?? "COMPLETE" };
}
