import type { Paper } from "../../research/generated/rrd.js";
import { pad, truncate, width } from "../../engine/ui/terminal/format.js";
import { oneLine } from "../../engine/lib/sanitise.js";

/** How many papers `status` lists unless it is asked for all. */
const few = 20;

/** What `status` tells of one paper. */
export type ListedPaper = Pick<Paper, "id" | "title" | "status">;

/** The papers with their ids, one a line, each fitting `columns`; `all`: not only the first twenty. */
export function paperLines(papers: readonly ListedPaper[], all: boolean, columns: number): string[] {
  const shown = all ? papers : papers.slice(0, few);
  const rows = shown.map(({ id, title, status }) => [oneLine(id), words[status], oneLine(title)] as const);
  const forId = Math.max(0, ...rows.map(([id]) => width(id)));
  const lines = rows.map(([id, status, title]) => truncate(`  ${pad(id, forId)}  ${pad(status, 12)}  ${title}`, Math.max(columns - 1, forId + 16)));
  const left = papers.length - shown.length;
  return left === 0 ? lines : [...lines, `  and ${left} more; --papers lists them all`];
}

const words: Record<Paper["status"], string> = {
  pending: "pending",
  analyzing: "pending",
  presented: "presented",
  insights_extracted: "for insights",
  rejected: "rejected",
};
