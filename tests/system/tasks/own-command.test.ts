import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { detectTests } from "../../../src/task/test-runs/detect.js";
import { withArguments, withScripts } from "../../../src/task/test-runs/own-command.js";
import { runTests } from "../../../src/task/test-runs/run-tests.js";
import { placeOnHost } from "../../task/place.js";

const drop = /^--watch$/;

describe("a test script with a reporter of ours", () => {
  it.each([
    ["NODE_OPTIONS=--experimental-vm-modules jest", "NODE_OPTIONS=--experimental-vm-modules jest --json"],
    ["cross-env X=1 jest --config a.js", "cross-env X=1 jest --config a.js --json"],
    ["NODE_OPTIONS='--a --b' TZ=UTC npx --no-install jest", "NODE_OPTIONS='--a --b' TZ=UTC jest --json"],
    ["yarn jest", "jest --json"],
    [
      "node --experimental-vm-modules node_modules/jest/bin/jest.js src",
      "node --experimental-vm-modules node_modules/jest/bin/jest.js src --json",
    ],
    ["tsc -p . && c8 jest --watch 'a;b' && node after.js", "tsc -p . && c8 jest 'a;b' --json && node after.js"],
    ["jest 2>&1 | tee log", "jest 2>&1 --json | tee log"],
    ["jest -- src/a", "jest --json -- src/a"],
    ["jest --watch src # or jest --watch", "jest src --json # or jest --watch"],
  ])("%s keeps its variables, options and steps", (script, line) => {
    expect(withArguments(script, "jest", ["--json"], { drop, valued: /(?!)/ })).toBe(line);
  });

  it("names the command that ends by itself, unless the script does", () => {
    const of = (script: string) =>
      withArguments(script, "vitest", ["--json"], { drop, command: "run", valued: /(?!)/ });
    expect(of("vitest --watch")).toBe("vitest run --json");
    expect(of("TZ=UTC vitest run src")).toBe("TZ=UTC vitest run src --json");
  });

  it("takes the place of the script's own, whose value may be a word of its own", () => {
    const valued = /^--(?:reporter|outputFile)(?:\..*)?$/;
    const of = (script: string) => withArguments(script, "vitest", ["--json"], { drop, valued, command: "run" });
    expect(of("vitest run --reporter=junit --outputFile='a b.xml' src")).toBe("vitest run src --json");
    expect(of("vitest run --reporter junit --outputFile.junit a.xml --globals")).toBe("vitest run --globals --json");
    expect(of("vitest --reporter --globals src")).toBe("vitest run --globals src --json");
  });

  it("loses what it must not have with the number that belongs to it, and no path", () => {
    const of = (script: string) => withArguments(script, "jest", ["--json"], { drop: /^--bail$/, valued: /(?!)/ });
    expect(of("jest --bail 1 src")).toBe("jest src --json");
    expect(of("jest --bail src 1")).toBe("jest src 1 --json");
  });

  it("is left alone where it calls the framework by another script, or by a word that only looks like it", () => {
    for (const script of ["npm run jest", "npm run test:jest", "eslint jest.config.js", "node --test"])
      expect(withArguments(script, "jest", ["--json"], { drop, valued: /(?!)/ })).toBeUndefined();
  });

  it("passes through any line without end", () => {
    for (const script of ["", "jest '", 'jest "a\\', "jest \\", "((jest", "jest && ", "$(jest)"])
      expect(typeof (withArguments(script, "jest", ["--json"], { drop, valued: /(?!)/ }) ?? "")).toBe("string");
  });

  it("is vitest's only one, also where the script names another and a file for it", async () => {
    const place = placeOnHost();
    symlinkSync(packageFile("node_modules"), join(place.cwd, "node_modules"));
    const script = "vitest run --reporter=junit --reporter verbose --outputFile=junit.xml --globals";
    writeFileSync(join(place.cwd, "package.json"), JSON.stringify({ type: "module", scripts: { test: script } }));
    writeFileSync(join(place.cwd, "a.test.js"), 'test("adds", () => expect(1 + 1).toBe(2));');
    const [found] = detectTests(place.cwd);
    if (found === undefined) throw new Error("no framework");
    const { tests, problem } = await runTests(found, place, 120_000);
    expect([problem, tests.map(({ test_name, status }) => [test_name, status])]).toEqual([
      undefined,
      [["a.test.js > adds", "pass"]],
    ]);
    rmSync(place.cwd, { recursive: true, force: true });
  });

  it("is node's only one too, whose reporters and destinations have to be as many", async () => {
    const place = placeOnHost();
    const test = "node --test --test-reporter spec --test-reporter=dot --test-reporter-destination=stdout a.test.js";
    writeFileSync(join(place.cwd, "package.json"), JSON.stringify({ scripts: { test } }));
    writeFileSync(join(place.cwd, "a.test.js"), 'require("node:test")("adds", () => {});');
    const [found] = detectTests(place.cwd);
    if (found === undefined) throw new Error("no framework");
    const { tests } = await runTests(found, place, 60_000);
    expect(tests.map(({ status }) => status)).toEqual(["pass"]);
    rmSync(place.cwd, { recursive: true, force: true });
  });

  it("runs with the script's variables, in the project's own programs", async () => {
    const place = placeOnHost();
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(place.cwd, name)), { recursive: true });
      writeFileSync(join(place.cwd, name), text, { mode: 0o755 });
    };
    const script = "MODE=strict node step.mjs && EXTRA='two words' jest --watchAll --config own.json";
    put("package.json", JSON.stringify({ scripts: { test: script } }));
    put("step.mjs", 'import { writeFileSync } from "node:fs"; writeFileSync("built", process.env.MODE);');
    // A jest that says what it was given.
    put(
      "node_modules/.bin/jest",
      `#!/usr/bin/env node
const fs = require("node:fs");
const file = process.argv.find((each) => each.startsWith("--outputFile=")).slice(13);
const name = [fs.readFileSync("built", "utf8"), process.env.EXTRA, ...process.argv.slice(2, 4)].join("|");
const assertionResults = [{ title: name, ancestorTitles: [], status: "passed" }];
fs.writeFileSync(file, JSON.stringify({ testResults: [{ name: process.cwd() + "/a.test.js", status: "passed", assertionResults }] }));
`,
    );
    const [found] = detectTests(place.cwd);
    if (found === undefined) throw new Error("no framework");
    const { tests, problem } = await runTests(found, place, 30_000);
    expect(problem).toBeUndefined();
    expect(tests.map(({ test_name }) => test_name)).toEqual(["a.test.js > strict|two words|--config|own.json"]);
    rmSync(place.cwd, { recursive: true, force: true });
  });
});

