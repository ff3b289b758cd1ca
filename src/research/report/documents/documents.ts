import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { stateVersion } from "../../../engine/storage/state/format-version.js";
import { schemaAddress } from "../../../engine/storage/schema-check.js";
import { bibliographyName, reportDataName, reportName } from "../../project-files/layout.js";
import type { DocumentsInput } from "../../workflow/accept.js";
import { bibtexOf } from "../../papers/export/bibtex.js";
import { worksOf } from "../../papers/export/cited-work.js";
import { markdownOf } from "./markdown.js";
import { type ReportInput, type ReportModel, reportModel } from "../model.js";
import { readInputFor } from "../read-report.js";

/** A file in a project's folder with its complete text. */
export interface Document {
  readonly name: string;
  readonly text: string;
}

/** All documents that can be rendered from the state at any time, without a model or the network. */
export const documentsOf = (input: ReportInput, model: ReportModel = reportModel(input)): Document[] => [
  ...(input.report === undefined && input.oldReport !== undefined ? importedReport(model, input.now) : []),
  { name: reportName, text: markdownOf(model) },
  { name: bibliographyName, text: bibliographyOf(input, model) },
];

/** The works of the report's list of references, with the keys of the report, for a paper that cites them too. */
function bibliographyOf({ rrd }: ReportInput, model: ReportModel): string {
  const referencedIds = new Set(model.references().map(({ paper }) => paper.id));
  return bibtexOf(worksOf(rrd).filter(({ id }) => referencedIds.has(id)));
}

/**
 * The text of an older report as report.json, so that it is kept when a new report is rendered. Empty if no known
 * heading was found.
 */
function importedReport(model: ReportModel, now: Date): Document[] {
  if (model.writtenNarrative.from !== "headings") return [];
  const { from: _, writtenAt: __, comparison: ___, ...narrative } = model.writtenNarrative;
  const file = {
    $schema: schemaAddress("report"),
    format: stateVersion,
    written_at: now.toISOString(),
    taken_from: reportName,
    ...narrative,
    question: model.question,
  };
  return [{ name: reportDataName, text: `${JSON.stringify(file, null, 2)}\n` }];
}

/** The documents that are written with an accepted report, or with ideas. */
export async function renderFor({
  folder,
  rrd,
  ledger,
  narrative,
  ideas,
  at,
}: DocumentsInput): Promise<readonly Document[]> {
  const { input: beside } = await readInputFor(folder, rrd, ledger, at);
  const { report: stored, oldReport: _, ...others } = beside;
  const report = narrative ?? stored;
  // A new report makes the present ideas obsolete, because they were based on the old one. A report that was only
  // checked is the same report.
  const { ideas: __, ...withoutIdeas } = others;
  // An update does not ask for new ideas, so the present ideas stay.
  const isSame = narrative === undefined || narrative.iteration === stored?.iteration;
  const input = isSame || (rrd.updates ?? []).length > 0 ? others : withoutIdeas;
  return documentsOf({ ...input, ...withoutUndefined({ report, ideas }) });
}
