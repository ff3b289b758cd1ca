import type { PieceFile } from "../../../engine/storage/state/output-files.js";
import { pageName } from "../../project-files/layout.js";
import type { Research } from "../../project-files/research.js";
import { type ReportModel, reportModel } from "../model.js";
import { contextOf } from "../page/context.js";
import { reportPage } from "../page/page.js";
import { readBeside } from "../read-report.js";

/**
 * report.html, made as it is written. `madeOf`: the hash of its inputs. `notices`: what of the folder could not be
 * read; the page says so at its top.
 */
export const pageOf = async (
  model: ReportModel,
  madeOf: string,
  notices: readonly string[] = [],
): Promise<PieceFile> => {
  const context = { ...(await contextOf(model)), notices };
  return { name: pageName, pieces: reportPage(context), madeOf };
};

/** Writes and commits report.html of the project as it stands, whose inputs had this hash before they were read. */
export async function writePage(
  research: Pick<Research, "folder" | "load" | "rewrite">,
  madeOf: string,
  now: number,
): Promise<void> {
  const { rrd, ledger } = await research.load();
  const { input } = await readBeside(research.folder, rrd, ledger, new Date(now));
  await research.rewrite([await pageOf(reportModel(input), madeOf)], now, `${pageName}: rendered`);
}
