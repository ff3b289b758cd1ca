import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listeningGit } from "../../support/processes/listening-git.js";
import { templateRepositoryNow } from "../../support/projects/git-template.js";
import { repositoryOf } from "../../../src/engine/storage/git-repository.js";
import { openSnapshots, type Snapshots } from "../../../src/task/project-files/snapshots.js";

let folder: string;
let outside: string;
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd: folder });
function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
const read = (path: string) => readFileSync(join(folder, path), "utf8");

async function opened(): Promise<Snapshots> {
  const repository = await repositoryOf(folder);
  if (repository === undefined) throw new Error("no repository");
  return openSnapshots(folder, repository, "t", { index: join(outside, "index"), views: [], notify: () => {} });
}

async function changed(act: () => void): Promise<string[]> {
  const snapshots = await opened();
  const before = await snapshots.take(0);
  act();
  const after = await snapshots.take(1);
  const changes = await snapshots.changes(before?.commit ?? "", after?.commit ?? "");
  return changes.map(({ path, kind }) => `${kind} ${path}`);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "snapshots-"));
  outside = mkdtempSync(join(tmpdir(), "snapshots-index-"));
  templateRepositoryNow(folder);
  write("main.js", "1");
});
afterEach(() => {
  for (const path of [folder, outside]) rmSync(path, { recursive: true, force: true });
});

it("lays nothing into the project's folder meanwhile, where a kill would leave it and tests would stumble over it", async () => {
  const [bin, seen] = [join(outside, "bin"), join(outside, "seen")];
  mkdirSync(bin);
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  writeFileSync(join(bin, "git"), `#!/bin/sh\nfind ${folder} ${outside} -type l >> ${seen}\nexec ${real} "$@"\n`, {
    mode: 0o755,
  });
  vi.stubEnv("PATH", `${bin}:${process.env["PATH"]}`);
  try {
    expect(await changed(() => write("main.js", "2"))).toEqual(["changed main.js"]);
  } finally {
    vi.unstubAllEnvs();
  }
  expect(readFileSync(seen, "utf8")).toBe("");
});

describe("what programs build", () => {
  it("is left out where the repository does not hold it", async () => {
    expect(
      await changed(() => {
        write("main.js", "2");
        for (const path of ["target/debug/app", "node_modules/a/index.js", "lib/__pycache__/a.pyc"]) write(path, "x");
      }),
    ).toEqual(["changed main.js"]);
  });

  it("is the project's where it was committed, and is seen to be gone where all of it is removed", async () => {
    const paths = ["src/target/release/notes.ts", "target/doc/guide.md", "tests/fixtures/node_modules/a/index.js"];
    const beside = (name: string) => paths.map((path) => `${dirname(path)}/${name}`);
    for (const path of [...paths, ...beside("gone.md")]) write(path, "1");
    git("add", "--all");
    git("commit", "-qm", "first");
    const changes = await changed(() => {
      for (const path of [...paths, ...beside("new.md")]) write(path, "2");
      for (const path of beside("gone.md")) rmSync(join(folder, path));
    });
    expect(changes.toSorted()).toEqual(
      [
        ...beside("gone.md").map((path) => `removed ${path}`),
        ...paths.map((path) => `changed ${path}`),
        ...beside("new.md").map((path) => `added ${path}`),
      ].toSorted(),
    );
    const snapshots = await opened();
    await snapshots.putBack(0);
    expect(paths.map(read)).toEqual(["1", "1", "1"]);
    for (const path of beside("gone.md")) rmSync(join(folder, path));
    expect(await changed(() => rmSync(join(folder, "tests"), { recursive: true }))).toEqual([`removed ${paths[2]}`]);
    await snapshots.putBack(0);
    expect(paths.map(read)).toEqual(["1", "1", "1"]);
  });
});

