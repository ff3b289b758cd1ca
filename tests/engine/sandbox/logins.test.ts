import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyLogins, isRenewal, type Logins } from "../../../src/engine/sandbox/logins.js";

let folder: string;
let own: string;
let copy: string;
let logins: Logins;
const old = JSON.stringify({ account: "mine", tokens: { access: "a" } });
const fresh = JSON.stringify({ account: "mine", tokens: { access: "b" } });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "logins-"));
  own = join(folder, "own.json");
  writeFileSync(own, old);
  logins = copyLogins([{ from: own, target: "/home/agent/.cli/auth.json", renewedFields: ["tokens.access"] }], folder);
  copy = join(folder, "0", "auth.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const text = (path: string) => readFileSync(path, "utf8");

test("a copy stands alone in its folder; a login that is not there makes none", () => {
  expect(logins.mounts).toEqual([{ from: join(folder, "0"), target: "/home/agent/.cli" }]);
  expect(text(copy)).toBe(old);
  expect(
    copyLogins([{ from: join(folder, "none"), target: "/home/agent/x", renewedFields: [] }], folder).mounts,
  ).toEqual([]);
});

test("what is renewed inside goes out, again and again", () => {
  for (const value of ["b", "c"]) {
    const next = old.replace('"a"', `"${value}"`);
    writeFileSync(copy, next);
    logins.sync();
    expect(text(own)).toBe(next);
  }
  expect(logins.notices()).toEqual([]);
});

test("what is renewed outside comes in, and wins over what was renewed inside meanwhile", () => {
  writeFileSync(own, fresh);
  logins.sync();
  expect(text(copy)).toBe(fresh);
  writeFileSync(own, old);
  writeFileSync(copy, fresh.replace('"b"', '"c"'));
  logins.sync();
  expect(text(own)).toBe(old);
  expect(logins.notices()).toHaveLength(1);
});

test("a link of the user's stays a link, and one in the place of the copy is never followed", () => {
  renameSync(own, join(folder, "real.json"));
  symlinkSync("real.json", own);
  writeFileSync(copy, fresh);
  logins.sync();
  expect(text(join(folder, "real.json"))).toBe(fresh);
  const secret = join(folder, "secret.json");
  writeFileSync(secret, old);
  rmSync(copy);
  symlinkSync(secret, copy);
  logins.sync();
  expect(text(own)).toBe(fresh);
});

describe("a renewal", () => {
  const renewed = ["tokens.access", "scopes"];
  test.each([
    ["another token", old, fresh, true],
    ["nothing", old, old, true],
    ["another account", old, old.replace("mine", "theirs"), false],
    ["a further field", old, old.replace("{", '{"helper":"sh",'), false],
    ["a field less", old, '{"tokens":{"access":"b"}}', false],
    ["a token that is empty", old, old.replace('"a"', '""'), false],
    ["a token that is an object", old, old.replace('"a"', '{"x":1}'), false],
    ["a list of texts that was not there", old, old.replace("{", '{"scopes":["a"],'), true],
    ["no JSON", old, "{", false],
    ["an array", old, "[]", false],
    ["levels without an end", old, `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`, false],
  ])("by %s", (_, before, after, expected) => {
    expect(isRenewal(before, after, renewed)).toBe(expected);
  });
});
