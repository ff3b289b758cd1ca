import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { serveScholars } from "../../fixtures/scholar-server.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { freshFolder } from "../../support/projects/research-folder.js";

interface Work {
  readonly n: number;
  readonly title: string;
  readonly authors: readonly (readonly [family: string, given: string])[];
  readonly year: number;
  readonly journal: string;
  readonly first: number;
  readonly doi: string;
  readonly pmid: string;
  readonly abstract: string;
}

const what = "zinc water light noise heat cold salt iron sleep fat".split(" ");
const whom = "shrews moles voles bats hedgehogs mice hares otters foxes badgers".split(" ");
const works = Array.from({ length: 200 }, (_, n): Work => {
  const [cause, animal] = [what[n % 10] ?? "", whom[Math.floor(n / 10) % 10] ?? ""];
  return {
    n,
    year: 2000 + (n % 24),
    journal: `Journal of ${whom[n % 10]}`,
    first: 10 + n,
    doi: `10.5555/walk.${n}`,
    pmid: String(20_000_000 + n),
    title: `Effects of ${cause} on the ${n % 5 === 0 ? "growth" : "memory"} of ${animal}: a cohort of region ${n}`,
    authors: [
      [`Sample${n}`, "Ann"],
      [`Example${n % 17}`, "Bob"],
    ],
    abstract: `We studied ${cause} in ${animal}. The ${n % 5 === 0 ? "growth" : "memory"} rose by 5% where there was much of it.`,
  };
});
const between = (from: number, until: number) => works.slice(from, until);
const all = <Each>(some: readonly Each[], one: (each: Each) => string, parting = "\n") => some.map(one).join(parting);

/** As each exporter writes its records, which others export too. */
const exports = {
  "pubmed.nbib": all(
    between(0, 80),
    (w) =>
      `PMID- ${w.pmid}\nOWN - NLM\nDP  - ${w.year} Mar\nTI  - ${w.title}.\nLID - ${w.doi} [doi]\nAB  - ${w.abstract}\n${all(w.authors, ([f, g]) => `FAU - ${f}, ${g}\nAU  - ${f} ${g[0]}`)}\nLA  - eng\nPT  - Journal Article\nJT  - ${w.journal}\nVI  - 3\nIP  - 2\nPG  - ${w.first}-${w.first + 8}\n`,
  ),
  "ovid.ris": all(
    between(40, 100),
    (w) =>
      `TY  - JOUR\nDB  - Ovid MEDLINE(R) <1946 to 2026>\nAN  - ${w.pmid}\nID  - ${w.pmid}\nT1  - ${w.title}.\n${all(w.authors, ([f, g]) => `A1  - ${f}, ${g}`)}\nY1  - ${w.year}//\nN2  - ${w.abstract}\nJF  - ${w.journal}\nVL  - 3\nIS  - 2\nSP  - ${w.first}\nEP  - ${w.first + 8}\nDO  - https://dx.doi.org/${w.doi}\nDO  - https://dx.doi.org/${w.doi}\nER  - \n`,
  ).replaceAll("\n", "\r\n"),
  "embase.ris": all(
    between(80, 140),
    (w) =>
      `TY  - JOUR\nM3  - Article\nY1  - ${w.year}\nVL  - 3\nIS  - 2\nSP  - ${w.first}\nEP  - ${w.first + 8}\nT1  - ${w.title}\n${all(w.authors, ([f, g]) => `A1  - ${f} ${g[0]}.`)}\nU2  - L20${w.pmid}\nDB  - Embase\nN2  - ${w.abstract}\nJF  - ${w.journal}\nDO  - ${w.doi}\nER  - \n`,
  ),
  "scopus.csv": `\uFEFF"Authors","Author full names","Title","Year","Source title","Volume","Issue","Page start","Page end","DOI","Abstract","Document Type","Source","EID"\r\n${all(
    between(100, 170),
    (w) =>
      [
        all(w.authors, ([f, g]) => `${f} ${g[0]}.`, "; "),
        all(w.authors, ([f, g]) => `${f}, ${g} (572000${1000 + w.n})`, "; "),
        ...[w.title, w.year, w.journal, 3, 2, w.first, w.first + 8],
        // Of some works Scopus knows no DOI.
        ...[w.n % 4 === 0 ? "" : w.doi, w.abstract, "Article", "Scopus", `2-s2.0-${w.n}`],
      ]
        .map((value) => `"${value}"`)
        .join(","),
    "\r\n",
  )}`,
  "savedrecs.ciw": `FN Clarivate Analytics Web of Science\nVR 1.0\n${all(
    between(140, 190),
    (w) =>
      `PT J\nAU ${all(w.authors, ([f, g]) => `${f}, ${g[0]}`, "\n   ")}\nAF ${all(w.authors, ([f, g]) => `${f}, ${g}`, "\n   ")}\nTI ${w.title}\nSO ${w.journal.toUpperCase()}\nDT Article\nAB ${w.abstract}\nPY ${w.year}\nVL 3\nIS 2\nBP ${w.first}\nEP ${w.first + 8}\nDI ${w.doi}\nUT WOS:${w.n}\nER\n`,
  )}\nEF`,
  "zotero.bib": all(
    between(170, 200),
    (w) =>
      `@article{sample${w.n}walk,\n\ttitle = {${w.title}},\n\tvolume = {3},\n\tdoi = {${w.doi}},\n\tabstract = {${w.abstract.replace("%", String.raw`\%`)}},\n\tnumber = {2},\n\tjournal = {${w.journal}},\n\tauthor = {${all(w.authors, ([f, g]) => `${f}, ${g}`, " and ")}},\n\tyear = {${w.year}},\n\tpages = {${w.first}--${w.first + 8}},\n}\n`,
  ),
};

