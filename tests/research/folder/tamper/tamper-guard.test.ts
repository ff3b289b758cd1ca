import { existsSync, mkdirSync, readFileSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { protect } from "../../../../src/research/folder/tamper/tamper-guard.js";
import { queryRecorder } from "../../../../src/research/folder/logs/query-log.js";
import { formatRrd } from "../../../../src/research/folder/rrd-file.js";
import { lastGoodOf } from "../../../../src/research/folder/state-file.js";
import { researchFolder, sampleRrd } from "../../../support/folders.js";

const text = formatRrd(sampleRrd(3));

function loaded() {
  const folder = researchFolder(sampleRrd(3));
  const [path, lastGood] = [join(folder, "rrd.json"), lastGoodOf(folder)];
  mkdirSync(dirname(lastGood), { recursive: true });
  writeFileSync(path, text);
  writeFileSync(lastGood, text);
  return {
    folder,
    path,
    begin: () => protect({ folder, root: dirname(folder), rescue: join(folder, "rescue"), iteration: 1 }),
  };
}

it.each(["", text.slice(0, 100)])(
  "half a file, remembered while an editor was saving it, is never put back",
  async (half) => {
    const { path, begin } = loaded();
    writeFileSync(path, half);
    const protection = await begin();
    writeFileSync(path, formatRrd(sampleRrd(2)));
    await protection.putBack("agent");
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);

it("a file that is put back is there at every instant, so that a kill costs none", async () => {
  const { path, begin } = loaded();
  const protection = await begin();
  for (let round = 0; round < 20; round++) {
    writeFileSync(path, "changed");
    let [looks, missing, done] = [0, 0, false];
    const look = (): void => {
      looks += 1;
      if (!existsSync(path)) missing += 1;
      if (!done) setImmediate(look);
    };
    look();
    await protection.putBack("agent");
    done = true;
    expect(looks).toBeGreaterThan(1);
    expect(missing).toBe(0);
  }
  expect(readFileSync(path, "utf8")).toBe(text);
});

it("a file beside the researches is no research, and does not stop a run", async () => {
  const { folder, begin } = loaded();
  writeFileSync(join(dirname(folder), "README.md"), "# My researches\n");
  expect(await (await begin()).putBack("agent")).toEqual([]);
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
  await queryRecorder(folder)({ ...asked, by: "tool" });
  const noted = readFileSync(log, "utf8");
  expect(await first.putBack("agent")).toEqual([]);
  expect(readFileSync(log, "utf8")).toBe(noted);
  const second = await begin();
  await queryRecorder(folder)(asked);
  expect(await second.putBack("agent")).toEqual([expect.stringMatching(/^queries\.jsonl changed while agent ran/)]);
  expect(readFileSync(log, "utf8")).toBe(noted);
});

it("what a search found, which papers are retracted and which answers sources gave are as before, whatever the agent made of them", async () => {
  const { folder, begin } = loaded();
  const at = (...names: string[]) => join(folder, ".ralph", ...names);
  mkdirSync(at("http", "answers"), { recursive: true });
  const before = ["candidates.json", "updates.json", "http/answers/a.json", "http/answers/b.json"];
  for (const name of before) writeFileSync(at(name), `{"of":"${name}"}`);
  const protection = await begin();
  for (const name of before.slice(0, 3)) writeFileSync(at(name), "{}");
  unlinkSync(at("http/answers/b.json"));
  writeFileSync(at("http/answers/c.json"), "{}");
  expect(await protection.putBack("agent")).toEqual([
    expect.stringMatching(/^candidates\.json, updates\.json changed while agent ran, .* are as before/),
    "agent changed which answers of sources are kept in .ralph (3); they are as before.",
  ]);
  expect(before.map((name) => readFileSync(at(name), "utf8"))).toEqual(before.map((name) => `{"of":"${name}"}`));
  expect(existsSync(at("http/answers/c.json"))).toBe(false);
  expect(readFileSync(at("set-aside", "1", "candidates.json"), "utf8")).toBe("{}");
  const again = await begin();
  // A person's own 'replay' reads answers and changes their times.
  utimesSync(at("http/answers/a.json"), 1, 1);
  expect(await again.putBack("agent")).toEqual([]);
});
