import { askJson } from "../shared/ask-service.js";
import { at, day, line } from "../../../engine/lib/json-fields.js";
import { plainText } from "../shared/markup-to-text.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord, webAnswer } from "../shared/web-page.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

const maxAnswer = 5 * 1024 * 1024;
const maxPage = 50;

/** What people discussed, through Algolia's search; it needs no key. https://hn.algolia.com/api */
export const hackerNews: Source = {
  name: "Hacker News",
  aliases: ["hackernews", "hn", "news.ycombinator.com"],
  endpoint: "https://hn.algolia.com",
  search: searchStories,
};

const seconds = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 1000;

async function searchStories(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const bounds = [
    ...(query.from === undefined ? [] : [`created_at_i>=${seconds(query.from)}`]),
    ...(query.until === undefined ? [] : [`created_at_i<${seconds(query.until) + 86_400}`]),
  ];
  const parameters = new URLSearchParams({
    query: query.terms.slice(0, 400),
    tags: "story",
    hitsPerPage: String(Math.max(1, Math.min(query.most, maxPage))),
    ...(bounds.length === 0 ? {} : { numericFilters: bounds.join(",") }),
  });
  const url = `${context.endpoint}/api/v1/search?${parameters}`;
  const answer = await askJson(hackerNews, context, { url, limit: maxAnswer });
  if (answer.status !== "ok") return answer;
  return webAnswer("Hacker News", query, at(answer.value, "hits"), (hit) => {
    const id = line(at(hit, "objectID"));
    const author = line(at(hit, "author"));
    return pageRecord("Hacker News", {
      // A question to the readers has no page of its own.
      url: line(at(hit, "url")) ?? (id === undefined ? undefined : `https://news.ycombinator.com/item?id=${id}`),
      title: plainText(at(hit, "title")),
      snippet: plainText(at(hit, "story_text")),
      date: day(at(hit, "created_at")),
      ...withoutUndefined({ authors: author === undefined ? undefined : [author] }),
    });
  });
}
