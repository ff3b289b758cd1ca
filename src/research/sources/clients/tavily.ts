import { askJson } from "../shared/ask-service.js";
import { valueAt, dateFrom } from "../../../engine/lib/json-fields.js";
import { plainText } from "../shared/markup-to-text.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord, webAnswer } from "../shared/web-page.js";
import { withoutUndefined } from "../../../engine/lib/without-undefined.js";

const maxAnswerBytes = 10 * 1024 * 1024;
const maxResults = 20;
/** Tavily accepts queries of at most 400 characters. */
const maxQueryChars = 400;

export const tavily: Source = {
  name: "Tavily",
  aliases: ["tavily"],
  endpoint: "https://api.tavily.com",
  keyVariable: "TAVILY_API_KEY",
  needs: "key",
  search: searchWeb,
};

async function searchWeb(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const answer = await askJson(tavily, context, {
    url: `${context.endpoint}/search`,
    limit: maxAnswerBytes,
    json: {
      query: query.terms.slice(0, maxQueryChars),
      max_results: Math.max(1, Math.min(query.most, maxResults)),
      search_depth: "basic",
      ...withoutUndefined({ start_date: query.from, end_date: query.until }),
    },
    ...(context.key === undefined ? {} : { secret: { headers: { Authorization: `Bearer ${context.key}` } } }),
  });
  if (answer.status !== "ok") return answer;
  return webAnswer("Tavily", query, valueAt(answer.value, "results"), (result) =>
    pageRecord("Tavily", {
      url: valueAt(result, "url"),
      title: plainText(valueAt(result, "title")),
      snippet: plainText(valueAt(result, "content")),
      date: dateFrom(valueAt(result, "published_date")),
    }),
  );
}