describe("a test script that calls other scripts", () => {
  const ours: Readonly<Record<string, string>> = {
    build: "tsc -p .",
    unit: "vitest run",
    preunit: "node make.js",
    loop: "npm run loop",
    noted: "tsc # types",
    "test:all": "npm run unit -- --globals",
  };
  const expanded = (script: string, scripts: Readonly<Record<string, string>> = ours) =>
    withScripts(script, (name) => scripts[name]);

  it.each([
    ["npm run build && npm run unit", "(tsc -p .) && (node make.js) && (vitest run)"],
    ["npm run -s test:all", "((node make.js) && (vitest run --globals))"],
    ["pnpm unit src | tee log", "(node make.js) && (vitest run src) | tee log"],
    ["yarn run 'build'; vitest", "(tsc -p .); vitest"],
    ["test -e made || npm run unit", "test -e made || ((node make.js) && (vitest run))"],
    ["npm run noted && vitest", "(tsc # types\n) && vitest"],
    ["npm run unit --workspaces", "npm run unit --workspaces"],
    ["X=1 npm run unit", "X=1 npm run unit"],
    ["npm run missing", "npm run missing"],
    ["npm test && yarn install", "npm test && yarn install"],
    ["vitest run", "vitest run"],
    ["vitest # && npm run noted", "vitest # && npm run noted"],
    ["npm run unit # npm run build\nnpm run build", "(node make.js) && (vitest run) # npm run build\n(tsc -p .)"],
    ["npm run build#1", "npm run build#1"],
  ])("%s has them in their place", (script, line) => expect(expanded(script)).toBe(line));

  it("and itself, ends all the same", () => expect(expanded("npm run loop")).toBe("(npm run loop)"));

  it("and others many times over, stays short", () => {
    const many = Object.fromEntries(
      "abcdefgh".split("").map((name, at, all) => [name, `npm run ${all[at + 1] ?? "end"};`.repeat(50)]),
    );
    expect(expanded("npm run a", { ...many, end: "vitest" }).length).toBeLessThan(100_000);
  });

  it("and are too long for a shell together, stays as it is", () => {
    const script = "npm run long && npm run long";
    expect(expanded(script, { long: `echo ${"x".repeat(60_000)}` })).toBe(script);
  });

  it("is run with what npm runs before and after it, each of which may fail it", async () => {
    const place = placeOnHost();
    const put = (name: string, text: string) => writeFileSync(join(place.cwd, name), text);
    const test = (more: object) =>
      put("package.json", JSON.stringify({ scripts: { test: "npm run unit", unit: "node --test", ...more } }));
    put("a.test.js", 'require("node:test")("is built", () => require("node:fs").accessSync("built"));');
    const found = async () => {
      const [detected] = detectTests(place.cwd);
      if (detected?.framework !== "node:test") throw new Error("no framework");
      const { tests, problem = "" } = await runTests(detected, place, 60_000);
      return [tests.map(({ status }) => status), tests.at(-1)?.error?.message ?? problem];
    };
    test({ pretest: "echo > built # as npm does", posttest: "rm built" });
    expect(await found()).toEqual([["pass"], ""]);
    // Its last step has taken away what the first one made.
    test({ pretest: "test -e built" });
    expect(await found()).toEqual([["fail"], expect.stringContaining("The script pretest of package.json failed.")]);
    test({ pretest: "echo > built", posttest: "exit 4" });
    expect(await found()).toEqual([["pass", "fail"], expect.stringContaining("exit code 4")]);
    rmSync(place.cwd, { recursive: true, force: true });
  });
});
