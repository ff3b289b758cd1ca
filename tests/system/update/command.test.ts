import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/commands/main.js";
import { ioIn, type } from "../../support/processes/in-process.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import { lockFile } from "../../../src/engine/lib/layout.js";
import { finished, finishedOutsideGit, newcomer, newcomerId, since } from "./finished-project.js";

const readAt = (folder: string) => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;

describe("update of several projects", () => {
  it("gives each its turn whatever became of the one before, and passes by what is none", async () => {
    const { home, folder, ralph, papers, git } = await finished();
    const top = join(home, "researches");
    const [broken, other] = [join(top, "a-broken"), join(top, "z-other")];
    cpSync(folder, other, { recursive: true });
    mkdirSync(broken);
    writeFileSync(join(broken, "rrd.json"), "{ broken }");
    writeFileSync(join(top, "README.md"), "Notes.");
    mkdirSync(join(top, "notes"));
    git("add", "-A");
    git("commit", "-qm", "more");
    papers.push(newcomer);
    const all = [broken, join(top, "README.md"), join(top, "notes"), folder, other, folder];
    const done = await ralph("update", ...all, ...since, "--agent", "baseline");
    expect(done.code).toBe(1);
    expect(done.err).toContain("a-broken");
    expect(done.err).not.toMatch(/README|notes/);
    expect(done.err).toContain("Skipped, because they hold no project: 2 of 6 paths.\n");
    for (const each of [folder, other]) expect(readAt(each).updates?.[0]).toMatchObject({ new: [newcomerId] });
    expect(git("status", "--porcelain")).toBe("");
    const again = await ralph("update", folder, other, ...since, "--agent", "baseline", "--json");
    expect(again.code).toBe(0);
    const lines = again.out.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { new: number; folder: string }).new)).toEqual([0, 0]);
  });

  it("leaves out a project that is not finished, says so, and ends with 2 only where none is finished", async () => {
    const { home, folder, ralph } = await finishedOutsideGit();
    const unnamed = await ralph("update", ...since, "--agent", "baseline");
    expect([unnamed.code, unnamed.out]).toEqual([0, expect.stringContaining("nothing new")]);
    const open = join(home, "researches", "z-open");
    cpSync(folder, open, { recursive: true });
    const rrd = readAt(open);
    const late = { id: "late", title: "Late", status: "pending" };
    writeFileSync(
      join(open, "rrd.json"),
      JSON.stringify({ ...rrd, phase: "ANALYSIS", papers_pool: [...rrd.papers_pool, late] }),
    );
    const some = await ralph("update", open, folder, ...since, "--agent", "baseline");
    expect([some.code, some.out]).toEqual([0, expect.stringContaining("nothing new")]);
    expect(some.err).toContain("Left out, because it is not finished: z-open; 'research-ralph run ");
    const lock = await acquireLock(lockFile(open), { subject: "It" });
    const busy = await ralph("update", open, folder, ...since, "--agent", "baseline");
    await lock.release();
    expect([busy.code, busy.err]).toEqual([0, expect.stringContaining("Left out, because a run works on it: z-open.")]);
    cpSync(open, `${open}-too`, { recursive: true });
    expect((await ralph("update", open, `${open}-too`, ...since, "--agent", "baseline")).code).toBe(2);
  });

  it("says so where a folder that is named is not a project, and ends with 2", async () => {
    const { home, folder, ralph } = await finishedOutsideGit();
    for (const name of ["typo", "papers"]) mkdirSync(join(home, name));
    const some = await ralph("update", folder, "typo", ...since, "--agent", "baseline");
    expect([some.code, some.err]).toEqual([2, "typo is not a project: there is no rrd.json in it.\n"]);
    expect(some.out).toContain("nothing new");
    const none = await ralph("update", "typo", "papers", ...since, "--agent", "baseline");
    expect([none.code, none.err]).toEqual([2, expect.stringContaining("no research project among typo, papers")]);
  });

  it("spends the limit of the command once, not once a project", async () => {
    const { home, folder, ralph, papers, lines } = await finishedOutsideGit();
    const other = join(home, "researches", "z-other");
    cpSync(folder, other, { recursive: true });
    papers.push(newcomer);
    const had = lines().length;
    const limits = ["--agent", "baseline", "--iterations", "2"];
    const done = await ralph("update", folder, other, ...since, ...limits);
    expect(done.code).toBe(3);
    expect(lines().length).toBeGreaterThan(had);
    expect(done.err).toContain("The limit of this command is reached; no source was asked for z-other.");
    expect(readAt(other).updates).toBeUndefined();
  });

  it("leaves a project alone that another process holds, and asks the next one", async () => {
    const { home, folder, ralph } = await finishedOutsideGit();
    const other = join(home, "researches", "z-other");
    cpSync(folder, other, { recursive: true });
    const lock = await acquireLock(lockFile(folder), { subject: "It" });
    const done = await ralph("update", folder, other, ...since, "--agent", "baseline");
    await lock.release();
    expect(done.code).not.toBe(0);
    expect(done.out).toMatch(/^z-other: nothing new/);
    expect(existsSync(join(folder, ".ralph", "update.json"))).toBe(false);
  });
});

