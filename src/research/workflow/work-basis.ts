import { createHash } from "node:crypto";
import type { Rrd } from "../generated/rrd.js";
import { papersToCheck } from "../units/retractions.js";
import { paperOf, type ResearchUnit } from "../derived/status.js";

/** What the work on a unit rests on, of what a person may edit, as a hash. */
export function workBasis(rrd: Rrd, { kind, id }: Pick<ResearchUnit, "kind" | "id">): string {
  const hash = (...parts: unknown[]) => createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  switch (kind) {
    case "discovery": {
      const { description, requirements, papers_pool, excluded, apart, seeds, blocked_sources } = rrd;
      const ids = papers_pool.map(({ id: paper, priority, identifiers }) => [paper, priority, identifiers]);
      return hash(description, requirements, ids, excluded, apart, seeds, blocked_sources);
    }
    case "paper": {
      const { title, url, pdf_url, identifiers, abstract, refusals, retracted } = paperOf(rrd, id) ?? {};
      return hash(title, url, pdf_url, identifiers, abstract, refusals?.length, retracted);
    }
    case "report":
      return hash(
        papersToCheck(rrd).map(({ id: paper, url, pdf_url, identifiers }) => [paper, url, pdf_url, identifiers]),
      );
    case "ideas":
      return hash();
  }
}
