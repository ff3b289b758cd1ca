import { askJson, unlikeAnswer } from "../shared/ask-service.js";
import { inBatches, lookUpIn } from "../shared/lookup-batches.js";
import { at, day, line, lines, webAddress } from "../../../engine/lib/json-fields.js";
import type { PaperRecord, Update } from "../../papers/paper-record.js";
import { abstractText, plainText } from "../shared/markup-to-text.js";
import { identifiersFrom, inPath, paperRecord } from "../../papers/identifiers.js";
import type { Answer, Source, SourceContext } from "../shared/source.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

const maxAnswer = 10 * 1024 * 1024;
const servers = ["biorxiv", "medrxiv"] as const;

/** Details of preprints by DOI, every version; the service has no search. */
export const biorxiv: Source = {
  name: "bioRxiv",
  aliases: ["biorxiv", "medrxiv", "biorxiv.org", "medrxiv.org"],
  endpoint: "https://api.biorxiv.org",
  lookup: async (works, context) => {
    // The prefixes of Cold Spring Harbor Laboratory and, since 2025, openRxiv; no other DOI is a preprint of theirs.
    const asked = works.filter(({ doi }) => /^10\.(?:1101|64898)\//.test(doi ?? ""));
    return await lookUpIn("bioRxiv", inBatches(asked, 1), ([work]) => single(work?.doi ?? "", context));
  },
};

async function single(doi: string, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  for (const server of servers) {
    const answer = await askJson(biorxiv, context, {
      url: `${context.endpoint}/details/${server}/${inPath(doi)}/na/json`,
      limit: maxAnswer,
    });
    if (answer.status !== "ok") return answer;
    const isNone = /no posts found/i.test(line(at(answer.value, "messages", 0, "status")) ?? "");
    const versions = at(answer.value, "collection") ?? (isNone ? [] : undefined);
    if (!Array.isArray(versions)) return unlikeAnswer(biorxiv, answer.value, "contains no versions");
    const record = readVersions(versions);
    if (record !== undefined) return { status: "ok", value: [record], unknown: [] };
  }
  return { status: "empty", reason: `Neither bioRxiv nor medRxiv knows the DOI ${doi}.` };
}

/** Reads the versions of a preprint, the oldest first, into one record of the newest, dated by the first. */
export function readVersions(versions: readonly unknown[]): PaperRecord | undefined {
  const sorted = versions.toSorted((a, b) => numberOf(a) - numberOf(b));
  const newest = sorted.at(-1);
  const { doi } = identifiersFrom({ doi: at(newest, "doi") });
  if (doi === undefined) return undefined;
  const version = numberOf(newest);
  const server = line(at(newest, "server")) ?? "bioRxiv";
  const site = `https://www.${/^medrxiv$/i.test(server) ? "medrxiv" : "biorxiv"}.org/content/${doi}v${version}`;
  const published = identifiersFrom({ doi: at(newest, "published") }).doi;
  const xml = webAddress(at(newest, "jatsxml"));
  const license = line(at(newest, "license"));
  const terms = license === undefined || license === "NA" ? {} : { license };
  return paperRecord({
    source: "bioRxiv",
    title: plainText(at(newest, "title")),
    identifiers: { doi },
    pdf: `${site}.full.pdf`,
    authors: lines((line(at(newest, "authors")) ?? "").split(";")),
    date: day(at(sorted[0], "date")),
    abstract: abstractText(at(newest, "abstract")),
    kind: "preprint",
    publicationType: "preprint",
    venue: server,
    copies: [
      ...(xml === undefined ? [] : [{ url: xml, kind: "xml" as const, ...terms }]),
      { url: `${site}.full`, kind: "html", ...terms },
      { url: `${site}.full.pdf`, kind: "pdf", ...terms },
    ],
    updates: sorted.flatMap((each, index): readonly Update[] => {
      const date = day(at(each, "date"));
      const isWithdrawn = /withdrawn/i.test(line(at(each, "type")) ?? "");
      if (!isWithdrawn && index === 0) return [];
      return [{ type: isWithdrawn ? "withdrawal" : "version", source: server, ...withoutUndefined({ date }) }];
    }),
    otherVersions: published === undefined ? [] : [{ relation: "published", doi: published }],
  });
}

function numberOf(version: unknown): number {
  const number = Number(line(at(version, "version")) ?? 1);
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}
