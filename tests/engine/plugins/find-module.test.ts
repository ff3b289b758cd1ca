import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { hashOfPlugin, findModule } from "../../../src/engine/plugins/find-module.js";
import { temporaryFolder } from "../../support/projects/research.js";

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

test("a path means a file alone or a folder whole, a name a package with its neighbours, and nothing else is seen", () => {
  const root = realpathSync(temporaryFolder());
  write(root, {
    "one.mjs": "",
    "many/package.json": '{"exports":{".":{"types":"./x.d.ts","import":"./lib/main.mjs"}}}',
    "many/lib/main.mjs": "",
    "plain/index.js": "",
    "empty/readme.md": "",
    "node_modules/@a/plugin/package.json": '{"main":"here.js"}',
    "node_modules/@a/plugin/here.js": "",
  });
  expect(findModule("./one.mjs", root)).toMatchObject({ file: join(root, "one.mjs"), read: [join(root, "one.mjs")] });
  expect(findModule("./many", root)).toMatchObject({
    file: join(root, "many/lib/main.mjs"),
    read: [join(root, "many")],
  });
  expect(findModule("./plain/", root)).toMatchObject({ file: join(root, "plain/index.js") });
  expect(findModule("@a/plugin", join(root, "many"))).toMatchObject({
    file: join(root, "node_modules/@a/plugin/here.js"),
    read: [join(root, "node_modules"), join(root, "node_modules/@a/plugin")],
  });
  expect(findModule("./gone.mjs", root)).toEqual({ problem: `there is no ${join(root, "gone.mjs")}` });
  expect(findModule("./empty", root)).toEqual({ problem: expect.stringContaining("name it under 'main'") });
  expect(findModule("not-installed", root)).toEqual({ problem: expect.stringContaining("no package not-installed") });
});

test("every file of a plugin changes its hash, what it brings along does not, and a link shows where it leads", () => {
  const root = realpathSync(temporaryFolder());
  write(root, { "p/index.js": "1", "p/deep/more.js": "2", "p/node_modules/x/i.js": "3", "other.js": "4" });
  const before = hashOfPlugin(join(root, "p"));
  expect(before).toMatch(/^[\da-f]{64}$/);
  write(root, { "p/node_modules/x/i.js": "changed" });
  expect(hashOfPlugin(join(root, "p"))).toBe(before);
  write(root, { "p/deep/more.js": "3" });
  const changed = hashOfPlugin(join(root, "p"));
  expect(changed).not.toBe(before);
  symlinkSync(join(root, "other.js"), join(root, "p", "link.js"));
  const linked = hashOfPlugin(join(root, "p"));
  write(root, { "other.js": "5" });
  expect(new Set([before, changed, linked, hashOfPlugin(join(root, "p"))]).size).toBe(4);
  write(root, { "large.mjs": "x".repeat(20_000_001) });
  expect(hashOfPlugin(join(root, "large.mjs"))).toBeUndefined();
});
