import { join } from "node:path";
import type { AnalysisResult } from "../../generated/result-analysis.js";
import type { DiscoveryResult } from "../../generated/result-discovery.js";
import type { IdeationResult } from "../../generated/result-ideation.js";
import type { ReportResult } from "../../generated/result-report.js";
import { redactFor, redactValue } from "../../../engine/lib/redact.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import { acceptDiscovery } from "../discovery/judge-batch.js";
import { acceptIdeas } from "../report/judge-ideas.js";
import { acceptPaper } from "../analysis/judge-paper.js";
import { acceptReport } from "../report/judge-report.js";
import type { Acceptable, Judging, Unacceptable } from "./accepted-result.js";
import type { Material } from "../brief/material.js";
import type { Pattern } from "../derived/lessons.js";
import { readResult } from "./result-file.js";
import { paperOf, type ResearchState, type ResearchUnit } from "../derived/state.js";
import { resultName } from "../../folder/layout.js";

const schemaOf = {
  discovery: "result-discovery",
  paper: "result-analysis",
  report: "result-report",
  ideas: "result-ideation",
} as const;
const maxReasons = 20;

/** `redacted`: something that looks like a secret of the user's was taken out of the result before anything else. */
export type Judged = (Acceptable | Unacceptable) & { readonly redacted: boolean };

/** Judges what an agent left in its workspace: first the schema, then the rules of the unit. Changes nothing. */
export async function judge(
  state: ResearchState,
  unit: ResearchUnit,
  workspace: string,
  material: Material,
  patterns: readonly Pattern[],
  judging: Judging & { readonly redact?: ReturnType<typeof redactFor> | undefined },
): Promise<Judged> {
  const result = await readResult(join(workspace, resultName));
  const takeOut = judging.redact ?? redactFor({});
  const redact = (text: string): string => takeOut(text, material.text?.text);
  if ("reason" in result) return { reasons: [redact(result.reason)], redacted: false };
  const { value, found: redacted } = redactValue(result.value, redact);
  return {
    ...judgeValue(state, unit, { value: withoutBlanks(value) }, material, patterns, { ...judging, redacted }),
    redacted,
  };
}

function judgeValue(
  { rrd, ledger }: ResearchState,
  unit: ResearchUnit,
  result: { readonly value: unknown },
  material: Material,
  patterns: readonly Pattern[],
  judging: Judging,
): Acceptable | Unacceptable {
  const problems = problemsOf(schemaOf[unit.kind], result.value);
  if (problems.length > 0) {
    return {
      reasons: problems
        .slice(0, maxReasons)
        .map(({ pointer, message, hint }) => `${pointer || "/"} ${message}${hint ? ` (${hint})` : ""}`),
    };
  }
  switch (unit.kind) {
    case "discovery":
      return acceptDiscovery(
        rrd,
        unit.id,
        result.value as DiscoveryResult,
        material.batch ?? { candidates: [], sources: [], duplicates: [] },
        judging,
      );
    case "report":
      return acceptReport(rrd, result.value as ReportResult, { ledger, patterns }, judging, material.retraction);
    case "ideas":
      return acceptIdeas(rrd, result.value as IdeationResult, judging);
    default: {
      const paper = paperOf(rrd, unit.id);
      if (paper === undefined) return { reasons: [`the paper ${unit.id} is no longer in the pool`] };
      return acceptPaper(rrd, paper, result.value as AnalysisResult, material, judging);
    }
  }
}

/** White space, and what shows nothing though it is a character: zero-width spaces, joiners, fillers, an empty braille cell. */
const blank = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+$/u;

/** A JSON value in which every text that shows nothing is empty, so that it counts as one where something must be said. */
function withoutBlanks(value: unknown): unknown {
  if (typeof value === "string") return blank.test(value) ? "" : value;
  if (Array.isArray(value)) return value.map(withoutBlanks);
  if (typeof value !== "object" || value === null) return value;
  // From pairs: assigned, a field named __proto__ would be no field.
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutBlanks(inner)]));
}