test("a librarian's exports are merged, screened whole, counted for PRISMA, and go out with reasons and passages", async () => {
  const [scholars, built, cwd] = [await serveScholars(), await sharedPackage(), freshFolder()];
  try {
    for (const [name, text] of Object.entries(exports)) writeFileSync(join(cwd, name), text);
    writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ git: false, sources: scholars.sources }));
    const cli = async (...args: string[]) =>
      await run(process.execPath, [join(built, "dist/cli.js"), ...args], cwd, { HOME: cwd });
    const sources = Object.keys(exports).join(",");
    const made = await cli(
      ...["new", "growth of animals", "--name", "walk", "--source", sources, "--keyword", "growth"],
      ...["--criterion", "exclude: memory", "--agent", "baseline"],
    );
    expect([made.code, made.err]).toEqual([0, expect.stringContaining("350 records that you bring are screened")]);
    const project = readdirSync(join(cwd, "researches"))[0] ?? "";
    const ran = await cli("run", project, "--agent", "baseline", "-i", "400", "--quiet");
    expect(ran.code, ran.err).toBe(0);

    const rrd = JSON.parse(readFileSync(join(cwd, "researches", project, "rrd.json"), "utf8")) as Rrd;
    const flow = rrd.statistics?.discovery_metrics?.flow;
    expect(flow).toMatchObject({
      identified: { PubMed: 80, "Ovid MEDLINE(R)": 60, Embase: 60, Scopus: 70, "Web of Science": 50, "zotero.bib": 30 },
      duplicates_removed: 150,
      not_screened: 0,
    });
    const screenedOut = (rrd.excluded ?? []).filter(({ stage }) => stage === "screened").length;
    expect(rrd.papers_pool.length + screenedOut).toBe(200);
    // More than the papers that a search is asked for.
    expect(rrd.papers_pool.length).toBe(40);

    const duplicates = await cli("duplicates", project);
    expect(duplicates.out).toMatch(/sample\d+/);
    const prisma = await cli("export", project, "--as", "prisma");
    expect(prisma.out).toMatch(/database_results/);
    const records = (await cli("export", project, "--as", "csv")).out.trim().split("\n");
    expect(records.length - 1).toBeGreaterThanOrEqual(200);
    // What no criterion settles waits for the person, who takes half of it.
    const keys = rrd.papers_pool.map(({ key = "", status }) => (status === "waiting" ? key : "")).filter(Boolean);
    expect(keys.length).toBeGreaterThan(20);
    const decided = await cli("decide", project, ...keys.slice(0, 25), "include", "It is on growth.");
    expect(decided.code, decided.err).toBe(0);
    const ris = (await cli("export", project, "--as", "ris", "--only", "included")).out;
    expect(ris.match(/^TY {2}- /gm)).toHaveLength(25);
    expect(ris).toMatch(/^N1 {2}- .*rose by 5%/m);
  } finally {
    await scholars.close();
  }
});
