import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { expectNoTrace, expectSentence, expectWhole, type Place } from "./support/place.js";

const place = useBuiltCli();

const mendIt = /Correct it, or put an earlier version in its place/;

/** Changes with any write, and costs nothing for 300 MB. */
const versionOf = (path: string): string => {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
};

const faults: [string, (path: string) => void, RegExp][] = [
  ["broken", (path) => writeFileSync(path, '{ "project": x }'), /rrd\.json:1:14: /],
  ["empty", (path) => writeFileSync(path, ""), /rrd\.json:1:1: the file is empty/],
  ["truncated", (path) => writeFileSync(path, readFileSync(path, "utf8").slice(0, 200)), /rrd\.json:\d+:\d+: /],
  ["of zeros, as a power cut leaves it", (path) => writeFileSync(path, Buffer.alloc(500)), /rrd\.json:1:1: /],
  ["null", (path) => writeFileSync(path, "null"), /is not valid: must be an object, is null/],
  ["another JSON file", (path) => writeFileSync(path, '{"name": "x", "version": "1.0.0"}'), /is not valid: /],
  // Sparse: it takes no space and is refused before it is read.
  ["huge", (path) => truncateSync(path, 300_000_000), /rrd\.json is 300 MB, more than the 200 MB a project can have\./],
];

test.each(faults)(
  "an rrd.json that is %s: every command says where and what to do, exit code 1, and leaves it as it is",
  async (_name, spoil, where) => {
    const here = place();
    const path = join(here.research, "rrd.json");
    spoil(path);
    const before = versionOf(path);
    for (const ended of await Promise.all([
      here.cli(["run", here.research, "--agent", "baseline"]),
      here.cli(["reset", here.research]),
    ])) {
      expectSentence(ended, 1, where);
      expect(ended.err).toMatch(mendIt);
    }
    const [validate, list] = await Promise.all([here.cli(["validate", here.research]), here.cli(["list"])]);
    expect(validate.code).toBe(1);
    expect(validate.out).toMatch(/is not valid: \d+ errors?, 0 warnings\n$/);
    expect(list).toMatchObject({ code: 0, err: "" });
    expect(list.out).toMatch(/broken: [^\n]+\n\n1 project, 1 broken: research-ralph verify --files <name> says why\n$/);
    expect(list.out).not.toContain("Cannot read properties");
    for (const { out, err } of [validate, list]) expectNoTrace(out + err);
    expect(versionOf(path)).toBe(before);
  },
);

test("an rrd.json of a later version: unknown fields are kept through a whole run, an unknown word is named with the ones known here", async () => {
  const here = place();
  const path = join(here.research, "rrd.json");
  const later = { schema_version: 99, ...here.rrd(), synthesis: { themes: ["a"] } };
  writeFileSync(path, JSON.stringify({ ...later, phase: "TRIAGE" }));
  expectSentence(
    await here.cli(["run", here.research, "--agent", "baseline"]),
    1,
    /\/phase must be one of "DISCOVERY", .*is "TRIAGE"\. Update research-ralph if a later version wrote it, correct it, or/,
  );
  writeFileSync(path, JSON.stringify(later));
  expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
  expect(here.rrd()).toMatchObject({ schema_version: 99, synthesis: { themes: ["a"] } });
  expectWhole(here);
});

test("a folder in the place of rrd.json is named as that", async () => {
  const here = place();
  const path = join(here.research, "rrd.json");
  rmSync(path);
  mkdirSync(path);
  for (const command of ["run", "status", "validate", "reset"]) {
    expectSentence(
      await here.cli([command, here.research]),
      1,
      /small-grippers-2026-03-01\/rrd\.json is a folder where a file belongs; move it away\./,
    );
  }
});

const spoilDuring = async (here: Place, spoil: () => void) => {
  const run = await here.startWaiting();
  spoil();
  here.go();
  return run.ended;
};

test("broken by hand during a run, its iteration is kept, the way back is named, and taking it leads on to COMPLETE", async () => {
  const here = place();
  const ended = await spoilDuring(here, () => writeFileSync(join(here.research, "rrd.json"), "{"));
  expect({ code: ended.code, out: ended.out }).toEqual({ code: 1, out: "" });
  const reset =
    /with 'research-ralph (reset \S+ --to \d+)'; your version is kept too/.exec(ended.err)?.[1] ??
    expect.unreachable(ended.err);
  expectNoTrace(ended.err);
  expect(here.read("rrd.json")).toBe("{");
  expect((await here.cli(reset.split(" "))).code).toBe(0);
  expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
  expectWhole(here);
});

test("deleted during a run, the last good version is named, and copying it back brings the iteration back too", async () => {
  const here = place();
  const ended = await spoilDuring(here, () => rmSync(join(here.research, "rrd.json")));
  expect(ended.code).toBe(1);
  const lastGood =
    /There is no \S+rrd\.json; copy its last good version, (\S+), there\./.exec(ended.err)?.[1] ??
    expect.unreachable(ended.err);
  writeFileSync(join(here.research, "rrd.json"), readFileSync(lastGood));
  const again = await here.cli(["run", here.research, "--agent", "baseline"]);
  expect(again.err).toContain("Iteration 1 was interrupted while it was saved; it is complete now.");
  expect(again.code).toBe(0);
  expectWhole(here);
});
