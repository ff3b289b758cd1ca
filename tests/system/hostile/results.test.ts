import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";

const house = useBuiltCli();

describe.concurrent("a result that can't be used is refused, changes nothing but the count of refusals, and leaves nothing running", () => {
  test.for([
    ["nothing", /result\.json was not written/],
    ["half", /not valid JSON/],
    ["empty", /result\.json is empty/],
    ["huge", /200 MB; 5 MB is the most/],
    ["symlink", /symbolic link/],
    ["hard-link", /hard link to another file/],
    ["linked-workspace", /working directory is a symbolic link/],
    ["fifo", /not a regular file/],
    ["directory", /not a regular file/],
    ["another-paper", /unit is "second"; this unit is "first"/],
    ["score-7", /\/scores\/execution\/novelty/],
    ["score-NaN", /not valid JSON/],
    ["score-text", /\/scores\/execution\/novelty/],
    ["score-twice", /"novelty" twice in one object/],
    ["blank", /\/notes must not be empty/],
    ["all-fabricated", /only 0 of 2 quotes were found/],
    ["most-fabricated", /only 1 of 3 quotes were found/],
    ["a-list", /must be an object/i],
    ["nested", /nested deeper than 100 levels at \/deep/],
  ] as const)("%s", async ([mode, reason], { expect }) => {
    const { run, rrd, ledger, progress, left, problems, state } = house();
    const before = rrd();
    const log = progress();
    const { code, verdict, notices } = await run(`results.mjs ${mode}`, "-i", "1");
    expect({ code, verdict }).toMatchObject({ code: 3, verdict: { verdict: "limit" } });
    expect(ledger()).toMatchObject([{ iteration: 1, unit: "first", outcome: "refused", confinement: "unconfined" }]);
    expect(ledger()[0]?.reasons).toContainEqual(expect.stringMatching(reason));
    const [first, second] = rrd().papers_pool;
    expect(first?.refusals).toHaveLength(1);
    expect({ ...first, refusals: undefined }).toEqual({ ...before.papers_pool[0], refusals: undefined });
    expect(second).toEqual(before.papers_pool[1]);
    expect(problems()).toEqual([]);
    expect(progress()).toBe(log);
    expect(left()).toEqual([]);
    // An agent that left nothing leaves nothing to keep.
    if (mode === "nothing") return void expect(notices.join("\n")).not.toContain("kept in");
    const kept = /kept in (\S+)\.$/.exec(notices.find((notice) => notice.includes("kept in")) ?? "")?.[1];
    expect(kept?.startsWith(state)).toBe(true);
    expect(existsSync(kept ?? "")).toBe(true);
  });
});

test("a field that would change every object is dropped as any unknown one, and changes nothing", async () => {
  const { run, ledger, paper } = house();
  await run("results.mjs a-prototype", "-i", "1");
  expect(ledger()).toMatchObject([{ outcome: "accepted", dropped: ["/__proto__"] }]);
  expect(JSON.stringify(paper("first"))).not.toContain("polluted");
});

describe.concurrent("quotes are looked for, and only what was found is called evidence", () => {
  test("half fabricated: accepted, the fabricated ones marked and warned of", async ({ expect }) => {
    const { run, paper, ledger } = house();
    await run("results.mjs half-fabricated", "-i", "1");
    expect(ledger()).toMatchObject([
      { outcome: "accepted", evidence: { verified: 2, not_in_text: 2, could_not_check: 0 } },
    ]);
    expect(paper("first")?.analysis?.evidence?.map(({ status }) => status)).toEqual([
      "verified",
      "verified",
      "not-in-text",
      "not-in-text",
    ]);
    expect(paper("first")?.warnings).toEqual([expect.stringContaining("2 quotes were not found in the text")]);
  });

  test("citations dropped from a quote: every one is found", async ({ expect }) => {
    const { run, ledger } = house();
    await run("results.mjs citations-dropped", "-i", "1");
    expect(ledger()).toMatchObject([{ outcome: "accepted", evidence: { verified: 5, not_in_text: 0 } }]);
  });
});

test("marks in its texts: every word is shown, and nothing of it is fetched, run, taken for ours or sent to a terminal", async () => {
  const { run, progress, read } = house();
  const { code, out, err } = await run("results.mjs marks-in-texts");
  expect(code).toBe(0);
  const report = read("researches", "small-matter", "research-report.md");
  expect(report).toContain("Small!\\[p]\\(https://evil.example/p.png) [c]\\(javascript:x) &lt;i>");
  expect(report).not.toMatch(/!\[|\]\(javascript|<i>|^(?:# Forged|`{3}|\[r\]:)/m);
  expect(progress()).not.toMatch(/^(?:# Forged|`{3}|\|)/m);
  // oxlint-disable-next-line no-control-regex -- none may be left
  for (const text of [report, progress(), out, err])
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});

test("the same bad result five times in a row ends in stuck, never in complete", async () => {
  const { run, rrd, ledger, left } = house();
  const { code, verdict, out } = await run("results.mjs all-fabricated");
  expect({ code, verdict }).toMatchObject({ code: 4, verdict: { verdict: "stuck" } });
  expect(out).not.toContain("<promise>");
  expect(ledger().map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => "refused"));
  expect(rrd().papers_pool.map(({ status }) => status)).toEqual(["pending", "pending"]);
  expect(left()).toEqual([]);
});

test("three refusals of every paper, each for something else, end in blocked, never in complete", async () => {
  const { run, rrd, ledger, left } = house();
  const { code, verdict, out } = await run("results.mjs fabricated-anew");
  expect({ code, verdict }).toMatchObject({ code: 5, verdict: { verdict: "blocked" } });
  expect(out).not.toContain("<promise>");
  expect(ledger().map(({ unit, outcome }) => `${unit} ${outcome}`)).toEqual([
    "first refused",
    "first refused",
    "first refused",
    "second refused",
    "second refused",
    "second refused",
  ]);
  expect(rrd().papers_pool.map(({ status, refusals }) => [status, refusals?.length])).toEqual([
    ["pending", 3],
    ["pending", 3],
  ]);
  expect(left()).toEqual([]);
});

test("a link in place of a result is not followed, whatever it points at", async () => {
  const { run, home, paper } = house();
  await run("results.mjs symlink", "-i", "1");
  expect(paper("first")?.status).toBe("pending");
  expect(JSON.parse(readFileSync(join(home, "elsewhere.json"), "utf8"))).toMatchObject({ unit: "first" });
});
