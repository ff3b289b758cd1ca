import { readFileSync } from "node:fs";
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
  const idle = ["src/loop/types.ts", "src/store/research-types.ts", "src/store/progress-log.ts", "src/store/kept-search.ts"];
  const mutated = Object.values(groups).flatMap(({ mutate }) => files(mutate));
  const expected = files(["src/loop/*.ts", "src/store/*.ts"]).filter((file) => !idle.includes(file));
  expect(mutated.filter((file) => /^src\/(loop|store)\//.test(file)).toSorted()).toEqual(expected.toSorted());
});
