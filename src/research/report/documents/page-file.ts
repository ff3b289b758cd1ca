import type { PieceFile } from "../../../engine/storage/state/output-files.js";
import { pageName } from "../../project-files/layout.js";
import type { Research } from "../../project-files/research.js";
import { type ReportModel, reportModel } from "../model.js";
import { contextOf } from "../page/context.js";
import { reportPage } from "../page/page.js";
import { readInputFor } from "../read-report.js";

/**
 * report.html, which is rendered while it is written. `inputHash`: the hash of its inputs. `notices`: what could not be
 * read from the folder; the page shows it at the top.
 */
export const pageOf = async (
  model: ReportModel,
  inputHash: string,
  notices: readonly string[] = [],
): Promise<PieceFile> => {
  const context = { ...(await contextOf(model)), notices };
  return { name: pageName, pieces: reportPage(context), inputsHash: inputHash };
};

/** Renders and commits report.html of a project. `inputHash`: the hash of its inputs before they were read. */
export async function writePage(
  research: Pick<Research, "folder" | "load" | "rewrite">,
  inputHash: string,
  now: number,
): Promise<void> {
  const { rrd, ledger } = await research.load();
  const { input } = await readInputFor(research.folder, rrd, ledger, new Date(now));
  await research.rewrite([await pageOf(reportModel(input), inputHash)], now, `${pageName}: rendered`);
}
