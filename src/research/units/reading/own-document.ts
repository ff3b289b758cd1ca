import { isDeepStrictEqual } from "node:util";
import { namesOfDocument } from "../../full-text/own-record.js";
import { localFile } from "../../full-text/local-file.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import { authorsOf } from "../../papers/authors.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import { withFactsOf } from "../../papers/records/known-paper.js";
import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { statsAt } from "../../../engine/storage/regular-file.js";
import type { Library } from "../unit-kind.js";

/**
 * Where the document of a paper lies now, where its file was renamed or moved within the project's folders since it was
 * listed: the one with the text that it had, which belongs to no other paper. Nothing where its file is there, or
 * nobody kept its text's hash.
 */
export async function movedDocument(
  library: Pick<Library, "serves" | "candidates">,
  { requirements, papers_pool: pool }: Rrd,
  paper: Paper,
): Promise<Pick<Partial<Paper>, "url" | "pdf_url" | "document">> {
  const [file, sha256] = [localFile(paper), paper.document?.sha256];
  if (file === undefined || sha256 === undefined || statsAt(file)?.isFile() === true) return {};
  const others = new Set(pool.flatMap(({ id, url }) => (id === paper.id || url == null ? [] : [url])));
  for (const source of (requirements.sources ?? []).filter((each) => library.serves(each))) {
    // A folder that is gone has nothing of it.
    const documents = await library.candidates(source).catch(() => []);
    const found = documents.find(({ url, document }) => document?.sha256 === sha256 && !others.has(url));
    if (found?.document !== undefined)
      return { url: found.url, pdf_url: found.pdf_url, document: { ...found.document } };
  }
  return {};
}

/**
 * What a document of this machine adds to its paper, where nobody looked it up before: the DOI or arXiv id that it
 * prints, and authors, year and journal as a service knows them under it.
 */
export async function ownFacts(
  library: Pick<Library, "ownRecords">,
  paper: Paper,
  text: DocumentText,
): Promise<Partial<Paper>> {
  const names = namesOfDocument(text);
  const isLookedUp = authorsOf(paper.authors).length > 0 && paper.identifiers !== undefined;
  if (paper.url?.startsWith("file:") !== true || isLookedUp || Object.keys(names).length === 0) return {};
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
    identifiers: { ...paper.identifiers, ...names },
  };
  const own = (await library.ownRecords([record])).get(id);
  const learned = withFactsOf(paper, { ...(own?.record ?? record), ...own?.merged });
  const changed = Object.entries(learned).filter(
    ([name, value]) => !isDeepStrictEqual(value, paper[name as keyof Paper]),
  );
  return Object.fromEntries(changed);
}
