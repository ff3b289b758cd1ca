import { given } from "../../../engine/lib/given.js";
import type { AuthorName } from "../person-name.js";
import type { CitedWork, WorkKind } from "./cited-work.js";

const types: Readonly<Record<WorkKind, string>> = {
  article: "article-journal",
  conference: "paper-conference",
  chapter: "chapter",
  book: "book",
  thesis: "thesis",
  report: "report",
  preprint: "article",
  other: "document",
};

/** Works as CSL-JSON, for pandoc and every citation processor. */
export const cslOf = (works: readonly CitedWork[]): string => `${JSON.stringify(works.map(item), null, 2)}\n`;

const item = (work: CitedWork): object => {
  const keywords = [work.decision, ...work.tags].filter((word) => word !== undefined).join(", ");
  const inVolume = work.kind !== "preprint" && work.kind !== "other";
  return {
    id: work.key,
    type: types[work.kind],
    title: work.title,
    ...(work.authors.length === 0 ? {} : { author: work.authors.map(authorItem) }),
    ...(work.date === undefined ? {} : { issued: { "date-parts": [work.date] } }),
    ...given({ "container-title": work.venue }),
    ...(inVolume ? given({ volume: work.volume, issue: work.issue, page: work.pages }) : {}),
    ...given({ DOI: work.doi, URL: work.url, abstract: work.abstract, keyword: keywords || undefined }),
    note: [work.retracted ? "Retracted." : "", `research-ralph: ${work.id}`].filter(Boolean).join(" "),
  };
};

const authorItem = (name: AuthorName): object =>
  "literal" in name
    ? name
    : {
        family: name.family,
        ...given({ given: name.given, "non-dropping-particle": name.particle, suffix: name.suffix }),
      };
