import type { SteeredWork } from "../../engine/storage/state/from-outside.js";
import { researchFormat } from "../project-files/rrd-file.js";
import { workStateOf } from "./work-state.js";

/** A research project as a person leads it from outside; `where`: as the person knows it. */
export const steeredResearch = (folder: string, where: string): SteeredWork => ({
  folder,
  where,
  formats: researchFormat,
  finished: async () => (await workStateOf(folder)).finished,
  goOn: `research-ralph run ${where}`,
  more: `raise the target with research-ralph run ${where} -p <more> --force`,
});
