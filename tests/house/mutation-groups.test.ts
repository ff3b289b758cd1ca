import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fastGlob from "fast-glob";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const groups = JSON.parse(readFileSync(new URL("../mutation-groups.json", import.meta.url), "utf8")) as Record<
  string,
  { mutate: string[]; tests: string[] }
>;
const files = (patterns: readonly string[]) => patterns.flatMap((pattern) => fastGlob.globSync(pattern, { cwd: root }));

test.each(Object.entries(groups))(
  "each pattern of the mutation group %s matches a file",
  (_name, { mutate, tests }) => {
    for (const pattern of [...mutate, ...tests]) expect(files([pattern]), pattern).not.toEqual([]);
  },
);

// The patterns are folders, so a new or moved file needs no edit of the groups.
test("every file of the loop, the storage and the research folder belongs to one mutation group", () => {
  const mutated = Object.values(groups).flatMap(({ mutate }) => files(mutate));
  const parts = ["src/engine/loop", "src/engine/storage", "src/research/project-files"];
  expect(mutated.filter((file) => parts.some((part) => file.startsWith(`${part}/`))).toSorted()).toEqual(
    files(parts.map((part) => `${part}/**/*.ts`)).toSorted(),
  );
});