it("starts git six times for a snapshot, and asks again what an agent may have changed", async () => {
  const snapshots = await opened();
  await snapshots.take(0);
  write("main.js", "2");
  const asked = listeningGit();
  const { tree } = (await snapshots.take(1)) ?? {};
  expect(asked().map((each) => /^(?:-c \S+ )*(\S+)/.exec(each)?.[1])).toEqual([
    "config",
    "add",
    "write-tree",
    "ls-files",
    "commit-tree",
    "update-ref",
  ]);
  // An index of another content, though of the same time.
  const index = join(outside, "index");
  const before = statSync(index);
  const made = git("hash-object", "-w", "main.js").toString().trim();
  execFileSync("git", ["update-index", "--add", "--cacheinfo", `160000,${made},planted`], {
    cwd: folder,
    env: { ...process.env, GIT_INDEX_FILE: index },
  });
  utimesSync(index, before.atime, before.mtime);
  const again = listeningGit();
  expect((await snapshots.take(2))?.tree).toBe(tree);
  expect(again().some((each) => each.includes("update-index --force-remove"))).toBe(true);
  // Files of programs count as soon as they are committed.
  write("target/doc/guide.md", "1");
  git("add", "target/doc/guide.md");
  const { commit = "" } = (await snapshots.take(3)) ?? {};
  expect(git("ls-tree", "-r", "--name-only", commit).toString()).toBe("main.js\ntarget/doc/guide.md\n");
  expect(git("rev-list", "--count", commit).toString()).toBe("4\n");
});

it("puts each byte back, whatever .gitattributes has git make of it", async () => {
  write(".gitattributes", "* text=auto\n*.bat eol=crlf\n*.id ident\n*.wide working-tree-encoding=UTF-16\n");
  write(".git/info/attributes", "*.own eol=crlf");
  const files = {
    "a.txt": "a\r\nb\r\n",
    "b.bat": "a\nb\n",
    "c.txt": "a\r\nb\n",
    "d.own": "a\n",
    "e.id": "$Id: mine $",
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const wide = Buffer.from("\ufeffwide", "utf16le");
  writeFileSync(join(folder, "f.wide"), wide);
  const taken = await (await opened()).take(0);
  for (const path of [...Object.keys(files), "f.wide"]) write(path, "changed\n");
  await (await opened()).putBack(0);
  for (const [path, text] of Object.entries(files)) expect([path, read(path)]).toEqual([path, text]);
  expect(readFileSync(join(folder, "f.wide"))).toEqual(wide);
  const copy = join(outside, "copy");
  await (await opened()).writeTo(taken?.commit ?? "", copy);
  for (const [path, text] of Object.entries(files)) expect(readFileSync(join(copy, path), "utf8")).toBe(text);
  expect(read(".git/info/attributes")).toBe("*.own eol=crlf");
  expect(readdirSync(outside).toSorted()).toEqual(["copy", "index"]);
});

it("runs no filter of a file that the configuration includes by a relative name, wherever git reads it", async () => {
  git("config", "include.path", "../planted");
  write(".gitattributes", "*.js filter=own\n");
  const ran = join(outside, "ran");
  const planted = `[filter "own"]\n\tclean = touch ${ran}\n\tsmudge = touch ${ran}\n`;
  for (const place of [folder, outside]) writeFileSync(join(place, "planted"), planted);
  await (await opened()).take(0);
  write("main.js", "2");
  await (await opened()).putBack(0);
  expect([read("main.js"), existsSync(ran)]).toEqual(["1", false]);
  rmSync(join(folder, "planted"));
  await (await opened()).take(1);
  expect(existsSync(ran)).toBe(false);
});

it("knows a repository within this one by its own commit, and one without a commit keeps nothing else out", async () => {
  const inner = (path: string, ...args: string[]) =>
    execFileSync("git", ["-C", join(folder, path), "-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
      encoding: "utf8",
    });
  git("commit", "-q", "--allow-empty", "-m", "outer");
  for (const path of ["inner", "empty"]) git("init", "-q", path);
  inner("inner", "commit", "-q", "--allow-empty", "-m", "inner");
  const { commit = "" } = (await (await opened()).take(0)) ?? {};
  expect(
    String(git("ls-tree", "-r", commit))
      .replaceAll(/\t/g, " ")
      .trim()
      .split("\n"),
  ).toEqual([
    `160000 commit ${inner("inner", "rev-parse", "HEAD").trim()} inner`,
    expect.stringMatching(/^100644 blob .* main\.js$/),
  ]);
});

it("puts the line ends of each file back as they were, whatever core.autocrlf says", async () => {
  const files = { "a.bat": "a\r\nb\r\n", "b.sh": "a\nb\n", "c.txt": "a\r\nb\n" };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const snapshots = await opened();
  for (const [iteration, value] of ["true", "input"].entries()) {
    git("config", "core.autocrlf", value);
    await snapshots.take(iteration);
    for (const path of Object.keys(files)) write(path, "changed\n");
    await snapshots.putBack(iteration);
    for (const [path, text] of Object.entries(files)) expect([value, read(path)]).toEqual([value, text]);
  }
});
