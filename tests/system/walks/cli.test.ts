import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { oldNames, summaries } from "../../../src/commands/help-text.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { problemsOf } from "../../../src/engine/storage/schema-check.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";
import { buildPackage, run } from "../../support/processes/built.js";

let root: string;
beforeAll(async () => {
  root = await buildPackage();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const cli = (args: readonly string[], cwd = freshFolder(), env: Record<string, string> = {}) =>
  run(process.execPath, [join(root, "dist/cli.js"), ...args], cwd, env);

const version = (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version;

test.each(["--version", "-v"])("%s prints the version alone", async (flag) => {
  expect(await cli([flag])).toEqual({ code: 0, out: `${version}\n`, err: "" });
});

test("--version loads nothing but the file of the command line itself", async () => {
  const loads = join(freshFolder(), "loads.mjs");
  const loaded = join(freshFolder(), "loaded.txt");
  writeFileSync(
    loads,
    `import { register } from "node:module"; import { appendFileSync } from "node:fs";
     register("data:text/javascript," + encodeURIComponent('import { appendFileSync } from "node:fs"; export async function load(url, context, next) { if (url.startsWith("file:")) appendFileSync(${JSON.stringify(loaded)}, url + "\\\\n"); return next(url, context); }'));`,
  );
  expect(
    (await run(process.execPath, ["--import", loads, join(root, "dist/cli.js"), "--version"], freshFolder())).out,
  ).toBe(`${version}\n`);
  expect(readFileSync(loaded, "utf8").trim().split("\n")).toEqual([expect.stringMatching(/dist\/cli\.js$/)]);
});

test("without packages of native code, as on OpenBSD, the memory says so in one sentence", async () => {
  const system = join(freshFolder(), "system.cjs");
  writeFileSync(system, "Object.defineProperty(process, 'platform', { value: 'openbsd' });");
  const command = ["--require", system, join(root, "dist/ralph.js"), "memory", "list"];
  const { code, err } = await run(process.execPath, command, freshFolder(), { HOME: freshFolder() });
  expect(code).toBe(1);
  expect(err).toMatch(
    /^ralph: The memory \S+ can't be opened \(A package of this program for openbsd \w+ is not installed; npm has it for Linux, macOS and Windows, unless optional packages are left out\)\.\n$/,
  );
});

test("help all names every command, the exit codes and the old spelling, within 80 columns", async () => {
  const { code, out } = await cli(["help", "all"]);
  expect(code).toBe(0);
  for (const old of Object.keys(oldNames)) expect(out).not.toMatch(new RegExp(`^  ${old}\\b`, "m"));
  for (const name of Object.keys(summaries).filter((each) => each !== "begin"))
    expect(out).toMatch(new RegExp(`^  ${name}\\b`, "m"));
  expect(out).toContain("Exit codes: 0 complete");
  expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});

test.each([
  [["help", "nope"], "unknown command 'nope'; see research-ralph --help."],
  [
    ["sim2real"],
    "unknown command 'sim2real'; see research-ralph help all. A question has three words or more, in quotes.",
  ],
  [["lsit"], "unknown command 'lsit'. Did you mean status --all?"],
  [["help", "scren"], "unknown command 'scren'. Did you mean screen?"],
  [
    ["decide", "p", "x", "--exclude", "why"],
    `unknown option '--exclude'; the decision is a word: research-ralph decide [project] <paper> exclude "why".`,
  ],
  [["run", "--agnet", "x"], "unknown option '--agnet'. Did you mean --agent?"],
  [
    ["-p", "many"],
    "option '-p, --papers <N>' argument 'many' is invalid. It must be a number; see research-ralph run --help.",
  ],
  [["reset"], "missing required argument 'folder'; see research-ralph reset --help."],
  [["export"], /^research-ralph: Choose a format with --as: ris for reference managers, /],
  [["list", "too", "many"], /too many arguments/],
  [["status", "nowhere"], /There is no project 'nowhere'/],
  [["config", "papers=x"], /papers is 'x', which is not a number/],
])("wrong usage is one sentence and exit code 2: %j", async (args, message) => {
  const { code, out, err } = await cli(args);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(/^research-ralph: [^\n]+\n$/);
  if (typeof message === "string") expect(err).toBe(`research-ralph: ${message}\n`);
  else expect(err).toMatch(message);
});

test("with --json an error is JSON on stdout, and its sentence is on stderr", async () => {
  const { code, out, err } = await cli(["status", "nowhere", "--json"]);
  expect(code).toBe(2);
  const { error } = JSON.parse(out) as { error: string };
  expect(error).toContain("nowhere");
  expect(err).toBe(`research-ralph: ${error}\n`);
});

test("the spelling of the original does the same as ours", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "grasping-2026-03-01", { papers_pool: [paper("a", "presented")] });
  expect(await cli(["--list"], cwd)).toEqual(await cli(["list"], cwd));
  expect(await cli(["--status", "researches/grasping-2026-03-01"], cwd)).toEqual(
    await cli(["status", "grasping-2026-03-01"], cwd),
  );
  expect((await cli(["--config", "papers=30"], cwd)).code).toBe(0);
  expect((await cli(["config", "papers"], cwd)).out).toBe("30\n");
});

test("a reader who goes away ends a command quietly", async () => {
  const cwd = freshFolder();
  for (let i = 0; i < 400; i += 1) makeResearch(cwd, `research-number-${i}-2026-03-01`);
  const { code, out, err } = await run(
    "/bin/sh",
    ["-c", `"${process.execPath}" "${join(root, "dist/cli.js")}" list --json | head -n 1`],
    cwd,
  );
  expect({ code, out, err }).toEqual({ code: 0, out: "[\n", err: "" });
});

test("what runs prints the sentinel as its last line of stdout and the rest on stderr; with --json only events", async () => {
  const cwd = freshFolder();
  const plain = await cli(["demo"], cwd);
  expect(plain).toMatchObject({ code: 0, out: "<promise>COMPLETE</promise>\n" });
  expect(plain.err).toMatch(/^\d\d:\d\d:\d\d complete: /m);

  const json = await cli(["demo", "--json"], cwd);
  expect(json.code).toBe(0);
  const events = json.out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect(events.flatMap((event) => problemsOf("event", event))).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "run-ended", verdict: { verdict: "complete" } });
});

