import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { placeTests, removeRemainingTests } from "../../../src/code/roles/adversarial-tests.js";
import { adversaryFolder, keptTestsFolder } from "../../../src/code/project-files/layout.js";

/** A project by the files of its framework, and a folder beside it that nobody may write to. */
function project(files: Readonly<Record<string, string>>) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "rr-adversary-")));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [folder, outside] = [join(top, "project"), join(top, "outside")];
  for (const path of [folder, outside]) mkdirSync(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return { folder, outside };
}
const node = { "package.json": JSON.stringify({ scripts: { test: "node --test" } }) };
const cargo = { "Cargo.toml": '[package]\nname = "x"\n' };
const result = { tests: [{ file: "evil.test.mjs", content: "evil" }], findings: [] };

it("an adversary's test is laid into a folder of its own and taken out again, or kept", () => {
  const { folder } = project(node);
  const laid = placeTests(folder, result, undefined);
  expect(laid.written).toEqual([`${adversaryFolder}/evil.test.mjs`]);
  laid.remove(false);
  expect(readdirSync(folder)).toEqual(["package.json"]);
  placeTests(folder, result, undefined).remove(true);
  expect(readFileSync(join(folder, keptTestsFolder, "evil.test.mjs"), "utf8")).toBe("evil");
  expect(existsSync(join(folder, adversaryFolder))).toBe(false);
});

it("an adversary's test is written through no link that an agent left in its place, and is laid all the same", () => {
  const { folder, outside } = project(node);
  symlinkSync(outside, join(folder, adversaryFolder));
  symlinkSync(outside, join(folder, keptTestsFolder));
  const laid = placeTests(folder, result, undefined);
  expect(laid.written).toEqual([`${adversaryFolder}/evil.test.mjs`]);
  laid.remove(true);
  expect(readdirSync(outside)).toEqual([]);
  const rust = project(cargo);
  symlinkSync(rust.outside, join(rust.folder, "tests"));
  writeFileSync(join(rust.outside, "ralph_adversarial_mine.rs"), "mine");
  expect(placeTests(rust.folder, result, undefined).written).toEqual([]);
  removeRemainingTests(rust.folder);
  expect(readdirSync(rust.outside)).toEqual(["ralph_adversarial_mine.rs"]);
});

it("a file where its folder would be, and a test that deletes itself, break no run", () => {
  const { folder } = project({ ...cargo, tests: "a script of that name" });
  expect(placeTests(folder, result, undefined).written).toEqual([]);
  expect(readFileSync(join(folder, "tests"), "utf8")).toBe("a script of that name");
  const other = project({ ...node, [adversaryFolder]: "" });
  const laid = placeTests(other.folder, result, undefined);
  rmSync(join(other.folder, adversaryFolder), { recursive: true });
  laid.remove(true);
  expect(readdirSync(other.folder)).toEqual(["package.json"]);
});
