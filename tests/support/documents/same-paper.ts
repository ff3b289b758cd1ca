import { matchFeaturesOf } from "../../../src/research/papers/dedup/match-features.js";
import { compareRecords } from "../../../src/research/papers/dedup/same-work.js";
import type { TitledPaper } from "../../../src/research/papers/paper-record.js";

/** Whether two records are taken for the same work, its preprint and its published version included. */
export const samePaper = (a: TitledPaper, b: TitledPaper): boolean =>
  compareRecords(matchFeaturesOf(a), matchFeaturesOf(b)).same;
