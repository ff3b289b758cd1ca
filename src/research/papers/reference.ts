import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";
import { readStats } from "../../engine/storage/regular-file.js";

/** A reference to a paper from a user or a source. */
export type Reference =
  /** `id` is without version: 2401.12345, cs/0112017. `version` is set only if the reference contains one. */
  | { readonly kind: "arxiv"; readonly id: string; readonly version?: number }
  /** In lower case and without a resolver: 10.1000/x. */
  | { readonly kind: "doi"; readonly doi: string }
  /** A PubMed id: digits. */
  | { readonly kind: "pmid"; readonly pmid: string }
  /** A PubMed Central id: PMC1234567. */
  | { readonly kind: "pmcid"; readonly pmcid: string }
  /** An http or https address. */
  | { readonly kind: "url"; readonly url: string }
  /** An absolute path. */
  | { readonly kind: "file"; readonly path: string }
  /** A document of the packaged demo. */
  | { readonly kind: "sample"; readonly name: string };

/** A reference by an identifier that services know. */
export type IdentifierReference = Extract<Reference, { readonly kind: "arxiv" | "doi" | "pmid" | "pmcid" }>;

/** File extensions of documents that can be read. Other files are ignored. */
export const documentExtension = /\.(pdf|html?|xhtml|md|markdown|txt|nxml|xml|tar\.gz|tgz|tex)$/i;

const arxivId = String.raw`(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?\/\d{7})(?:v(\d{1,3}))?`;
/** An arXiv id, also with the subject that arXiv prints after it: "arXiv:2401.12345v1 [cs.RO] 22 Jan 2024". */
const arxivText = new RegExp(
  `^(?:(?:oai:)?arxiv(?:(?:\\.org)?:\\s*|\\s+)|abs/)?${arxivId}(?:\\s*\\[[\\w.-]+\\].*)?$`,
  "i",
);
const arxivUrl = new RegExp(
  `^(?:https?://)?(?:[a-z]+\\.)?(?:(?:arxiv\\.org|ar5iv\\.org|ar5iv\\.labs\\.arxiv\\.org|alphaxiv\\.org)/(?:abs|pdf|html|format|e-print)|huggingface\\.co/papers)/${arxivId}(?:\\.pdf)?/?(?:[?#].*)?$`,
  "i",
);
const arxivDoi = new RegExp(`^10\\.48550/arxiv\\.${arxivId}$`, "i");
const anyDoi = /^10\.\d{4,9}(?:\.\d+)*\/\S+$/;

/**
 * Parses a user's input: an arXiv id in any format, a DOI, a URL, `sample:<name>`, or the path of a document. Paths are
 * relative to `folder`. For other inputs the result contains one sentence.
 */
export function parseReference(
  input: string,
  folder: string = process.cwd(),
): Reference | { readonly kind: "unknown"; readonly reason: string } {
  const text = input.trim();
  const identifier = parseArxiv(text) ?? parseDoi(text) ?? parsePubMed(text);
  if (identifier !== undefined) return identifier;

  const sample = /^sample:(\w[\w.-]*)$/.exec(text)?.[1];
  if (sample !== undefined) return { kind: "sample", name: sample };
  if (/^https?:\/\//i.test(text)) {
    return URL.canParse(text)
      ? { kind: "url", url: new URL(text).href }
      : unknownReference(`'${shorten(text)}' is not a complete URL.`);
  }
  if (/^file:/i.test(text)) {
    try {
      return { kind: "file", path: fileURLToPath(text) };
    } catch {
      return unknownReference(
        `'${shorten(text)}' is not a file URL of this machine; write file:///path/to/paper.pdf or the path itself.`,
      );
    }
  }
  if (
    text !== "" &&
    !/^[a-z][a-z\d+.-]+:\/\//i.test(text) &&
    (readStats(resolve(folder, text))?.isFile() === true || documentExtension.test(text))
  )
    return { kind: "file", path: resolve(folder, text) };
  return unknownReference(
    `'${shorten(text)}' is neither an arXiv id, a DOI, a PubMed id, a URL nor a document on this machine; write 2401.12345, 10.1000/x, PMID:12345678, https://… or path/to/paper.pdf.`,
  );
}

/** The id of a paper in the pool: arxiv_2401.12345, doi_10.1000_x, url_<hash>, file_<hash>, or the name of a sample. */
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
      return safeName(reference.name.replace(documentExtension, ""));
  }
}

/**
 * A distinct id for a work that shares its identifier with another, such as an abstract in a supplement with one DOI.
 */
export const distinctId = (id: string, title: string): string =>
  `${id}_${hash8(title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " "))}`;

