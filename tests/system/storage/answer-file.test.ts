import { setFlagsFromString } from "node:v8";
import { afterAll, expect, it } from "vitest";
import { jsonIn } from "../../../src/engine/storage/result-file.js";

// As in a process that has compiled many patterns: V8 then optimises no further one, and its stack holds less.
setFlagsFromString("--no-regexp-optimization");
afterAll(() => setFlagsFromString("--regexp-optimization"));

const object = '{"unit": "report", "conclusion": "a } brace, a \\"quote\\" and ``` in a value"}';

it.each([
  ["line feeds", "\n"],
  ["spaces", " "],
  ["fences", "```\n"],
  ["fences that nothing closes", "```json\n"],
  ["marks of a fence", "`"],
  ["brackets", "["],
  ["braces", "{"],
  ["fields", '{"a":'],
  ["backslashes in a name", "\\\\"],
])("8 MB of %s are no answer, and one behind words and them is too far away", (_, noise) => {
  const many = noise.repeat(8_000_000 / noise.length);
  expect(jsonIn(many)).toBeUndefined();
  expect(jsonIn(`${"No. ".repeat(200)}${many}x\n\`\`\`json\n${object}\n\`\`\``)).toBeUndefined();
});
