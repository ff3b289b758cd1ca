import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltCli } from "./support/built.js";
import { expectSentence, expectWhole, lastWords } from "./support/place.js";

const place = useBuiltCli();

test("wrong values of flags are one sentence with the bound, exit code 2, and change nothing", async () => {
  const here = place();
  const before = here.read("rrd.json");
  const cases: [string[], RegExp][] = [
    [["-p", "0"], /--papers must be at least 1, is 0\./],
    [["-p", "1.5"], /--papers must be a whole number, is 1\.5/],
    [["-p", "1e99"], /--papers must be at most 10000/],
    [["-i", "-1"], /--iterations must be at least 1, is -1\./],
    [["--iteration-minutes", "0"], /--iteration-minutes must be above 0, is 0\./],
    [["--idle-minutes", "-1"], /--idle-minutes must be at least 0/],
    [["--agent"], /'--agent <name>' argument missing; see research-ralph run --help\./],
    [["--agent", "claud"], /Unknown agent 'claud'; known agents are .*Did you mean claude\?/],
    [["--agent", "basline"], /Did you mean baseline\?/],
    [["--agent", "cmd:"], /has no command after the colon; give one, such as/],
    [
      ["--agent", "cmd:./x.sh", "--sandbox", "host"],
      /Nothing confines the agent .*or --unconfined if that is what you want\./,
    ],
    [["--classic"], /--classic needs the original's prompt\.md; .* does not exist/],
    [["--ask"], /--ask needs a terminal; .*omit --ask/],
  ];
  const ends = await Promise.all(cases.map(([flags]) => here.cli(["run", here.research, ...flags])));
  for (const [index, [, sentence]] of cases.entries()) expectSentence(ends[index] ?? expect.unreachable(), 2, sentence);
  expect(here.read("rrd.json")).toBe(before);
  expect(existsSync(join(here.research, ".ralph"))).toBe(false);
});

test("wrong variables and config files are one sentence that names them, exit code 1", async () => {
  const here = place();
  expectSentence(
    await here.cli(["run"], { RESEARCH_RALPH_PAPERS: "many" }),
    1,
    /RESEARCH_RALPH_PAPERS is 'many', which is not a number/,
  );
  writeFileSync(join(here.cwd, "ralph.config.json"), '{"agnet": "claude"}');
  expectSentence(await here.cli(["run"]), 1, /ralph\.config\.json.*agnet/);
  writeFileSync(join(here.cwd, "ralph.config.json"), "{");
  expectSentence(await here.cli(["run"]), 1, /ralph\.config\.json is not valid JSON/);
});

describe("an agent that is not there", () => {
  test.each([
    [
      ["--agent", "claude"],
      /^failed: claude can't be started, because there is no program claude; install it \('research-ralph doctor' says how\), or name another agent with --agent: baseline needs no program\.$/,
    ],
    [["--agent", "codex"], /^failed: codex can't be started, because there is no program codex; install it/],
    [
      ["--agent", "cmd:./nowhere.sh", "--unconfined"],
      /^failed: cmd:\.\/nowhere\.sh can't be started: .*nowhere\.sh: not found\. Correct the command, or name another agent with --agent\.$/,
    ],
    [
      ["--agent", "cmd:nosuchprogram -x", "--unconfined"],
      /nosuchprogram.*not found\. Its program is in no folder of PATH: name it with its folder/,
    ],
  ])("ends the run at once with what to do, exit code 1: %j", async (flags, sentence) => {
    const here = place();
    // Node and sh must be found, the agents that this machine may have must not.
    const bin = join(here.top, "bin");
    mkdirSync(bin);
    const ended = await here.cli(["run", here.research, ...flags], { PATH: `${bin}:/usr/bin:/bin` });
    expect({ code: ended.code, out: ended.out }).toEqual({ code: 1, out: "" });
    expect(lastWords(ended)).toMatch(sentence);
    expect(ended.err).not.toContain("waiting ");
    expect(ended.err).not.toContain("Forecast");
    expect(here.ledger().map(({ outcome, failure }) => [outcome, failure])).toEqual([["failed", "missing"]]);
  });

  test("counts for nothing: the next run with another one completes the research", async () => {
    const here = place();
    const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
    await here.cli(["run", here.research, "--agent", "cmd:./nowhere.sh", "--unconfined"], { PATH: path });
    expect((await here.cli(["run", here.research, "--agent", "baseline"], { PATH: path })).code).toBe(0);
    expectWhole(here);
  });
});

test("an empty prompt.md, and one that can't be read, is named with what to do; a missing one is replaced by the packaged one", async () => {
  const here = place();
  const prompt = join(here.cwd, "prompt.md");
  writeFileSync(prompt, " \n");
  for (const command of ["run", "brief"]) {
    expectSentence(
      await here.cli([command, here.research]),
      1,
      /prompt\.md is empty; delete it to use the packaged prompt/,
    );
  }
  rmSync(prompt);
  mkdirSync(prompt);
  expectSentence(
    await here.cli(["run", here.research]),
    1,
    /prompt\.md can't be read .*delete it to use the packaged prompt\./,
  );
  rmSync(prompt, { recursive: true });
  expect((await here.cli(["run", here.research, "--agent", "baseline"])).code).toBe(0);
  expectWhole(here);
});
