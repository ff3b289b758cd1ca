import { appendFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stateVersion } from "../../../../src/engine/storage/state/format-version.js";
import type { QueryLine } from "../../../../src/engine/generated/query.js";
import {
  searchQueries,
  hasOnlyToolsAdded,
  queryRecorder,
  readQueries,
} from "../../../../src/research/project-files/logs/query-log.js";
import { temporaryFolder } from "../../../support/folders.js";
import { queriesName } from "../../../../src/research/project-files/layout.js";

const line = (n: number): QueryLine => ({
  at: "2026-11-22T00:00:00.000Z",
  source: "arXiv",
  method: "GET",
  url: `https://export.arxiv.org/api/query?n=${n}`,
  status: "ok",
  from: "network",
  format: stateVersion,
});

it("questions stand in the order in which they were told, also when nobody waits", async () => {
  const folder = temporaryFolder();
  const record = queryRecorder(folder);
  await Promise.all([1, 2, 3, 4, 5].map((n) => record(line(n))));
  expect((await readQueries(folder)).lines).toEqual([1, 2, 3, 4, 5].map(line));
});

it("a torn last line is left out silently, and the next question begins a line of its own", async () => {
  const folder = temporaryFolder();
  await queryRecorder(folder)(line(1));
  appendFileSync(join(folder, queriesName), '{"at":"2026');
  expect(await readQueries(folder)).toEqual({ lines: [line(1)], notices: [] });
  await queryRecorder(folder)(line(2));
  const { lines, notices } = await readQueries(folder);
  expect(lines).toEqual([line(1), line(2)]);
  expect(notices).toEqual([`${join(folder, queriesName)}:2 can't be read and is ignored.`]);
});

it("of many lines that can't be read the first five are named, and the others counted", async () => {
  const folder = temporaryFolder();
  const path = join(folder, queriesName);
  appendFileSync(path, "no\n".repeat(1_000));
  expect((await readQueries(folder)).notices).toEqual([
    ...[1, 2, 3, 4, 5].map((row) => `${path}:${row} can't be read and is ignored.`),
    `${path}: 995 more of its lines can't be read and are ignored.`,
  ]);
});

it("a folder without a log has asked nothing", async () => {
  expect(await readQueries(temporaryFolder())).toEqual({ lines: [], notices: [] });
});

it("a link in place of the log is not followed, and later questions are still tried", async () => {
  const folder = temporaryFolder();
  const elsewhere = join(temporaryFolder(), "elsewhere");
  writeFileSync(elsewhere, "");
  symlinkSync(elsewhere, join(folder, queriesName));
  const record = queryRecorder(folder);
  await expect(record(line(1))).rejects.toThrow(/is a symbolic link, which is not followed/);
  await expect(record(line(2))).rejects.toThrow(/symbolic link/);
  expect(readFileSync(elsewhere, "utf8")).toBe("");
});

it("what tools asked is told from the search's own questions, and only whole lines of theirs count as added by tools", async () => {
  const folder = temporaryFolder();
  const record = queryRecorder(folder);
  const bytes = () => readFileSync(join(folder, queriesName));
  await record(line(1));
  const before = bytes();
  await record({ ...line(2), by: "tool" });
  await record({ ...line(3), by: "tool" });
  expect(searchQueries((await readQueries(folder)).lines)).toEqual([line(1)]);
  expect(hasOnlyToolsAdded(before, bytes())).toBe(true);
  expect(hasOnlyToolsAdded(Buffer.alloc(0), bytes().subarray(before.length))).toBe(true);
  const torn = Buffer.concat([before, Buffer.from('{"at":"20')]);
  expect(hasOnlyToolsAdded(torn, Buffer.concat([torn, Buffer.from("\n"), bytes().subarray(before.length)]))).toBe(true);

  expect(hasOnlyToolsAdded(before, before)).toBe(false);
  expect(hasOnlyToolsAdded(before, bytes().subarray(0, -3))).toBe(false);
  expect(hasOnlyToolsAdded(bytes(), before)).toBe(false);
  await record(line(4));
  expect(hasOnlyToolsAdded(before, bytes())).toBe(false);
  expect(hasOnlyToolsAdded(before, Buffer.concat([Buffer.from(" "), bytes()]))).toBe(false);
});

it("blank lines are no questions, and a line in another shape is named", async () => {
  const folder = temporaryFolder();
  const path = join(folder, queriesName);
  writeFileSync(path, `\n  \n${JSON.stringify(line(1))}\n{"at": 7}\n\n`);
  expect(await readQueries(folder)).toEqual({ lines: [line(1)], notices: [`${path}:4 can't be read and is ignored.`] });
  expect(await readQueries(join(folder, "gone"))).toEqual({ lines: [], notices: [] });
});

it("a tool's line counts as added behind a torn one only where that was ended, and only if it is whole and in the log's shape", () => {
  const tool = `${JSON.stringify({ ...line(2), by: "tool" })}\n`;
  const added = (before: string, after: string) => hasOnlyToolsAdded(Buffer.from(before), Buffer.from(after));
  expect(added('{"torn', `{"torn\n${tool}`)).toBe(true);
  expect(added('{"torn', `{"torn${tool}`)).toBe(false);
  expect(added("whole\n", `whole\n${tool}`)).toBe(true);
  expect(added("whole\n", `whole\n\n${tool}`)).toBe(false);
  expect(added("\nwhole", `\nwhole\n${tool}`)).toBe(true);
  expect(added("whole\n", `other\n${tool}`)).toBe(false);
  expect(added("whole\n", "whole\n")).toBe(false);
  expect(added("", tool.trimEnd())).toBe(false);
  expect(added("", `${JSON.stringify({ by: "tool" })}\n`)).toBe(false);
  expect(added("", `torn\n${tool}`)).toBe(false);
  expect(added("", `${JSON.stringify({ ...line(3), by: "tool", url: "https://example.org/é" })}\n`)).toBe(true);
});
