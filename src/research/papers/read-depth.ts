import type { Paper } from "../generated/rrd.js";
import { normalTitle } from "./normalise-title.js";

/**
 * How much of a paper was read. `title`: only the title was available, so the paper was not read. `unrecorded`: read,
 * but the amount was not recorded. `unread`: not decided yet, or decided without reading, like a retracted paper.
 */
export type Reading = "full" | "partial" | "abstract" | "title" | "unrecorded" | "unread";

export function readingOf(paper: Paper): Reading {
  const { status, read_depth: depth, analysis, score } = paper;
  if (status === "not_retrieved") return "title";
  const isOpen = status === "pending" || status === "analyzing";
  if (isOpen || (depth == null && analysis == null && score == null)) return "unread";
  return couldBeRead(paper) ? (depth ?? "unrecorded") : "title";
}

/** Whether more than the title was available. True if the reading was not recorded. */
export const couldBeRead = ({ status, read_depth, text_sha256, abstract }: Paper): boolean =>
  status !== "not_retrieved" &&
  (read_depth !== "abstract" || text_sha256 !== undefined || (abstract ?? "").trim() !== "");

/**
 * Whether a paper was decided without its full text. It is read again when there is one, unless the user excluded it or
 * marked it as not retrieved.
 */
export const waitsForText = (paper: Paper): boolean =>
  (paper.status === "not_retrieved" || readingOf(paper) === "abstract") &&
  (paper.override?.decision ?? "include") === "include";

/** The abstract of a paper; empty if its record has none or only repeats the title. */
export function abstractOf({ title, abstract }: Pick<Paper, "title" | "abstract">): string {
  const text = (abstract ?? "").trim();
  return normalTitle(text) === normalTitle(title) ? "" : text;
}
