import { describe, expect, it } from "vitest";
import {
  allServices,
  allSources,
  sourceNamed,
  sourcesFor,
  substituteFor,
  whyUnavailable,
} from "../../../src/research/sources/registry.js";

describe("the registry of sources", () => {
  it("holds these", () => {
    expect(allSources.map(({ name }) => name)).toEqual([
      "arXiv",
      "OpenAlex",
      "Semantic Scholar",
      "Crossref",
      "Europe PMC",
      "Unpaywall",
      "bioRxiv",
      "SearXNG",
      "Brave",
      "Tavily",
    ]);
    expect(allServices().map(({ name }) => name)).toEqual(
      expect.arrayContaining([...allSources.map(({ name }) => name), "GitHub", "Hugging Face"]),
    );
  });

  it("means one source by every name, in lower case, and asks it without a slash at the end of its address", () => {
    const names = allServices().flatMap(({ name, aliases }) => [
      name.toLowerCase(),
      ...aliases.filter((alias) => alias !== name.toLowerCase()),
    ]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name !== name.toLowerCase())).toEqual([]);
    expect(allServices().filter(({ endpoint }) => endpoint.endsWith("/"))).toEqual([]);
  });

  it("finds a source by name and alias in any case, and leaves the web and what it does not know to the agent", () => {
    expect(sourceNamed(" ARXIV ")?.name).toBe("arXiv");
    expect(sourceNamed("s2")?.name).toBe("Semantic Scholar");
    expect(sourceNamed("web")).toBeUndefined();
    // Asked where a person names them, and by no search that names no source.
    expect([sourceNamed("GitHub"), sourceNamed("hn")].map((source) => source?.name)).toEqual(["GitHub", "Hacker News"]);
    expect(allSources.some(({ name }) => name === "GitHub" || name === "Hacker News")).toBe(false);
    expect(sourceNamed("ACM Digital Library")).toBeUndefined();
  });

  it("asks OpenAlex and Semantic Scholar in place of Google Scholar, and says so", () => {
    for (const name of ["Google Scholar", "google_scholar", "scholar.google.com"]) {
      expect(sourceNamed(name)).toBeUndefined();
      expect(substituteFor(name)).toMatchObject({
        replacements: ["OpenAlex", "Semantic Scholar"],
        reason: expect.stringContaining("forbids scraping"),
      });
      expect(sourcesFor(name, undefined).map((source) => source.name)).toEqual(["OpenAlex", "Semantic Scholar"]);
    }
    expect(sourcesFor("arxiv", undefined).map(({ name }) => name)).toEqual(["arXiv"]);
    expect(sourcesFor("web", undefined)).toEqual([]);
  });

  it("asks Europe PMC for what PubMed holds, by every name of it, and says so", () => {
    for (const name of ["PubMed", "MEDLINE", "pubmed.ncbi.nlm.nih.gov"]) {
      expect(sourceNamed(name)).toBeUndefined();
      expect(substituteFor(name)?.reason).toMatch(/^PubMed is searched through Europe PMC, .*\.$/);
      expect(sourcesFor(name, undefined).map((source) => source.name)).toEqual(["Europe PMC"]);
    }
    expect(sourcesFor("PubMed Central", undefined).map((source) => source.name)).toEqual(["Europe PMC"]);
  });

  it("takes feeds and lists by their address", () => {
    expect(sourceNamed("feed:https://journal.test/rss")).toMatchObject({
      name: "feed:https://journal.test/rss",
      endpoint: "https://journal.test/rss",
    });
    expect(sourceNamed("feed:/etc/passwd")).toBeUndefined();
    expect(sourceNamed("list: refs.txt", "/research")?.name).toBe("list:refs.txt");
  });

  it("says in one sentence why a source can't be asked", () => {
    const reasonFor = (name: string, more: object = {}) => {
      const source = sourceNamed(name);
      return source === undefined ? undefined : whyUnavailable(source, { endpoint: source.endpoint, ...more });
    };
    expect(reasonFor("arXiv")).toBeUndefined();
    expect(reasonFor("Brave")).toBe("Brave needs a key; set BRAVE_API_KEY.");
    expect(reasonFor("Brave", { key: "k" })).toBeUndefined();
    expect(reasonFor("Unpaywall")).toContain("contact");
    expect(reasonFor("Unpaywall", { contact: "https://example.org" })).toContain("contact");
    expect(reasonFor("Unpaywall", { contact: "a@example.org" })).toBeUndefined();
    expect(reasonFor("SearXNG")).toContain("sources.searxng.endpoint");
  });
});
