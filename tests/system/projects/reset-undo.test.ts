import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { main } from "../../../src/commands/main.js";
import { fakeClock } from "../../support/clock.js";
import { ioIn } from "../../support/processes/in-process.js";
import { freshFolder } from "../../support/projects/research-folder.js";

const clock = fakeClock();

/** Runs a command on a clock on which no service is waited for. */
async function cli(args: readonly string[], cwd: string) {
  clock.advance(1_000);
  const io = ioIn(cwd, {}, { clock });
  const code = await main(args, io, "0.0.0");
  return { code, out: io.out(), err: io.err() };
}

const question = "do soft hands grasp better?";
const works = Array.from({ length: 12 }, (_, number) => ({
  doi: `10.5555/hand.${number}`,
  title: `${["Grasping", "Holding", "Lifting", "Sorting"][number % 4]} ${number} objects with soft hands`,
  surname: ["Engstrom", "Lee"][number % 2] ?? "",
  year: 2018 + (number % 2),
  abstract: `We grasp object ${number} with a soft hand. It holds ${50 + number} of 100 objects.`,
}));
type Work = (typeof works)[number];

/** A retracted one is in the first file. */
const openAlex = (work: Work, index: number) => ({
  id: `https://openalex.org/W${index}`,
  doi: `https://doi.org/${work.doi}`,
  title: work.title,
  publication_year: work.year,
  language: "en",
  type: "article",
  is_retracted: index === 1,
  authorships: [{ raw_author_name: `Ada ${work.surname}`, author: { display_name: `Ada ${work.surname}` } }],
  primary_location: { source: { display_name: "Hands", issn_l: "1234-5678" } },
  biblio: { volume: "3", first_page: `${index}`, last_page: `${index + 4}` },
  abstract_inverted_index: Object.fromEntries(work.abstract.split(" ").map((word, place) => [`${word}`, [place]])),
});
const ris = ({ title, surname, year, doi, abstract }: Work) =>
  `TY  - JOUR\nTI  - ${title}\nAU  - ${surname}, Ada\nPY  - ${year}\nJO  - Hands\nVL  - 3\nSN  - 1234-5678\nDO  - ${doi}\nAB  - ${abstract}\nLA  - en\nER  - \n\n`;
const row = ({ title, surname, year, doi, abstract }: Work, index: number) =>
  `${index},"${title}",${year},Hands,1234-5678,3,"${surname}, Ada",https://doi.org/${doi},"${abstract}"\n`;

/** A finished project of three exports that overlap, and the steps that a person took in it. */
async function decidedProject(): Promise<{ cwd: string; folder: string }> {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "openalex.json"), JSON.stringify({ results: works.slice(0, 6).map(openAlex) }));
  writeFileSync(join(cwd, "scopus.ris"), works.slice(3, 9).map(ris).join(""));
  const head = "key,title,year,journal,issn,volume,authors,url,abstract\n";
  writeFileSync(join(cwd, "rayyan.csv"), head + works.slice(5).map(row).join(""));
  const exports = ["openalex.json", "scopus.ris", "rayyan.csv"];
  const options = ["--criterion", "include: soft hands", "--agent", "baseline", "--no-git", "--yes"];
  await cli([...exports, question, ...options], cwd);
  const folder = join(cwd, "researches", readdirSync(join(cwd, "researches"))[0] ?? "");
  const ran = await cli(["run", folder, "--abstracts", "--agent", "baseline", "--no-git"], cwd);
  expect(ran, ran.err).toMatchObject({ code: 0, out: expect.stringContaining("COMPLETE") });

  const keys = rrdOf(folder).papers_pool.flatMap(({ key, status }) =>
    status === "not_retrieved" ? [] : [key ?? "none"],
  );
  const [first = "", second = "", third = "", fourth = ""] = keys;
  for (const step of [
    ["decide", folder, first, "include", "It fits."],
    ["decide", folder, second, "exclude", "It does not."],
    ["join", folder, third, fourth],
  ])
    expect(await cli([...step, "--no-git"], cwd), step.join(" ")).toMatchObject({ code: 0 });
  // A verdict on a claim is not in the journal of the reading.
  const rrd = rrdOf(folder);
  const claim = rrd.papers_pool.find(({ key }) => key === first)?.analysis?.evidence?.[0];
  expect(claim).toBeDefined();
  Object.assign(claim ?? {}, { check: { verdict: "supported", by: ["another"] } });
  writeFileSync(join(folder, "rrd.json"), `${JSON.stringify(rrd, null, 2)}\n`);
  // What was written by hand is taken in by the first command.
  await cli(["reset", folder, "--unit", "report", "--no-git"], cwd);
  await cli(["reset", folder, "--undo", "--no-git"], cwd);
  return { cwd, folder };
}

const rrdOf = (folder: string): Rrd => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;

/** The state without what says how many iterations there were. */
function stateText(text: string): string {
  const { loop, ...rrd } = JSON.parse(text) as Rrd;
  return JSON.stringify({ ...rrd, loop: { ...loop, iteration: null, stagnation_since: null } });
}

/** Every file of a project by its name, in the form that an undo gives back; what only grows, and caches, are left out. */
function filesOf(folder: string): Record<string, string> {
  const leftOut =
    /^(ledger\.jsonl|progress\.txt|\.ralph\/(backups|journal|transcripts|about|http)\/.*|\.ralph\/left\.json)$/;
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.flatMap(({ name, parentPath }) => {
      const path = join(parentPath, name).slice(folder.length + 1);
      const bytes = readFileSync(join(folder, path));
      if (leftOut.test(path)) return [];
      return [
        [
          path,
          /rrd\.(last-good\.)?json$/.test(path)
            ? stateText(bytes.toString())
            : createHash("sha256").update(bytes).digest("hex"),
        ],
      ];
    }),
  );
}

