import { ExpectedError } from "../../../engine/lib/errors.js";
import { lackPassages, withPassages } from "../../full-text/old-passages.js";
import type { Rrd } from "../../generated/rrd.js";
import { textsFolder } from "../../project-files/layout.js";
import { editResearch } from "../../project-files/edit-by-command.js";
import { readResearch } from "../../project-files/research.js";
import { derive } from "./statistics.js";

/**
 * Writes the passages of old records into rrd.json, where their texts are kept. Does nothing while a run holds the
 * project or its state can't be read: who shows the records finds their passages for itself until then.
 */
export async function keepPassages(folder: string, git: boolean, notify: (message: string) => void): Promise<void> {
  try {
    const { rrd } = await readResearch(folder);
    if (!lackPassages(rrd)) return;
    const shown = new Map((await withPassages(textsFolder(folder), rrd)).papers_pool.map((paper) => [paper.id, paper]));
    const change = (now: Rrd): Rrd => ({
      ...now,
      papers_pool: now.papers_pool.map((paper) => {
        const evidence = shown.get(paper.id)?.analysis?.evidence;
        const isSame = paper.analysis?.evidence?.length === evidence?.length;
        return paper.analysis == null || evidence === undefined || !isSame
          ? paper
          : { ...paper, analysis: { ...paper.analysis, evidence } };
      }),
    });
    await editResearch(folder, change, { derive, git, notify: (_, message) => notify(message) });
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
  }
}
