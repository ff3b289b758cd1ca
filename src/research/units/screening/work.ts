import type { DiscoveryResult } from "../../generated/result-discovery.js";
import type { UnitWork } from "../unit-kind.js";
import { batchBrief } from "./brief.js";
import { receiveScreening } from "./hear-reader.js";
import { acceptDiscovery, acceptEmptyBatch } from "./judge-batch.js";
import { needsNoAgent, loadStoredBatch, prepareBatch, type ScreeningMaterial } from "./prepare.js";
import { checkedAnswers } from "./screen-by-criteria.js";

export const work: UnitWork<ScreeningMaterial, DiscoveryResult> = {
  prepare: prepareBatch,
  loadStored: loadStoredBatch,
  needsNoAgent: (_project, _unit, material) => needsNoAgent(material),
  completeByCode: (rrd, { id }, { batch }, judging) => acceptEmptyBatch(rrd, id, batch, judging),
  brief: batchBrief,
  receivePart: receiveScreening,
  judge: async ({ rrd }, { id }, result, { batch }, judging) =>
    acceptDiscovery(rrd, id, result, batch, judging, await checkedAnswers(rrd, result, batch)),
};
