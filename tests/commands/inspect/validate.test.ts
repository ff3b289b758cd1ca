import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { validateCommand } from "../../../src/commands/inspect/validate.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, line, makeResearch, paper } from "../../support/projects/research-folder.js";

async function validate(folder: string, json = false) {
  const io = fakeIo({ cwd: freshFolder() });
  const exitCode = await validateCommand({ folder, json }, io);
  return { exitCode, out: io.out() };
}

test("a valid research says so", async () => {
  const folder = makeResearch(freshFolder(), "a-2026-03-01", { papers_pool: [paper("x", "pending")] });
  expect(await validate(folder)).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(/rrd\.json is valid: 0 errors, 0 warnings\n$/),
  });
});

test("a field that is nearly a known one is a warning, and another unknown field is not", async () => {
  const folder = makeResearch(freshFolder(), "a-2026-03-01", {
    papers_pool: [paper("x", "pending")],
    requirements: { critera: [], notes_of_mine: "kept" },
    misson: {},
    mine: "kept",
  } as object);
  const { exitCode, out } = await validate(folder);
  expect([exitCode, out.match(/warning/g)]).toEqual([0, ["warning", "warning", "warning"]]);
  expect(out).toMatch(
    /^warning: rrd\.json:\d+ \/requirements\/critera: is not a known field and has no effect; "criteria" is near$/m,
  );
  expect(out).toMatch(/\/misson: is not a known field and has no effect; "mission" is near$/m);
});

test("every problem is named with its JSON pointer and a hint, and the exit code is 1", async () => {
  const folder = makeResearch(freshFolder(), "a-2026-03-01", {
    papers_pool: [paper("x", "undecided" as "pending"), paper("y", "pending", { score: "8/10" as unknown as number })],
  });
  const { exitCode, out } = await validate(folder);
  expect(exitCode).toBe(1);
  expect(out).toMatch(/^error: rrd\.json:\d+ \/papers_pool\/0\/status: .*undecided/m);
  expect(out).toMatch(/^error: rrd\.json:\d+ \/papers_pool\/1\/score: .+/m);
  expect(out).toMatch(/not valid: 2 errors, 0 warnings\n$/);
});

test("what a file says against its own records is a warning with the derived value, and no error", async () => {
  const folder = makeResearch(freshFolder(), "a-2026-03-01", {
    papers_pool: [paper("x", "presented")],
    statistics: { total_presented: 7 },
  });
  const { exitCode, out } = await validate(folder);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^warning: rrd\.json:\d+ \/statistics\/total_presented: says 7, the records say 1$/m);
  expect(JSON.parse((await validate(folder, true)).out)).toMatchObject({
    valid: true,
    findings: [{ level: "warning", pointer: "/statistics/total_presented", derived: 1 }],
  });
});

test("what was read in another shape than the schema's is a warning that says how, and no error", async () => {
  const folder = makeResearch(freshFolder(), "a-2026-03-01", {
    papers_pool: [paper("x", "Presented" as "presented", { score: "31" as unknown as number })],
  });
  const { exitCode, out } = await validate(folder);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^warning: rrd\.json:\d+ \/papers_pool\/0\/score: is "31", read as 31$/m);
  expect(out).toMatch(/^warning: rrd\.json:\d+ \/papers_pool\/0\/status: is "Presented", read as "presented"$/m);
});

test("broken JSON is an error that says where, and an unreadable ledger line a warning", async () => {
  const folder = makeResearch(freshFolder(), "a-2026-03-01", {}, [line(1, "x")]);
  appendFileSync(join(folder, "ledger.jsonl"), "oops\n");
  expect((await validate(folder)).out).toMatch(/^warning: .*ledger\.jsonl:2/m);
  writeFileSync(join(folder, "rrd.json"), '{\n  "project": "x",,\n}');
  const { exitCode, out } = await validate(folder);
  expect(exitCode).toBe(1);
  expect(out).toMatch(/^error: .*rrd\.json:2:18: /m);
  expect(out).toMatch(/\nCorrect the file, or .*earlier version/);
  mkdirSync(join(folder, ".ralph"));
  writeFileSync(join(folder, ".ralph/rrd.last-good.json"), "{}");
  expect((await validate(folder)).out).toContain(`'research-ralph reset ${folder} --to 1'`);
});

test("a field that stands there twice is named: nobody sees which of the two counts", async () => {
  const folder = makeResearch(freshFolder(), "a-2026-03-01", { papers_pool: [paper("x", "pending")] });
  const path = join(folder, "rrd.json");
  writeFileSync(path, readFileSync(path, "utf8").replace("{", '{"budget": {"usd": 1}, "budget": {"usd": 50},'));
  expect(await validate(folder)).toEqual({
    exitCode: 0,
    out: expect.stringMatching(/^warning: "budget" occurs twice in one object; the last value counts\n.* 1 warning\n$/),
  });
});
