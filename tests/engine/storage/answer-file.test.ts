import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { jsonIn, saveAnswer } from "../../../src/engine/storage/result-file.js";

const object = '{"unit": "report", "conclusion": "a } brace, a \\"quote\\" and ``` in a value"}';

it.each([
  ["alone", object],
  ["with white space around it", `\n\n  ${object}\n`],
  ["in a code fence", `\`\`\`json\n${object}\n\`\`\``],
  ["in a fence among words", `Here is the result:\n\n~~~\n${object}\n~~~\n\nThat is all.`],
  ["before the sentinel", `${object}\n\n<promise>COMPLETE</promise>`],
  ["after words", `I read it all. The result: ${object}`],
])("a JSON object %s is found in a final message", (_, message) => {
  expect(JSON.parse(jsonIn(message) ?? "null")).toEqual(JSON.parse(object));
});

it("of two fenced objects the later one counts", () => {
  expect(jsonIn('```json\n{"a": 1}\n```\nNo, rather:\n```json\n{"a": 2}\n```')).toBe('{"a": 2}');
});

it.each([
  ["nothing", ""],
  ["words", "Done. I wrote result.json."],
  ["braces in words", "the set {a, b} and the set {c}"],
  ["half an object", '{"unit": "report", "conclusion": "it was cut'],
  ["a list", '[{"unit": "report"}, {"unit": "ideas"}]'],
  ["a number", "42"],
  [
    "an object that is quoted in a long message",
    `The brief says:\n${"It asks for a result. ".repeat(20)}\n\`\`\`json\n${object}\n\`\`\`\n`,
  ],
])("%s is no result", (_, message) => {
  expect(jsonIn(message)).toBeUndefined();
});

async function workspace(): Promise<string> {
  return await mkdtemp(join(tmpdir(), "rr-answer-"));
}

it("an answer becomes result.json; a file that the agent wrote itself is left as it is", async () => {
  const folder = await workspace();
  await saveAnswer(folder, object);
  expect(readFileSync(join(folder, "result.json"), "utf8")).toBe(object);
  await saveAnswer(folder, '{"unit": "other"}');
  expect(readFileSync(join(folder, "result.json"), "utf8")).toBe(object);
});

it("nothing is written into the folder that a link leads to in place of the workspace", async () => {
  const folder = await workspace();
  const away = await workspace();
  rmSync(folder, { recursive: true });
  symlinkSync(away, folder);
  await saveAnswer(folder, object);
  expect(existsSync(join(away, "result.json"))).toBe(false);
});

it("nothing is written through a link, over a folder, or where the agent took the workspace away", async () => {
  const folder = await workspace();
  const outside = join(await workspace(), "theirs");
  symlinkSync(outside, join(folder, "result.json"));
  await saveAnswer(folder, object);
  expect(existsSync(outside)).toBe(false);
  rmSync(join(folder, "result.json"));
  mkdirSync(join(folder, "result.json"));
  await saveAnswer(folder, object);
  rmSync(folder, { recursive: true });
  await saveAnswer(folder, object);
  writeFileSync(folder, "a file");
  await saveAnswer(folder, object);
  expect(existsSync(join(folder, "result.json"))).toBe(false);
});
