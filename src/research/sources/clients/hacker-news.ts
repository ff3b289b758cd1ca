import { askJson } from "../shared/ask-service.js";
import { valueAt, dateFrom, lineFrom } from "../../../engine/lib/json-fields.js";
import { plainText } from "../shared/markup-to-text.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord, webAnswer } from "../shared/web-page.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

const maxAnswerBytes = 5 * 1024 * 1024;
const maxResults = 50;
const maxQueryChars = 400;

/** Discussions on Hacker News, through Algolia's search; no key is needed. https://hn.algolia.com/api */
export const hackerNews: Source = {
  name: "Hacker News",
  aliases: ["hackernews", "hn", "news.ycombinator.com"],
  endpoint: "https://hn.algolia.com",
  search: searchStories,
};

const epochSeconds = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 1000;

async function searchStories(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const bounds = [
    ...(query.from === undefined ? [] : [`created_at_i>=${epochSeconds(query.from)}`]),
    ...(query.until === undefined ? [] : [`created_at_i<${epochSeconds(query.until) + 86_400}`]),
  ];
  const parameters = new URLSearchParams({
    query: query.terms.slice(0, maxQueryChars),
    tags: "story",
    hitsPerPage: String(Math.max(1, Math.min(query.most, maxResults))),
    ...(bounds.length === 0 ? {} : { numericFilters: bounds.join(",") }),
  });
  const url = `${context.endpoint}/api/v1/search?${parameters}`;
  const answer = await askJson(hackerNews, context, { url, limit: maxAnswerBytes });
  if (answer.status !== "ok") return answer;
  return webAnswer("Hacker News", query, valueAt(answer.value, "hits"), (hit) => {
    const id = lineFrom(valueAt(hit, "objectID"));
    const author = lineFrom(valueAt(hit, "author"));
    return pageRecord("Hacker News", {
      // A post without a link, such as "Ask HN", has only its discussion page.
      url:
        lineFrom(valueAt(hit, "url")) ?? (id === undefined ? undefined : `https://news.ycombinator.com/item?id=${id}`),
      title: plainText(valueAt(hit, "title")),
      snippet: plainText(valueAt(hit, "story_text")),
      date: dateFrom(valueAt(hit, "created_at")),
      ...withoutUndefined({ authors: author === undefined ? undefined : [author] }),
    });
  });
}
