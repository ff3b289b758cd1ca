import { askJson } from "../shared/ask-service.js";
import { at, day } from "../../../engine/lib/json-fields.js";
import { plainText } from "../shared/markup-to-text.js";
import type { PaperRecord } from "../../papers/paper-record.js";
import type { Answer, Query, Source, SourceContext } from "../shared/source.js";
import { pageRecord, webAnswer } from "../shared/web-page.js";

const maxAnswer = 10 * 1024 * 1024;

/** A search engine of the user's own. Its answers in JSON are off until its settings turn them on. */
export const searxng: Source = {
  name: "SearXNG",
  aliases: ["searxng", "searx"],
  endpoint: "",
  needs: "endpoint",
  search: searchWeb,
};

async function searchWeb(query: Query, context: SourceContext): Promise<Answer<readonly PaperRecord[]>> {
  const url = `${context.endpoint}/search?q=${encodeURIComponent(query.terms)}&format=json&categories=general,science`;
  const answer = await askJson(searxng, context, { url, limit: maxAnswer });
  if (answer.status === "blocked")
    return {
      status: "blocked",
      reason: "SearXNG refuses access (HTTP 403); add json to search.formats in its settings.",
    };
  if (answer.status !== "ok") return answer;
  return webAnswer("SearXNG", query, at(answer.value, "results"), (result) =>
    pageRecord("SearXNG", {
      url: at(result, "url"),
      title: plainText(at(result, "title")),
      snippet: plainText(at(result, "content")),
      date: day(at(result, "publishedDate")),
    }),
  );
}
