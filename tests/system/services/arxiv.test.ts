import { describe, expect, it } from "vitest";
import { arxiv } from "../../../src/research/sources/clients/arxiv.js";
import type { Query } from "../../../src/research/sources/shared/source.js";
import { answering, type Canned } from "../../research/sources/clients/answering.js";

const type = "application/atom+xml";
const search = (query: Partial<Query>, answers: Parameters<typeof answering>[0]) => {
  const { context, requests } = answering(answers, { endpoint: "https://export.arxiv.org" });
  return { requests, answer: arxiv.search?.({ terms: "tactile sensing", most: 10, ...query }, context) };
};
const feed = (entries: readonly string[], total: number = entries.length) =>
  `<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults>${total}</opensearch:totalResults>${entries.join("")}</feed>`;
const atom = (body: string, status = 200): Canned => ({ status, body, type });

describe("arXiv", () => {
  it("gives slices of at most 2,000 and 30,000 in all, and says that there is more", async () => {
    const { answer, requests } = search({ most: 40_000 }, ({ url }) => {
      const [, start = "0", size = "0"] = /start=(\d+)&max_results=(\d+)/.exec(url) ?? [];
      return atom(
        feed(
          Array.from(
            { length: Number(size) },
            (_, index) =>
              `<entry><id>http://arxiv.org/abs/${String(1000 + Math.floor((Number(start) + index) / 100_000))}.${String((Number(start) + index) % 100_000).padStart(5, "0")}v1</id><title>T</title></entry>`,
          ),
          50_000,
        ),
      );
    });
    const found = await answer;

    expect(requests).toHaveLength(15);
    expect(requests.every(({ url }) => url.includes("max_results=2000"))).toBe(true);
    expect(found?.status === "ok" && found.value.length).toBe(30_000);
    expect(found).toMatchObject({ total: 50_000, incomplete: expect.stringContaining("30000") });
  });
});
