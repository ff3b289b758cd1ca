import { join } from "node:path";
import { valueAt } from "../../../engine/lib/json-fields.js";
import { readResearch } from "../../../research/project-files/research.js";
import { reportName } from "../../../research/project-files/layout.js";

/**
 * What a research project has to say to plugins of a result that was accepted: the record of a paper that was read, or
 * where the report is.
 */
export const researchNews =
  (folder: string) =>
  async (facts: object): Promise<Readonly<Record<string, object>>> => {
    const [unit, iteration] = [valueAt(facts, "unit"), valueAt(facts, "iteration")];
    if (unit === "report") return { onReport: { iteration, path: join(folder, reportName) } };
    const { rrd } = await readResearch(folder);
    const paper = rrd.papers_pool.find((each) => each.id === unit && each.iteration === iteration);
    return paper === undefined ? {} : { onReading: { iteration, paper } };
  };
