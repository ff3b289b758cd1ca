import { describe, expect, it } from "vitest";
import type { Source } from "../../../src/research/sources/shared/source.js";
import { checkUpdates } from "../../../src/research/paper-lookups/find-retractions.js";
import { answering, type Canned } from "../sources/clients/answering.js";
import type { Request } from "../../../src/net/http.js";

/** Answers of all services; what is not given is down. */
function check(
  works: Parameters<typeof checkUpdates>[0],
  services: Readonly<Record<string, (request: Request) => Canned>>,
  off: readonly string[] = [],
) {
  const hosts: string[] = [];
  const contextFor = (source: Source) =>
    off.includes(source.name)
      ? { unavailable: `${source.name} is turned off.` }
      : answering(
          (request) => (hosts.push(source.name), services[source.name]?.(request) ?? { status: 503, body: "" }),
          { endpoint: source.endpoint },
        ).context;
  // Whole records are compared with the paper elsewhere.
  const answer = checkUpdates(works, contextFor).then((all) => all.map(({ answers: _, ...told }) => told));
  return { hosts, answer };
}

const unknown = (): Canned => ({ status: 404, body: "Resource not found.", type: "text/plain" });
const none = (): Canned => ({ body: { hitCount: 0, resultList: { result: [] } } });
const retracted = {
  message: {
    DOI: "10.1000/a",
    title: ["A hand"],
    "updated-by": [{ type: "retraction", source: "retraction-watch", updated: { "date-parts": [[2024, 5, 2]] } }],
  },
};

describe("checkUpdates", () => {
  it("asks every service that can know, and dates what it says", async () => {
    const { answer, hosts } = check([{ doi: "10.1000/a" }, { arxiv: "2401.00010v1" }], {
      Crossref: () => ({ body: retracted }),
      OpenAlex: ({ url }) => ({
        body: url.includes("10.1000")
          ? { id: "https://openalex.org/W1", doi: "https://doi.org/10.1000/a", title: "A hand", is_retracted: true }
          : { id: "https://openalex.org/W2", doi: "https://doi.org/10.48550/arxiv.2401.00010", title: "B" },
      }),
      "Europe PMC": none,
      arXiv: () => ({
        body: "<feed><entry><id>http://arxiv.org/abs/2401.00010v2</id><title>B</title><updated>2024-06-01T00:00:00Z</updated><arxiv:comment>Withdrawn</arxiv:comment></entry></feed>",
      }),
    });

    expect(await answer).toEqual([
      {
        updates: [
          { type: "retraction", date: "2024-05-02", source: "Crossref (retraction-watch)" },
          { type: "retraction", source: "OpenAlex" },
        ],
        checkedBy: ["Crossref", "OpenAlex"],
        unchecked: [],
      },
      {
        updates: [
          { type: "withdrawal", date: "2024-06-01", source: "arXiv", notice: "https://arxiv.org/abs/2401.00010v2" },
        ],
        checkedBy: ["OpenAlex", "arXiv"],
        unchecked: [],
      },
    ]);
    expect(new Set(hosts)).toEqual(new Set(["Crossref", "OpenAlex", "Europe PMC", "arXiv"]));
  });

  it("names each service that could not be asked, so that silence is not taken for a clean record", async () => {
    const { answer } = check(
      [{ doi: "10.1000/a" }],
      { Crossref: unknown, OpenAlex: () => ({ status: 429, body: "" }) },
      ["Europe PMC"],
    );

    expect(await answer).toEqual([
      {
        updates: [],
        checkedBy: [],
        unchecked: [
          { source: "OpenAlex", reason: expect.stringContaining("429") },
          { source: "Europe PMC", reason: "Europe PMC is turned off." },
        ],
      },
    ]);
  });

  it("says of works in the middle of which a service fell silent which of them it was asked about", async () => {
    let asked = 0;
    const { answer } = check([{ doi: "10.1000/a" }, { doi: "10.1000/b" }, { doi: "10.1000/c" }], {
      Crossref: () => ((asked += 1) === 1 ? { body: retracted } : { status: 429, body: "" }),
      OpenAlex: unknown,
      "Europe PMC": none,
    });
    const [first, second, third] = await answer;

    expect(first).toMatchObject({ checkedBy: ["Crossref"], unchecked: [] });
    expect(second).toMatchObject({ checkedBy: [], unchecked: [{ source: "Crossref" }] });
    expect(third).toMatchObject({ checkedBy: [], unchecked: [{ source: "Crossref" }] });
    expect(asked).toBe(2);
  });

  it("has nothing to ask by for a work without identifiers", async () => {
    const { answer, hosts } = check([{}], {});
    expect(await answer).toMatchObject([{ checkedBy: [], unchecked: [{ source: "every source" }] }]);
    expect(hosts).toEqual([]);
  });
});
