import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  checkResult,
  jsonIn,
  saveAnswer,
  readCheckedResult,
  readResult,
  reasonsOf,
  replaceResult,
} from "../../../src/engine/storage/result-file.js";
import { temporaryFolder } from "../../support/projects/research.js";

const megabyte = 1024 * 1024;

/** What is read where `leave` made something of the path. */
const readOf = (leave: (path: string) => void) => {
  const path = join(temporaryFolder(), "result.json");
  leave(path);
  return readResult(path);
};
const textOf = (text: string | Buffer) => readOf((path) => writeFileSync(path, text));
/** A JSON text of so many bytes. */
const ofSize = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;

describe("what an agent leaves as result.json", () => {
  test("is its JSON, whatever kind of value; a byte order mark in front is not part of it", async () => {
    expect(await textOf('{"unit": "p1"}')).toEqual({ value: { unit: "p1" } });
    expect(await textOf('\uFEFF{"unit": "p1"}')).toEqual({ value: { unit: "p1" } });
    expect(await textOf("null")).toEqual({ value: null });
    expect(await textOf('"a \uFEFF mark inside stays"')).toEqual({ value: "a \uFEFF mark inside stays" });
  });

  test("may have 5 MB; of more only its size is looked at", async () => {
    expect(await textOf(ofSize(5 * megabyte))).toHaveProperty("value");
    expect(await textOf(ofSize(5 * megabyte + 1))).toEqual({ reason: "result.json has 5 MB; 5 MB is the most" });
    expect(await textOf(Buffer.alloc(7 * megabyte))).toEqual({ reason: "result.json has 7 MB; 5 MB is the most" });
  });

  test("is refused with its place where it is nested deeper than anything that is asked for", async () => {
    const nested = (levels: number) => `{"unit": "p1", "notes": ${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect(await textOf(nested(99))).toHaveProperty("value");
    for (const levels of [100, 5_000, 99_000])
      expect(await textOf(nested(levels))).toEqual({
        reason: "result.json is nested deeper than 100 levels at /notes/0/0",
      });
    for (const noise of ["[", "{}", "[[]", '{"a":'])
      expect(await textOf(noise.repeat(1_000_000))).toEqual({
        reason: expect.stringMatching(/100000 lists and objects$/),
      });
  });

  test("is refused in one sentence of its own for everything that is no such file, and nothing is waited for", async () => {
    expect(await readOf(() => undefined)).toEqual({
      reason: "there is no result: the final message held no JSON object, and result.json was not written",
    });
    expect(await readOf((path) => symlinkSync("/etc/hostname", path))).toEqual({
      reason: "result.json is a symbolic link; it must be a file of its own",
    });
    expect(await readOf((path) => mkdirSync(path))).toEqual({ reason: "result.json is not a regular file" });
    expect(await readOf((path) => execFileSync("mkfifo", [path]))).toEqual({
      reason: "result.json is not a regular file",
    });
    expect(await textOf("")).toEqual({ reason: "result.json is empty" });
    expect(await textOf(" \n\t")).toEqual({ reason: "result.json is empty" });
    expect(await textOf('{"unit": ')).toEqual({
      reason: expect.stringMatching(/^result\.json is not valid JSON at line 1, column 10: \S/),
    });
  });

  test("is not looked into where it is another name of another file", async () => {
    const secret = join(temporaryFolder(), "id_rsa");
    writeFileSync(secret, '{"unit": "p1"}');
    expect(await readOf((path) => linkSync(secret, path))).toEqual({
      reason: "result.json is a hard link to another file; it must be a file of its own",
    });
  });

  test("is not believed where a link has taken the place of its folder", async () => {
    const away = temporaryFolder();
    writeFileSync(join(away, "result.json"), '{"unit": "p1"}');
    const workspace = join(temporaryFolder(), "1");
    symlinkSync(away, workspace);
    expect(await readResult(join(workspace, "result.json"))).toEqual({
      reason: "the working directory is a symbolic link now; leave it as it is and write result.json there",
    });
  });

  test("says each thing once: a name that stands twice in one object is refused, not settled by which comes last", async () => {
    const twice = (name: string) => ({ reason: `result.json has ${name} twice in one object; keep one of them` });
    expect(await textOf('{"unit": "p1", "scores": {"novelty": 1, "novelty" \n:5}}')).toEqual(twice('"novelty"'));
    expect(await textOf('{"a": [{"b": 1}, {"c": "}", "b": 2, "b": 2}]}')).toEqual(twice('"b"'));
    expect(await textOf('{"unit": "p1", "\\u0075nit": "p2"}')).toEqual(twice('"unit"'));
    expect(await textOf(`{"a": 1, ${" ".repeat(1000)}"a"${" ".repeat(1000)}: 2}`)).toEqual(twice('"a"'));
    const once = {
      a: "a",
      b: ['"a": 1', "{", "a", "a"],
      c: { a: { a: ["a\\", '\\"a'] } },
      d: [{ a: 1 }, { a: 1 }],
      "": "",
    };
    expect(await textOf(JSON.stringify(once))).toEqual({ value: once });
  });

  test("may be one long text of marks", async () => {
    expect(await textOf(`{"a": "${'\\"'.repeat(2 * megabyte)}"}`)).toHaveProperty("value");
  });

  test.skipIf(process.platform !== "linux")("is closed again, whether it could be used or not", async () => {
    const open = () =>
      readdirSync("/proc/self/fd").flatMap((fd) => {
        try {
          return [readlinkSync(join("/proc/self/fd", fd))];
        } catch {
          return [];
        }
      });
    for (const text of ["{}", "{"]) {
      const path = join(temporaryFolder(), "result.json");
      writeFileSync(path, text);
      await readResult(path);
      expect(open()).not.toContain(path);
    }
  });

  test("in a place that can't be looked at is told with the system's own words", async () => {
    const file = join(temporaryFolder(), "a-file");
    writeFileSync(file, "");
    expect(await readResult(join(file, "result.json"))).toEqual({
      reason: expect.stringMatching(/^result\.json could not be read \(.*ENOTDIR.*\)$/),
    });
  });
});

describe("what a result says", () => {
  const held = (text: string) => checkResult("result-check", { unit: text }).value;

  test.each([" \n\t", "\u0007", "\u200B", "\u034F", "\u2800", " \u200B\u2800 "])(
    "%j shows nothing, so it counts as an empty text",
    (text) => expect(held(text)).toMatchObject({ unit: "" }),
  );

  test.each(["a", " a", "a ", "\u200Ba", "a\u200B", "1", "…"])("%j stays as it is", (text) =>
    expect(held(text)).toMatchObject({ unit: text }),
  );
});

test("another result takes the place of whatever the agent left", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "result.json");
  mkdirSync(path);
  writeFileSync(join(path, "inside"), "");
  await replaceResult(folder, { unit: "p1" });
  expect(await readResult(path)).toEqual({ value: { unit: "p1" } });
  await replaceResult(folder, { unit: "p2" });
  expect(await readResult(path)).toEqual({ value: { unit: "p2" } });
  await replaceResult(join(folder, "gone"), { unit: "p1" });
});

