import type { Rrd } from "../../generated/rrd.js";
import { clip, estimateTokens } from "../../lib/tokens.js";
import type { PaperIdentity } from "../../sources/identity.js";
import { samePaper } from "../../sources/sameness.js";
import type { Candidate } from "../../sources/candidate.js";
import type { Library } from "./state.js";

const batchTokens = 2_400;

/** What a discovery batch offers for screening, and how the sources that code searched itself did. */
export interface Batch {
  readonly candidates: readonly Candidate[];
  readonly sources: readonly { name: string; status: "ok" | "empty" | "error"; reason?: string }[];
  /** Candidates that are the same work as a paper of the pool or an earlier candidate. */
  readonly duplicates: readonly { candidate: Candidate; of: string }[];
}

/** Candidates of the sources that need no agent, less those already in the pool or screened out; bounded in tokens. */
export async function nextBatch(rrd: Rrd, library: Library): Promise<Batch> {
  const sources: Batch["sources"][number][] = [];
  const candidates: Candidate[] = [];
  const duplicates: { candidate: Candidate; of: string }[] = [];
  const settled = new Set([...rrd.papers_pool.map((paper) => paper.id), ...(rrd.excluded ?? []).map((excluded) => excluded.id)]);
  const known: (PaperIdentity & { readonly id: string })[] = [...rrd.papers_pool];
  let room = batchTokens;
  for (const name of (rrd.requirements.sources ?? []).filter((source) => library.serves(source))) {
    let offered: readonly Candidate[];
    try {
      offered = await library.candidates(name);
    } catch (error) {
      sources.push({ name, status: "error", reason: error instanceof Error ? error.message : String(error) });
      continue;
    }
    sources.push({ name, status: offered.length > 0 ? "ok" : "empty", ...(offered.length > 0 ? {} : { reason: "it holds no documents" }) });
    for (const candidate of offered.filter(({ id }) => !settled.has(id))) {
      const twin = known.find((other) => samePaper(other, candidate));
      if (twin !== undefined) {
        duplicates.push({ candidate, of: twin.id });
        continue;
      }
      const size = estimateTokens(JSON.stringify(shown(candidate)));
      if (size > room && candidates.length > 0) break;
      room -= size;
      known.push(candidate);
      candidates.push(candidate);
    }
  }
  return { candidates, sources, duplicates };
}

/** A candidate as the brief shows it. */
export const shown = (candidate: Candidate): Candidate => ({
  ...candidate,
  authors: (candidate.authors ?? []).slice(0, 6),
  abstract: candidate.abstract == null ? candidate.abstract : clip(candidate.abstract, 120),
});
