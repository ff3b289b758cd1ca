import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import { readResearch } from "../project-files/research.js";
import { researchFormat } from "../project-files/rrd-file.js";
import { statusOf } from "../workflow/next-unit.js";

/** A research project as a person leads it from outside; `where`: as the person knows it. */
export const steeredResearch = (folder: string, where: string): SteeredWork => ({
  folder,
  where,
  formats: researchFormat,
  finished: async () => {
    const read = await readResearch(folder).catch(() => undefined);
    return read !== undefined && statusOf(read.rrd, read.ledger).phase === "COMPLETE";
  },
  goOn: `research-ralph run ${where}`,
  more: `raise the target with research-ralph run ${where} -p <more> --force`,
});
