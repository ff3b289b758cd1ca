import { askJson, unexpectedAnswer } from "../shared/ask-service.js";
import { lookUpIn } from "../shared/lookup-batches.js";
import { valueAt, dateFrom, lineFrom, listFrom, webAddressFrom } from "../../../engine/lib/json-fields.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import { plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, inPath, paperRecord } from "../../papers/identifiers.js";
import type { Answer, Source, SourceContext } from "../shared/source.js";

/** The service looks up one DOI per request. */
const maxBatch = 1;
const maxAnswerBytes = 5 * 1024 * 1024;

/** Free copies of works. Unpaywall has no useful search, and requires a mail address. */
export const unpaywall: Source = {
  name: "Unpaywall",
  aliases: ["unpaywall", "unpaywall.org"],
  endpoint: "https://api.unpaywall.org",
  needs: "contact",
  lookup: async (works, context) => {
    const worksWithDoi = works.filter(({ doi }) => doi !== undefined);
    return await lookUpIn("Unpaywall", worksWithDoi, maxBatch, ([work]) => lookUpDoi(work?.doi ?? "", context));
  },
};

async function lookUpDoi(doi: string, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const unknownReason = `Unpaywall does not know the DOI ${doi}.`;
  const url = `${context.endpoint}/v2/${inPath(doi)}`;
  const email = context.contact?.replace(/^mailto:/, "") ?? "";
  const answer = await askJson(
    unpaywall,
    context,
    { url, limit: maxAnswerBytes, secret: { query: { email } } },
    unknownReason,
  );
  if (answer.status !== "ok") return answer;
  if (valueAt(answer.value, "HTTP_status_code") === 404) return { status: "empty", reason: unknownReason };
  if (valueAt(answer.value, "is_oa") === undefined && valueAt(answer.value, "doi") === undefined)
    return unexpectedAnswer(unpaywall, answer.value, "is not a work");
  const record = readWork(answer.value, doi);
  return record === undefined
    ? { status: "empty", reason: `Unpaywall has no title for the DOI ${doi}.` }
    : { status: "ok", value: [record], unknown: [] };
}

/** Reads a work. A work without `url_for_pdf` can still be free to read on its page. */
export function readWork(json: unknown, doi?: string): PaperRecord | undefined {
  const locations = [valueAt(json, "best_oa_location"), ...listFrom(valueAt(json, "oa_locations"))];
  const copies = valueAt(json, "is_oa") === true ? locations.flatMap(copiesOf) : [];
  const genre = lineFrom(valueAt(json, "genre"));
  const identifiers = identifiersFrom({ doi: lineFrom(valueAt(json, "doi")) ?? doi });
  return paperRecord({
    source: "Unpaywall",
    // The copies are useful even if Unpaywall does not know the title. Then the DOI replaces it.
    title: plainText(valueAt(json, "title")) ?? (copies.length === 0 ? undefined : identifiers.doi),
    identifiers,
    pdf: copies.find(({ kind }) => kind === "pdf")?.url,
    authors: listFrom(valueAt(json, "z_authors"))
      .map(
        (author) =>
          plainText(
            [lineFrom(valueAt(author, "given")), lineFrom(valueAt(author, "family"))].filter(Boolean).join(" "),
          ) ?? lineFrom(valueAt(author, "raw_author_name")),
      )
      .filter((name) => name !== undefined),
    date: dateFrom(valueAt(json, "published_date")) ?? dateFrom(valueAt(json, "year")),
    kind: genre === "posted-content" ? "preprint" : genre === undefined ? undefined : "published",
    venue: plainText(valueAt(json, "journal_name")),
    copies,
  });
}

function copiesOf(location: unknown): NonNullable<PaperRecord["copies"]> {
  const license = lineFrom(valueAt(location, "license"));
  const licenseField = license === undefined ? {} : { license };
  const pdf = webAddressFrom(valueAt(location, "url_for_pdf"));
  const page = webAddressFrom(valueAt(location, "url_for_landing_page")) ?? webAddressFrom(valueAt(location, "url"));
  return [
    ...(pdf === undefined ? [] : [{ url: pdf, kind: "pdf" as const, ...licenseField }]),
    ...(page === undefined || page === pdf ? [] : [{ url: page, kind: "landing" as const, ...licenseField }]),
  ];
}
