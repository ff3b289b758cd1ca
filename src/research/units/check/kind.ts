import type { CheckResult } from "../../generated/result-check.js";
import type { MendResult } from "../../generated/result-mend.js";
import { reportDocuments } from "../../project-files/layout.js";
import type { Part } from "../../../engine/loop/think.js";
import type { AgentNotes } from "../../../engine/storage/agent-notes.js";
import { maxRefusals, unitRefusals } from "../../derived/status.js";
import { startAlone } from "../single-unit.js";
import type { Sharing, UnitKind } from "../unit-kind.js";
import type { CheckMaterial } from "./batch.js";
import { sentencesToMend, findUnanswered, waitingClaims } from "../narrative/open-check.js";

/** Checks sentences against their passages in batches, with another agent than the writer if there is one. */
export const check: UnitKind<CheckMaterial, CheckResult> = {
  name: "check",
  phase: "ANALYSIS",
  part: "CHECK",
  schema: "result-check",
  estimate: { input: 2_000 + 10_000, output: 2_500, minutes: 2 },
  activityText: () => "checks sentences of the report",
  timed: "never",
  isOptional: true,
  documents: reportDocuments,
  owns: ({ unit }) => unit === "check",
  isWanted: ({ rrd }) => rrd.meaning?.open !== undefined,
  isDone: ({ rrd }) => findUnanswered(rrd).length === 0,
  remainingUnits: ({ rrd }) => Math.ceil(findUnanswered(rrd).length / typicalBatchSize),
  next(project, choosing) {
    return startAlone(project, { kind: this.name, id: "check", phase: this.phase, title: "sentences" }, choosing);
  },
  basis: (rrd) => [findUnanswered(rrd), rrd.meaning?.checkers],
  nextPart: checkerPart,
  reset: async (rrd, folder) => (await import("./reset-checks.js")).resetChecks(rrd, folder),
  load: async () => (await import("./work.js")).checkWork,
};

/** Usual number of sentences in a batch. */
const typicalBatchSize = 50;

function checkerPart(notes: readonly AgentNotes[], { checkers }: Sharing): Part | undefined {
  const role = checkers?.find((each) => notes.every((note) => note.role !== each)) ?? checkers?.at(-1);
  return role === undefined ? undefined : { role, round: 1 };
}

/** Checks claims of readings, if the project checks all claims: in full batches, and the rest before the report. */
export const claims: UnitKind<CheckMaterial, CheckResult> = {
  ...check,
  name: "claims",
  activityText: () => "checks claims of readings",
  documents: [],
  owns: ({ unit }) => unit === "claims",
  isWanted: ({ rrd }) => rrd.meaning?.claims !== undefined,
  isDone(project) {
    const { length } = waitingClaims(project.rrd);
    const isDue = length >= typicalBatchSize || (length > 0 && project.status.isAllRead);
    // Reading continues if the checker's results were refused too often.
    return !isDue || unitRefusals(project.rrd, project.ledger, this.name).length >= maxRefusals;
  },
  remainingUnits: ({ rrd }) => Math.ceil(waitingClaims(rrd).length / typicalBatchSize),
  next(project, choosing) {
    return startAlone(project, { kind: this.name, id: "claims", phase: this.phase, title: "claims" }, choosing);
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
  estimate: { input: 2_000 + 4_000, output: 1_000, minutes: 1 },
  activityText: () => "corrects sentences of the report",
  timed: "never",
  isOptional: true,
  documents: reportDocuments,
  owns: ({ unit }) => unit === "mend",
  isWanted: ({ rrd }) => rrd.meaning?.open !== undefined,
  isDone: ({ rrd }) => sentencesToMend(rrd).length === 0,
  next(project, choosing) {
    return startAlone(
      project,
      { kind: this.name, id: "mend", phase: this.phase, title: "Correction of sentences" },
      choosing,
    );
  },
  basis: (rrd) => [sentencesToMend(rrd)],
  reset: async (rrd) => (await import("./reset-checks.js")).resetMending(rrd),
  load: async () => (await import("./work.js")).mendWork,
};
