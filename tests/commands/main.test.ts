import { beforeAll, expect, test } from "vitest";
import { cli } from "../support/in-process.js";
import { freshFolder } from "../support/research-folder.js";

let cwd: string;
beforeAll(async () => {
  cwd = freshFolder();
  expect(await cli(["demo", "--quiet"], cwd)).toMatchObject({ code: 0 });
});

/** All names of members in a JSON value. Names of kinds of units, agents and dimensions are data, and are spelled alike. */
const names = (value: unknown): string[] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [...(Array.isArray(value) ? [] : [name]), ...names(inner)]);

test.each([
  ["status"],
  ["list"],
  ["cost"],
  ["verify"],
  ["validate"],
  ["brief"],
  ["doctor"],
  ["run"],
  ["read", "sample_01"],
])("JSON is spelled one way: names in snake_case, times in seconds, money in cost_usd (%s)", async (...args) => {
  const only = args[0] === "verify" || args[0] === "validate" ? ["sample"] : [];
  const { out } = await cli([...args, ...only, "--json", ...(args[0] === "read" ? ["--agent", "baseline"] : [])], cwd);
  const values = (
    out.includes("\n{") && !out.startsWith("{\n") && !out.startsWith("[\n") ? out.trim().split("\n") : [out]
  ).map((text) => JSON.parse(text) as unknown);
  const odd = values
    .flatMap(names)
    .filter((name) => /^[a-z]+[A-Z]/.test(name) || /(^|_)(ms|milliseconds|minutes|hours|usd)$/.test(name))
    .filter((name) => name !== "cost_usd");
  expect([...new Set(odd)]).toEqual([]);
});
