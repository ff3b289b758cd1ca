import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { stateVersion } from "../../../engine/storage/state/format-version.js";
import { schemaAddress } from "../../../engine/storage/schema-check.js";
import { bibliographyName, reportDataName, reportName } from "../../project-files/layout.js";
import type { DocumentsInput } from "../../workflow/accept.js";
import { bibliography } from "../../papers/export/bibtex.js";
import { markdownOf } from "./markdown.js";
import { type ReportInput, type ReportModel, reportModel } from "../model.js";
import { readBeside } from "../read-report.js";

/** A whole file of a project's folder. */
export interface Document {
  readonly name: string;
  readonly text: string;
}

/** Every document that is made from the state alone: rendered again at any time, without a model or the network. */
export const documentsOf = (input: ReportInput, model: ReportModel = reportModel(input)): Document[] => [
  ...(input.report === undefined && input.oldReport !== undefined ? takenFrom(model, input.now) : []),
  { name: reportName, text: markdownOf(model) },
  { name: bibliographyName, text: bibliography(input.rrd) },
];

/**
 * The words of an older report as report.json, so that they outlast the rendering of a new one; none where no heading
 * was known.
 */
function takenFrom(model: ReportModel, now: Date): Document[] {
  if (model.said.from !== "headings") return [];
  const { from: _, writtenAt: __, comparison: ___, ...said } = model.said;
  const file = {
    $schema: schemaAddress("report"),
    format: stateVersion,
    written_at: now.toISOString(),
    taken_from: reportName,
    ...said,
    question: model.question,
  };
  return [{ name: reportDataName, text: `${JSON.stringify(file, null, 2)}\n` }];
}

/** The documents that go with an accepted report, or with ideas. */
export async function renderFor({
  folder,
  rrd,
  ledger,
  narrative,
  ideas,
  at,
}: DocumentsInput): Promise<readonly Document[]> {
  const { input: beside } = await readBeside(folder, rrd, ledger, at);
  const { report: kept, oldReport: _, ...rest } = beside;
  const report = narrative ?? kept;
  // A report is written anew before its ideas are: those of the last one no longer follow from it. One that was
  // checked is the same.
  const { ideas: __, ...withoutIdeas } = rest;
  // An update asks for no new ideas; those that there are stay.
  const isSame = narrative === undefined || narrative.iteration === kept?.iteration;
  const input = isSame || (rrd.updates ?? []).length > 0 ? rest : withoutIdeas;
  return documentsOf({ ...input, ...withoutUndefined({ report, ideas }) });
}
