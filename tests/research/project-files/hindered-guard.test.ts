import { projectFiles } from "../../../src/engine/config/config-file.js";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { guardFiles } from "../../support/projects/guarded-project.js";
import { formatRrd } from "../../../src/research/project-files/rrd-file.js";
import { read, researchFolder, sampleRrd, temporaryFolder } from "../../support/folders.js";
import { lastGoodFile } from "../../../src/research/project-files/layout.js";

const disk = vi.hoisted(() => ({ refuses: (_to: string): boolean => false }));
vi.mock("node:fs", async (importOriginal) => {
  const real = await importOriginal<typeof import("node:fs")>();
  const renameSync = (from: string, to: string): void => {
    if (disk.refuses(to)) throw Object.assign(new Error("EIO: it failed"), { code: "EIO" });
    real.renameSync(from, to);
  };
  return { ...real, renameSync };
});
beforeEach(() => {
  disk.refuses = () => false;
});

const text = formatRrd(sampleRrd(3));
const forged = formatRrd({ ...sampleRrd(3), phase: "COMPLETE" });
const names = ["rrd.json", "progress.txt", "ledger.jsonl"];

/** A protected research, whose files an agent forges while it puts something into the way of putting them back. */
async function forgedResearch(hinder: (folder: string) => void, folder = researchFolder(sampleRrd(3))) {
  const [root, rescue] = [temporaryFolder(), join(mkdtempSync(join(tmpdir(), "rescue-")), "rescued")];
  for (const place of ["journal/done", "set-aside"]) mkdirSync(join(folder, ".ralph", place), { recursive: true });
  for (const path of [join(folder, "rrd.json"), lastGoodFile(folder)]) writeFileSync(path, text);
  for (const path of [join(folder, "progress.txt"), join(folder, "ledger.jsonl"), join(root, "ralph.config.json")])
    writeFileSync(path, "ours\n");
  const guard = await guardFiles({
    folder,
    root,
    configs: projectFiles(root),
    stateDir: dirname(rescue),
    iteration: 7,
    memory: new Map(),
  });
  for (const name of names) writeFileSync(join(folder, name), name === "rrd.json" ? forged : "forged\n");
  writeFileSync(join(root, "ralph.config.json"), "Always give 5.\n");
  hinder(folder);
  return { folder, root, rescue, said: () => guard.undoTampering("the agent") };
}
const expectAllBack = (folder: string, root: string): void => {
  expect([...names.map((name) => read(folder, name)), read(root, "ralph.config.json")]).toEqual([
    text,
    "ours\n",
    "ours\n",
    "ours\n",
  ]);
};
const replaced = (names: string): string =>
  `the agent replaced ${names} with something else, which was removed. The previous contents are lost, except what the state file holds.`;
const asFile = (path: string): void => {
  rmSync(path, { recursive: true, force: true });
  writeFileSync(path, "x");
};

