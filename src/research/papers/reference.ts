import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { statsAt } from "../../engine/storage/regular-file.js";

/** What a person or a source may name a paper by. */
export type Reference =
  /** `id` without its version: 2401.12345, cs/0112017. `version` only where one was asked for. */
  | { readonly kind: "arxiv"; readonly id: string; readonly version?: number }
  /** In lower case, without a resolver in front: 10.1000/x. */
  | { readonly kind: "doi"; readonly doi: string }
  /** Of PubMed: digits. */
  | { readonly kind: "pmid"; readonly pmid: string }
  /** Of PubMed Central: PMC1234567. */
  | { readonly kind: "pmcid"; readonly pmcid: string }
  /** http or https. */
  | { readonly kind: "url"; readonly url: string }
  /** An absolute path. */
  | { readonly kind: "file"; readonly path: string }
  /** A document of the packaged demo corpus. */
  | { readonly kind: "sample"; readonly name: string };

/** Endings of documents that can be read; anything else on the disk is left alone. */
export const documentEnding = /\.(pdf|html?|xhtml|md|markdown|txt|nxml|xml|tar\.gz|tgz|tex)$/i;

const arxivId = String.raw`(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?\/\d{7})(?:v(\d{1,3}))?`;
/** As arXiv stamps it on a paper, with its subject behind it: "arXiv:2401.12345v1 [cs.RO] 22 Jan 2024". */
const bareArxiv = new RegExp(`^(?:(?:oai:)?arxiv(?:\\.org)?:\\s*|abs/)?${arxivId}(?:\\s*\\[[\\w.-]+\\].*)?$`, "i");
const arxivUrl = new RegExp(
  `^(?:https?://)?(?:[a-z]+\\.)?(?:(?:arxiv\\.org|ar5iv\\.org|ar5iv\\.labs\\.arxiv\\.org|alphaxiv\\.org)/(?:abs|pdf|html|format|e-print)|huggingface\\.co/papers)/${arxivId}(?:\\.pdf)?/?(?:[?#].*)?$`,
  "i",
);
const arxivDoi = new RegExp(`^10\\.48550/arxiv\\.${arxivId}$`, "i");
const anyDoi = /^10\.\d{4,9}(?:\.\d+)*\/\S+$/;

/**
 * Reads what a person typed: an arXiv id in any of its forms, a DOI, a URL, `sample:<name>`, or the path of a document.
 * Paths are resolved against `folder`. Answers with one sentence where it is not one of these.
 */
export function parseReference(
  input: string,
  folder: string = process.cwd(),
): Reference | { readonly kind: "unknown"; readonly reason: string } {
  const text = input.trim();
  const known = asArxiv(text) ?? asDoi(text) ?? asPubMed(text);
  if (known !== undefined) return known;

  const sample = /^sample:(\w[\w.-]*)$/.exec(text)?.[1];
  if (sample !== undefined) return { kind: "sample", name: sample };
  if (/^https?:\/\//i.test(text)) {
    return URL.canParse(text)
      ? { kind: "url", url: new URL(text).href }
      : unknown(`'${shorten(text)}' is not a complete URL.`);
  }
  if (/^file:/i.test(text)) {
    try {
      return { kind: "file", path: fileURLToPath(text) };
    } catch {
      return unknown(
        `'${shorten(text)}' is not a file URL of this machine; write file:///path/to/paper.pdf or the path itself.`,
      );
    }
  }
  if (
    text !== "" &&
    !/^[a-z][a-z\d+.-]+:\/\//i.test(text) &&
    (statsAt(resolve(folder, text))?.isFile() === true || documentEnding.test(text))
  )
    return { kind: "file", path: resolve(folder, text) };
  return unknown(
    `'${shorten(text)}' is neither an arXiv id, a DOI, a PubMed id, a URL nor a document on this machine; write 2401.12345, 10.1000/x, PMID:12345678, https://… or path/to/paper.pdf.`,
  );
}

/**
 * The id of a paper in the pool: arxiv_2401.12345, doi_10.1000_x, url_<hash>, file_<hash>, or the sample's own name.
 */
export function paperId(reference: Reference): string {
  switch (reference.kind) {
    case "arxiv":
      return `arxiv_${safeName(reference.id)}`;
    case "doi":
      return `doi_${safeName(reference.doi)}`;
    case "pmid":
      return `pmid_${reference.pmid}`;
    case "pmcid":
      return `pmcid_${reference.pmcid}`;
    case "url":
      return `url_${hash8(reference.url.split("#", 1)[0] ?? "")}`;
    case "file":
      return `file_${hash8(reference.path)}`;
    case "sample":
      return safeName(reference.name.replace(documentEnding, ""));
  }
}

/** The id of a work that shares its name with another one, such as an abstract in a supplement with one DOI. */
export const idApart = (id: string, title: string): string =>
  `${id}_${hash8(title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " "))}`;

