import type { Paper } from "../generated/rrd.js";
import { normalTitle } from "./normalise-title.js";

/**
 * How far a paper was read. `title`: nothing more of it was there to be read, so that it was not; `unrecorded`: it was
 * read, and nobody noted how far; `unread`: it has no decision yet, or got one without a reading, as a retracted paper
 * does.
 */
export type Reading = "full" | "partial" | "abstract" | "title" | "unrecorded" | "unread";

export function readingOf(paper: Paper): Reading {
  const { status, read_depth: depth, analysis, score } = paper;
  if (status === "not_retrieved") return "title";
  const isOpen = status === "pending" || status === "analyzing";
  if (isOpen || (depth == null && analysis == null && score == null)) return "unread";
  return couldBeRead(paper) ? (depth ?? "unrecorded") : "title";
}

/**
 * Whether more of a paper than its title was there to be read. Where nobody recorded how it was read, the reading is
 * believed.
 */
export const couldBeRead = ({ status, read_depth, text_sha256, abstract }: Paper): boolean =>
  status !== "not_retrieved" &&
  (read_depth !== "abstract" || text_sha256 !== undefined || (abstract ?? "").trim() !== "");

/** The abstract of a paper; empty where its record has none, or only the title once more. */
export function abstractOf({ title, abstract }: Pick<Paper, "title" | "abstract">): string {
  const text = (abstract ?? "").trim();
  return normalTitle(text) === normalTitle(title) ? "" : text;
}
