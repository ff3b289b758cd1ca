import { lineFrom, webAddressFrom } from "../../../engine/lib/json-fields.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import { identifiersFrom, paperRecord } from "../../papers/identifiers.js";
import { parseReference } from "../../papers/reference.js";
import type { Answer, Query } from "./source.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

/** A web page as a search engine or feed describes it. */
interface ListedPage {
  readonly url: unknown;
  readonly title: string | undefined;
  readonly snippet?: string;
  readonly date?: string;
  readonly authors?: readonly string[];
  readonly abstract?: string;
  readonly doi?: unknown;
}

const maxSnippetChars = 600;

/** Makes a record of a page. The work's identifier is taken from the address if that contains an arXiv id or a DOI. */
export function pageRecord(source: string, page: ListedPage): PaperRecord | undefined {
  const url = webAddressFrom(page.url);
  if (url === undefined) return undefined;
  const reference = parseReference(url);
  const { doi } = identifiersFrom({ doi: page.doi });
  const snippet = lineFrom(page.snippet)?.slice(0, maxSnippetChars);
  return paperRecord({
    source,
    title: page.title,
    identifiers: identifiersFrom({
      doi: doi ?? (reference.kind === "doi" ? reference.doi : doiIn(url)),
      arxiv: reference.kind === "arxiv" ? url : undefined,
    }),
    url,
    pdf: /\.pdf(?:$|\?)/i.test(url) ? url : undefined,
    ...withoutUndefined({ authors: page.authors, date: page.date, abstract: page.abstract, snippet }),
  });
}

/** Publishers put the DOI in the path: /doi/full/10.1145/3580305.3599512, /content/10.1101/2024.01.01.573000v2. */
const doiIn = (url: string): string | undefined =>
  /\/(?:doi|content)\/(?:abs\/|full\/|pdf\/|epdf\/)?(10\.\d{4,9}\/[^?#\s]+)/.exec(decodeSafely(url))?.[1];

function decodeSafely(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

/** The results of a web search, or an error if they are not a list. `read`: makes a record of one result. */
export function webAnswer(
  name: string,
  query: Query,
  results: unknown,
  read: (result: unknown) => PaperRecord | undefined,
): Answer<readonly PaperRecord[]> {
  if (!Array.isArray(results))
    return { status: "error", reason: `${name}'s answer contains no list of pages; try again later.`, transient: true };
  const records = results.map(read).filter((record) => record !== undefined);
  if (records.length === 0 && results.length > 0)
    return { status: "error", reason: `None of the ${results.length} pages that ${name} lists could be read.` };
  return records.length === 0
    ? { status: "empty", reason: `${name} has no results for '${query.terms}'.` }
    : { status: "ok", value: records.slice(0, Math.max(0, query.most)) };
}
