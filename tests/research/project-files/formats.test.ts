import { tmpdir } from "node:os";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { costCommand } from "../../../src/commands/inspect/cost.js";
import { statusCommand } from "../../../src/commands/inspect/status.js";
import { validateCommand } from "../../../src/commands/inspect/validate.js";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { notedFolder } from "../../../src/engine/lib/layout.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { writeFileAtomic } from "../../../src/engine/storage/atomic-file.js";
import { requireKnownFormats, stateVersion } from "../../../src/engine/storage/state/format-version.js";
import { pendingEntries, readEntry } from "../../../src/engine/storage/state/journal.js";
import { readLedger } from "../../../src/engine/storage/state/ledger.js";
import { writeOutputs } from "../../../src/engine/storage/state/output-files.js";
import { writeMessage, readMessages } from "../../../src/engine/storage/state/steering-inbox.js";
import { editResearch } from "../../../src/research/project-files/edit-by-command.js";
import {
  candidatesFile,
  lastGoodFile,
  textsFolder,
  updateFile,
  updatesFile,
} from "../../../src/research/project-files/layout.js";
import { queryRecorder, readQueries } from "../../../src/research/project-files/logs/query-log.js";
import { openResearch, readResearch } from "../../../src/research/project-files/research.js";
import { resetResearch } from "../../../src/research/units/reset.js";
import { readRrdFile, researchFormat } from "../../../src/research/project-files/rrd-file.js";
import { lastCachedText, saveText } from "../../../src/research/full-text/text-cache.js";
import { readSearchRecord, writeSearchRecord } from "../../../src/research/search/search-record.js";
import { reportModel } from "../../../src/research/report/model.js";
import { doubtsOf } from "../../../src/research/report/narrative/check.js";
import { readReportInput } from "../../../src/research/report/read-report.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { temporaryFolder } from "../../support/folders.js";

// One folder for each format that a release or a state of the main branch has written, made by
// tests/fixtures/formats/make.mjs.
const fixtures = packageFile("tests/fixtures/formats");
const formats = readdirSync(fixtures).filter((name) => !name.includes("."));
const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const json = (...path: string[]) => JSON.parse(read(...path));

/** Every file below a folder with its text. */
const filesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length), read(path)]),
  );

/** The newest frozen folder of the format that is written now. */
const formatNow =
  formats
    .filter((name) => json(fixtures, name, "complete", "rrd.json").format === stateVersion)
    .toSorted()
    .at(-1) ?? "";

/** A copy of a frozen folder. */
function thawed(format = formatNow, state = "complete"): string {
  const folder = join(temporaryFolder(), "grasping-2026-11-22");
  cpSync(join(fixtures, format, state), folder, { recursive: true });
  return folder;
}

it("the frozen narrative of a report is read as it was written, and everything in it is carried", async () => {
  const folder = thawed("report-as-data");
  const { input, notices } = await readReportInput(folder, new Date("2026-11-23T00:00:00Z"));
  expect(notices).toEqual([]);
  const model = reportModel(input);
  expect([model.narrative, model.findings.length > 0, doubtsOf(model)]).toEqual(["data", true, []]);
  const unknown = { ...json(folder, "report.json"), a_field_of_later: { kept: true } };
  writeFileSync(join(folder, "report.json"), JSON.stringify(unknown));
  expect((await readReportInput(folder, new Date())).input.report).toEqual(unknown);
});

it.each(["1", "ac64460"])(
  "a finished project of format %s, from before report.json, gives the words under its headings",
  async (format) => {
    const { input } = await readReportInput(thawed(format), new Date("2026-11-23T00:00:00Z"));
    const { narrative, answer, findings } = reportModel(input);
    expect([narrative, answer.length > 0, findings.every(({ quotes }) => quotes.length > 0)]).toEqual([
      "headings",
      true,
      true,
    ]);
  },
);

it("there is a frozen folder of the format that is written now, and of each before", () => {
  expect(formats).toEqual(expect.arrayContaining(["ac64460", "report-as-data", "1", "2026-11-26"]));
  expect(formatNow).not.toBe("");
});

