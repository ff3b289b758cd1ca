import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { temporaryRoot } from "../../../src/engine/lib/layout.js";
import { makeTemporaryFolder, removeAbandonedFolders } from "../../../src/engine/storage/regular-file.js";

it("temporary folders are made in /tmp where TMPDIR names none, and what keeps them from it is told", () => {
  const usual = process.env["TMPDIR"];
  try {
    process.env["TMPDIR"] = "/nowhere/tmp";
    expect(temporaryRoot()).toBe("/tmp");
  } finally {
    if (usual === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = usual;
  }
  const made = makeTemporaryFolder("probe");
  expect([existsSync(made), dirname(made)]).toEqual([true, tmpdir()]);
  rmSync(made, { recursive: true });
  expect(() => makeTemporaryFolder("probe", "/nowhere/tmp")).toThrow("/nowhere/tmp cannot be reached");
});

it("what killed processes have left goes with the first folder of the next, and nothing else does", () => {
  const root = mkdtempSync(join(tmpdir(), "rr-left-"));
  const dead = 999_999_999;
  const kept = [`rr-git-${process.pid}-abcdef`, `rr-tests-${dead}-abcdef`, "rr-git-abcdef", `my-git-${dead}-abcdef`];
  for (const name of [...kept, `rr-git-${dead}-abcdef`, `rr-sandbox-${dead}-abcdef`])
    mkdirSync(join(root, name, "within"), { recursive: true });
  const own = makeTemporaryFolder("git", root);
  expect(readdirSync(root).map((name) => join(root, name))).toEqual(
    expect.arrayContaining([own, ...kept.map((name) => join(root, name))]),
  );
  expect(readdirSync(root)).toHaveLength(kept.length + 1);
  // A link to nothing is listed and can't be looked at, as a folder that another process removes meanwhile.
  symlinkSync(join(root, "none"), join(root, `rr-git-${dead}-gone`));
  expect(() => removeAbandonedFolders(root)).not.toThrow();
  rmSync(root, { recursive: true });
});
