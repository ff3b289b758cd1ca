import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { run, sharedPackage } from "../../support/processes/built.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";

let dist: string;
beforeAll(async () => {
  dist = join(await sharedPackage(), "dist", "cli.js");
});

test("eight decisions at one moment are all in rrd.json, and none is left for a run that nobody started", async () => {
  const cwd = freshFolder();
  const ids = Array.from({ length: 8 }, (_, index) => `p${index}`);
  const folder = makeResearch(cwd, "hands-2026-03-01", {
    requirements: { target_papers: 8, criteria: [{ id: "c1", kind: "include", text: "robot hands" }] },
    papers_pool: ids.map((id) => paper(id, "pending")),
  });
  const decide = (id: string, index: number) =>
    run(process.execPath, [dist, "decide", folder, id, index % 2 ? "exclude" : "include", `Because of ${id}.`], cwd);
  const ended = await Promise.all(ids.map(decide));
  expect(ended.map(({ code, err }) => [code, err])).toEqual(ids.map(() => [0, ""]));
  expect(ended.filter(({ out }) => out.includes("A run is under way"))).toEqual([]);
  const rrd = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
  expect(rrd.papers_pool.map(({ override, status }) => [override?.why, override?.decision, status])).toEqual(
    ids.map((id, index) => [
      `Because of ${id}.`,
      index % 2 ? "exclude" : "include",
      index % 2 ? "rejected" : "pending",
    ]),
  );
  const inbox = join(folder, ".ralph", "inbox");
  expect(existsSync(inbox) ? readdirSync(inbox) : []).toEqual([]);
  expect((await run(process.execPath, [dist, "validate", folder], cwd)).code).toBe(0);
});
