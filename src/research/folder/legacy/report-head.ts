import { given } from "../../../engine/lib/given.js";

/** How the original's report begins: "**Research Period:** January 14-15, 2026". */
const headLine = /^\*\*(Research Period|Agent):\*\*\s*(.{1,200})$/gm;

/** Period and agent that a report of another program states at its head; none of one of ours, which derives them. */
export function statedByReport(report: string): { readonly research_period?: string; readonly agent?: string } {
  if (/every table, count and score by code/.test(report)) return {};
  const head = report.slice(0, 4_000);
  const said = new Map([...head.matchAll(headLine)].map(([, name = "", text = ""]) => [name, text.trim()]));
  return given({ research_period: said.get("Research Period"), agent: said.get("Agent") });
}