describe.each(formats)("state files of format %s", (format) => {
  const begun = join(fixtures, format, "begun");
  const killed = join(fixtures, format, "killed");
  const complete = join(fixtures, format, "complete");

  it.each(["begun", "killed", "complete"])("are read, each, of a project that is %s", async (state) => {
    const folder = join(fixtures, format, state);
    const { ok, changes } = await readRrdFile(join(folder, "rrd.json"));
    expect([ok?.papers_pool.length, ok?.["custom"], changes]).toEqual([5, { kept: "a field that nobody knows" }, []]);
    expect((await readRrdFile(lastGoodFile(folder))).ok).toEqual(ok);
    const ledger = await readLedger(folder);
    expect([ledger.lines.length, ledger.notices]).toEqual([state === "complete" ? 8 : 3, []]);
    const queries = await readQueries(folder);
    expect([queries.lines.map(({ source }) => source), queries.notices]).toEqual([["SearXNG", "SearXNG"], []]);
    const { search } = json(candidatesFile(folder));
    expect(await readSearchRecord(candidatesFile(folder), search)).toMatchObject({
      search,
      steps: expect.any(Array),
      listings: expect.any(Array),
    });
    expect((await lastCachedText(textsFolder(folder), "sample_01"))?.text).toContain("calibration");
    // Answers are kept where there were any; the first versions kept an empty file too.
    if (existsSync(updatesFile(folder))) expect(json(updatesFile(folder))).toBeTypeOf("object");
    await requireKnownFormats(folder, researchFormat);
  });

  it("have their journal read, what is still to be replayed and what is done", async () => {
    expect([await pendingEntries(begun), await pendingEntries(killed), await pendingEntries(complete)]).toEqual([
      [],
      [4],
      [],
    ]);
    const entries = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => readEntry(complete, researchFormat, n)));
    expect(entries.map((entry) => entry?.iteration)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect((await readEntry(killed, researchFormat, 4))?.changes).toContainEqual(
      expect.objectContaining({ in: "papers_pool", id: "sample_08" }),
    );
  });

  it("have their message read, and an output file known as the program's own", async () => {
    const folder = thawed(format);
    expect(await readMessages(folder)).toMatchObject([{ text: "Prefer results on real hardware." }]);
    const told: string[] = [];
    // The others hold the path of the texts, which freezing replaced.
    await writeOutputs(folder, [{ name: "product-ideas.json", text: "another" }], 0, (message) => told.push(message));
    expect([told, readdirSync(folder).filter((name) => name.includes("edited"))]).toEqual([[], []]);
  });
});

it("what is written says its format, and keeps a later file from being taken for one of ours", async () => {
  const folder = thawed();
  expect(json(folder, "rrd.json").format).toBe(stateVersion);
  for (const name of ["ledger.jsonl", "queries.jsonl"])
    for (const line of read(folder, name).trim().split("\n")) expect(JSON.parse(line).format).toBe(stateVersion);
  for (const path of Object.keys(filesOf(join(folder, ".ralph"))).filter((name) => name.endsWith(".json")))
    expect([path, json(folder, ".ralph", path).format]).toEqual([path, stateVersion]);
});

it("a state without a format is given one with the next change, and one that is only read is not", async () => {
  const folder = thawed("ac64460", "begun");
  const options = { derive, git: false, notify: () => undefined };
  const before = read(folder, "rrd.json");
  await (await openResearch(folder, options)).close();
  expect(read(folder, "rrd.json")).toBe(before);
  await editResearch(folder, (rrd) => ({ ...rrd, description: "Another." }), options);
  expect(json(folder, "rrd.json")).toMatchObject({ description: "Another.", format: stateVersion });
});

