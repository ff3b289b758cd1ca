import type { Paper } from "../../generated/rrd.js";
import { isDecided } from "./status.js";

/** Whether more of a paper than its title was there to be read. Where nobody recorded how it was read, the reading is believed. */
export const couldBeRead = ({ read_depth, text_sha256, abstract }: Paper): boolean =>
  read_depth !== "abstract" || text_sha256 !== undefined || (abstract ?? "").trim() !== "";

/** Whether a paper's scores say something of it: it is decided, it stands, and more than its title could be read. Averages are over these. */
export const isJudged = (paper: Paper): boolean => isDecided(paper) && paper.retracted !== true && couldBeRead(paper);
