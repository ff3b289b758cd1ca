import { describe, expect, it } from "vitest";
import { codeLinks } from "../../../../src/research/sources/clients/code-links.js";
import type { Source } from "../../../../src/research/sources/shared/source.js";
import { answering, type Canned } from "./answering.js";
import type { Request } from "../../../../src/net/http.js";

const repository = (name: string, fields: object = {}) => ({
  html_url: `https://github.com/${name}`,
  stargazers_count: 10,
  archived: false,
  pushed_at: "2024-05-02T00:00:00Z",
  ...fields,
});

function links(
  work: Parameters<typeof codeLinks>[0],
  services: { hub?: Canned; search?: Canned; repos?: Readonly<Record<string, Canned>> },
  key?: string,
) {
  const requests: Request[] = [];
  const answer = (request: Request): Canned => {
    requests.push(request);
    if (request.url.includes("/api/papers/"))
      return services.hub ?? { status: 404, body: { error: "Paper not found" } };
    if (request.url.includes("/search/repositories"))
      return services.search ?? { body: { total_count: 0, incomplete_results: false, items: [] } };
    return services.repos?.[request.url.replace(/.*\/repos\//, "")] ?? { status: 404, body: { message: "Not Found" } };
  };
  return {
    requests,
    found: codeLinks(
      work,
      (source: Source) =>
        answering(answer, { endpoint: source.endpoint, ...(key === undefined ? {} : { key }) }).context,
    ),
  };
}

const hand = { title: "A hand that feels", identifiers: { arxiv: "2401.00010v2" } };

describe("codeLinks", () => {
  it("gives what the paper and Hugging Face name as official, what only mentions the paper after it, with stars and state", async () => {
    const { found, requests } = links(
      { ...hand, abstract: "We study hands. Code is at https://github.com/lab/hand." },
      {
        hub: { body: { id: "2401.00010", githubRepo: "https://github.com/lab/hand-models", githubStars: 5 } },
        search: {
          body: {
            incomplete_results: false,
            items: [
              repository("someone/awesome-hands", { stargazers_count: 9000 }),
              repository("Lab/Hand", { stargazers_count: 321, archived: true }),
              repository("fork/hand", { fork: true }),
            ],
          },
        },
        repos: {
          "lab/hand-models": { body: repository("lab/hand-models", { stargazers_count: 6, description: "Models" }) },
        },
      },
    );

    expect(await found).toEqual({
      links: [
        {
          repository: "https://github.com/Lab/Hand",
          relation: "official",
          source: "the paper",
          stars: 321,
          archived: true,
          pushed: "2024-05-02",
        },
        {
          repository: "https://github.com/lab/hand-models",
          relation: "official",
          source: "Hugging Face",
          stars: 6,
          pushed: "2024-05-02",
          description: "Models",
        },
        {
          repository: "https://github.com/someone/awesome-hands",
          relation: "mentioned",
          source: "GitHub",
          stars: 9000,
          pushed: "2024-05-02",
        },
      ],
      unchecked: [],
    });
    expect(requests.map(({ url }) => decodeURIComponent(url).replace(/&per_page.*/, ""))).toEqual([
      "https://huggingface.co/api/papers/2401.00010",
      'https://api.github.com/search/repositories?q="2401.00010" in:readme,description',
      "https://api.github.com/repos/lab/hand-models",
    ]);
  });

  it("leaves a repository out that is gone", async () => {
    expect(await links({ ...hand, abstract: "Code: github.com/lab/gone" }, {}).found).toEqual({
      links: [],
      unchecked: [],
    });
  });

  it("believes a repository that calls itself official for this title, and no unofficial one", async () => {
    const items = [
      repository("lab/a", { description: "Official implementation of the paper A Hand That Feels (ICRA 2024)" }),
      repository("other/b", { description: "Unofficial implementation of A hand that feels" }),
      repository("other/c", { description: "A hand that feels" }),
    ];
    const { links: found } = await links(hand, { search: { body: { items } } }).found;

    expect(found.map(({ repository: address, relation }) => [address.slice(19), relation])).toEqual([
      ["lab/a", "official"],
      ["other/b", "mentioned"],
      ["other/c", "mentioned"],
    ]);
  });

  it("searches by title where there is no arXiv id, without Hugging Face, with the token in a header", async () => {
    const { found, requests } = links({ title: 'A "hand" that feels' }, {}, "secret-token");
    await found;

    expect(requests.map(({ url }) => new URL(url).searchParams.get("q"))).toEqual([
      '"A hand that feels" in:readme,description',
    ]);
    expect(requests[0]?.url).not.toContain("secret-token");
    expect(requests[0]?.secret).toEqual({ headers: { Authorization: "Bearer secret-token" } });
  });

  it("names services that did not answer, also a search that GitHub ended early", async () => {
    const limited = {
      status: 403,
      body: { message: "API rate limit exceeded for 203.0.113.1." },
      headers: { "x-ratelimit-remaining": "0" },
    };
    expect(await links(hand, { hub: { status: 500, body: "" }, search: limited }).found).toEqual({
      links: [],
      unchecked: [
        { source: "Hugging Face", reason: expect.stringContaining("HTTP 500") },
        { source: "GitHub", reason: expect.stringContaining("API rate limit exceeded") },
      ],
    });
    expect(await links(hand, { search: { body: { incomplete_results: true, items: [] } } }).found).toMatchObject({
      unchecked: [{ source: "GitHub" }],
    });
  });
});
