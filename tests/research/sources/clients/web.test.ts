import { describe, expect, it } from "vitest";
import { brave } from "../../../../src/research/sources/clients/brave.js";
import { gitHub } from "../../../../src/research/sources/clients/code-links.js";
import { hackerNews } from "../../../../src/research/sources/clients/hacker-news.js";
import { searxng } from "../../../../src/research/sources/clients/searxng.js";
import { tavily } from "../../../../src/research/sources/clients/tavily.js";
import { answering } from "./answering.js";

const query = { terms: "tactile hand", from: "2024-01-01", until: "2024-02-01", most: 10 };

describe("searches of the web", () => {
  it("know a page for the work that its address names, and keep what the engine shows apart from an abstract", async () => {
    const results = [
      { url: "https://arxiv.org/abs/2401.00010v2", title: "[2401.00010] A <b>hand</b>", content: "Shown text" },
      { url: "https://dl.acm.org/doi/full/10.1145/3580305.3599512", title: "Another hand" },
      { url: "https://lab.test/hand", title: "A lab's page", publishedDate: "2024-01-05T10:00:00" },
      { url: "javascript:alert(1)", title: "No page" },
      { title: "No address" },
    ];
    const { context, requests } = answering([{ body: { results } }], { endpoint: "http://127.0.0.1:8888" });
    const answer = await searxng.search?.(query, context);

    expect(requests[0]?.url).toMatch(/^http:\/\/127\.0\.0\.1:8888\/search\?q=tactile%20hand&format=json/);
    expect(answer).toMatchObject({
      status: "ok",
      value: [
        { id: "arxiv_2401.00010", title: "[2401.00010] A hand", abstract: null, snippet: "Shown text" },
        { id: "doi_10.1145_3580305.3599512" },
        { id: expect.stringMatching(/^url_/), date: "2024-01-05", url: "https://lab.test/hand" },
      ],
    });
  });

  it("ask GitHub for repositories and Hacker News for stories, each without a key and between the days", async () => {
    const git = answering([
      {
        body: {
          items: [
            {
              html_url: "https://github.com/lab/hand",
              full_name: "lab/hand",
              description: "A tactile hand",
              created_at: "2024-01-03T00:00:00Z",
              owner: { login: "lab" },
            },
            { full_name: "no/address" },
          ],
        },
      },
    ]);
    expect(await gitHub.search?.(query, git.context)).toMatchObject({
      status: "ok",
      value: [
        { title: "lab/hand: A tactile hand", date: "2024-01-03", authors: ["lab"], url: "https://github.com/lab/hand" },
      ],
    });
    expect(decodeURIComponent(git.requests[0]?.url ?? "")).toContain("tactile hand created:2024-01-01..2024-02-01");
    const hn = answering([
      {
        body: {
          hits: [
            {
              objectID: "7",
              title: "A hand that feels",
              url: "https://lab.test/hand",
              created_at: "2024-01-05T10:00:00Z",
            },
            { objectID: "8", title: "Ask HN: which hand?", url: null, author: "ada" },
          ],
        },
      },
    ]);
    expect(await hackerNews.search?.(query, hn.context)).toMatchObject({
      status: "ok",
      value: [{ url: "https://lab.test/hand" }, { url: "https://news.ycombinator.com/item?id=8", authors: ["ada"] }],
    });
    expect(decodeURIComponent(hn.requests[0]?.url ?? "")).toContain("created_at_i>=1704067200,created_at_i<1706832000");
    for (const source of [gitHub, hackerNews])
      expect(await source.search?.(query, answering([{ body: {} }]).context)).toMatchObject({ status: "error" });
  });

  it("say how SearXNG is made to answer in JSON, which it does not by default", async () => {
    const { context } = answering([{ status: 403, body: "<html>Forbidden</html>", type: "text/html" }], {
      endpoint: "http://127.0.0.1:8888",
    });
    expect(await searxng.search?.(query, context)).toMatchObject({
      status: "blocked",
      reason: expect.stringContaining("search.formats"),
    });
  });

  it("give Brave its key in a header and the days as a range", async () => {
    const { context, requests } = answering(
      [
        {
          body: {
            type: "search",
            web: {
              results: [{ url: "https://lab.test/a", title: "A", description: "B", page_age: "2024-01-03T00:00:00" }],
            },
          },
        },
      ],
      { key: "secret-key" },
    );

    expect(await brave.search?.(query, context)).toMatchObject({
      status: "ok",
      value: [{ title: "A", snippet: "B", date: "2024-01-03" }],
    });
    expect(requests[0]?.url).toContain("freshness=2024-01-01to2024-02-01");
    expect(requests[0]?.url).not.toContain("secret-key");
    expect(requests[0]?.secret).toEqual({ headers: { "X-Subscription-Token": "secret-key" } });
    expect(await brave.search?.(query, answering([{ body: { type: "search" } }]).context)).toMatchObject({
      status: "empty",
    });
    expect(await brave.search?.(query, answering([{ body: {} }]).context)).toMatchObject({ status: "error" });
  });

  it("give Tavily its key in a header and the question as a body", async () => {
    const { context, requests } = answering(
      [{ body: { results: [{ url: "https://lab.test/a", title: "A", content: "B" }] } }],
      { key: "secret-key" },
    );

    expect(await tavily.search?.(query, context)).toMatchObject({
      status: "ok",
      value: [{ title: "A", snippet: "B" }],
    });
    expect(requests[0]).toMatchObject({
      json: { query: "tactile hand", max_results: 10, start_date: "2024-01-01", end_date: "2024-02-01" },
      secret: { headers: { Authorization: "Bearer secret-key" } },
    });
    const refused = answering(
      [{ status: 401, body: { detail: { error: "Unauthorized: missing or invalid API key." } } }],
      { key: "wrong" },
    );
    expect(await tavily.search?.(query, refused.context)).toEqual({
      status: "blocked",
      reason: "Tavily refuses access (HTTP 401); check the key in TAVILY_API_KEY.",
    });
  });

  it("that list pages none of which can be read have not said that there are none", async () => {
    expect(
      await tavily.search?.(query, answering([{ body: { results: [{ link: "https://lab.test/a" }] } }]).context),
    ).toMatchObject({ status: "error" });
    expect(await tavily.search?.(query, answering([{ body: { results: [] } }]).context)).toMatchObject({
      status: "empty",
    });
  });
});
