import { isDeepStrictEqual } from "node:util";
import { namesOfDocument } from "../../full-text/own-record.js";
import { localFile } from "../../full-text/local-file.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { authorsOf } from "../../papers/authors.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import { withMissingFacts } from "../../papers/records/known-paper.js";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { readStats } from "../../../engine/storage/regular-file.js";
import type { Library } from "../unit-kind.js";

/**
 * The new place of a paper's document if its file was renamed or moved within the project's folders: the file with the
 * same content that belongs to no other paper. Empty if the file is still there, or if no hash of its text is known.
 */
export async function findMovedDocument(
  library: Pick<Library, "serves" | "candidates">,
  { requirements, papers_pool: pool }: Rrd,
  paper: Paper,
): Promise<Pick<Partial<Paper>, "url" | "pdf_url" | "document">> {
  const [file, sha256] = [localFile(paper), paper.document?.sha256];
  if (file === undefined || sha256 === undefined || readStats(file)?.isFile() === true) return {};
  const otherUrls = new Set(pool.flatMap(({ id, url }) => (id === paper.id || url == null ? [] : [url])));
  for (const source of (requirements.sources ?? []).filter((each) => library.serves(each))) {
    // A folder that was deleted contains no documents.
    const documents = await library.candidates(source).catch(() => []);
    const moved = documents.find(({ url, document }) => document?.sha256 === sha256 && !otherUrls.has(url));
    if (moved?.document !== undefined)
      return { url: moved.url, pdf_url: moved.pdf_url, document: { ...moved.document } };
  }
  return {};
}

/**
 * Additional data for a paper from its document on this machine, if it was not looked up before: the DOI or arXiv id in
 * the text, and the authors, year and journal that a service has for it.
 */
export async function lookUpDocument(
  library: Pick<Library, "ownRecords">,
  paper: Paper,
  text: DocumentText,
): Promise<Partial<Paper>> {
  const identifiers = namesOfDocument(text);
  const isLookedUp = authorsOf(paper.authors).length > 0 && paper.identifiers !== undefined;
  if (paper.url?.startsWith("file:") !== true || isLookedUp || Object.keys(identifiers).length === 0) return {};
  const { id, title, url, pdf_url = null, date = null, source, abstract = null } = paper;
  const record: PaperRecord = {
    id,
    title,
    url,
    pdf_url,
    date,
    source: source ?? "",
    abstract,
    authors: [...authorsOf(paper.authors)],
    identifiers: { ...paper.identifiers, ...identifiers },
  };
  const lookedUp = (await library.ownRecords([record])).get(id);
  const updated = withMissingFacts(paper, { ...(lookedUp?.record ?? record), ...lookedUp?.merged });
  const changed = Object.entries(updated).filter(
    ([name, value]) => !isDeepStrictEqual(value, paper[name as keyof Paper]),
  );
  return Object.fromEntries(changed);
}
