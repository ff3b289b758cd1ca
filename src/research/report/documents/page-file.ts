import type { PieceFile } from "../../../engine/storage/state/output-files.js";
import { pageName } from "../../project-files/layout.js";
import type { Research } from "../../project-files/research.js";
import { type ReportModel, reportModel } from "../model.js";
import { contextOf } from "../page/context.js";
import { reportPage } from "../page/page.js";
import { readBeside } from "../read-report.js";

/** report.html, made as it is written. `notices`: what of the folder could not be read; the page says so at its top. */
export const pageOf = async (model: ReportModel, notices: readonly string[] = []): Promise<PieceFile> => {
  const context = { ...(await contextOf(model)), notices };
  return { name: pageName, pieces: reportPage(context) };
};

/** Writes and commits report.html of the project as it stands. */
export async function writePage(research: Pick<Research, "folder" | "load" | "rewrite">, now: number): Promise<void> {
  const { rrd, ledger } = await research.load();
  const { input } = await readBeside(research.folder, rrd, ledger, new Date(now));
  await research.rewrite([await pageOf(reportModel(input))], now, `${pageName}: rendered`);
}
