import { askJson, unexpectedAnswer } from "../shared/ask-service.js";
import { lookUpIn } from "../shared/lookup-batches.js";
import { valueAt, dateFrom, lineFrom, linesFrom, webAddressFrom } from "../../../engine/lib/json-fields.js";
import type { Identifiers, PaperRecord, Update } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, inPath, paperRecord } from "../../papers/identifiers.js";
import type { Answer, Source, SourceContext } from "../shared/source.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

const maxAnswerBytes = 10 * 1024 * 1024;
/** The service looks up one DOI per request. */
const maxBatch = 1;
const servers = ["biorxiv", "medrxiv"] as const;

/** Details of preprints by DOI, with every version. The service has no search. */
export const biorxiv: Source = {
  name: "bioRxiv",
  aliases: ["biorxiv", "medrxiv", "biorxiv.org", "medrxiv.org"],
  endpoint: "https://api.biorxiv.org",
  lookup: async (works, context) => {
    const preprints = works.filter(mayBeOnBiorxiv);
    return await lookUpIn("bioRxiv", preprints, maxBatch, ([work]) => lookUpDoi(work?.doi ?? "", context));
  },
};

/**
 * Whether a work has a DOI of Cold Spring Harbor Laboratory or, since 2025, openRxiv. Preprints of these servers have
 * no other prefix.
 */
export const mayBeOnBiorxiv = ({ doi = "" }: Identifiers): boolean => /^10\.(?:1101|64898)\//.test(doi);

async function lookUpDoi(doi: string, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  for (const server of servers) {
    const answer = await askJson(biorxiv, context, {
      url: `${context.endpoint}/details/${server}/${inPath(doi)}/na/json`,
      limit: maxAnswerBytes,
    });
    if (answer.status !== "ok") return answer;
    const isUnknown = /no posts found/i.test(lineFrom(valueAt(answer.value, "messages", 0, "status")) ?? "");
    const versions = valueAt(answer.value, "collection") ?? (isUnknown ? [] : undefined);
    if (!Array.isArray(versions)) return unexpectedAnswer(biorxiv, answer.value, "contains no versions");
    const record = readVersions(versions);
    if (record !== undefined) return { status: "ok", value: [record], unknown: [] };
  }
  return { status: "empty", reason: `Neither bioRxiv nor medRxiv knows the DOI ${doi}.` };
}

/** Makes one record of all versions of a preprint: the content of the newest, with the date of the oldest. */
export function readVersions(versions: readonly unknown[]): PaperRecord | undefined {
  const sortedVersions = versions.toSorted((a, b) => versionNumberOf(a) - versionNumberOf(b));
  const newest = sortedVersions.at(-1);
  const { doi } = identifiersFrom({ doi: valueAt(newest, "doi") });
  if (doi === undefined) return undefined;
  const newestNumber = versionNumberOf(newest);
  const server = lineFrom(valueAt(newest, "server")) ?? "bioRxiv";
  const site = `https://www.${/^medrxiv$/i.test(server) ? "medrxiv" : "biorxiv"}.org/content/${doi}v${newestNumber}`;
  const publishedDoi = identifiersFrom({ doi: valueAt(newest, "published") }).doi;
  const xml = webAddressFrom(valueAt(newest, "jatsxml"));
  const license = lineFrom(valueAt(newest, "license"));
  const licenseField = license === undefined || license === "NA" ? {} : { license };
  return paperRecord({
    source: "bioRxiv",
    title: plainText(valueAt(newest, "title")),
    identifiers: { doi },
    pdf: `${site}.full.pdf`,
    authors: linesFrom((lineFrom(valueAt(newest, "authors")) ?? "").split(";")),
    date: dateFrom(valueAt(sortedVersions[0], "date")),
    abstract: abstractText(valueAt(newest, "abstract")),
    kind: "preprint",
    publicationType: "preprint",
    venue: server,
    copies: [
      ...(xml === undefined ? [] : [{ url: xml, kind: "xml" as const, ...licenseField }]),
      { url: `${site}.full`, kind: "html", ...licenseField },
      { url: `${site}.full.pdf`, kind: "pdf", ...licenseField },
    ],
    updates: sortedVersions.flatMap((version, index): readonly Update[] => {
      const date = dateFrom(valueAt(version, "date"));
      const isWithdrawn = /withdrawn/i.test(lineFrom(valueAt(version, "type")) ?? "");
      if (!isWithdrawn && index === 0) return [];
      return [{ type: isWithdrawn ? "withdrawal" : "version", source: server, ...withoutUndefined({ date }) }];
    }),
    otherVersions: publishedDoi === undefined ? [] : [{ relation: "published", doi: publishedDoi }],
  });
}

function versionNumberOf(version: unknown): number {
  const number = Number(lineFrom(valueAt(version, "version")) ?? 1);
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}