test("when the reader of a run goes away, the run ends after the iteration under way", async () => {
  const cwd = freshFolder();
  const { out } = await run(
    "/bin/sh",
    ["-c", `"${process.execPath}" "${join(root, "dist/cli.js")}" demo --json | head -n 1`],
    cwd,
  );
  expect(out).toContain("run-started");
  const { out: status } = await cli(["list", "--json"], cwd);
  expect((JSON.parse(status) as { phase: string }[]).filter(({ phase }) => phase === "COMPLETE")).toEqual([]);
});

test("a bug of ours is one sentence, the details are kept in a file, and with RESEARCH_RALPH_DEBUG=1 shown", async () => {
  const cwd = freshFolder();
  // Planted into the built command: no input is known that makes the real one throw.
  const head = /async function listCommand\([^)]*\) \{/;
  const chunks = join(root, "dist/chunks");
  const broken = readdirSync(chunks)
    .map((name) => join(chunks, name))
    .find((file) => head.test(readFileSync(file, "utf8")));
  if (broken === undefined) throw new Error("no chunk holds listCommand");
  const whole = readFileSync(broken, "utf8");
  writeFileSync(broken, whole.replace(head, "$& throw new TypeError('planted');"));
  try {
    const { code, out, err } = await cli(["list"], cwd);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    const bugs = join(cwd, ".local/state/research-ralph/bugs");
    const [report = ""] = readdirSync(bugs);
    const program = `research-ralph ${version} (Node ${process.version}, ${process.platform} ${process.arch})`;
    expect(err).toBe(
      `research-ralph: planted; this is a bug in ${program}, the details are in ${join(bugs, report)}.\n`,
    );
    const details = readFileSync(join(bugs, report), "utf8");
    expect(details.startsWith(`${program}\n\nresearch-ralph status --all\n\nTypeError: planted\n`)).toBe(true);
    expect(details).toMatch(/\n +at .*listCommand/);
    expect((await cli(["list"], cwd, { RESEARCH_RALPH_DEBUG: "1" })).err).toMatch(/at .*listCommand/);
  } finally {
    writeFileSync(broken, whole);
  }
});

test("ralph.sh and skill.sh run from their folder and through a symbolic link", async () => {
  const cwd = freshFolder();
  symlinkSync(join(root, "bin/ralph.sh"), join(cwd, "ralph.sh"));
  symlinkSync("ralph.sh", join(cwd, "again.sh"));
  expect(await run(join(root, "bin/ralph.sh"), ["--version"], cwd)).toMatchObject({ code: 0, out: `${version}\n` });
  expect(await run(join(cwd, "again.sh"), ["--list"], cwd)).toMatchObject({ code: 0, out: "" });
  expect(await run(join(root, "bin/skill.sh"), ["rrd"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("topic"),
  });
  expect(await run(join(root, "bin/skill.sh"), [], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("usage: skill.sh --list"),
  });
  mkdirSync(join(cwd, "skills/tidy"), { recursive: true });
  writeFileSync(join(cwd, "skills/tidy/SKILL.md"), "---\nname: tidy\ndescription: Tidies.\n---\nUse SHORT words.\n");
  const listed = await run(join(root, "bin/skill.sh"), ["--list"], cwd);
  expect(listed).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^rrd .*\ntidy +skills\/tidy\/SKILL.md +Tidies\.$/m),
  });
  const agent = ["--agent", "cmd:cat > brief.txt", "--unconfined", "--no-git", "--quiet"];
  const worked = await run(
    join(root, "bin/skill.sh"),
    ["tidy", "the notes", "--check", "grep -q 'SHORT words' brief.txt && grep -q 'the notes' brief.txt", ...agent],
    cwd,
    { HOME: freshFolder() },
  );
  expect(worked).toMatchObject({ code: 0, err: "" });
  // The agent is unknown, so nothing is started, but the topic has arrived.
  const made = await run(join(root, "bin/skill.sh"), ["rrd", "grasping in simulation", "--agent", "nobody"], cwd);
  expect(made.err).toContain("nobody");
});
