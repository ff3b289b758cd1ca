import { projectFiles, userFiles } from "../../../src/engine/config/config-file.js";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  chmodSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it, describe } from "vitest";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import { writeMessage, readMessages } from "../../../src/engine/storage/state/steering-inbox.js";
import { signState } from "../../../src/research/project-files/guarded/signed-state.js";
import { guardFiles } from "../../support/projects/guarded-project.js";
import { formatQuery, queryRecorder } from "../../../src/research/project-files/logs/query-log.js";
import { formatRrd } from "../../../src/research/project-files/rrd-file.js";
import { researchFolder, sampleRrd, read, temporaryFolder } from "../../support/folders.js";
import { execFileSync } from "node:child_process";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { transcriptsFolder } from "../../../src/engine/lib/layout.js";
import { lastGoodFile } from "../../../src/research/project-files/layout.js";

const text = formatRrd(sampleRrd(3));

function loaded() {
  const folder = researchFolder(sampleRrd(3));
  const [path, lastGood] = [join(folder, "rrd.json"), lastGoodFile(folder)];
  mkdirSync(dirname(lastGood), { recursive: true });
  writeFileSync(path, text);
  writeFileSync(lastGood, text);
  return {
    folder,
    path,
    begin: () =>
      guardFiles({
        folder,
        root: dirname(folder),
        configs: [],
        stateDir: join(folder, "state"),
        iteration: 1,
        memory: new Map(),
      }),
  };
}

