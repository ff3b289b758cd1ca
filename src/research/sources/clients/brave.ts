import { askJson } from "../shared/ask-service.js";
import { at, day } from "../../../engine/lib/json-fields.js";
import { plainText } from "../shared/markup-to-text.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord, webAnswer } from "../shared/web-page.js";

const maxAnswer = 10 * 1024 * 1024;
/** Most results of one request. */
const maxPage = 20;

export const brave: Source = {
  name: "Brave",
  aliases: ["brave", "brave search"],
  endpoint: "https://api.search.brave.com",
  keyVariable: "BRAVE_API_KEY",
  needs: "key",
  search: searchWeb,
};

async function searchWeb(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const time =
    query.from === undefined && query.until === undefined
      ? ""
      : `&freshness=${query.from ?? "1990-01-01"}to${query.until ?? "2199-12-31"}`;
  // Questions are at most 400 characters long.
  const parameters = `q=${encodeURIComponent(query.terms.slice(0, 400))}&count=${Math.max(1, Math.min(query.most, maxPage))}&text_decorations=false${time}`;
  const answer = await askJson(brave, context, {
    url: `${context.endpoint}/res/v1/web/search?${parameters}`,
    limit: maxAnswer,
    ...(context.key === undefined ? {} : { secret: { headers: { "X-Subscription-Token": context.key } } }),
  });
  if (answer.status !== "ok") return answer;
  // Without any results the part on the web is left out.
  const results =
    at(answer.value, "web") === undefined && at(answer.value, "type") === "search"
      ? []
      : at(answer.value, "web", "results");
  return webAnswer("Brave", query, results, (result) =>
    pageRecord("Brave", {
      url: at(result, "url"),
      title: plainText(at(result, "title")),
      snippet: plainText(at(result, "description")),
      date: day(at(result, "page_age")),
    }),
  );
}
