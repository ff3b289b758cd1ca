import type { DiscoveryResult } from "../../generated/result-discovery.js";
import type { UnitWork } from "../unit-kind.js";
import { briefOfBatch } from "./brief.js";
import { hearReader } from "./hear-reader.js";
import { acceptDiscovery, acceptEmptyBatch } from "./judge-batch.js";
import { isForNobody, keptBatch, prepareBatch, type ScreeningMaterial } from "./prepare.js";
import { checkedAnswers } from "./screen-by-criteria.js";

export const work: UnitWork<ScreeningMaterial, DiscoveryResult> = {
  prepare: prepareBatch,
  loadStored: keptBatch,
  needsNoAgent: (_project, _unit, material) => isForNobody(material),
  completeByCode: (rrd, { id }, { batch }, judging) => acceptEmptyBatch(rrd, id, batch, judging),
  brief: briefOfBatch,
  receivePart: hearReader,
  judge: async ({ rrd }, { id }, result, { batch }, judging) =>
    acceptDiscovery(rrd, id, result, batch, judging, await checkedAnswers(rrd, result, batch)),
};
