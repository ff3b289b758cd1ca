import { join } from "node:path";
import { isNewer } from "../../../engine/storage/state/format-version.js";
import { readRegularText } from "../../../engine/storage/regular-file.js";
import { problemsOf } from "../../../engine/storage/schema-check.js";
import { reportDataName } from "../../project-files/layout.js";
import type { ReportFile } from "../../generated/report.js";

/** The report.json of a project. Undefined if it is missing or invalid; then the report must be written again. */
export async function readNarrative(folder: string): Promise<ReportFile | undefined> {
  try {
    const value: unknown = JSON.parse(await readRegularText(join(folder, reportDataName)));
    return isNewer(value) || problemsOf("report", value).length > 0 ? undefined : (value as ReportFile);
  } catch {
    return undefined;
  }
}
