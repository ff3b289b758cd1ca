import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolCommand } from "../../../src/commands/search/tool.js";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import { readQueries } from "../../../src/research/project-files/logs/query-log.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, makeResearch } from "../../support/projects/research-folder.js";
import { atom, hand, scholarly, works } from "../../support/network/scholarly.js";
import { queriesName } from "../../../src/research/project-files/layout.js";

async function research() {
  const place = await scholarly(atom, works);
  const folder = makeResearch(place.cwd, "hands", {
    requirements: { target_papers: 4, sources: ["arXiv", "Crossref"] },
  });
  mkdirSync(join(folder, ".ralph"));
  const search = async (query = "shape of tools") => {
    const io = fakeIo({ cwd: place.cwd, env: place.env });
    await toolCommand({ name: "search_papers", research: ["hands"], json: JSON.stringify({ query }) }, io);
    return io.out();
  };
  const running = () => acquireLock(join(folder, ".ralph", "lock"), { subject: "It" });
  return { folder, search, running };
}

test("what an agent asks with a tool while a run is at work stands in the research's log, as asked by a tool", async () => {
  const { folder, search, running } = await research();
  const lock = await running();
  expect(await search()).toContain(hand.title);
  await lock.release();
  const { lines, notices } = await readQueries(folder);
  expect(notices).toEqual([]);
  expect(lines.map(({ by, source, status }) => [by, source, status]).toSorted()).toEqual([
    ["tool", "Crossref", "ok"],
    ["tool", "arXiv", "ok"],
  ]);
  expect(lines.every(({ sha256, url }) => sha256 !== undefined && url.startsWith("http://127.0.0.1"))).toBe(true);
});

test("a person who tries a tool while nothing runs changes nothing of a research", async () => {
  const { folder, search } = await research();
  expect(await search()).toContain(hand.title);
  expect(existsSync(join(folder, queriesName))).toBe(false);
});

test("a question that can't be noted is answered all the same", async () => {
  const { folder, search, running } = await research();
  mkdirSync(join(folder, queriesName));
  writeFileSync(join(folder, queriesName, "x"), "");
  const lock = await running();
  expect(await search()).toContain(hand.title);
  await lock.release();
});

test("a tool that there is not is named as wrong before anything else, where there is no research too", async () => {
  const io = fakeIo({ cwd: freshFolder() });
  await expect(toolCommand({ name: "serch_papers" }, io)).rejects.toThrow(
    "There is no tool 'serch_papers'; did you mean search_papers?",
  );
});
