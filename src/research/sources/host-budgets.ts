import { type HostBudget, type HostRule, perSecond } from "../../net/host-rules.js";

const perMinute = (requests: number): HostRule => ({ intervalMs: 60_000 / requests, concurrency: 1 });

/** The request rates that services ask for in their terms, as of November 2026. The first entry that matches counts. */
export const hostBudgets: readonly HostBudget[] = [
  // "No more than one request every three seconds, and a single connection at a time", for all machines of a user.
  {
    name: "arxiv",
    hosts: ["export.arxiv.org", "arxiv.org", "www.arxiv.org", "oaipmh.arxiv.org"],
    intervalMs: 3000,
    concurrency: 1,
  },
  { name: "semanticscholar", hosts: ["api.semanticscholar.org"], hasAccountPerKey: true, ...perSecond(1, 1) },
  { name: "crossref", hosts: ["api.crossref.org"], ...perSecond(5, 1), ruleWithContact: perSecond(10, 3) },
  // OpenAlex limits the cost of a day, and reports the rest of this budget in response headers.
  {
    name: "openalex",
    hosts: ["api.openalex.org"],
    hasAccountPerKey: true,
    ...perSecond(5, 2),
    ruleWithKey: perSecond(10, 4),
  },
  {
    name: "github-search",
    hosts: ["api.github.com"],
    path: "/search/",
    hasAccountPerKey: true,
    ...perMinute(10),
    ruleWithKey: perMinute(30),
  },
  { name: "github", hosts: ["api.github.com"], hasAccountPerKey: true, ...perSecond(1, 1) },
  { name: "unpaywall", hosts: ["api.unpaywall.org"], ...perSecond(5, 2) },
  { name: "europepmc", hosts: ["www.ebi.ac.uk"], ...perSecond(5, 2) },
  { name: "biorxiv", hosts: ["api.biorxiv.org"], ...perSecond(2, 1) },
  { name: "huggingface", hosts: ["huggingface.co"], hasAccountPerKey: true, ...perSecond(2, 1) },
  { name: "hackernews", hosts: ["hn.algolia.com"], ...perSecond(1, 1) },
  { name: "brave", hosts: ["api.search.brave.com"], hasAccountPerKey: true, ...perSecond(1, 1) },
  { name: "tavily", hosts: ["api.tavily.com"], hasAccountPerKey: true, ...perSecond(1, 1) },
];
