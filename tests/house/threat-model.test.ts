import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packageFile } from "../../src/engine/lib/package-root.js";

const page = readFileSync(packageFile("docs/threat-model.md"), "utf8");
/** Each promise, with the file of a test and words of its name or of the attempt that it makes. */
const promises = [...page.matchAll(/^\| (.+) \| `([\w/.-]+)`: (.+) \|$/gm)].map(
  ([, promise = "", file = "", words = ""]) => [promise, file, words] as const,
);

test.each(promises)("the threat model's “%s” is held by %s", (_, file, words) => {
  const path = packageFile("tests", file);
  expect([file, existsSync(path)]).toEqual([file, true]);
  // A cell of a table has these marks escaped.
  expect(readFileSync(path, "utf8")).toContain(words.replaceAll(/\\([|*_<>])/g, "$1"));
});

test("each row of a table of promises names its test", () => {
  const tables = page.split("| promise | test |\n| --- | --- |\n").slice(1);
  const rows = tables.flatMap((table) => table.split("\n\n")[0]?.trim().split("\n") ?? []);
  expect(tables.length).toBeGreaterThan(5);
  expect(rows).toHaveLength(promises.length);
});
