import { existsSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { temporaryRoot } from "../../../src/engine/lib/layout.js";
import { makeTemporaryFolder } from "../../../src/engine/storage/regular-file.js";

it("temporary folders are made in /tmp where TMPDIR names none, and what keeps them from it is told", () => {
  const usual = process.env["TMPDIR"];
  try {
    process.env["TMPDIR"] = "/nowhere/tmp";
    expect(temporaryRoot()).toBe("/tmp");
  } finally {
    if (usual === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = usual;
  }
  const made = makeTemporaryFolder("rr-test-");
  expect([existsSync(made), dirname(made)]).toEqual([true, tmpdir()]);
  rmdirSync(made);
  expect(() => makeTemporaryFolder("x", "/nowhere/tmp")).toThrow("/nowhere/tmp cannot be reached");
});
