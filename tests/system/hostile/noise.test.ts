import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";

const house = useBuiltCli();

/** RR_FULL=1 prints the whole gigabyte. */
const megabytes = process.env["RR_FULL"] === "1" ? 1024 : 300;

test(`${megabytes} MB of output: accepted, the memory stays bounded, and 32 MB of it are kept`, async () => {
  const { run, ledger, research, left } = house();
  const { code, peakMb, milliseconds } = await run(`noise.mjs megabytes ${megabytes}`, "-i", "1", "--plain", "--quiet");
  console.log(`${megabytes} MB: peak ${Math.round(peakMb)} MB, ${Math.round(milliseconds / 1000)} s`);
  expect(code).toBe(3);
  expect(ledger()).toMatchObject([{ outcome: "accepted" }]);
  expect(peakMb).toBeLessThan(250);
  expect(statSync(join(research, ".ralph", "transcripts", "1.jsonl")).size).toBeLessThan(33 * 1024 * 1024);
  expect(left()).toEqual([]);
});

test("one line of 100 MB: accepted, the memory stays bounded", async () => {
  const { run, ledger, left } = house();
  const { code, peakMb } = await run("noise.mjs one-endless-line 100", "-i", "1", "--plain", "--quiet");
  expect(code).toBe(3);
  expect(ledger()).toMatchObject([{ outcome: "accepted" }]);
  expect(peakMb).toBeLessThan(250);
  expect(left()).toEqual([]);
});

test.each([
  ["line-feeds", "accepted"],
  ["sentinels", "accepted"],
  ["brackets-as-result", "refused"],
  ["nested-brackets-as-result", "refused"],
])("%s: %s, the memory stays bounded", async (mode, outcome) => {
  const { run, ledger, left } = house();
  const { code, peakMb } = await run(`noise.mjs ${mode}`, "-i", "1", "--plain", "--quiet");
  console.log(`${mode}: peak ${Math.round(peakMb)} MB`);
  expect(code).toBe(3);
  expect(ledger()).toMatchObject([{ outcome }]);
  expect(peakMb).toBeLessThan(250);
  expect(left()).toEqual([]);
});

describe.concurrent("what an agent prints harms neither the research nor the screen", () => {
  test.for(["2-MB-line", "not-UTF-8", "escape-codes"])("%s", async (mode, { expect }) => {
    const { run, ledger, problems, left } = house();
    const { code, err } = await run(`noise.mjs ${mode}`, "-i", "1", "--plain");
    expect(code).toBe(3);
    expect(ledger()).toMatchObject([{ outcome: "accepted" }]);
    expect(problems()).toEqual([]);
    expect(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.exec(err)).toBeNull();
    expect(err.length).toBeLessThan(20_000);
    expect(left()).toEqual([]);
  });

  test("escape codes reach neither the log nor the ledger, and are whole in the transcript", async ({ expect }) => {
    const { run, research, progress } = house();
    await run("noise.mjs escape-codes", "-i", "1");
    expect(`${progress()}${readFileSync(join(research, "ledger.jsonl"), "utf8")}`).not.toContain("\u001b");
    expect(readFileSync(join(research, ".ralph", "transcripts", "1.jsonl"), "utf8")).toContain("\u001b]0;owned\u0007");
  });
});
