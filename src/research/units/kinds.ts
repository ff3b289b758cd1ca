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

/** Every kind of unit, in the order in which a project does them. */
export const kinds: readonly UnitKind[] = [screening, claims, reading, report, ideas, check, mend, extract];

/** The kind of a unit. */
export function kindOf({ kind: name }: Pick<Unit, "kind">): UnitKind {
  const kind = kinds.find((each) => each.name === name);
  if (kind === undefined) throw new Error(`there are no units of kind "${name}"`);
  return kind;
}

/** The kind that a line of the ledger is about: what writes one document is named by it, the others by their phase. */
export const kindOfLine = (line: Pick<LedgerLine, "unit" | "phase">): UnitKind | undefined =>
  kinds.find(({ name, owns }) => name === line.unit && owns(line)) ?? kinds.findLast((kind) => kind.owns(line));

export const isWanted = (kind: UnitKind, project: Project): boolean => kind.isWanted?.(project) ?? true;

/** Whether the project is complete once this unit is accepted: no paper was given up, and nothing comes after it. */
export const isLastUnit = (project: Project, { kind: name }: Pick<Unit, "kind">): boolean =>
  project.status.refused.length === 0 &&
  (kindOf({ kind: name }).left?.(project, false) ?? 1) <= 1 &&
  kinds.slice(kinds.findIndex((kind) => kind.name === name) + 1).every((kind) => !isWanted(kind, project));

/** What the work on a unit rests on, of what a person may edit, as a hash; empty for one that nobody knows. */
export function workBasis(rrd: Rrd, kind: UnitKind | undefined, id: string): string {
  return kind === undefined
    ? ""
    : createHash("sha256")
        .update(JSON.stringify(kind.basis(rrd, id)))
        .digest("hex");
}
