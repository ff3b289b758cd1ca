import type { Candidate, Described } from "./candidate.js";
import { getDocument, type HttpOptions } from "./http.js";
import { paperId } from "./reference.js";

/** As much of a Crossref work as is used; every field may be missing. */
interface Work {
  readonly title?: readonly string[];
  readonly author?: readonly { readonly given?: string; readonly family?: string; readonly name?: string }[];
  readonly issued?: { readonly "date-parts"?: readonly (readonly (number | null)[])[] };
  readonly abstract?: string;
  readonly link?: readonly { readonly URL?: string; readonly "content-type"?: string }[];
  readonly "updated-by"?: readonly { readonly type?: string }[];
}

const largestRecord = 20 * 1024 * 1024;

/** The record of the work that Crossref knows under a DOI. A contact address in the request is what its polite pool asks for. */
export async function crossrefPaper(doi: string, api: string, options: HttpOptions): Promise<Described> {
  const polite = options.contact?.includes("@") ? `?mailto=${encodeURIComponent(options.contact.replace(/^mailto:/, ""))}` : "";
  const answer = await getDocument(`${api}/works/${encodeURIComponent(doi)}${polite}`, largestRecord, options, "application/json");
  if (answer.status === "not-found") return { status: "empty", reason: `Crossref does not know the DOI ${doi}; check it.` };
  if (answer.status !== "ok") return { status: answer.status, reason: answer.reason };
  return readWork(new TextDecoder().decode(answer.bytes), doi);
}

/** Reads Crossref's answer to a question for one work. */
export function readWork(json: string, doi: string): Described {
  let work: Work | undefined;
  try {
    work = (JSON.parse(json) as { message?: Work } | null)?.message;
  } catch {
    return { status: "error", reason: "Crossref's answer is no JSON; try again later." };
  }
  const title = plain(work?.title?.[0]);
  if (work === undefined || title === undefined) return { status: "empty", reason: `Crossref has no title for the DOI ${doi}.` };
  const authors = (work.author ?? []).map(
    ({ given, family, name }) => [given, family].filter((part) => part !== undefined).join(" ") || (name ?? ""),
  );
  // Only a retraction retracts; corrections and addenda are updates too.
  const isRetracted = (work["updated-by"] ?? []).some(({ type }) => type === "retraction");
  const paper: Candidate = {
    id: paperId({ kind: "doi", doi }),
    title,
    url: `https://doi.org/${doi}`,
    pdf_url: work.link?.find((link) => link["content-type"] === "application/pdf")?.URL ?? null,
    authors: authors.filter((name) => name !== ""),
    date: dateOf(work.issued?.["date-parts"]?.[0]),
    source: "Crossref",
    abstract: plain(work.abstract)?.replace(/^abstract\b[\s.:]*/i, "") ?? null,
    identifiers: { doi },
    ...(isRetracted ? { retracted: true } : {}),
  };
  return { status: "ok", paper };
}

/** Titles and abstracts carry JATS tags and entities. */
function plain(text: string | undefined): string | undefined {
  const entities: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&nbsp;": " " };
  return (
    text
      ?.replace(/<[^>]+>/g, " ")
      .replace(/&(?:lt|gt|amp|quot|nbsp);/g, (entity) => entities[entity] ?? entity)
      .replace(/\s+/g, " ")
      .trim() || undefined
  );
}

function dateOf(parts: readonly (number | null)[] | undefined): string | null {
  const known = (parts ?? []).filter((part) => part !== null).map((part, index) => String(part).padStart(index === 0 ? 4 : 2, "0"));
  return known.length === 0 ? null : known.join("-");
}
