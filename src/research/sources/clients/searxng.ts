import { askJson } from "../shared/ask-service.js";
import { valueAt, dateFrom } from "../../../engine/lib/json-fields.js";
import { plainText } from "../shared/markup-to-text.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord, webAnswer } from "../shared/web-page.js";

const maxAnswerBytes = 10 * 1024 * 1024;

/** The user's own search engine. It answers in JSON only if its settings allow that. */
export const searxng: Source = {
  name: "SearXNG",
  aliases: ["searxng", "searx"],
  endpoint: "",
  needs: "endpoint",
  search: searchWeb,
};

async function searchWeb(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const url = `${context.endpoint}/search?q=${encodeURIComponent(query.terms)}&format=json&categories=general,science`;
  const answer = await askJson(searxng, context, { url, limit: maxAnswerBytes });
  if (answer.status === "blocked")
    return {
      status: "blocked",
      reason: "SearXNG refuses access (HTTP 403); add json to search.formats in its settings.",
    };
  if (answer.status !== "ok") return answer;
  return webAnswer("SearXNG", query, valueAt(answer.value, "results"), (result) =>
    pageRecord("SearXNG", {
      url: valueAt(result, "url"),
      title: plainText(valueAt(result, "title")),
      snippet: plainText(valueAt(result, "content")),
      date: dateFrom(valueAt(result, "publishedDate")),
    }),
  );
}
