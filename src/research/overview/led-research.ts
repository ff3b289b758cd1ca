import type { LedWork } from "../../engine/storage/records/from-outside.js";
import { researchFormat } from "../folder/rrd-file.js";
import { workStateOf } from "./work-state.js";

/** A research project as a person leads it from outside; `where`: as the person knows it. */
export const ledResearch = (folder: string, where: string): LedWork => ({
  folder,
  where,
  formats: researchFormat,
  finished: async () => (await workStateOf(folder)).finished,
  goOn: `research-ralph run ${where}`,
  more: `raise the target with research-ralph run ${where} -p <more> --force`,
});
