import type { CheckResult } from "../../generated/result-check.js";
import type { MendResult } from "../../generated/result-mend.js";
import { reportDocuments } from "../../project-files/layout.js";
import type { Part } from "../../../engine/loop/think.js";
import type { AgentNotes } from "../../../engine/storage/agent-notes.js";
import { maxRefusals, unitRefusals } from "../../derived/status.js";
import { alone } from "../single-unit.js";
import type { Sharing, UnitKind } from "../unit-kind.js";
import type { CheckMaterial } from "./batch.js";
import { toMend, unanswered, waitingClaims } from "../narrative/open-check.js";

/** Checks sentences against their passages in batches, with another agent than the writer if there is one. */
export const check: UnitKind<CheckMaterial, CheckResult> = {
  name: "check",
  phase: "ANALYSIS",
  part: "CHECK",
  schema: "result-check",
  figure: { input: 2_000 + 10_000, output: 2_500, minutes: 2 },
  doing: () => "checks sentences of the report",
  timed: "never",
  isOptional: true,
  writes: reportDocuments,
  owns: ({ unit }) => unit === "check",
  isWanted: ({ rrd }) => rrd.meaning?.open !== undefined,
  isDone: ({ rrd }) => unanswered(rrd).length === 0,
  remainingUnits: ({ rrd }) => Math.ceil(unanswered(rrd).length / usualBatchSize),
  next(project, choosing) {
    return alone(project, { kind: this.name, id: "check", phase: this.phase, title: "Check of sentences" }, choosing);
  },
  basis: (rrd) => [unanswered(rrd), rrd.meaning?.checkers],
  nextPart: checkerPart,
  reset: async (rrd, folder) => (await import("./reset-checks.js")).resetChecks(rrd, folder),
  load: async () => (await import("./work.js")).checkWork,
};

/** Usual number of sentences in a batch. */
const usualBatchSize = 50;

function checkerPart(notes: readonly AgentNotes[], { checkers }: Sharing): Part | undefined {
  const role = checkers?.find((each) => notes.every((heard) => heard.role !== each)) ?? checkers?.at(-1);
  return role === undefined ? undefined : { role, round: 1 };
}

/** Checks claims of readings, if the project checks all claims: in full batches, and the rest before the report. */
export const claims: UnitKind<CheckMaterial, CheckResult> = {
  ...check,
  name: "claims",
  doing: () => "checks claims of readings",
  writes: [],
  owns: ({ unit }) => unit === "claims",
  isWanted: ({ rrd }) => rrd.meaning?.claims !== undefined,
  isDone(project) {
    const { length } = waitingClaims(project.rrd);
    const isDue = length >= usualBatchSize || (length > 0 && project.status.allRead);
    // Reading continues if the checker's results were refused too often.
    return !isDue || unitRefusals(project.rrd, project.ledger, this.name).length >= maxRefusals;
  },
  remainingUnits: ({ rrd }) => Math.ceil(waitingClaims(rrd).length / usualBatchSize),
  next(project, choosing) {
    return alone(project, { kind: this.name, id: "claims", phase: this.phase, title: "Check of claims" }, choosing);
  },
  basis: (rrd) => [waitingClaims(rrd), rrd.meaning?.checkers],
  reset: async (rrd) => (await import("./reset-checks.js")).resetClaims(rrd),
  load: async () => (await import("./work.js")).claimsWork,
};

/** The roles of the agents that check the same batch independently. */
export const checkerRoles = ["checker-1", "checker-2"] as const;

/** Corrects rejected sentences, once, with the agent that wrote the report. */
export const mend: UnitKind<CheckMaterial, MendResult> = {
  name: "mend",
  phase: "ANALYSIS",
  part: "MEND",
  schema: "result-mend",
  figure: { input: 2_000 + 4_000, output: 1_000, minutes: 1 },
  doing: () => "mends sentences of the report",
  timed: "never",
  isOptional: true,
  writes: reportDocuments,
  owns: ({ unit }) => unit === "mend",
  isWanted: ({ rrd }) => rrd.meaning?.open !== undefined,
  isDone: ({ rrd }) => toMend(rrd).length === 0,
  next(project, choosing) {
    return alone(project, { kind: this.name, id: "mend", phase: this.phase, title: "Mending of sentences" }, choosing);
  },
  basis: (rrd) => [toMend(rrd)],
  reset: async (rrd) => (await import("./reset-checks.js")).resetMending(rrd),
  load: async () => (await import("./work.js")).mendWork,
};
