import type { IdeationResult } from "../../generated/result-ideation.js";
import type { Material, UnitWork } from "../unit-kind.js";
import { briefOfIdeas } from "./brief.js";
import { acceptIdeas } from "./judge-ideas.js";

export const work: UnitWork<Material, IdeationResult> = {
  brief: briefOfIdeas,
  judge: ({ rrd }, _unit, result, _material, judging) => acceptIdeas(rrd, result, judging),
};
