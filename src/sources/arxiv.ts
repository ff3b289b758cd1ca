import type { Candidate, Described } from "./candidate.js";
import { getDocument, type HttpOptions } from "./http.js";
import { paperId, parseReference, type Reference } from "./reference.js";

/** An Atom entry as the parser gives it; single children are no arrays, and all values are text. */
interface Entry {
  readonly id?: string;
  readonly title?: string;
  readonly published?: string;
  readonly summary?: string;
  readonly author?: { readonly name?: string } | readonly { readonly name?: string }[];
  readonly "arxiv:doi"?: string;
  readonly "arxiv:comment"?: string;
}

/** Feeds are some kilobytes a paper. */
const largestFeed = 20 * 1024 * 1024;

/** The record of one arXiv paper. arXiv answers a wrong id with HTTP 400 and drops a missing one silently. */
export async function arxivPaper(reference: Extract<Reference, { kind: "arxiv" }>, api: string, options: HttpOptions): Promise<Described> {
  const id = `${reference.id}${reference.version === undefined ? "" : `v${reference.version}`}`;
  const answer = await getDocument(`${api}?id_list=${encodeURIComponent(id)}&max_results=1`, largestFeed, options, "application/atom+xml");
  if (answer.status !== "ok" && answer.code !== 400)
    return { status: answer.status === "not-found" ? "error" : answer.status, reason: answer.reason };
  return await readFeed(new TextDecoder().decode(answer.status === "ok" ? answer.bytes : answer.body), id);
}

/** Reads the one entry that was asked for out of an Atom feed. */
export async function readFeed(xml: string, id: string): Promise<Described> {
  const { XMLParser, XMLValidator } = await import("fast-xml-parser");
  // The parser takes half a feed for a whole one.
  if (XMLValidator.validate(xml) !== true) return { status: "error", reason: "arXiv's answer is no whole Atom feed; try again later." };
  // As numbers, ids such as 2401.00010 lose their last zero.
  const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false, isArray: (name) => name === "entry" });
  const entries = ((parser.parse(xml) as { feed?: { entry?: Entry[] } }).feed?.entry ?? []) as Entry[];
  const error = entries.find((entry) => entry.title === "Error" || /\/api\/errors/.test(entry.id ?? ""));
  if (error !== undefined) return { status: "error", reason: `arXiv refuses the id ${id}: ${oneLine(error.summary) ?? "no reason given"}.` };

  const [entry] = entries;
  const reference = parseReference(entry?.id ?? "");
  const title = oneLine(entry?.title);
  if (entry === undefined || reference.kind !== "arxiv" || title === undefined)
    return { status: "empty", reason: `arXiv has no paper ${id}; check the id.` };
  const authors = [entry.author ?? []].flat().map((author) => oneLine(author.name));
  const doi = parseReference(entry["arxiv:doi"] ?? "");
  const isWithdrawn = /\bthis (?:paper|article|submission) (?:has been|is|was) (?:withdrawn|retracted)/i.test(
    `${entry["arxiv:comment"] ?? ""} ${entry.summary ?? ""}`,
  );
  const paper: Candidate = {
    id: paperId(reference),
    title,
    url: `https://arxiv.org/abs/${reference.id}`,
    pdf_url: `https://arxiv.org/pdf/${id}`,
    authors: authors.filter((name) => name !== undefined),
    date: entry.published?.slice(0, 10) ?? null,
    source: "arXiv",
    abstract: oneLine(entry.summary) ?? null,
    identifiers: { arxiv: id, ...(doi.kind === "doi" ? { doi: doi.doi } : {}) },
    ...(isWithdrawn ? { retracted: true } : {}),
  };
  return { status: "ok", paper };
}

const oneLine = (text: string | undefined): string | undefined => text?.replace(/\s+/g, " ").trim() || undefined;