/** What every export says; each record, each count. */
async function exportsOf(cwd: string, folder: string): Promise<string[]> {
  const texts: string[] = [];
  for (const as of ["csv", "ris", "bibtex", "prisma"]) {
    const { code, out, err } = await cli(["report", folder, "--as", as], cwd);
    expect(code, `${as}: ${err}`).toBe(0);
    texts.push(out);
  }
  return texts;
}

test("an undo gives back every file and every export of a project with decisions, joins and a check, whatever was reset", async () => {
  const { cwd, folder } = await decidedProject();
  const reset = async (...args: string[]) => {
    const ended = await cli(["reset", folder, ...args, "--no-git"], cwd);
    expect(ended, `${args.join(" ")}: ${ended.err}`).toMatchObject({ code: 0 });
    expect(ended.out).not.toMatch(/You changed|was saved from|was restored|stays removed/);
    return ended;
  };
  /** Resets, takes that back, does it again and takes that back. */
  const expectUndone = async (...what: string[]) => {
    const [before, exported] = [filesOf(folder), await exportsOf(cwd, folder)];
    await reset(...what);
    const after = filesOf(folder);
    const undone = await reset("--undo");
    expect(undone.out).toMatch(/^The last reset \(iteration \d+\) is taken back\.$/m);
    expect(undone.err).toMatch(/--undo' resets it again\.$/m);
    expect(filesOf(folder), what.join(" ")).toEqual(before);
    expect(await exportsOf(cwd, folder), what.join(" ")).toEqual(exported);

    const again = await reset("--undo");
    expect(again.out).toMatch(
      /^The last --undo \(iteration \d+\) is taken back, so the reset of iteration \d+ is done again\.$/m,
    );
    expect(filesOf(folder), `${what.join(" ")}, again`).toEqual(after);
    expect((await reset("--undo")).out).toMatch(/^The last reset \(iteration \d+\) is taken back\.$/m);
    expect(filesOf(folder), `${what.join(" ")}, at last`).toEqual(before);
    return { before, after };
  };
  const iterations = readFileSync(join(folder, "ledger.jsonl"), "utf8").trim().split("\n").length;
  const decided = rrdOf(folder).papers_pool.find(({ override }) => override !== undefined)?.key ?? "";

  const { before, after } = await expectUndone();
  const removed = ["search-records.json.gz", ".ralph/candidates.json", "report.html", "references.bib"];
  expect(removed.filter((name) => !(name in before) || name in after)).toEqual([]);
  expect(rrdOf(folder).papers_pool.some(({ analysis }) => analysis?.evidence?.[0]?.check !== undefined)).toBe(true);

  for (const what of [
    ["--unit", "report"],
    ["--unit", "check"],
    ["--unit", "discovery"],
    ["--paper", decided],
    ["--to", "2"],
    ["--to", String(Math.floor(iterations / 2))],
  ])
    await expectUndone(...what);
  const rrd = rrdOf(folder);
  const criteria = [{ id: "c1", kind: "include", text: "hands of silicone" }] as const;
  writeFileSync(
    join(folder, "rrd.json"),
    `${JSON.stringify({ ...rrd, requirements: { ...rrd.requirements, criteria } }, null, 2)}\n`,
  );
  await reset("--unit", "report");
  await reset("--undo");
  await expectUndone("--criteria");
});

test("an undo takes back what was done since as well, and keeps a document that was edited since", async () => {
  const { cwd, folder } = await decidedProject();
  const [before, exported] = [filesOf(folder), await exportsOf(cwd, folder)];
  await cli(["reset", folder, "--no-git"], cwd);
  await cli(["run", folder, "--abstracts", "--agent", "baseline", "--no-git"], cwd);
  expect(rrdOf(folder).phase).toBe("COMPLETE");
  const edited = `${readFileSync(join(folder, "research-report.md"), "utf8")}\nMy note.\n`;
  writeFileSync(join(folder, "research-report.md"), edited);
  const undone = await cli(["reset", folder, "--undo", "--no-git"], cwd);
  expect(undone.out).toMatch(/^The last reset \(iteration \d+\) is taken back, and the \d+ iterations after it\.$/m);
  expect(undone.out).not.toMatch(/You changed|was saved from|was restored|stays removed/);
  const kept = readdirSync(folder).find((name) => name.includes(".edited-")) ?? "none";
  expect(readFileSync(join(folder, kept), "utf8")).toBe(edited);
  expect(filesOf(folder)).toEqual({ ...before, [kept]: expect.any(String) });
  expect(await exportsOf(cwd, folder)).toEqual(exported);
});

test("a decision that a person made after an undo stays, also when an earlier iteration is gone back to", async () => {
  const { cwd, folder } = await decidedProject();
  const { length } = readFileSync(join(folder, "ledger.jsonl"), "utf8").trim().split("\n");
  await cli(["reset", folder, "--no-git"], cwd);
  await cli(["reset", folder, "--undo", "--no-git"], cwd);
  const read = rrdOf(folder).papers_pool.filter(({ analysis, override }) => analysis != null && override === undefined);
  const key = read[0]?.key ?? "none";
  expect(await cli(["decide", folder, key, "exclude", "It is old.", "--no-git"], cwd)).toMatchObject({ code: 0 });
  const exported = await exportsOf(cwd, folder);
  expect(await cli(["reset", folder, "--to", `${length}`, "--no-git"], cwd)).toMatchObject({ code: 0 });
  expect(rrdOf(folder).papers_pool.find((paper) => paper.key === key)?.override?.why).toBe("It is old.");
  expect(await exportsOf(cwd, folder)).toEqual(exported);
});
