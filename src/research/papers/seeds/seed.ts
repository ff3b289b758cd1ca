import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import type { Rrd, Seed } from "../../generated/rrd.js";
import type { Identifiers, PaperFacts } from "../paper-record.js";
import { paperId, parseReference } from "../reference.js";

/** A paper that surely belongs, as a person named it, with what its reference alone tells. */
export interface KnownSeed extends PaperFacts {
  readonly reference: string;
  /** The id that a paper of the pool would have; undefined where neither an identifier nor an address is known. */
  readonly id?: string;
  readonly identifiers: Identifiers;
  /** Why no source could describe it. */
  readonly notKnown?: string;
}

/**
 * The seeds of a project, each once, in the order in which they stand: entries of a person's own may be references
 * alone. Nothing is read from the disk for a path.
 */
export function seedsOf({ seeds }: Pick<Rrd, "seeds">): KnownSeed[] {
  const known = (seeds ?? []).map((seed) => knownSeed(typeof seed === "string" ? { reference: seed } : seed));
  return [...new Map(known.map((seed) => [seed.id ?? seed.reference, seed])).values()];
}

function knownSeed(seed: Seed): KnownSeed {
  const { reference, title, authors, date, venue, abstract, not_known: notKnown } = seed;
  // Whatever else a person writes there would be looked for on this machine's disk.
  const isName = /^(?:https?:|doi\b|arxiv|pmid|pmcid|PMC\d|10\.\d|\d{4}\.\d|[a-z-]+(?:\.[a-z]{2})?\/\d{7})/i.test(
    reference.trim(),
  );
  const named = isName ? parseReference(reference) : undefined;
  const identifiers: Identifiers = {
    ...(named?.kind === "doi" ? { doi: named.doi } : {}),
    ...(named?.kind === "arxiv" ? { arxiv: named.id } : {}),
    ...(named?.kind === "pmid" ? { pmid: named.pmid } : {}),
    ...(named?.kind === "pmcid" ? { pmcid: named.pmcid } : {}),
    ...(seed.identifiers as Identifiers | undefined),
  };
  const url = named?.kind === "url" ? named.url : undefined;
  return {
    reference,
    identifiers,
    ...withoutUndefined({ id: idOf(identifiers, url), url, title, authors, date, venue, abstract, notKnown }),
  };
}

/** The id that a paper of the pool has by its identifiers or its address. */
export function idOf({ doi, arxiv, pmid, pmcid }: Identifiers, url: string | undefined): string | undefined {
  const reference = parseReference(arxiv ?? doi ?? (pmid === undefined ? pmcid : `PMID:${pmid}`) ?? url ?? "");
  return reference.kind === "unknown" || reference.kind === "file" || reference.kind === "sample"
    ? undefined
    : paperId(reference);
}

/** Ids of the records that screening left out. */
export const screenedOutIds = ({ excluded }: Pick<Rrd, "excluded">): string[] =>
  (excluded ?? []).flatMap(({ id, stage }) => (stage === "screened" ? [id] : []));