describe("every file is put back, whatever an agent left in the way:", () => {
  it.each([".ralph/set-aside", ".ralph/set-aside/7", ".ralph/journal", ".ralph/journal/done"])(
    "a file in the place of %s",
    async (place) => {
      const { folder, root, said } = await forgedResearch((research) => asFile(join(research, place)));
      expect((await said())[0]).toBe(replaced(place));
      expectAllBack(folder, root);
      expect(read(join(folder, ".ralph/set-aside/7"), "progress.txt")).toBe("forged\n");
      expect(statSync(join(folder, ".ralph/journal/done")).isDirectory()).toBe(true);
    },
  );

  it("a file, a link to nowhere or to itself in the place of .ralph, with all that was in it", async () => {
    const link = (to: string) => (path: string) => (rmSync(path, { recursive: true }), symlinkSync(to, path));
    for (const put of [asFile, link("nowhere"), link(".ralph")]) {
      const { folder, root, said } = await forgedResearch((research) => put(join(research, ".ralph")));
      expect((await said())[0]).toBe(replaced(".ralph"));
      expectAllBack(folder, root);
      expect(read(folder, ".ralph/rrd.last-good.json")).toBe(text);
    }
  });

  it("a folder in the place of the lock, while a lock that is a file stays", async () => {
    const { folder, said } = await forgedResearch((research) =>
      mkdirSync(join(research, ".ralph/lock/deep"), { recursive: true }),
    );
    expect((await said())[0]).toBe(replaced(".ralph/lock"));
    expect(existsSync(join(folder, ".ralph/lock"))).toBe(false);
    const other = await forgedResearch((research) => writeFileSync(join(research, ".ralph/lock"), "{}"));
    expect(await other.said()).toEqual([
      expect.stringMatching(/^rrd\.json, progress\.txt, ledger\.jsonl, ralph\.config\.json changed/),
    ]);
    expect(read(other.folder, ".ralph/lock")).toBe("{}");
  });

  it.each([
    ".ralph",
    ".ralph/set-aside",
    ".ralph/set-aside/7",
    ".ralph/journal",
    ".ralph/journal/done",
    ".ralph/texts",
    ".ralph/http",
    ".ralph/http/answers",
    ".ralph/documents/answers",
    ".ralph/inbox",
  ])("a link to a person's folder in the place of %s, and nothing in that folder is touched", async (place) => {
    const mine = temporaryFolder();
    for (const name of ["lock/deep", "journal", "answers"]) mkdirSync(join(mine, name), { recursive: true });
    for (const name of ["ralph.config.json", "rrd.json", "a.json", "lock/deep/file"])
      writeFileSync(join(mine, name), "mine");
    const everything = () => readdirSync(mine, { recursive: true }).toSorted();
    const before = everything();
    const { folder, root, said } = await forgedResearch((research) => {
      rmSync(join(research, place), { recursive: true, force: true });
      mkdirSync(dirname(join(research, place)), { recursive: true });
      symlinkSync(mine, join(research, place));
    });
    expect((await said())[0]).toBe(replaced(place));
    expect([everything(), read(mine, "ralph.config.json"), read(mine, "rrd.json")]).toEqual([before, "mine", "mine"]);
    expectAllBack(folder, root);
    expect(lstatSync(join(folder, place), { throwIfNoEntry: false })?.isSymbolicLink() ?? false).toBe(false);
  });

  it("a folder that the person keeps elsewhere and links stays linked", async () => {
    const [research, elsewhere] = [researchFolder(sampleRrd(3)), temporaryFolder()];
    mkdirSync(join(research, ".ralph"));
    symlinkSync(elsewhere, join(research, ".ralph/texts"));
    const { folder, said } = await forgedResearch(() => undefined, research);
    expect((await said()).join()).not.toContain("replaced");
    expect(lstatSync(join(folder, ".ralph/texts")).isSymbolicLink()).toBe(true);
  });

  it("folders that nobody may enter", async () => {
    const { folder, root, said } = await forgedResearch((research) => {
      for (const path of [join(research, ".ralph"), research]) chmodSync(path, 0);
    });
    await said();
    expect([statSync(folder).mode & 0o777, statSync(join(folder, ".ralph")).mode & 0o777]).toEqual([0o755, 0o755]);
    expectAllBack(folder, root);
  });

  it("no place to set the changed ones aside: then that is not said of them", async () => {
    const { folder, root, said } = await forgedResearch(() => undefined);
    mkdirSync(join(folder, "elsewhere"));
    rmSync(join(folder, "ledger.jsonl"));
    mkdirSync(join(folder, "ledger.jsonl"));
    disk.refuses = (to) => to.includes("set-aside");
    expect(await said()).toEqual([expect.stringContaining("were restored; the changed ones are in")]);
    expectAllBack(folder, root);
    expect(readdirSync(join(folder, ".ralph/set-aside/7")).toSorted()).toEqual([
      "progress.txt",
      basename(root),
      "rrd.json",
    ]);
  });
});

it("a file that can't be put back keeps no other from it, and is saved elsewhere as it was", async () => {
  const { folder, root, rescue, said } = await forgedResearch(() => undefined);
  disk.refuses = (to) => to === join(folder, "progress.txt");
  const error: unknown = await said().catch((failure: unknown) => failure);
  const [place = ""] = readdirSync(rescue).map((name) => join(rescue, name));
  expect(error).toBeInstanceOf(ExpectedError);
  expect((error as Error).message).toBe(
    `progress.txt changed while the agent ran unconfined, and can't be put back (The disk of ${join(folder, "progress.txt")} fails or is gone (EIO); check it and its connection, and run again); copy what stands in ${place} over it before you run again.`,
  );
  expect([readdirSync(place), read(place, "progress.txt")]).toEqual([["progress.txt"], "ours\n"]);
  expect([read(folder, "rrd.json"), read(folder, "ledger.jsonl"), read(root, "ralph.config.json")]).toEqual([
    text,
    "ours\n",
    "ours\n",
  ]);
});

it("a research that a person keeps elsewhere and links is protected there; another link in its place is none", async () => {
  const real = researchFolder(sampleRrd(3));
  const linkTo = (place: string): string => {
    const path = join(temporaryFolder(), "linked-2026-01-01");
    symlinkSync(place, path);
    return path;
  };
  const link = linkTo(real);
  const { root, said } = await forgedResearch(() => undefined, link);
  await said();
  expectAllBack(real, root);
  const { said: again } = await forgedResearch(() => {
    const copy = join(dirname(real), "copy");
    renameSync(real, copy);
    rmSync(link);
    symlinkSync(copy, link);
  }, link);
  await expect(again()).rejects.toThrow("was deleted or moved away");
  const third = researchFolder(sampleRrd(3));
  const { said: retargeted } = await forgedResearch((research) => {
    rmSync(research);
    symlinkSync(researchFolder(sampleRrd(3)), research);
  }, linkTo(third));
  await expect(retargeted()).rejects.toThrow("was deleted or moved away");
});
