import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Page, serve, type WebServer } from "../../fixtures/web-server.js";
import { freshFolder } from "../projects/research-folder.js";

export const hand = { title: "A hand that feels the shape of tools", doi: "10.1000/hand", arxiv: "2401.00010" };

/** What arXiv says of one paper. */
export const atom: Page = {
  headers: { "content-type": "application/atom+xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults>1</opensearch:totalResults><entry><id>http://arxiv.org/abs/${hand.arxiv}v1</id><title>${hand.title}</title><published>2024-01-31T09:00:00Z</published><updated>2024-01-31T09:00:00Z</updated><summary>We study hands and the tools they hold.</summary><author><name>Ann Lee</name></author><arxiv:doi>${hand.doi}</arxiv:doi></entry></feed>`,
};

/** What Crossref says of the same paper, and of another. */
export const works: Page = {
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    status: "ok",
    message: {
      "total-results": 2,
      items: [
        {
          DOI: hand.doi,
          title: [hand.title],
          author: [{ given: "Ann", family: "Lee" }],
          issued: { "date-parts": [[2024, 2, 1]] },
          type: "journal-article",
        },
        {
          DOI: "10.1000/tools",
          title: ["Tools that feel the shape of a hand"],
          author: [{ given: "Bo", family: "Kim" }],
          issued: { "date-parts": [[2023]] },
          type: "journal-article",
        },
      ],
    },
  }),
};

/**
 * A folder to stand in whose configuration names test servers for arXiv and Crossref and turns every other source off.
 */
export async function scholarly(
  arxiv: Page,
  crossref: Page,
): Promise<{ cwd: string; env: NodeJS.ProcessEnv; arxiv: WebServer; crossref: WebServer }> {
  const servers = { arxiv: await serve({ "/api/query": arxiv }), crossref: await serve({ "/works": crossref }) };
  onTestFinished(async () => void (await Promise.all(Object.values(servers).map((server) => server.close()))));
  const cwd = freshFolder();
  mkdirSync(join(cwd, "state"));
  const off = ["openalex", "semanticscholar", "europepmc", "biorxiv", "searxng", "brave", "tavily", "unpaywall"].map(
    (name) => `  ${name}: { off: true }\n`,
  );
  // The user's own file: in the folder's, another place for the state would need trust.
  mkdirSync(join(cwd, ".local/ralph"), { recursive: true });
  writeFileSync(join(cwd, ".local/ralph/config.yaml"), `state_dir: ${join(cwd, "state")}\n`);
  writeFileSync(
    join(cwd, "ralph.config.yaml"),
    `sources:\n  arxiv: { endpoint: "${servers.arxiv.origin}", interval_ms: 0 }\n  crossref: { endpoint: "${servers.crossref.origin}", interval_ms: 0 }\n${off.join("")}`,
  );
  return { cwd, env: { HOME: cwd }, ...servers };
}
