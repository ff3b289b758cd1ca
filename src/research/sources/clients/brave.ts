import { askJson } from "../shared/ask-service.js";
import { valueAt, dateFrom } from "../../../engine/lib/json-fields.js";
import { plainText } from "../shared/markup-to-text.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord, webAnswer } from "../shared/web-page.js";

const maxAnswerBytes = 10 * 1024 * 1024;
/** Maximum number of results of one request. */
const maxResults = 20;

export const brave: Source = {
  name: "Brave",
  aliases: ["brave", "brave search"],
  endpoint: "https://api.search.brave.com",
  keyVariable: "BRAVE_API_KEY",
  needs: "key",
  search: searchWeb,
};

async function searchWeb(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const period =
    query.from === undefined && query.until === undefined
      ? ""
      : `&freshness=${query.from ?? "1990-01-01"}to${query.until ?? "2199-12-31"}`;
  // Brave accepts queries of at most 400 characters.
  const parameters = `q=${encodeURIComponent(query.terms.slice(0, 400))}&count=${Math.max(1, Math.min(query.most, maxResults))}&text_decorations=false${period}`;
  const answer = await askJson(brave, context, {
    url: `${context.endpoint}/res/v1/web/search?${parameters}`,
    limit: maxAnswerBytes,
    ...(context.key === undefined ? {} : { secret: { headers: { "X-Subscription-Token": context.key } } }),
  });
  if (answer.status !== "ok") return answer;
  // If there are no results, the answer has no `web` field.
  const results =
    valueAt(answer.value, "web") === undefined && valueAt(answer.value, "type") === "search"
      ? []
      : valueAt(answer.value, "web", "results");
  return webAnswer("Brave", query, results, (result) =>
    pageRecord("Brave", {
      url: valueAt(result, "url"),
      title: plainText(valueAt(result, "title")),
      snippet: plainText(valueAt(result, "description")),
      date: dateFrom(valueAt(result, "page_age")),
    }),
  );
}
