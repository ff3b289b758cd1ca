import type { IdeationResult } from "../../generated/result-ideation.js";
import type { Material, UnitWork } from "../unit-kind.js";
import { ideasBrief } from "./brief.js";
import { acceptIdeas } from "./judge-ideas.js";

export const work: UnitWork<Material, IdeationResult> = {
  brief: ideasBrief,
  judge: ({ rrd }, _unit, result, _material, judging) => acceptIdeas(rrd, result, judging),
};
