import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkWorks, type UpdateCheckOptions } from "../../../src/research/paper-lookups/kept-retraction-checks.js";
import type { WorkUpdates } from "../../../src/research/paper-lookups/find-retractions.js";
import { fakeClock } from "../../support/clock.js";

const works = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `p${index}`, identifiers: { doi: `10.1000/${index}` } }));
const retraction = { type: "retraction" as const, date: "2026-01-02", source: "Crossref" };
const answer = (over: Partial<WorkUpdates> = {}): WorkUpdates => ({
  updates: [],
  checkedBy: ["Crossref"],
  unchecked: [],
  ...over,
});
const away = () => answer({ checkedBy: [], unchecked: [{ source: "Crossref", reason: "It does not answer." }] });

function checker(ask: UpdateCheckOptions["ask"]) {
  const asked: number[] = [];
  const clock = fakeClock();
  const file = join(mkdtempSync(join(tmpdir(), "updates-")), ".ralph", "updates.json");
  const counted: UpdateCheckOptions["ask"] = (some) => (asked.push(some.length), ask(some));
  const options = { file, ask: counted, clock, signal: new AbortController().signal, within: 60_000, anew: false };
  return { asked, clock, file, check: (of: ReturnType<typeof works>) => checkWorks(of, options) };
}

describe("checkWorks", () => {
  it("answers for every work, and asks again only after a day", async () => {
    const { asked, clock, check } = checker(async (some) =>
      some.map((work) => answer({ updates: work.doi === "10.1000/1" ? [retraction] : [] })),
    );
    const first = await check(works(3));
    expect([...first.keys()]).toEqual(["p0", "p1", "p2"]);
    expect(first.get("p1")).toMatchObject({ updates: [retraction], checked_by: ["Crossref"], unchecked: [] });
    expect(await check(works(3))).toEqual(first);
    expect(asked).toEqual([3]);
    await clock.sleep(clock.now() + 25 * 3600_000, new AbortController().signal);
    await check(works(3));
    expect(asked).toEqual([3, 3]);
  });

  it("asks again for a work that goes by other names now, or that nobody could be asked about", async () => {
    const { asked, check } = checker(async (some) =>
      some.map((work) => (work.doi === "10.1000/0" ? away() : answer())),
    );
    await check(works(2));
    await check(works(2).map((work) => (work.id === "p1" ? { ...work, identifiers: { doi: "10.1000/other" } } : work)));
    expect(asked).toEqual([2, 2]);
  });

  it("stops asking once nobody answers, and gives the reason for every work", async () => {
    const { asked, check } = checker(async (some) => some.map(away));
    const checks = await check(works(35));
    expect(asked).toEqual([10]);
    expect(checks.size).toBe(35);
    for (const check of checks.values())
      expect(check).toMatchObject({ checked_by: [], unchecked: ["Crossref: It does not answer."] });
  });

  it("names a service once that names itself", async () => {
    const { check } = checker(async (some) =>
      some.map(() => ({ ...away(), unchecked: [{ source: "OpenAlex", reason: "OpenAlex: the host was not found." }] })),
    );
    expect((await check(works(1))).get("p0")?.unchecked).toEqual(["OpenAlex: the host was not found."]);
  });

  it("keeps what was learnt when the time is up, and says so of the rest", async () => {
    let calls = 0;
    const { check } = checker((some) =>
      (calls += 1) === 1 ? Promise.resolve(some.map(() => answer())) : new Promise(() => undefined),
    );
    const checks = await check(works(12));
    expect(checks.get("p9")).toMatchObject({ checked_by: ["Crossref"] });
    expect(checks.get("p11")).toMatchObject({
      checked_by: [],
      unchecked: [expect.stringMatching(/no answer within 60 seconds/)],
    });
  });

  it("takes a torn file of answers for none, and writes a whole one", async () => {
    const { asked, file, check } = checker(async (some) => some.map(() => answer()));
    await check(works(1));
    expect(existsSync(file)).toBe(true);
    writeFileSync(file, readFileSync(file, "utf8").slice(0, 20));
    await check(works(1));
    expect(asked).toEqual([1, 1]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("p0");
  });
});