describe("update", () => {
  it("works outside git, and without a ledger from a day that is named", async () => {
    const { folder, update, papers, read } = await finishedOutsideGit();
    for (const name of ["ledger.jsonl", ".ralph", "search-records.json.gz"])
      rmSync(join(folder, name), { recursive: true, force: true });
    papers.push(newcomer);
    const unnamed = await update();
    expect([unnamed.code, unnamed.err]).toEqual([2, expect.stringContaining("name the day, as in --since 2026-01-31")]);
    const done = await update(...since);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    expect(read()).toMatchObject({ phase: "COMPLETE", updates: [{ report: "written" }] });
    expect(read().updates?.[0]?.new).toContain(newcomerId);
    const again = await update();
    expect([again.code, again.out]).toEqual([0, expect.stringContaining("nothing new")]);
  });

  it("--json says what came, then what the run does, a JSON value a line", async () => {
    const { papers, update } = await finishedOutsideGit();
    papers.push(newcomer);
    const dry = await update(...since, "--json", "--dry-run");
    expect(JSON.parse(dry.out)).toMatchObject({ type: "update", new: 1, changed: [], forecast: { papers: 1 } });
    const done = await update(...since, "--json");
    expect(done.code).toBe(0);
    const events = done.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events[0]).toMatchObject({ type: "update", id: "update-1", new: 1, retracted: [], since: "2026-01-01" });
    expect(events.at(-1)).toMatchObject({ type: "run-ended", verdict: { verdict: "complete" } });
  });

  it("goes on with an open update, with run as with update, and says what --since is then", async () => {
    const { papers, update, ralph, folder, read } = await finishedOutsideGit();
    papers.push(newcomer);
    await update(...since, "--iterations", "1");
    const dry = await update("--dry-run", "--since", "2026-05-05");
    expect([dry.code, dry.out]).toEqual([0, expect.stringMatching(/update-1 is open since [\s\S]*Forecast: /)]);
    expect(dry.err).toContain("--since is ignored until update-1 is finished.");
    expect(dry.out).toMatch(/Forecast: ≈ .* left, in 2 iterations \(1 paper\)/);
    expect((await ralph("status", folder)).out).toMatch(/^ {2}Update {5}update-1, 2026-01-01 to \S+, open$/m);
    expect((await ralph("run", folder, "--agent", "baseline")).code).toBe(0);
    expect(read().updates).toEqual([expect.objectContaining({ new: [newcomerId], closed_at: expect.any(String) })]);
  });

  it("says that what came since is asked later, where one of another day does not end", async () => {
    const { papers, update, read, write } = await finishedOutsideGit();
    papers.push(newcomer);
    await update(...since, "--iterations", "1");
    const rrd = read();
    const early = (rrd.updates ?? []).map((each) => ({ ...each, until: "2026-07-01" }));
    write({ ...rrd, updates: early });
    const stopped = await update("--iterations", "1");
    expect([stopped.code, stopped.err]).toEqual([
      3,
      expect.stringContaining("works published since 2026-07-01 are searched for after update-1 is finished."),
    ]);
    expect((await update()).code).toBe(0);
    const next = await update("--dry-run", "--json");
    expect(JSON.parse(next.out)).toMatchObject({ since: "2026-06-01" });
  });

  it("goes on with one whose opening a kill had only noted", async () => {
    const { folder, ralph, papers, read } = await finishedOutsideGit();
    papers.push(newcomer);
    const [state, ledger, progress] = ["rrd.json", "ledger.jsonl", "progress.txt"].map((name) => join(folder, name));
    const before = [state, ledger, progress].map((path = "") => [path, readFileSync(path)] as const);
    await ralph("update", folder, ...since, "--agent", "baseline", "--iterations", "1");
    const done = join(folder, ".ralph", "journal", "done");
    const entries = readdirSync(done).map((name) => Number.parseInt(name, 10));
    const lines = before[1]?.[1].toString().trim().split("\n") ?? [];
    const { iteration: last } = JSON.parse(lines.at(-1) ?? "{}") as { iteration: number };
    // As the kill leaves it: the first entry of the update noted, and nothing of it in any file.
    for (const entry of entries.filter((number) => number > last + 1)) rmSync(join(done, `${entry}.json`));
    renameSync(join(done, `${last + 1}.json`), join(folder, ".ralph", "journal", `${last + 1}.json`));
    for (const [path, bytes] of before) writeFileSync(path, bytes);
    const ended = await ralph("update", folder, ...since, "--agent", "baseline");
    expect([ended.code, ended.err]).toEqual([0, expect.stringContaining("continuing update-1")]);
    expect(read().updates).toHaveLength(1);
    expect(read().papers_pool.filter(({ id }) => id === newcomerId)).toHaveLength(1);
  });

  it("that is interrupted while it asks writes nothing, and ends with 130", async () => {
    const { papers, home, folder, read, git, scholars } = await finished();
    papers.push(newcomer);
    const head = git("rev-parse", "HEAD");
    const io = ioIn(home);
    const running = main(["update", folder, ...since, "--agent", "baseline"], io, "0.0.0");
    while (scholars.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    io.signals.emit("SIGINT");
    expect([await running, io.err()]).toEqual([130, expect.stringContaining("nothing was written")]);
    expect(read().updates).toBeUndefined();
    expect([git("rev-parse", "HEAD"), git("status", "--porcelain")]).toEqual([head, ""]);
  });

  it("says before an agent starts how to stop it, and after that which projects it did not reach", async () => {
    const { papers, home, folder, scholars } = await finishedOutsideGit();
    papers.push(newcomer);
    const other = join(home, "researches", "z-other");
    cpSync(folder, other, { recursive: true });
    const io = ioIn(home);
    const running = main(["update", folder, other, ...since, "--agent", "baseline"], io, "0.0.0");
    while (scholars.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    io.signals.emit("SIGINT");
    expect([await running, io.err()]).toEqual([130, expect.stringMatching(/Not looked at any more: \S*z-other\.\n$/)]);
    const whole = ioIn(home);
    await main(["update", other, ...since, "--agent", "baseline"], whole, "0.0.0");
    expect(whole.err()).toMatch(/Ctrl\+C stops the reading[^]* #\d+ /);
  });

  it("two of one project at a time: one does all of it, the other says that it is at work", async () => {
    const { papers, update, read, git } = await finished();
    papers.push(newcomer);
    const both = await Promise.all([update(...since), update(...since)]);
    expect(both.map(({ code }) => code).filter((code) => code === 0)).toHaveLength(1);
    expect(both.find(({ code }) => code !== 0)?.err).toMatch(/already|holds|lock|in use|works? on/i);
    expect(read().updates).toEqual([expect.objectContaining({ id: "update-1", new: [newcomerId] })]);
    expect(git("status", "--porcelain")).toBe("");
  });

  it("is not for a project whose agents work on the folder itself", async () => {
    const { home, update } = await finishedOutsideGit();
    writeFileSync(join(home, "prompt.md"), "---\nworkspace: folder\n---\nWork on {{RESEARCH_DIR}}.\n");
    const done = await update(...since);
    expect([done.code, done.err]).toEqual([2, expect.stringContaining("is run in classic mode")]);
  });

  it("of a project of samples or a folder alone says that nothing is new, and reads a file that came", async () => {
    const { home, read, write, update, git } = await finished();
    const papers = join(home, "papers");
    mkdirSync(papers);
    const rrd = read();
    write({ ...rrd, requirements: { ...rrd.requirements, sources: ["samples", `folder:${papers}`] } });
    git("commit", "-qam", "sources");
    const none = await update(...since);
    expect([none.code, none.out]).toEqual([0, expect.stringContaining("(2 sources asked).")]);
    const said = "We gripped wet tactile things with a soft robot. It worked in 71 percent of 52 trials. ";
    const wet = join(papers, "wet.md");
    writeFileSync(wet, `# Tactile Grasping of Wet Things\n\n## Results\n\n${said.repeat(20)}\n`);
    // As unpacking and moving leave it: of a day long before it came.
    utimesSync(wet, new Date("2020-01-01"), new Date("2020-01-01"));
    const done = await update(...since);
    expect({ code: done.code, err: done.code === 0 ? "" : done.err }).toEqual({ code: 0, err: "" });
    expect(read().updates?.[0]?.new).toHaveLength(1);
    expect(read().updates?.[0]?.closed_at).toBeDefined();
  });
});

describe("update on a terminal", () => {
  const updateThere = async (options: readonly string[], ...answers: readonly string[]) => {
    const { home, folder, papers, git } = await finished();
    papers.push(newcomer);
    const io = ioIn(home, {}, { canAsk: true });
    type(io, ...answers);
    const code = await main(["update", folder, ...since, "--agent", "baseline", ...options], io, "0.0.0");
    return { code, err: io.err(), changes: git("status", "--porcelain"), updates: readAt(folder).updates };
  };

  it("shows what it would take and asks; who says no changes nothing", async () => {
    const { code, err, ...project } = await updateThere([], "\u001b[B\r");
    expect([code, err]).toEqual([2, expect.stringContaining("Nothing was changed and no agent was started.")]);
    expect(err).toContain(`new: ${newcomer.title}`);
    expect(project).toEqual({ changes: "", updates: undefined });
  });

  it.each([
    ["after a yes", [], ["\r"]],
    ["with --yes, without a question", ["--yes"], []],
  ])("reads %s", async (_, options, answers) => {
    const { code, updates } = await updateThere(options, ...answers);
    expect([code, updates]).toEqual([0, [expect.objectContaining({ new: [newcomerId] })]]);
  });
});