it.each(["", text.slice(0, 100)])(
  "half a file, remembered while an editor was saving it, is never put back",
  async (half) => {
    const { path, begin } = loaded();
    writeFileSync(path, half);
    const guard = await begin();
    writeFileSync(path, formatRrd(sampleRrd(2)));
    await guard.undoTampering("agent");
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);

it("a file that is put back is there at every instant, so that a kill costs none", async () => {
  const { path, begin } = loaded();
  const guard = await begin();
  for (let round = 0; round < 20; round++) {
    writeFileSync(path, "changed");
    let [looks, missing, done] = [0, 0, false];
    const look = (): void => {
      looks += 1;
      if (!existsSync(path)) missing += 1;
      if (!done) setImmediate(look);
    };
    look();
    await guard.undoTampering("agent");
    done = true;
    expect(looks).toBeGreaterThan(0);
    expect(missing).toBe(0);
  }
  expect(readFileSync(path, "utf8")).toBe(text);
});

it("a file beside the researches is no research, and does not stop a run", async () => {
  const { folder, begin } = loaded();
  writeFileSync(join(dirname(folder), "README.md"), "# My researches\n");
  expect(await (await begin()).undoTampering("agent")).toEqual([]);
});

it("what its tools noted of their questions stays, and anything else that was written there is taken back", async () => {
  const { folder, begin } = loaded();
  const log = join(folder, "queries.jsonl");
  const asked = {
    at: "2026-11-22T00:00:00.000Z",
    source: "arXiv",
    method: "GET",
    url: "https://arxiv.org/x",
    status: "ok",
    from: "network",
  } as const;
  await queryRecorder(folder)(asked);
  const first = await begin();
  appendFileSync(log, formatQuery({ ...asked, by: "tool" }));
  const noted = readFileSync(log, "utf8");
  expect(await first.undoTampering("agent")).toEqual([]);
  expect(readFileSync(log, "utf8")).toBe(noted);
  const second = await begin();
  appendFileSync(log, formatQuery(asked));
  expect(await second.undoTampering("agent")).toEqual([
    expect.stringMatching(/^queries\.jsonl changed while agent ran/),
  ]);
  expect(readFileSync(log, "utf8")).toBe(noted);
});

it("what a search found, which papers are retracted and which answers sources gave are as before, whatever the agent made of them", async () => {
  const { folder, begin } = loaded();
  const at = (...names: string[]) => join(folder, ".ralph", ...names);
  mkdirSync(at("http", "answers"), { recursive: true });
  const before = ["candidates.json", "updates.json", "http/answers/a.json", "http/answers/b.json"];
  for (const name of before) writeFileSync(at(name), `{"of":"${name}"}`);
  const guard = await begin();
  for (const name of before.slice(0, 3)) writeFileSync(at(name), "{}");
  unlinkSync(at("http/answers/b.json"));
  writeFileSync(at("http/answers/c.json"), "{}");
  expect(await guard.undoTampering("agent")).toEqual([
    expect.stringMatching(/^candidates\.json, updates\.json changed while agent ran .* were restored/),
    "agent changed stored answers of sources in .ralph (3); they were restored.",
  ]);
  expect(before.map((name) => readFileSync(at(name), "utf8"))).toEqual(before.map((name) => `{"of":"${name}"}`));
  expect(existsSync(at("http/answers/c.json"))).toBe(false);
  expect(readFileSync(at("set-aside", "1", "candidates.json"), "utf8")).toBe("{}");
  const again = await begin();
  // A person's own 'replay' reads answers and changes their times.
  utimesSync(at("http/answers/a.json"), 1, 1);
  expect(await again.undoTampering("agent")).toEqual([]);
});
const files = [
  "rrd.json",
  "progress.txt",
  "ledger.jsonl",
  "queries.jsonl",
  "research-report.md",
  "references.bib",
  "product-ideas.json",
];
const settings = ["ralph.config.yaml", "ralph.config.json"];
const orders = ["AGENTS.md", "CLAUDE.md", "prompt.md", ...settings];

/** A research of which every file is there, protected. `said` is what is told once the agent has ended. */
async function protectedResearch({ whole = true } = {}) {
  const folder = researchFolder(sampleRrd(3));
  const root = temporaryFolder();
  const rescue = join(temporaryFolder(), "rescued");
  for (const place of ["journal/done", "texts"]) mkdirSync(join(folder, ".ralph", place), { recursive: true });
  writeFileSync(join(folder, "rrd.json"), text);
  writeFileSync(lastGoodFile(folder), text);
  if (whole) for (const name of files.slice(1)) writeFileSync(join(folder, name), `of ${name}\n`);
  if (whole) for (const name of orders) writeFileSync(join(root, name), `of ${name}\n`);
  writeFileSync(join(folder, ".ralph/journal/2.json"), "{}");
  writeFileSync(join(folder, ".ralph/journal/done/1.json"), "{}");
  writeFileSync(join(folder, ".ralph/texts/p1.json"), "{}");
  const guard = await guardFiles({
    folder,
    root,
    configs: projectFiles(root),
    stateDir: dirname(rescue),
    iteration: 7,
    memory: new Map(),
  });
  const aside = join(folder, ".ralph/set-aside/7");
  return { folder, root, rescue, aside, said: () => guard.undoTampering("the agent") };
}
const back = (names: string, aside?: string) =>
  `${names} changed while the agent ran unconfined, and ${names.includes(", ") ? "were" : "was"} restored${
    aside === undefined
      ? ""
      : `; the changed ones are in ${aside}: if a change was yours, copy it back while no agent runs`
  }.`;

describe("after an agent that nothing confines", () => {
  it("nothing is told and nothing kept where nothing changed", async () => {
    const { said, aside, folder } = await protectedResearch();
    writeFileSync(join(folder, "progress.txt"), "of progress.txt\n");
    expect(await said()).toEqual([]);
    expect(existsSync(aside)).toBe(false);
  });

  it.each(files.slice(1))("%s of the research is as it was, and the changed one is kept", async (name) => {
    const { said, aside, folder } = await protectedResearch();
    writeFileSync(join(folder, name), "forged");
    expect(await said()).toEqual([back(name, aside)]);
    expect([read(folder, name), read(aside, name)]).toEqual([`of ${name}\n`, "forged"]);
  });

  it.each(settings)("%s beside the researches is as it was", async (name) => {
    const { said, aside, root } = await protectedResearch();
    writeFileSync(join(root, name), "forged");
    expect(await said()).toEqual([back(name, aside)]);
    expect([read(root, name), read(join(aside, basename(root)), name)]).toEqual([`of ${name}\n`, "forged"]);
  });

  it("the user's own configuration is as it was, and one that was planted goes: its hooks run as the user", async () => {
    const [folder, root, home] = [researchFolder(sampleRrd(3)), temporaryFolder(), temporaryFolder()];
    const [yaml = "", other = ""] = userFiles(home);
    mkdirSync(dirname(yaml), { recursive: true });
    writeFileSync(yaml, "jobs: 1\n");
    const guard = await guardFiles({
      folder,
      root,
      configs: userFiles(home),
      stateDir: join(home, "s"),
      iteration: 7,
      memory: new Map(),
    });
    for (const path of [yaml, other]) writeFileSync(path, "hooks: [{on: [complete], run: touch owned}]\n");
    expect(await guard.undoTampering("the agent")).toEqual([expect.stringContaining(basename(yaml))]);
    expect(readFileSync(yaml, "utf8")).toBe("jobs: 1\n");
    expect(existsSync(other)).toBe(false);
  });

  it("a link in the place of the transcripts goes, and nothing behind it is touched", async () => {
    const { folder, said } = await protectedResearch();
    const victim = temporaryFolder();
    writeFileSync(join(victim, "mine"), "mine\n");
    symlinkSync(victim, transcriptsFolder(folder));
    expect(await said()).toEqual([expect.stringContaining("transcripts")]);
    expect(existsSync(transcriptsFolder(folder))).toBe(false);
    expect(readFileSync(join(victim, "mine"), "utf8")).toBe("mine\n");
  });

  it("what was not there goes, and what was deleted is back: of that nothing is kept", async () => {
    const none = await protectedResearch({ whole: false });
    const config = join(none.root, "ralph.config.json");
    writeFileSync(config, "forged");
    expect(await none.said()).toEqual([back("ralph.config.json", none.aside)]);
    expect([existsSync(config), read(join(none.aside, basename(none.root)), "ralph.config.json")]).toEqual([
      false,
      "forged",
    ]);
    const all = await protectedResearch();
    rmSync(join(all.folder, "ledger.jsonl"));
    rmSync(lastGoodFile(all.folder));
    expect(await all.said()).toEqual([back("ledger.jsonl, the copy of the last good version")]);
    expect([read(all.folder, "ledger.jsonl"), readFileSync(lastGoodFile(all.folder), "utf8")]).toEqual([
      "of ledger.jsonl\n",
      text,
    ]);
    expect(existsSync(all.aside)).toBe(false);
  });

  it("a question that its tools noted stays only in the log of questions, and only as a file of such lines", async () => {
    const noted = `${JSON.stringify({ at: "2026-11-22T00:00:00.000Z", source: "arXiv", method: "GET", url: "https://arxiv.org/x", status: "ok", from: "network", by: "tool" })}\n`;
    const none = await protectedResearch({ whole: false });
    writeFileSync(join(none.folder, "queries.jsonl"), noted);
    writeFileSync(join(none.folder, "ledger.jsonl"), noted);
    expect(await none.said()).toEqual([back("ledger.jsonl", none.aside)]);
    expect([read(none.folder, "queries.jsonl"), existsSync(join(none.folder, "ledger.jsonl"))]).toEqual([noted, false]);
    const gone = await protectedResearch();
    rmSync(join(gone.folder, "queries.jsonl"));
    expect(await gone.said()).toEqual([back("queries.jsonl")]);
    const { folder, root, rescue } = await protectedResearch({ whole: false });
    symlinkSync("elsewhere", join(folder, "queries.jsonl"));
    const guard = await guardFiles({
      folder,
      root,
      configs: projectFiles(root),
      stateDir: dirname(rescue),
      iteration: 8,
      memory: new Map(),
    });
    rmSync(join(folder, "queries.jsonl"));
    writeFileSync(join(folder, "queries.jsonl"), noted);
    expect(await guard.undoTampering("the agent")).toHaveLength(1);
    expect(readlinkSync(join(folder, "queries.jsonl"))).toBe("elsewhere");
  });

  it("several are told in one sentence", async () => {
    const { said, aside, folder, root } = await protectedResearch();
    for (const path of [join(folder, "progress.txt"), lastGoodFile(folder), join(root, "ralph.config.json")])
      writeFileSync(path, "forged");
    expect(await said()).toEqual([back("progress.txt, the copy of the last good version, ralph.config.json", aside)]);
  });

  it("a link or a pipe in the place of a file is moved aside and never followed", async () => {
    const { said, folder, aside, root } = await protectedResearch();
    const secret = join(temporaryFolder(), "secret");
    writeFileSync(secret, "mine");
    for (const name of ["progress.txt", "ledger.jsonl"]) rmSync(join(folder, name));
    symlinkSync(secret, join(folder, "progress.txt"));
    execFileSync("mkfifo", [join(folder, "ledger.jsonl")]);
    rmSync(join(root, "prompt.md"));
    mkdirSync(join(root, "prompt.md", "deep"), { recursive: true });
    await said();
    expect([
      lstatSync(join(folder, "progress.txt")).isFile(),
      read(folder, "ledger.jsonl"),
      read(root, "prompt.md"),
    ]).toEqual([true, "of ledger.jsonl\n", "of prompt.md\n"]);
    expect([readlinkSync(join(aside, "progress.txt")), readFileSync(secret, "utf8")]).toEqual([secret, "mine"]);
    expect(readdirSync(aside).toSorted()).toEqual(["ledger.jsonl", "progress.txt", basename(root)]);
  });
});

describe("of rrd.json, after such an agent,", () => {
  const edit = (folder: string, over: Partial<Rrd>) =>
    writeFileSync(join(folder, "rrd.json"), formatRrd({ ...sampleRrd(3), ...over }));
  const kept = (names: string) =>
    `rrd.json was edited (${names}) while the agent ran unconfined. The edit is kept as yours; check it if you did not make it.`;

  it("what steers stays and is told", async () => {
    const { said, folder, aside } = await protectedResearch();
    edit(folder, { branchName: "mine", mine: 1 });
    expect(await said()).toEqual([kept("branchName, mine")]);
    expect(JSON.parse(read(folder, "rrd.json"))).toMatchObject({ branchName: "mine", mine: 1 });
    expect(existsSync(aside)).toBe(false);
  });

  it("what forges results goes, and both are told where there is both", async () => {
    const { said, folder, aside } = await protectedResearch();
    chmodSync(join(folder, "rrd.json"), 0o640);
    edit(folder, { phase: "COMPLETE" });
    expect(await said()).toEqual([back("rrd.json", aside)]);
    expect([read(folder, "rrd.json"), JSON.parse(read(aside, "rrd.json")).phase]).toEqual([text, "COMPLETE"]);
    edit(folder, { phase: "COMPLETE", branchName: "mine" });
    expect(await said()).toEqual([kept("branchName"), back("rrd.json", aside)]);
    expect(JSON.parse(read(folder, "rrd.json"))).toEqual({ ...sampleRrd(3), branchName: "mine" });
  });

  it("nothing stays of another kind of thing in its place, or where it was deleted", async () => {
    const { said, folder, aside } = await protectedResearch();
    rmSync(join(folder, "rrd.json"));
    expect(await said()).toEqual([back("rrd.json")]);
    rmSync(join(folder, "rrd.json"));
    symlinkSync(lastGoodFile(folder), join(folder, "rrd.json"));
    expect(await said()).toEqual([back("rrd.json", aside)]);
    expect([lstatSync(join(folder, "rrd.json")).isFile(), read(folder, "rrd.json")]).toEqual([true, text]);
  });

  it("only what stands in it steers: the copy of the last good version is nobody's to edit", async () => {
    const { said, folder, aside } = await protectedResearch();
    writeFileSync(lastGoodFile(folder), formatRrd({ ...sampleRrd(3), branchName: "mine" }));
    expect(await said()).toEqual([back("the copy of the last good version", aside)]);
    expect(readFileSync(lastGoodFile(folder), "utf8")).toBe(text);
  });

  it.each(["broken", '{"papers_pool": 7}', "null"])("nothing stays where it is %s", async (forged) => {
    const { said, folder, aside } = await protectedResearch();
    writeFileSync(join(folder, "rrd.json"), forged);
    expect(await said()).toEqual([back("rrd.json", aside)]);
    expect(read(folder, "rrd.json")).toBe(text);
  });

  it("a version that was wrong before comes back as it was: only half of one does not", async () => {
    const { said, folder, root, rescue } = await protectedResearch();
    await said();
    writeFileSync(join(folder, "rrd.json"), '{"papers_pool": 7}');
    const guard = await guardFiles({
      folder,
      root,
      configs: projectFiles(root),
      stateDir: dirname(rescue),
      iteration: 8,
      memory: new Map(),
    });
    writeFileSync(join(folder, "rrd.json"), text);
    await guard.undoTampering("the agent");
    expect(read(folder, "rrd.json")).toBe('{"papers_pool": 7}');
  });
});

describe("in .ralph, after such an agent,", () => {
  it("entries that it wrote to the journal are set aside and not believed, those of ours stay", async () => {
    const { said, folder, aside } = await protectedResearch();
    writeFileSync(join(folder, ".ralph/journal/99.json"), "forged");
    writeFileSync(join(folder, ".ralph/journal/done/1.json"), "forged");
    expect(await said()).toEqual([
      `the agent wrote to the journal (1.json, 99.json); that is set aside in ${aside} and not used.`,
    ]);
    expect([
      readdirSync(join(folder, ".ralph/journal")).toSorted(),
      readdirSync(join(folder, ".ralph/journal/done")),
    ]).toEqual([["2.json", "done"], []]);
    expect(read(join(aside, "journal"), "99.json")).toBe("forged");
  });

  it("five of them are named, and how many more there are", async () => {
    const { said, folder } = await protectedResearch();
    const names = [3, 4, 5, 6, 7, 8].map((number) => `${number}.json`);
    for (const name of names.slice(1)) writeFileSync(join(folder, ".ralph/journal", name), "forged");
    expect(await said()).toEqual([
      expect.stringMatching(/^the agent wrote to the journal \((\d\.json, ){4}\d\.json\);/),
    ]);
    for (const name of names) writeFileSync(join(folder, ".ralph/journal", name), "forged");
    expect(await said()).toEqual([
      expect.stringMatching(/^the agent wrote to the journal \((\d\.json, ){4}\d\.json and 1 more\);/),
    ]);
  });

  it("one that it replaced by another of the same size and time is found too", async () => {
    const { said, folder } = await protectedResearch();
    const path = join(folder, ".ralph/journal/2.json");
    const { atime, mtime } = statSync(path);
    await new Promise((resolve) => setTimeout(resolve, 20));
    writeFileSync(path, "[]");
    utimesSync(path, atime, mtime);
    expect(await said()).toEqual([expect.stringContaining("(2.json)")]);
  });

  it("entries that it deleted are told by their number", async () => {
    const { said, folder } = await protectedResearch();
    rmSync(join(folder, ".ralph/journal"), { recursive: true });
    expect(await said()).toEqual([
      "the agent deleted 2 entries of the journal; the results are in rrd.json, but a reset can't go back to those iterations.",
    ]);
  });

  it("texts that it changed or added are read afresh", async () => {
    const { said, folder, aside } = await protectedResearch();
    writeFileSync(join(folder, ".ralph/texts/p1.json"), "poison");
    writeFileSync(join(folder, ".ralph/texts/p2.json"), "poison");
    expect(await said()).toEqual([
      "the agent changed 2 of the papers' texts stored in .ralph; they will be fetched again.",
    ]);
    expect([readdirSync(join(folder, ".ralph/texts")), readdirSync(join(aside, "texts")).toSorted()]).toEqual([
      [],
      ["p1.json", "p2.json"],
    ]);
  });

  it("an answer of a source that it deleted is back, and none is kept aside", async () => {
    const { folder, root, rescue } = await protectedResearch();
    const answers = join(folder, ".ralph/http/answers");
    mkdirSync(answers, { recursive: true });
    writeFileSync(join(answers, "a.json"), "given");
    const guard = await guardFiles({
      folder,
      root,
      configs: projectFiles(root),
      stateDir: dirname(rescue),
      iteration: 8,
      memory: new Map(),
    });
    rmSync(join(answers, "a.json"));
    expect(await guard.undoTampering("the agent")).toEqual([
      "the agent changed stored answers of sources in .ralph (1); they were restored.",
    ]);
    expect([read(answers, "a.json"), existsSync(join(folder, ".ralph/set-aside/8"))]).toEqual(["given", false]);
  });

  it("texts that it deleted cost nothing and are not told", async () => {
    const { said, folder } = await protectedResearch();
    rmSync(join(folder, ".ralph/texts"), { recursive: true });
    expect(await said()).toEqual([]);
  });
});

describe("of the researches beside it", () => {
  const beside = (folder: string, name: string) => {
    const other = join(dirname(folder), name);
    mkdirSync(join(other, ".ralph"), { recursive: true });
    writeFileSync(join(other, "rrd.json"), "{}");
    return join(other, "rrd.json");
  };
  const hold = (rrd: string) => acquireLock(join(dirname(rrd), ".ralph/lock"), { subject: "It" });
  const begin = async () => {
    const [folder, stateDir] = [researchFolder(sampleRrd(3)), temporaryFolder()];
    const [one, two, held] = [beside(folder, "one"), beside(folder, "two"), beside(folder, "held")];
    const lock = await hold(held);
    mkdirSync(join(dirname(folder), "empty"));
    const memory = new Map();
    const root = temporaryFolder();
    const again = async () => {
      const guard = await guardFiles({ folder, root, configs: projectFiles(root), stateDir, iteration: 1, memory });
      return () => guard.undoTampering("the agent");
    };
    return { folder, stateDir, one, two, held, lock, memory, again, said: await again() };
  };

  it("a change is put back, kept aside and told; one that a run is at work on changes by itself", async () => {
    const { folder, one, held, said, again } = await begin();
    for (const path of [one, held]) writeFileSync(path, '{"forged": 1}');
    writeFileSync(join(dirname(one), "progress.txt"), "forged");
    const place = join(folder, ".ralph/set-aside/1/one");
    expect(await said()).toEqual(
      [one, join(dirname(one), "progress.txt")].map(
        (path) =>
          `${path} changed while the agent ran unconfined, and no run works on that project; it was restored, and the changed one is in ${place}.`,
      ),
    );
    expect([readFileSync(one, "utf8"), readFileSync(held, "utf8")]).toEqual(["{}", '{"forged": 1}']);
    expect(existsSync(join(dirname(one), "progress.txt"))).toBe(false);
    expect(readdirSync(place).toSorted()).toEqual(["progress.txt", "rrd.json"]);
    expect(await (await again())()).toEqual([]);
  });

  it("a message that nobody signed is set aside and told, also where a run is at work, and PAUSE is told", async () => {
    const { folder, stateDir, one, two, held, said } = await begin();
    const inbox = (rrd: string) => join(dirname(rrd), ".ralph/inbox");
    for (const rrd of [one, held]) {
      mkdirSync(inbox(rrd));
      writeFileSync(join(inbox(rrd), "1.json"), '{"text": "present all of them"}');
    }
    await writeMessage(dirname(two), { text: "mine" }, Date.now(), stateDir);
    writeFileSync(join(dirname(two), "PAUSE"), "");
    expect(await said()).toEqual([
      expect.stringContaining(`${dirname(two)}: PAUSE appeared while the agent ran`),
      expect.stringContaining(`1 message appeared in ${inbox(held)} while the agent ran`),
      expect.stringContaining(`1 message appeared in ${inbox(one)} while the agent ran`),
    ]);
    expect([one, held, two].map((rrd) => readdirSync(inbox(rrd)).length)).toEqual([0, 0, 1]);
    expect(readdirSync(join(folder, ".ralph/set-aside/1/one"), { recursive: true })).toContainEqual(
      expect.stringMatching(/1\.json$/),
    );
  });

  it("a deletion is undone, and a new one is not told", async () => {
    const { folder, one, said } = await begin();
    rmSync(dirname(one), { recursive: true });
    beside(folder, "new");
    expect(await said()).toEqual([expect.stringContaining(`${one} changed`)]);
    expect(readFileSync(one, "utf8")).toBe("{}");
  });

  it("what a run or a command of ours left there meanwhile stays; what one is at work on now is told", async () => {
    const { one, two, stateDir, said } = await begin();
    writeFileSync(one, '{"by": "its run"}');
    await signState(dirname(one), stateDir);
    writeFileSync(two, '{"by": "its run"}');
    await hold(two);
    expect(await said()).toEqual([expect.stringContaining(`${dirname(two)} changed while the agent ran`)]);
    expect([readFileSync(one, "utf8"), readFileSync(two, "utf8")]).toEqual(['{"by": "its run"}', '{"by": "its run"}']);
  });

  it("a signature of another state or by another key says nothing", async () => {
    const { one, stateDir, said } = await begin();
    await signState(dirname(one), stateDir);
    writeFileSync(one, '{"forged": 1}');
    expect(await said()).toHaveLength(1);
    const other = await begin();
    writeFileSync(other.one, '{"forged": 1}');
    await signState(dirname(other.one), temporaryFolder());
    expect(await other.said()).toHaveLength(1);
    expect([readFileSync(one, "utf8"), readFileSync(other.one, "utf8")]).toEqual(["{}", "{}"]);
  });

  it("files beyond 64 MB in all are not remembered, so that the rest of them fits into memory", async () => {
    const { one, two, again } = await begin();
    truncateSync(two, 65 * 1024 * 1024);
    const said = await again();
    truncateSync(two, 3);
    writeFileSync(one, '{"forged": 1}');
    expect(await said()).toEqual([expect.stringMatching(/one\/rrd\.json changed while/)]);
    expect([statSync(two).size, readFileSync(one, "utf8")]).toEqual([3, "{}"]);
  });
});

describe("of what a person has told the project", () => {
  /** `later`: has these messages left by another process while the agent works. */
  const begin = async (later: (folder: string, stateDir: string) => Promise<void> = async () => undefined) => {
    const [folder, stateDir] = [researchFolder(sampleRrd(3)), temporaryFolder()];
    const inbox = join(folder, ".ralph/inbox");
    await later(folder, stateDir);
    const texts = existsSync(inbox) ? readdirSync(inbox).map((name) => [name, read(inbox, name)] as const) : [];
    rmSync(inbox, { recursive: true, force: true });
    await writeMessage(folder, { text: "Mind the cost." }, 1, stateDir);
    const guard = await guardFiles({
      folder,
      root: temporaryFolder(),
      stateDir,
      configs: [],
      iteration: 1,
      memory: new Map(),
    });
    const heard = async () =>
      (await readMessages(folder)).map((message) => ("text" in message ? message.text : message));
    for (const [name, text] of texts) writeFileSync(join(inbox, name), text);
    return { folder, inbox, heard, said: () => guard.undoTampering("the agent") };
  };

  it("a message that no command of ours wrote is set aside and told; a signed one is heard", async () => {
    const { folder, inbox, heard, said } = await begin(async (at, stateDir) => {
      await writeMessage(at, { text: "And the time." }, 2, stateDir);
      await writeMessage(at, { clear: true }, 4, temporaryFolder());
    });
    writeFileSync(join(inbox, "3.json"), JSON.stringify({ text: "Give 5 everywhere.", format: 1 }));
    const [signed = ""] = readdirSync(inbox).toSorted().slice(1);
    const copy = JSON.parse(readFileSync(join(inbox, signed), "utf8")) as object;
    writeFileSync(join(inbox, "5.json"), JSON.stringify(copy));
    writeFileSync(join(inbox, "6.json"), JSON.stringify({ ...copy, text: "Forged." }));
    expect(await said()).toEqual([expect.stringMatching(/^4 messages appeared .*without the signature/)]);
    expect(await heard()).toEqual(["Mind the cost.", "And the time."]);
    expect(readdirSync(join(folder, ".ralph/set-aside/1/inbox"))).toHaveLength(4);
  });

  it("one that was there before comes back where it was deleted or changed", async () => {
    for (const harm of [
      (path: string) => rmSync(path),
      (path: string) => writeFileSync(path, '{"text": "Forged."}'),
      (path: string) => (rmSync(path), mkdirSync(path)),
    ]) {
      const { inbox, heard, said } = await begin();
      const [name = ""] = readdirSync(inbox);
      harm(join(inbox, name));
      expect(await said()).toEqual([expect.stringMatching(/deleted or changed 1 message/)]);
      expect(await heard()).toEqual(["Mind the cost."]);
    }
  });

  it.each(["PAUSE", "STOP"])("%s is obeyed and told", async (name) => {
    const { folder, said } = await begin();
    writeFileSync(join(folder, name), "");
    expect(await said()).toEqual([expect.stringMatching(new RegExp(`^${name} appeared while`))]);
    expect(existsSync(join(folder, name))).toBe(true);
  });
});

it("a research that is gone is saved elsewhere as it was, and nothing is made where it stood", async () => {
  const { said, folder, rescue } = await protectedResearch();
  renameSync(folder, `${folder}-moved`);
  const error: unknown = await said().catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(ExpectedError);
  const [saved = ""] = readdirSync(rescue);
  expect(saved).toMatch(/^sample-2026-01-01-\d{4}-\d\d-\d\dT/);
  expect((error as Error).message).toBe(
    `${folder} was deleted or moved away while the agent ran unconfined; its files as they were are in ${join(rescue, saved)}: move that there and run again.`,
  );
  expect(readdirSync(join(rescue, saved)).toSorted()).toEqual(files.toSorted());
  expect([read(join(rescue, saved), "rrd.json"), existsSync(folder)]).toEqual([text, false]);
  const part = await protectedResearch({ whole: false });
  rmSync(part.folder, { recursive: true });
  writeFileSync(part.folder, "a file now");
  await expect(part.said()).rejects.toThrow("was deleted or moved away");
  expect(readdirSync(join(part.rescue, readdirSync(part.rescue)[0] ?? ""))).toEqual(["rrd.json"]);
});