function parseArxiv(text: string): Reference | undefined {
  const doi = doiIn(text);
  const match = arxivText.exec(text) ?? arxivUrl.exec(text) ?? (doi === undefined ? null : arxivDoi.exec(doi));
  if (match?.[1] === undefined) return undefined;
  return {
    kind: "arxiv",
    id: match[1].toLowerCase().replace(/\.[a-z]{2}\//, (part) => part.toUpperCase()),
    ...withoutUndefined({ version: match[2] ? Number(match[2]) : undefined }),
  };
}

function parseDoi(text: string): Reference | undefined {
  const doi = doiIn(text);
  return doi === undefined ? undefined : { kind: "doi", doi };
}

const pmidText = /^(?:pmid|pubmed)(?:\s?id)?\s?:?\s?(\d{1,9})$/i;
const pmcidText = /^(?:pmcid\s?:?\s?)?(PMC\d{1,9})(?:\.\d{1,2})?$/i;
const pubMedUrl =
  /^(?:https?:\/\/)?(?:(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov\/pubmed)|europepmc\.org\/(?:article|abstract)\/med)\/(?:\?term=)?(\d{1,9})\/?(?:[?#&].*)?$/i;
const pmcUrl =
  /^(?:https?:\/\/)?(?:(?:www\.)?(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov\/pmc)\/articles|europepmc\.org\/(?:articles?(?:\/pmc)?))\/(PMC\d{1,9})(?:\/pdf\/[^?#]*|\/pdf|\/)?(?:[?#].*)?$/i;

/** A PubMed or PubMed Central id, alone or in the address of its page. */
function parsePubMed(text: string): Reference | undefined {
  const pmid = (pmidText.exec(text) ?? pubMedUrl.exec(text))?.[1];
  if (pmid !== undefined) return { kind: "pmid", pmid };
  const pmcid = (pmcidText.exec(text) ?? pmcUrl.exec(text))?.[1];
  return pmcid === undefined ? undefined : { kind: "pmcid", pmcid: pmcid.toUpperCase() };
}

/**
 * The DOIs that a publisher's address may contain, longest first: a part after the DOI such as "/full" may belong to
 * it. Empty for addresses of a resolver, which are DOIs themselves.
 */
export function doisInAddress(url: string): readonly string[] {
  const [, encodedDoi = ""] = /[/=](10\.\d{4,9}(?:\/|%2f)[^?#&\s]{1,300})/i.exec(url) ?? [];
  const segments = decodeSafely(encodedDoi).replace(/\/$/, "").split("/");
  const candidates = segments.slice(1).map((_, index) => segments.slice(0, segments.length - index).join("/"));
  const dois = candidates
    .flatMap((candidate) => [candidate, candidate.replace(/\.(?:pdf|html?|full)$/i, "")])
    .map(doiIn);
  return [...new Set(dois.filter((doi) => doi !== undefined))].slice(0, 4);
}

/** A DOI that is already normal. Most are, and with a hundred thousand records this test saves time. */
const normalDoi = /^10\.(?!1101\/|64898\/)\d{4,9}\/[a-z\d](?:[a-z\d./_-]*[a-z\d])?$/;

function doiIn(text: string): string | undefined {
  if (normalDoi.test(text)) return text;
  const trimmed = text.replace(/[\u200b-\u200f\u2060\ufeff]/g, "").replace(/^["'“‘<([{\s]+(?=10\.|doi|https?:)/i, "");
  const withoutPrefix = trimmed.replace(/^(?:info:doi\/|urn:doi:|doi\s*:|doi\s+(?=10\.))\s*/i, "");
  const resolverPath = /^(?:https?:\/\/)?(?:www\.|dx\.)?doi\.org\/(?:doi:)?(.+)$/i.exec(withoutPrefix)?.[1];
  const isEncoded = /^10\.[^%]*%(?:2[89f]|3[a-e])/i.test(withoutPrefix);
  const doiText =
    resolverPath === undefined && !isEncoded ? withoutPrefix : decodeSafely(resolverPath ?? withoutPrefix);
  const doi = withoutPunctuation(doiText);
  // Preprints of Cold Spring Harbor have one DOI for all versions, but addresses with a version.
  return anyDoi.test(doi)
    ? doi.toLowerCase().replace(/^(10\.(?:1101|64898)\/[\d.]+\d)v\d+(?:\..*)?$/, "$1")
    : undefined;
}

/**
 * Removes punctuation after a DOI in a sentence: a full stop, a closing quotation mark, or a bracket that was opened
 * before the DOI.
 */
function withoutPunctuation(text: string): string {
  const trimmedText = text.replace(/(?<![.,;:"'”’\s])[.,;:"'”’\s]+$/, "");
  const last = trimmedText.at(-1) ?? "";
  const opening = { ")": "(", "]": "[", "}": "{", ">": "<" }[last];
  const isOpen = opening !== undefined && trimmedText.split(last).length > trimmedText.split(opening).length;
  return isOpen ? withoutPunctuation(trimmedText.slice(0, -1)) : trimmedText;
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text.split(/[?#]/, 1)[0] ?? "");
  } catch {
    return text;
  }
}

const unknownReference = (reason: string) => ({ kind: "unknown" as const, reason });
const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
export const hash8 = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** A file name for an id. Other characters become `_`; a long name is cut and gets a hash. */
export function safeName(text: string): string {
  const clean = text.replace(/[^\w.-]+/g, "_");
  return clean.length > 100 ? `${clean.slice(0, 90)}_${hash8(text)}` : clean;
}

interface NamedAddresses {
  readonly url?: string | null;
  readonly pdf_url?: string | null;
}

/** The file name of a paper's document on this machine, without its folder; undefined without one. */
export function fileNameOf({ pdf_url, url }: NamedAddresses): string | undefined {
  const fileAddress = [pdf_url, url].find((address) => address?.startsWith("file:") === true);
  const reference = parseReference(fileAddress ?? "");
  return reference.kind === "file" ? basename(reference.path) : undefined;
}
