import { join } from "node:path";
import { valueAt } from "../../../engine/lib/json-fields.js";
import { readResearch } from "../../../research/project-files/research.js";
import { reportName } from "../../../research/project-files/layout.js";

/**
 * What plugins of a research project get after a result was accepted: the record of the paper that was read, or the
 * path of the report.
 */
export const researchNews =
  (folder: string) =>
  async (facts: object): Promise<Readonly<Record<string, object>>> => {
    const [unit, iteration] = [valueAt(facts, "unit"), valueAt(facts, "iteration")];
    if (unit === "report") return { onReport: { iteration, path: join(folder, reportName) } };
    const { rrd } = await readResearch(folder);
    const paper = rrd.papers_pool.find((candidate) => candidate.id === unit && candidate.iteration === iteration);
    return paper === undefined ? {} : { onReading: { iteration, paper } };
  };
