import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkAll } from "../../../src/task/criteria/check-criteria.js";
import { linterOf, typeCheckerOf } from "../../../src/task/criteria/types-and-lint.js";
import { detectTests, ownTestCommand } from "../../../src/task/test-runs/detect.js";
import type { Criterion } from "../../../src/task/generated/ralph.js";
import { freePort } from "../../support/network/free-port.js";
import { placeOnHost } from "../../task/place.js";

const ports = [await freePort(), await freePort()];

async function check(criterion: object, files: Readonly<Record<string, string>> = {}, signal?: AbortSignal) {
  const place = placeOnHost(signal);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(place.cwd, name, ".."), { recursive: true });
    writeFileSync(join(place.cwd, name), text);
  }
  const told: string[] = [];
  const checked = await checkAll(
    [criterion as Criterion],
    place,
    { seenTests: [] },
    async (event) => void told.push(event.type),
  );
  if (checked !== undefined) expect(told).toEqual(["checking", "checked"]);
  return checked?.checks[0];
}

describe("criteria", () => {
  const cases: [string, object, Record<string, string>, boolean, RegExp][] = [
    ["a file that is there", { type: "file_exists", path: "a" }, { a: "" }, true, /is there/],
    ["a folder that is there", { type: "file_exists", path: "b" }, { "b/c": "" }, true, /is there/],
    ["a file that is not", { type: "file_exists", path: "a" }, {}, false, /There is no a/],
    ["a name like an option", { type: "file_exists", path: "-e" }, { "-e": "" }, true, /is there/],
    ["a command that succeeds", { type: "command_succeeds", command: "test -s a" }, { a: "x" }, true, /code 0/],
    ["one that fails", { type: "command_succeeds", command: "echo why >&2; exit 3" }, {}, false, /code 3\.\nwhy/],
    ["one that a signal ends", { type: "command_succeeds", command: "kill -TERM $$" }, {}, false, /SIGTERM|143/],
    [
      "one that takes too long",
      { type: "command_succeeds", command: "sleep 9", timeout_seconds: 0.3 },
      {},
      false,
      /longer than 0.3/,
    ],
    ["a text", { type: "contains_text", path: "a", text: "ell" }, { a: "hello\r\n" }, true, /contains/],
    [
      "a text that is not there",
      { type: "contains_text", path: "a", text: "bye" },
      { a: "hello" },
      false,
      /begins with: hello/,
    ],
    [
      "a text with line ends",
      { type: "contains_text", path: "a", text: "x\r\ny\n" },
      { a: "x\r\ny\n" },
      true,
      /contains/,
    ],
    ["a pattern", { type: "contains_text", path: "a", pattern: "^H", flags: "mi" }, { a: "x\nhello" }, true, /matches/],
    [
      "a file that is too large",
      { type: "contains_text", path: "a", text: "x" },
      { a: "x".repeat(10_000_001) },
      false,
      /a is larger than 10 MB/,
    ],
    ["a name like an option of cat", { type: "contains_text", path: "-n", text: "x" }, { "-n": "x" }, true, /contains/],
    ["no file at all", { type: "contains_text", path: "a", text: "x" }, {}, false, /There is no file a\./],
    ["valid JSON", { type: "json_valid", path: "a.json" }, { "a.json": '\uFEFF{"a":1}' }, true, /valid/],
    ["broken JSON", { type: "json_valid", path: "a.json" }, { "a.json": '{"a":1,}' }, false, /a\.json:1:\d+/],
    [
      "all of two",
      {
        type: "all_of",
        criteria: [
          { type: "file_exists", path: "a" },
          { type: "file_exists", path: "b" },
        ],
      },
      { a: "" },
      false,
      /✗ file_exists b/,
    ],
    [
      "any of two",
      {
        type: "any_of",
        criteria: [
          { type: "file_exists", path: "a" },
          { type: "file_exists", path: "b" },
        ],
      },
      { b: "" },
      true,
      /Met: file_exists b/,
    ],
    ["the contrary", { type: "not", criterion: { type: "file_exists", path: "a" } }, {}, true, /not met, as required/],
    [
      "the contrary of what takes too long",
      { type: "not", criterion: { type: "command_succeeds", command: "sleep 9", timeout_seconds: 0.3 } },
      {},
      false,
      /^It is unknown whether it is met: command_succeeds sleep 9: It took longer than 0\.3/,
    ],
    [
      "the contrary of all of two, one of which is surely not met",
      {
        type: "not",
        criterion: {
          type: "all_of",
          criteria: [
            { type: "command_succeeds", command: "sleep 9", timeout_seconds: 0.3 },
            { type: "file_exists", path: "a" },
          ],
        },
      },
      {},
      true,
      /not met, as required/,
    ],
    [
      "the contrary of any of two, one of which can't be read",
      {
        type: "not",
        criterion: {
          type: "any_of",
          criteria: [
            { type: "contains_text", path: "a", text: "y" },
            { type: "file_exists", path: "b" },
          ],
        },
      },
      { a: "x".repeat(10_000_001) },
      false,
      /It is unknown/,
    ],
    [
      "tests without a framework",
      { type: "tests_pass" },
      {},
      false,
      /No supported test framework detected.*--test-command/,
    ],
    ["tests by a command", { type: "tests_pass", command: "exit 1" }, {}, false, /code 1/],
    ["a linter that is none", { type: "lint_clean" }, {}, false, /No supported linter detected/],
    [
      "the script lint",
      { type: "lint_clean" },
      { "package.json": '{"scripts":{"lint":"echo bad; exit 1"}}' },
      false,
      /npm run --silent lint: .*\nbad/,
    ],
    ["a type checker by a command", { type: "no_type_errors", command: "true" }, {}, true, /Nothing found/],
    [
      "a server that is started",
      { type: "http_ok", url: `http://127.0.0.1:${ports[0]}/`, start: "node server.cjs" },
      { "server.cjs": `require('http').createServer((q, r) => r.end('ok')).listen(${ports[0]}, '127.0.0.1')` },
      true,
      /status 200/,
    ],
    [
      "a server that ends",
      { type: "http_ok", url: `http://127.0.0.1:${ports[1]}/`, start: "exit 4" },
      {},
      false,
      /server ended with exit code 4/,
    ],
  ];
  it.each(cases)("%s", async (_, criterion, files, passed, detail) => {
    expect(await check(criterion, files)).toMatchObject({ passed, detail: expect.stringMatching(detail) });
  });

  it("a status of a server that is there", async () => {
    const server = createServer((_, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await check({ type: "http_ok", url })).toMatchObject({
      passed: false,
      detail: expect.stringContaining("status 404"),
    });
    expect(await check({ type: "http_ok", url, status: 404 })).toMatchObject({ passed: true });
    server.close();
  });

  it("a check that is interrupted says nothing", async () => {
    const controller = new AbortController();
    const checked = check({ type: "command_succeeds", command: "sleep 30" }, {}, controller.signal);
    setTimeout(() => controller.abort(), 100);
    expect(await checked).toBeUndefined();
  });

  it("what is found has at most 1,500 characters", async () => {
    const found = await check({ type: "command_succeeds", command: "seq 1 100000; exit 1" });
    expect(found?.detail.length).toBeLessThanOrEqual(1_500);
    expect(found?.detail).toContain("100000");
  });
});

describe("a project's own tools are found by what stands in it", () => {
  const folderWith = (files: Readonly<Record<string, string>>): string => {
    const { cwd } = placeOnHost();
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    }
    return cwd;
  };
  it.each([
    ["tsc --noEmit", { "tsconfig.json": "{}" }],
    ["python3 -m mypy .", { "pyproject.toml": "[tool.mypy]\n" }],
    ["cargo check", { "Cargo.toml": "" }],
  ])("%s", (line, files) => expect(typeCheckerOf(folderWith(files))).toBe(line));
  it.each([
    ["npm run --silent lint", { "package.json": '{"scripts":{"lint":"x"},"devDependencies":{"eslint":"9"}}' }],
    ["eslint --max-warnings 0 .", { "eslint.config.js": "" }],
    ["oxlint --deny-warnings", { ".oxlintrc.json": "{}" }],
    ["biome lint .", { "biome.json": "{}" }],
    ["ruff check .", { "ruff.toml": "" }],
    ["cargo clippy --quiet -- -D warnings", { "Cargo.toml": "" }],
  ])("%s", (line, files) => expect(linterOf(folderWith(files))).toBe(line));
  it.each([
    ["npm test", { "package.json": '{"scripts":{"test":"npm test --workspaces"}}' }],
    ["make check", { Makefile: "all: x\ncheck: x\n\tsh t.sh\n", "package.json": "{}" }],
    [undefined, { Makefile: "test := x\n", "package.json": '{"scripts":{"test":"echo no test specified"}}' }],
  ])("%s is offered where no framework is known", (line, files) =>
    expect(ownTestCommand(folderWith(files))).toBe(line),
  );
  it.each([
    [["vitest"], { "package.json": '{"scripts":{"test":"vitest run"}}' }],
    [["node:test"], { "package.json": '{"scripts":{"test":"node --import tsx --test src"}}' }],
    [["mocha", "jest"], { "package.json": '{"scripts":{"test":"mocha"},"devDependencies":{"jest":"29"}}' }],
    [["pytest"], { "test_a.py": "def test_a():\n    pass\n" }],
    [["unittest"], { "test_a.py": "import unittest\nclass A(unittest.TestCase):\n    pass\n" }],
    [["pytest"], { "pyproject.toml": "", "tests/unit/deep/test_a.py": "def test_a():\n    pass\n" }],
    [["unittest"], { "setup.py": "", "pkg/tests/test_a.py": "import unittest\n" }],
    [[], { "setup.py": "", "venv/lib/test_a.py": "import unittest\n", "node_modules/a/test_a.py": "" }],
    [["node:test"], { "package.json": '{"scripts":{"test":"npm run unit","unit":"tsx --test src"}}' }],
    [["cargo"], { "Cargo.toml": "" }],
    [["go"], { "go.mod": "" }],
    [[], { "package.json": '{"scripts":{"test":"make check"}}' }],
  ])("%s", (names, files) => expect(detectTests(folderWith(files)).map(({ framework }) => framework)).toEqual(names));
});