describe("a project in which a later version wrote", () => {
  const edit = (folder: string, name: string, change: (text: string) => string) =>
    writeFileSync(join(folder, name), change(read(folder, name)));
  const message = (folder: string) => join(".ralph", "inbox", readdirSync(join(folder, ".ralph", "inbox"))[0] ?? "");
  const later = stateVersion + 1;
  const [now, next] = [`"format": ${stateVersion}`, `"format": ${later}`];
  const changed: [string, (folder: string) => void][] = [
    ["its state", (folder) => edit(folder, "rrd.json", (text) => text.replace(now, next))],
    [
      "a state that is not valid here",
      (folder) =>
        edit(folder, "rrd.json", (text) =>
          text.replace(now, next).replace('"phase": "COMPLETE"', '"phase": "PUBLISHED"'),
        ),
    ],
    [
      "a line of its ledger",
      (folder) =>
        edit(
          folder,
          "ledger.jsonl",
          (text) => `${text}${text.split("\n")[0]?.replace(`"format":${stateVersion}`, `"format":${later}`)}\n`,
        ),
    ],
    [
      "an entry of its journal",
      (folder) => {
        cpSync(join(folder, ".ralph/journal/done/8.json"), join(folder, ".ralph/journal/9.json"));
        edit(folder, ".ralph/journal/9.json", (text) =>
          text.replace(new RegExp(`"format":${stateVersion}\\}$`), `"format":${later}}`),
        );
      },
    ],
    [
      "a line of its log of queries",
      (folder) =>
        edit(
          folder,
          "queries.jsonl",
          (text) => `${text}${text.split("\n")[0]?.replace(`"format":${stateVersion}`, `"format":${later}`)}\n`,
        ),
    ],
    [
      "the search under way",
      (folder) =>
        writeFileSync(candidatesFile(folder), JSON.stringify({ ...json(candidatesFile(folder)), format: later })),
    ],
    [
      "the narrative of its report",
      (folder) => writeFileSync(join(folder, "report.json"), JSON.stringify({ format: later, statements: [] })),
    ],
    [
      "what an update asked",
      (folder) => writeFileSync(updateFile(folder), JSON.stringify({ until: "2026-11-20", failed: {}, format: later })),
    ],
    [
      "what an agent left for the next",
      (folder) => {
        mkdirSync(notedFolder(folder), { recursive: true });
        writeFileSync(join(notedFolder(folder), "3.json"), JSON.stringify({ iteration: 3, format: later }));
      },
    ],
    [
      "a message",
      (folder) =>
        edit(folder, message(folder), (text) => text.replace(`"format":${stateVersion}`, `"format":${later}`)),
    ],
  ];
  const refused = (error: unknown) => {
    expect(error).toBeInstanceOf(ExpectedError);
    const { exitCode, message: sentence } = error as ExpectedError;
    expect([exitCode, sentence]).toEqual([
      5,
      expect.stringMatching(new RegExp(`format ${later} .*format ${stateVersion} .*update research-ralph`)),
    ]);
  };

  it.each(changed)("(%s) is neither run, edited nor reset, and nothing in it changes", async (_, change) => {
    const folder = thawed();
    change(folder);
    const before = filesOf(folder);
    const options = { derive, git: false, notify: () => undefined, now: () => 0, backupAt: 0 };
    await openResearch(folder, options).then(() => expect.unreachable(), refused);
    await editResearch(folder, (rrd) => rrd, options).then(() => expect.unreachable(), refused);
    await resetResearch(folder, { all: true }, options).then(() => expect.unreachable(), refused);
    await requireKnownFormats(folder, researchFormat).then(() => expect.unreachable(), refused);
    expect(filesOf(folder)).toEqual(before);
  });

  it("is read as far as it can be", async () => {
    const folder = thawed();
    for (const [what, change] of changed) if (!what.includes("not valid")) change(folder);
    const { rrd, ledger } = await readResearch(folder);
    expect([rrd.phase, ledger.length]).toEqual(["COMPLETE", 9]);
    changed.find(([what]) => what.includes("not valid"))?.[1](folder);
    edit(folder, "rrd.json", (text) => text.replace('"phase": "COMPLETE"', '"phase": "PUBLISHED"'));
    await readResearch(folder).then(() => expect.unreachable(), refused);
  });

  it.each(changed)("(%s) is named wherever it is shown", async (what, change) => {
    const folder = thawed();
    const said = async () => {
      const io = fakeIo({ cwd: dirname(folder) });
      for (const show of [statusCommand, costCommand, validateCommand])
        await show({ folder, json: false }, io).catch((error: Error) => io.stderr(error.message));
      return (
        `${io.out()}${io.err()}`.match(new RegExp(`was written in format ${later} by a later version`, "g"))?.length ??
        0
      );
    };
    expect(await said()).toBe(0);
    change(folder);
    expect([what, await said()]).toEqual([what, 3]);
  });

  it("takes no line into its log of queries, from a tool either", async () => {
    const folder = thawed();
    changed.find(([what]) => what.includes("queries"))?.[1](folder);
    const before = read(folder, "queries.jsonl");
    const record = queryRecorder(folder);
    const [line] = (await readQueries(folder)).lines;
    for (let time = 0; time < 2; time++)
      await record(line as Parameters<typeof record>[0]).then(() => expect.unreachable(), refused);
    expect(read(folder, "queries.jsonl")).toBe(before);
  });

  it("while a run works on it is not written any more", async () => {
    const folder = thawed(formatNow, "begun");
    const research = await openResearch(folder, { derive, git: false, notify: () => undefined });
    edit(folder, "rrd.json", (text) => text.replace(now, next));
    const before = read(folder, "rrd.json");
    await research.load().then(() => expect.unreachable(), refused);
    await research.edit((rrd) => ({ ...rrd, description: "x" })).then(() => expect.unreachable(), refused);
    expect(read(folder, "rrd.json")).toBe(before);
    await research.close();
  });

  it("keeps a message of it until that version reads it, beside those that are read", async () => {
    const folder = thawed();
    changed.find(([what]) => what === "a message")?.[1](folder);
    await writeMessage(folder, { text: "Another." }, Date.parse("2030-01-01"), tmpdir());
    expect((await readMessages(folder)).map((each) => "text" in each && each.text)).toEqual(["Another."]);
  });

  it("a cache of it is as none, and is made again", async () => {
    const folder = thawed();
    const { search, ...rest } = json(candidatesFile(folder));
    await writeFileAtomic(candidatesFile(folder), JSON.stringify({ search, ...rest, format: later }));
    expect(await readSearchRecord(candidatesFile(folder), search)).toBeUndefined();
    await writeSearchRecord(candidatesFile(folder), { search, ...rest });
    expect(await readSearchRecord(candidatesFile(folder), search)).toMatchObject({ search });
    const path = join(textsFolder(folder), "sample_01.json");
    const text = await lastCachedText(textsFolder(folder), "sample_01");
    writeFileSync(path, JSON.stringify({ ...json(path), format: later }));
    expect(await lastCachedText(textsFolder(folder), "sample_01")).toBeUndefined();
    if (text !== undefined) await saveText(textsFolder(folder), "sample_01", text);
    expect(await lastCachedText(textsFolder(folder), "sample_01")).toEqual(text);
  });
});
