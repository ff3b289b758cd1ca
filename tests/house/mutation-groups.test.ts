import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { globSync } from "fast-glob";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const groups = JSON.parse(readFileSync(new URL("../mutation-groups.json", import.meta.url), "utf8")) as Record<
  string,
  { mutate: string[]; tests: string[] }
>;
const files = (patterns: readonly string[]) => patterns.flatMap((pattern) => globSync(pattern, { cwd: root }));

test.each(Object.entries(groups))("the mutation tests of %s name files that are there", (_name, { mutate, tests }) => {
  for (const pattern of [...mutate, ...tests]) expect(files([pattern]), pattern).not.toEqual([]);
});

test("every file of the loop and the store that does anything stands in one group of the mutation tests", () => {
  // Types, and names of files.
  const idle = ["types.ts", "research-types.ts", "layout.ts", "kept-search.ts"];
  const mutated = Object.values(groups).flatMap(({ mutate }) => files(mutate));
  const parts = ["src/engine/loop", "src/engine/storage", "src/research/folder"];
  const expected = files(parts.map((part) => `${part}/**/*.ts`)).filter((file) => !idle.includes(basename(file)));
  expect(mutated.filter((file) => parts.some((part) => file.startsWith(`${part}/`))).toSorted()).toEqual(
    expected.toSorted(),
  );
});
