import { createHash } from "node:crypto";
import type { LedgerLine } from "../../engine/generated/ledger.js";
import type { Unit } from "../../engine/loop/types.js";
import type { Rrd } from "../generated/rrd.js";
import { check, claims, mend } from "./check/kind.js";
import { extract } from "./form/kind.js";
import { ideas } from "./ideas/kind.js";
import { reading } from "./reading/kind.js";
import { report } from "./report/kind.js";
import { screening } from "./screening/kind.js";
import type { Project, UnitKind } from "./unit-kind.js";

/** All kinds of units, in the order in which a project does them. */
export const kinds: readonly UnitKind[] = [screening, claims, reading, report, ideas, check, mend, extract];

/** The kind of a unit. */
export function kindOf({ kind: name }: Pick<Unit, "kind">): UnitKind {
  const kind = kinds.find((each) => each.name === name);
  if (kind === undefined) throw new Error(`there are no units of kind "${name}"`);
  return kind;
}

/**
 * The kind of a ledger line's unit. A unit that writes one document has the name of its kind; other units are found by
 * their phase.
 */
export const kindOfLine = (line: Pick<LedgerLine, "unit" | "phase">): UnitKind | undefined =>
  kinds.find(({ name, owns }) => name === line.unit && owns(line)) ?? kinds.findLast((kind) => kind.owns(line));

export const isWanted = (kind: UnitKind, project: Project): boolean => kind.isWanted?.(project) ?? true;

/** Whether the project is complete when this unit is accepted: no paper was given up, and no other unit follows. */
export const isLastUnit = (project: Project, { kind: name }: Pick<Unit, "kind">): boolean =>
  project.status.refusedPapers.length === 0 &&
  (kindOf({ kind: name }).remainingUnits?.(project, false) ?? 1) <= 1 &&
  kinds.slice(kinds.findIndex((kind) => kind.name === name) + 1).every((kind) => !isWanted(kind, project));

/** A hash of the state that the work on a unit depends on and that the user may edit; empty for an unknown kind. */
export function workBasisHash(rrd: Rrd, kind: UnitKind | undefined, id: string): string {
  return kind === undefined
    ? ""
    : createHash("sha256")
        .update(JSON.stringify(kind.basis(rrd, id)))
        .digest("hex");
}
