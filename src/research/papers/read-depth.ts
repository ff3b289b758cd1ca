import type { Paper } from "../generated/rrd.js";

/**
 * How far a paper was read. `title`: nothing more of it was there to be read; `unrecorded`: it was read, and nobody
 * noted how far; `unread`: it has no decision yet, or got one without a reading, as a retracted paper does.
 */
export type Reading = "full" | "partial" | "abstract" | "title" | "unrecorded" | "unread";

export function readingOf(paper: Paper): Reading {
  const { status, read_depth: depth, analysis, score } = paper;
  const isOpen = status === "pending" || status === "analyzing";
  if (isOpen || (depth == null && analysis == null && score == null)) return "unread";
  return couldBeRead(paper) ? (depth ?? "unrecorded") : "title";
}

/**
 * Whether more of a paper than its title was there to be read. Where nobody recorded how it was read, the reading is
 * believed.
 */
export const couldBeRead = ({ read_depth, text_sha256, abstract }: Paper): boolean =>
  read_depth !== "abstract" || text_sha256 !== undefined || (abstract ?? "").trim() !== "";
