import { spawnSync } from "node:child_process";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkAll } from "../../../src/task/criteria/check-criteria.js";
import type { Criterion } from "../../../src/task/generated/ralph.js";
import { placeOnHost } from "../../task/place.js";

describe("criteria that take much", () => {
  const cases: [string, Criterion, Record<string, string>, boolean, RegExp][] = [
    [
      "one that prints 60 MB of short lines",
      { type: "command_succeeds", command: "yes | head -c 60000000; printf 'the\\r\\nend\\n'; exit 3" },
      {},
      false,
      /^It ended with exit code 3\.\n…(?:y\n)+the\nend$/,
    ],
    [
      "one that prints one long line",
      { type: "command_succeeds", command: "head -c 9000000 /dev/zero | tr '\\0' x; exit 3" },
      {},
      false,
      /^It ended with exit code 3\.\n…x+$/,
    ],
    [
      "a pattern without an end",
      { type: "contains_text", path: "a", pattern: "^(a+)+$" },
      { a: `${"a".repeat(40)}!` },
      false,
      /longer than one second/,
    ],
  ];
  it.each(cases)("%s", async (_, criterion, files, passed, detail) => {
    const place = placeOnHost();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(place.cwd, name), text);
    const checked = await checkAll([criterion], place, { seenTests: [] }, async () => undefined);
    expect(checked?.checks).toMatchObject([{ passed, detail: expect.stringMatching(detail) }]);
  });

  const hasPython = spawnSync("python3", ["--version"]).status === 0;
  it.skipIf(!hasPython)("Python's tests that an edit of the same second and size makes right", async () => {
    const place = placeOnHost();
    const tests = "import unittest\nimport app\nclass A(unittest.TestCase):\n    def test_two(self):\n        ";
    writeFileSync(join(place.cwd, "test_app.py"), `${tests}self.assertEqual(app.two(), 2)\n`);
    const passes = async (number: number): Promise<boolean | undefined> => {
      writeFileSync(join(place.cwd, "app.py"), `def two():\n    return ${number}\n`);
      utimesSync(join(place.cwd, "app.py"), 1_000_000, 1_000_000);
      return (await checkAll([{ type: "tests_pass" }], place, { seenTests: [] }, async () => undefined))?.checks[0]
        ?.passed;
    };
    expect([await passes(3), await passes(2)]).toEqual([false, true]);
  });
});
