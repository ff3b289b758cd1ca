import { askJson, unlikeAnswer } from "../shared/ask-service.js";
import { inBatches, lookUpIn } from "../shared/lookup-batches.js";
import { at, day, line, list, webAddress } from "../../../engine/lib/json-fields.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import { plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, inPath, paperRecord } from "../../papers/identifiers.js";
import type { Answer, Source, SourceContext } from "../shared/source.js";

const maxAnswer = 5 * 1024 * 1024;

/**
 * Where a work may be read free of charge. It has no search worth the name, and answers nobody without a mail address.
 */
export const unpaywall: Source = {
  name: "Unpaywall",
  aliases: ["unpaywall", "unpaywall.org"],
  endpoint: "https://api.unpaywall.org",
  needs: "contact",
  lookup: async (works, context) => {
    if (context.contact?.includes("@") !== true)
      return { status: "error", reason: "Unpaywall needs an e-mail address; set contact in the configuration." };
    const asked = works.filter(({ doi }) => doi !== undefined);
    return await lookUpIn("Unpaywall", inBatches(asked, 1), ([work]) => single(work?.doi ?? "", context));
  },
};

async function single(doi: string, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const unknown = `Unpaywall does not know the DOI ${doi}.`;
  const url = `${context.endpoint}/v2/${inPath(doi)}`;
  const email = context.contact?.replace(/^mailto:/, "") ?? "";
  const answer = await askJson(unpaywall, context, { url, limit: maxAnswer, secret: { query: { email } } }, unknown);
  if (answer.status !== "ok") return answer;
  if (at(answer.value, "HTTP_status_code") === 404) return { status: "empty", reason: unknown };
  if (at(answer.value, "is_oa") === undefined && at(answer.value, "doi") === undefined)
    return unlikeAnswer(unpaywall, answer.value, "is not a work");
  const record = readWork(answer.value, doi);
  return record === undefined
    ? { status: "empty", reason: `Unpaywall has no title for the DOI ${doi}.` }
    : { status: "ok", value: [record], unknown: [] };
}

/** Reads a work. Where `url_for_pdf` is null the work can still be free, on its page. */
export function readWork(json: unknown, doi?: string): PaperRecord | undefined {
  const locations = [at(json, "best_oa_location"), ...list(at(json, "oa_locations"))];
  const copies = at(json, "is_oa") === true ? locations.flatMap(copiesOf) : [];
  const genre = line(at(json, "genre"));
  const identifiers = identifiersFrom({ doi: line(at(json, "doi")) ?? doi });
  return paperRecord({
    source: "Unpaywall",
    // Its copies count, also of a work whose title it does not know.
    title: plainText(at(json, "title")) ?? (copies.length === 0 ? undefined : identifiers.doi),
    identifiers,
    pdf: copies.find(({ kind }) => kind === "pdf")?.url,
    authors: list(at(json, "z_authors"))
      .map(
        (author) =>
          plainText([line(at(author, "given")), line(at(author, "family"))].filter(Boolean).join(" ")) ??
          line(at(author, "raw_author_name")),
      )
      .filter((name) => name !== undefined),
    date: day(at(json, "published_date")) ?? day(at(json, "year")),
    kind: genre === "posted-content" ? "preprint" : genre === undefined ? undefined : "published",
    venue: plainText(at(json, "journal_name")),
    copies,
  });
}

function copiesOf(location: unknown): NonNullable<PaperRecord["copies"]> {
  const license = line(at(location, "license"));
  const terms = license === undefined ? {} : { license };
  const pdf = webAddress(at(location, "url_for_pdf"));
  const page = webAddress(at(location, "url_for_landing_page")) ?? webAddress(at(location, "url"));
  return [
    ...(pdf === undefined ? [] : [{ url: pdf, kind: "pdf" as const, ...terms }]),
    ...(page === undefined || page === pdf ? [] : [{ url: page, kind: "landing" as const, ...terms }]),
  ];
}
