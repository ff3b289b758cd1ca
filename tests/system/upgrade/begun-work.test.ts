import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { LedgerLine } from "../../../src/engine/generated/ledger.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { stateVersion } from "../../../src/engine/storage/state/format-version.js";
import { isValid } from "../../../src/engine/storage/schema-check.js";
import { sharedPackage } from "../../support/processes/built.js";
import { temporaryFolder } from "../../support/folders.js";
import { killedOrFinished, killProcesses } from "../../support/processes/kill-processes.js";
import { stateName } from "../../../src/task/project-files/layout.js";
import { randomFrom } from "../crash/random.js";

// The version at hand goes on with tasks and coding runs that earlier states of it began: tests/fixtures/formats/make.mjs
// froze them.
const fixtures = packageFile("tests/fixtures/formats");
const seed = Number(process.env["RR_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const random = randomFrom(seed);

/** What is not written again keeps the format that it was written in. */
const knownFormats = Array.from({ length: stateVersion }, (_, index) => index + 1);

let cli: string;
beforeAll(async () => {
  cli = join(await sharedPackage(), "dist/cli.js");
  console.log(`RR_SEED=${seed} repeats the kills.`);
});

interface Kind {
  readonly command: "task" | "code";
  /** The file of its state, as earlier versions named it; now all are named as that of a task is. */
  readonly file: string;
  /** What an agent does on, as a script of the shell. */
  readonly script: string;
  /** What the units of the whole ledger may be. */
  readonly units: readonly (readonly string[])[];
}

const kinds: readonly Kind[] = [
  {
    command: "task",
    file: "ralph.state.json",
    script: "cat > /dev/null; n=$(ls [0-9]*.txt 2>/dev/null | wc -l); : > $(( n + 1 )).txt; echo done",
    // Each agent that was killed may have made a file, the frozen one has; then there is an attempt less.
    units: [
      ["task", "task", "task", "task"],
      ["task", "task", "task"],
      ["task", "task"],
    ],
  },
  {
    command: "code",
    file: "ralph.code.json",
    script: `case "$(cat)" in
*"# Your role: librarian"*) echo '{"cause":"b is left out.","files":[{"path":"src/range.mjs","lines":[1,5]}],"plan":["Use <=."]}' ;;
*"# Your role: critic"*) echo '{"decision":"approve","findings":[]}' ;;
*"# Your role: adversary"*) echo '{"tests":[],"findings":[]}' ;;
*"# Your role: artisan"*) sed -i 's/i < b/i <= b/' src/range.mjs; echo '{"hypothesis":"a","action_taken":"b"}' ;;
*) exit 1 ;;
esac`,
    units: [["librarian:1", "artisan:1", "critic:1", "adversary:1"]],
  },
];
/** The frozen folders of a state, each with its format. */
const frozenAs = (...states: string[]) =>
  readdirSync(fixtures).flatMap((format) =>
    kinds.flatMap((kind) =>
      states
        .filter((state) => existsSync(join(fixtures, format, `${kind.command}-${state}`)))
        .map((state) => [format, kind.command, state, kind] as const),
    ),
  );

/** A frozen folder in a repository of its own, with the snapshots that were made in it. */
function thawed(format: string, { command, script }: Kind, state = "begun") {
  const top = temporaryFolder();
  const folder = join(top, "work");
  cpSync(join(fixtures, format, `${command}-${state}`), folder, { recursive: true });
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trim();
  git("init", "-q");
  git("fetch", "-q", "--update-head-ok", "repository.bundle", "+refs/*:refs/*");
  rmSync(join(folder, "repository.bundle"));
  git("reset", "-q");
  const agent = join(top, "agent.sh");
  writeFileSync(agent, `#!/bin/sh\n${script}\n`);
  chmodSync(agent, 0o755);
  const env = {
    PATH: process.env["PATH"],
    HOME: top,
    RESEARCH_RALPH_CHECK: "false",
    XDG_STATE_HOME: join(top, "state"),
  };
  const run = [command, "--agent", `cmd:${agent}`, "--unconfined", "--sandbox", "host", "--json"];
  const text = (name: string) => readFileSync(join(folder, name), "utf8");
  const lines = (): LedgerLine[] =>
    text(".ralph/ledger.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { folder, env, run, git, text, lines };
}

it("there are frozen folders of each kind in the format that is written now", () => {
  const found = frozenAs("begun", "killed", "complete").map(([, command, state]) => `${command}-${state}`);
  for (const command of ["task", "code"])
    for (const state of ["begun", "killed", "complete"]) expect(found).toContain(`${command}-${state}`);
});

describe.each(frozenAs("begun", "killed"))("of format %s, a %s that was %s", (format, _, state, kind) => {
  it("goes on where it stood, a kill included: nothing is lost or doubled", async () => {
    const { folder, env, run, git, text, lines } = thawed(format, kind, state);
    const [ledger, before] = [text(".ralph/ledger.jsonl"), JSON.parse(text(kind.file))];
    const [last] = /^(\S+) commit\t(\S+\/last)$/m.exec(git("for-each-ref", "refs/ralph"))?.slice(2) ?? [];
    const snapshots = git("rev-list", last ?? "").split("\n");
    expect(snapshots.length).toBeGreaterThan(1);
    const child = spawn(process.execPath, [cli, ...run], { cwd: folder, env, stdio: "ignore", detached: true });
    const timer = setTimeout(
      () => child.pid !== undefined && killProcesses([-child.pid]),
      200 + Math.floor(random.next() * 800),
    );
    await killedOrFinished(child).finally(() => clearTimeout(timer));
    const { status, stderr } = spawnSync(process.execPath, [cli, ...run], { cwd: folder, env, encoding: "utf8" });
    expect([status, stderr], `RR_SEED=${seed}`).toEqual([0, expect.any(String)]);

    const after = JSON.parse(text(stateName));
    expect(isValid("ralph-state", after)).toBe(true);
    expect(after.format).toBe(stateVersion);
    expect(text(".ralph/ledger.jsonl").startsWith(ledger)).toBe(true);
    expect(after.attempts.slice(0, before.attempts.length)).toEqual(before.attempts);
    // Whatever was kept is among what the newest snapshot goes back to.
    expect(
      git("rev-list", last ?? "")
        .split("\n")
        .slice(-snapshots.length),
    ).toEqual(snapshots);
    const accepted = lines().filter(({ outcome }) => outcome === "accepted");
    expect(kind.units).toContainEqual(accepted.map(({ unit }) => unit));
    expect(new Set(lines().map(({ iteration }) => iteration)).size).toBe(lines().length);
    expect(readdirSync(join(folder, ".ralph/journal"))).toEqual(["done"]);
    expect(readdirSync(join(folder, ".ralph"))).not.toContain("under-way.json");
    // Every file of the program's own says its format; what agents are given to read does not, nor the copy of what a
    // person wrote.
    for (const name of readdirSync(join(folder, ".ralph"), { recursive: true, encoding: "utf8" }))
      if (
        name.endsWith(".json") &&
        !name.startsWith("code/") &&
        name !== "ralph.last-good.json" &&
        !name.startsWith("ralph.code.")
      )
        expect(knownFormats, name).toContain(JSON.parse(text(join(".ralph", name))).format);
  });
});

describe.each(frozenAs("complete"))("of format %s, a %s that was %s", (format, _, state, kind) => {
  it("stays as it is, and goes on where its work is taken back", () => {
    const { folder, env, run, text, lines } = thawed(format, kind, state);
    const ledger = text(".ralph/ledger.jsonl");
    const call = (...args: string[]) =>
      spawnSync(process.execPath, [cli, ...args], { cwd: folder, env, encoding: "utf8" });
    const again = call(...run);
    expect([again.status, text(".ralph/ledger.jsonl")], again.stderr).toEqual([0, ledger]);
    if (kind.command === "code")
      expect(JSON.parse(call("code", "memory", "list", "--json").stdout).fixes).toMatchObject([
        { action_taken: "compared with <=", success: true },
      ]);

    if (kind.command === "task") expect(call("task", "--undo", "3").status).toBe(0);
    else writeFileSync(join(folder, "src/range.mjs"), text("src/range.mjs").replace("i <= b", "i < b"));
    const on = call(...run);
    expect([on.status, on.stderr]).toEqual([0, expect.any(String)]);
    expect(text(".ralph/ledger.jsonl").startsWith(ledger)).toBe(true);
    expect(
      lines()
        .slice(4)
        .filter(({ outcome }) => outcome === "accepted").length,
    ).toBe(kind.command === "task" ? 1 : 4);
    expect(isValid("ralph-state", JSON.parse(text(stateName)))).toBe(true);
  });
});

const newest = readdirSync(fixtures).findLast((format) => existsSync(join(fixtures, format, "task-begun"))) ?? "";
describe.each(kinds.map((kind) => [kind.command, kind] as const))("a %s that was begun", (_, kind) => {
  it.each(["the state", "a line of the ledger", "an entry that waits"])(
    "is read and not written where %s is of a later format: exit 5",
    (what) => {
      const { folder, env, run, text } = thawed(newest, kind);
      const later = (name: string, line = "") =>
        writeFileSync(join(folder, name), line + text(name).replace(/"format": ?\d+/, `"format":${stateVersion + 1}`));
      if (what === "the state") later(kind.file);
      else if (what === "a line of the ledger") later(".ralph/ledger.jsonl");
      else {
        cpSync(join(folder, ".ralph/journal/done/2.json"), join(folder, ".ralph/journal/3.json"));
        later(".ralph/journal/3.json");
      }
      const files = () =>
        readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => join(parentPath, name))
          .filter((path) => !path.includes("/.git/"))
          .map((path) => [path, readFileSync(path, "utf8")]);
      const before = files();
      const call = (...args: string[]) =>
        spawnSync(process.execPath, [cli, ...args], { cwd: folder, env, encoding: "utf8" });
      const ofPeople = what === "the state" ? ["steer . Look.", "pause .", "stop ."] : [];
      for (const args of [run.slice(0, -1), ...ofPeople.map((each) => each.split(" "))]) {
        const { status, stderr } = call(...args);
        expect([args[0], status, stderr]).toEqual([
          args[0],
          5,
          expect.stringMatching(new RegExp(`format ${stateVersion + 1} .*update research-ralph`)),
        ]);
      }
      expect(call("status").status).toBe(0);
      expect(files()).toEqual(before);
    },
  );
});