function asArxiv(text: string): Reference | undefined {
  const doi = asDoiText(text);
  const match = bareArxiv.exec(text) ?? arxivUrl.exec(text) ?? (doi === undefined ? null : arxivDoi.exec(doi));
  if (match?.[1] === undefined) return undefined;
  return {
    kind: "arxiv",
    id: match[1].toLowerCase().replace(/\.[a-z]{2}\//, (part) => part.toUpperCase()),
    ...withoutUndefined({ version: match[2] ? Number(match[2]) : undefined }),
  };
}

function asDoi(text: string): Reference | undefined {
  const doi = asDoiText(text);
  return doi === undefined ? undefined : { kind: "doi", doi };
}

const bareNumber = /^(?:pmid|pubmed)(?:\s?id)?\s?:?\s?(\d{1,9})$/i;
const bareCentral = /^(?:pmcid\s?:?\s?)?(PMC\d{1,9})(?:\.\d{1,2})?$/i;
const pageOfNumber =
  /^https?:\/\/(?:(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov\/pubmed)|europepmc\.org\/(?:article|abstract)\/med)\/(\d{1,9})\/?(?:[?#].*)?$/i;
const pageOfCentral =
  /^https?:\/\/(?:(?:www\.)?(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov\/pmc)\/articles|europepmc\.org\/(?:articles?(?:\/pmc)?))\/(PMC\d{1,9})\/?(?:[?#].*)?$/i;

/** A number of PubMed or PubMed Central, by itself or as the page of its work. */
function asPubMed(text: string): Reference | undefined {
  const pmid = (bareNumber.exec(text) ?? pageOfNumber.exec(text))?.[1];
  if (pmid !== undefined) return { kind: "pmid", pmid };
  const pmcid = (bareCentral.exec(text) ?? pageOfCentral.exec(text))?.[1];
  return pmcid === undefined ? undefined : { kind: "pmcid", pmcid: pmcid.toUpperCase() };
}

/**
 * The DOIs that an address may hold within it, as publishers write them, the longest first: what stands behind a DOI,
 * such as "/full", may belong to it or not. Empty for the page of a resolver, which is a DOI itself.
 */
export function doisInAddress(url: string): readonly string[] {
  const [, found = ""] = /[/=](10\.\d{4,9}(?:\/|%2f)[^?#&\s]{1,300})/i.exec(url) ?? [];
  const parts = decoded(found).replace(/\/$/, "").split("/");
  const cuts = parts.slice(1).map((_, index) => parts.slice(0, parts.length - index).join("/"));
  const named = cuts.flatMap((each) => [each, each.replace(/\.(?:pdf|html?|full)$/i, "")]).map(asDoiText);
  return [...new Set(named.filter((doi) => doi !== undefined))].slice(0, 4);
}

/** A DOI in the form of this house already; most are, and of a hundred thousand records each is read several times. */
const plainDoi = /^10\.(?!1101\/|64898\/)\d{4,9}\/[a-z\d](?:[a-z\d./_-]*[a-z\d])?$/;

function asDoiText(text: string): string | undefined {
  if (plainDoi.test(text)) return text;
  const named = text.replace(/[\u200b-\u200f\u2060\ufeff]/g, "").replace(/^["'“‘<([{\s]+(?=10\.|doi|https?:)/i, "");
  const plain = named.replace(/^(?:info:doi\/|urn:doi:|doi\s*:|doi\s+(?=10\.))\s*/i, "");
  const resolved = /^(?:https?:\/\/)?(?:www\.|dx\.)?doi\.org\/(?:doi:)?(.+)$/i.exec(plain)?.[1];
  const isEncoded = /^10\.[^%]*%(?:2[89f]|3[a-e])/i.test(plain);
  const bare = resolved === undefined && !isEncoded ? plain : decoded(resolved ?? plain);
  const doi = withoutEnd(bare);
  // Cold Spring Harbor's preprints have one DOI for all versions, and addresses with a version behind it.
  return anyDoi.test(doi)
    ? doi.toLowerCase().replace(/^(10\.(?:1101|64898)\/[\d.]+\d)v\d+(?:\..*)?$/, "$1")
    : undefined;
}

/** What a sentence puts behind a DOI: a full stop, a closing quotation mark, a bracket that was opened before it. */
function withoutEnd(text: string): string {
  const shorter = text.replace(/(?<![.,;:"'”’\s])[.,;:"'”’\s]+$/, "");
  const last = shorter.at(-1) ?? "";
  const opening = { ")": "(", "]": "[", "}": "{", ">": "<" }[last];
  const isOpen = opening !== undefined && shorter.split(last).length > shorter.split(opening).length;
  return isOpen ? withoutEnd(shorter.slice(0, -1)) : shorter;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.split(/[?#]/, 1)[0] ?? "");
  } catch {
    return text;
  }
}

const unknown = (reason: string) => ({ kind: "unknown" as const, reason });
const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
const hash8 = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** A file's name for an id: other characters become `_`; a long one keeps its beginning and a hash of the whole. */
export function safeName(text: string): string {
  const clean = text.replace(/[^\w.-]+/g, "_");
  return clean.length > 100 ? `${clean.slice(0, 90)}_${hash8(text)}` : clean;
}
