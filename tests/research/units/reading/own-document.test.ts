import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { listFolder } from "../../../../src/research/full-text/local-folder.js";
import type { Paper } from "../../../../src/research/generated/rrd.js";
import type { PaperRecord } from "../../../../src/research/papers/paper-record.js";
import {
  goodAgent,
  library,
  paper,
  paperText,
  researchFolder,
  rrdWith,
  temporaryFolder,
} from "../../../support/projects/research.js";

const text = (subject: string) => `# On ${subject}\n\n${`We measured ${subject} on one machine. `.repeat(20)}\n`;

/** A project with a paper for each document of a folder, none of them read yet. */
async function projectOn(subjects: readonly string[]) {
  const root = temporaryFolder();
  const papers = join(root, "papers");
  mkdirSync(papers);
  for (const subject of subjects) writeFileSync(join(papers, `${subject}.md`), text(subject));
  const own = { state: "rrd.json", inProject: [], besideProjects: [], project: root };
  const list = async (): Promise<PaperRecord[]> => await listFolder(papers, undefined, own);
  const listed = await list();
  const pool = listed.map(({ id, title, url, document }) =>
    paper(id, { title, url, ...(document === undefined ? {} : { document }) }),
  );
  const rrd = rrdWith(pool);
  return { papers, list, rrd: { ...rrd, requirements: { ...rrd.requirements, sources: ["folder:papers"] } } };
}

test("a paper that waits to be read is known again by its text when its file was renamed", async () => {
  const { papers, list, rrd } = await projectOn(["tendons", "grippers"]);
  renameSync(join(papers, "tendons.md"), join(papers, "renamed.md"));
  const asked: (string | null | undefined)[] = [];
  const shelf = library({
    serves: () => true,
    candidates: list,
    text: async ({ id, url }) => (asked.push(url), { text: paperText(id) }),
  });
  const { rrd: read } = await researchFolder(rrd, shelf).run(goodAgent());
  const url = pathToFileURL(join(papers, "renamed.md")).href;
  expect(asked).toContain(url);
  const moved = read.papers_pool.find(({ title }) => title === "On tendons");
  expect(moved).toMatchObject({ url, document: { path: "papers/renamed.md" } });
  expect(read.papers_pool.find(({ title }) => title === "On grippers")?.url).toContain("grippers.md");
});

test("a document that nobody looked up at its screening is looked up when it is read", async () => {
  const { rrd } = await projectOn(["tendons"]);
  const [pending] = rrd.papers_pool as [Paper];
  const bare = { ...pending, authors: [] };
  const shelf = library({
    text: async ({ id }) => ({ text: { ...paperText(id), doi: "10.5555/tendons" } }),
    ownRecords: async (records) =>
      new Map(
        records.map((record) => [
          record.id,
          {
            record: { ...record, authors: ["Sample, Ann"], date: "2021-03", venue: "J. Hands" },
            merged: { id: "doi_10.5555_tendons", source: "Crossref", url: "https://doi.org/10.5555/tendons", why: "" },
          },
        ]),
      ),
  });
  const { rrd: read } = await researchFolder({ ...rrd, papers_pool: [bare] }, shelf).run(goodAgent());
  expect(read.papers_pool[0]).toMatchObject({
    id: bare.id,
    title: bare.title,
    url: bare.url,
    identifiers: { doi: "10.5555/tendons" },
    authors: ["Sample, Ann"],
    venue: "J. Hands",
    key: expect.stringMatching(/^[a-z]/),
    found: { merged: [{ id: "doi_10.5555_tendons", source: "Crossref" }] },
  });
});