test("an object may stand behind blanks; other JSON is no answer", () => {
  expect(jsonIn('  {"unit": "p1"}\n')).toBe('{"unit": "p1"}');
  for (const text of ['["unit"]', "1", '"{"', "{", '} {"']) expect(jsonIn(text)).toBeUndefined();
});

test("an object counts with at most 400 characters around it, in the last fence that holds one", () => {
  const json = '{"unit": "p1"}';
  expect(jsonIn(`${"x".repeat(399)} ${json}`)).toBe(json);
  expect(jsonIn(`${"x".repeat(400)} ${json}`)).toBeUndefined();
  const fenced = (marks: string, text: string) => `${marks}\n${text}\n${marks}`;
  expect(jsonIn(`{ a set }\n${fenced("~~~", ` ${json} `)}\n${fenced("```", "no } object")}`)).toBe(json);
  // Other marks close no fence, and a fence that is opened again begins there.
  expect(jsonIn(`{}}\n~~~~\n${json}\n~~~\n~~~~`)).toBeUndefined();
  expect(jsonIn(`\`\`\`json\n{ a\n\`\`\`json\n${json}\n\`\`\`\n} b`)).toBe(json);
  expect(jsonIn(`} ${json} ${"[".repeat(100_001)}`)).toBeUndefined();
});

test("the beginning of an object is kept as it was cut off; words with a brace are not", async () => {
  const kept = async (message: string) => {
    const folder = temporaryFolder();
    await saveAnswer(folder, message);
    return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  };
  expect(await kept('Here: { "unit": "p1", "summary": "it')).toEqual(['{ "unit": "p1", "summary": "it']);
  expect(await kept('{"unit": "p1", "su')).toEqual(['{"unit": "p1", "su']);
  expect(await kept(`${"x".repeat(400)}{"unit": "p`)).toEqual(['{"unit": "p']);
  expect(await kept(`${"x".repeat(401)}{"unit": "p`)).toEqual([]);
  expect(await kept("the set { a, b")).toEqual([]);
  expect(await kept('{"unit": p1}')).toEqual([]);
});

describe("a result against its schema", () => {
  const mending = (more: object, of: object = {}) => ({
    unit: "mend",
    sentences: [{ number: 1, text: "It is.", ...of }],
    ...more,
  });

  test("loses what the schema does not know, and says where that stood", () => {
    const { value, dropped, problems } = checkResult("result-mend", mending({ "a/b": 1 }, { "c~d": 2, e: 3 }));
    expect([value, problems]).toEqual([mending({}), []]);
    expect(dropped.toSorted()).toEqual(["/a/b", "/sentences/0/c~d", "/sentences/0/e"]);
    const deep = { ...mending({}), __proto__: null };
    expect(checkResult("result-mend", JSON.parse(JSON.stringify(deep)))).toMatchObject({ dropped: [] });
    // A field of an object whose own name has the marks of a pointer.
    const { dropped: within } = checkResult("result-analysis", { criteria: { "x/y~z": { answer: "yes", more: 1 } } });
    expect(within).toContain("/criteria/x~1y~0z/more");
  });

  test("that breaks it says all that is wrong: an unknown field may be the slip", () => {
    const { problems } = checkResult("result-mend", { unit: "mend", sentenses: [] });
    expect(reasonsOf(problems).join("\n")).toMatch(/sentenses[^]*sentences|sentences[^]*sentenses/);
    expect(checkResult("result-mend", mending({})).problems).toEqual([]);
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`f${index}`, 1]));
    expect(checkResult("result-mend", mending(many)).problems.length).toBeGreaterThan(0);
  });

  test("is told in at most 20 reasons, each with its place and what to do", () => {
    const problems = Array.from({ length: 25 }, (_, index) => ({ pointer: `/${index}`, message: "is wrong" }));
    expect(reasonsOf(problems)).toEqual(problems.slice(0, 20).map(({ pointer }) => `${pointer} is wrong`));
    expect(reasonsOf([{ pointer: "", message: "is a list", hint: "Make it an object." }])).toEqual([
      "/ is a list (Make it an object.)",
    ]);
  });

  test("is read without secrets, and with what an earlier one has that nobody found fault with", async () => {
    const path = join(temporaryFolder(), "result.json");
    const redact = (text: string) => text.replaceAll("hush", "…");
    expect(await readCheckedResult("result-mend", path, redact)).toEqual({
      redacted: false,
      dropped: [],
      reasons: [expect.stringContaining("there is no result")],
    });
    writeFileSync(path, JSON.stringify(mending({ unit: "x" }, { text: "It is hush.", more: 1 })));
    expect(await readCheckedResult("result-mend", path, redact, new Map([["unit", "mend"]]))).toEqual({
      redacted: true,
      dropped: ["/sentences/0/more"],
      value: mending({}, { text: "It is …." }),
    });
    writeFileSync(path, '"hush"');
    expect(await readCheckedResult("result-mend", path, redact, new Map([["unit", "mend"]]))).toMatchObject({
      redacted: true,
      dropped: [],
      reasons: [expect.stringMatching(/^\/ /)],
    });
    // Of an object that is kept in part the rest is the agent's; what is no object stays what it is.
    const execution = { novelty: 99, feasibility: 2, time_to_poc: 2, value_market: 2, defensibility: 2, adoption: 2 };
    const scores = { execution, blue_ocean: 3 };
    writeFileSync(path, JSON.stringify({ unit: "p1", scores }));
    const kept = new Map<string, unknown>([
      [
        "scores",
        new Map<string, unknown>([
          ["execution", new Map([["novelty", 5]])],
          ["blue_ocean", new Map([["x", 1]])],
        ]),
      ],
    ]);
    const read = await readCheckedResult("result-analysis", path, (text) => text, kept);
    const reasons = "reasons" in read ? read.reasons.filter((reason) => reason.startsWith("/scores")) : [];
    expect(reasons).toEqual([expect.stringMatching(/^\/scores\/blue_ocean must be an object/)]);
  });
});
