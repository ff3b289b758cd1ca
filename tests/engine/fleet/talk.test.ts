import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { limits } from "../../../src/engine/fleet/keys.js";
import { bounded, type Entry, entryOf, fieldsOf, talkerOf } from "../../../src/engine/fleet/talk.js";
import type { FleetItem } from "../../../src/engine/generated/fleet-item.js";

const entry = (...items: FleetItem[]): Entry => ({ job: "run-1", attempt: 2, sequence: 3, items });
const fields = (json: string): string[] => ["j", "run-1", "a", "1", "n", "0", "e", json];
const itemsIn = (json: string): readonly FleetItem[] => {
  const read = entryOf(fields(json));
  return read === undefined || "tooLarge" in read ? [] : read.items;
};

test("an entry comes out as it went in, short or long", () => {
  const short = entry({ type: "text", text: "ä\n\t✓" }, { type: "end", message: '{"a":1}' });
  expect(entryOf(fieldsOf(short))).toEqual(short);
  const long = entry({ type: "result", text: JSON.stringify(["x".repeat(3_000_000)]) });
  expect(entryOf(fieldsOf(long))).toEqual(long);
  expect(fieldsOf(long).join("").length).toBeLessThan(100_000);
});

test.each([
  [[]],
  [["j", "x"]],
  [["j", "x", "a", "-1", "n", "0", "e", "[]"]],
  [["j", "x", "a", "0", "n", "0", "e", "[]"]],
  [["j", "x", "a", "1e9", "n", "0", "e", "[]"]],
  [["a", "1", "n", "0", "e", "[]"]],
])("an entry by which nobody can be meant is none: %j", (said) => {
  expect(entryOf(said)).toBeUndefined();
});

test("items that the schema of events does not know are left out, and their unknown fields", () => {
  expect(itemsIn("not json")).toEqual([]);
  expect(itemsIn('{"type":"text","text":"no list"}')).toEqual([]);
  const said = [
    { type: "text", text: "kept", evil: { __proto__: 1 } },
    { type: "shell", command: "rm" },
    { type: "usage", usage: { input: -5 } },
    { type: "begun", worker: "w", confinement: "none" },
    { type: "end", message: 5 },
    null,
    7,
  ];
  expect(itemsIn(JSON.stringify(said))).toEqual([{ type: "text", text: "kept" }]);
});

test("control characters go and texts are cut; a result and a final message stay as the agent wrote them", () => {
  expect(itemsIn(JSON.stringify([{ type: "text", text: "\u001b]0;title\u0007a\u202eb\u0000" }]))).toEqual([
    { type: "text", text: "ab" },
  ]);
  const [long] = itemsIn(JSON.stringify([{ type: "notice", message: "x".repeat(limits.text + 10) }]));
  expect(long).toEqual({ type: "notice", message: "x".repeat(limits.text) });
  const result = bounded({ type: "result", text: '{"a":"\u200b"}' });
  expect(result).toEqual({ type: "result", text: '{"a":"\u200b"}' });
  expect(bounded({ type: "begun", worker: "w\u0007".repeat(400), confinement: "sandbox" })).toMatchObject({
    worker: "w".repeat(100),
  });
  expect(bounded({ type: "end", message: "", failure: { kind: "crashed", message: "a\u001b[2Jb" } })).toEqual({
    type: "end",
    message: "",
    failure: { kind: "crashed", message: "ab" },
  });
});

test("an entry above 8 MB, and a small one that unpacks to more than 32 MB, end the attempt", () => {
  expect(entryOf(fields(JSON.stringify([{ type: "text", text: "x".repeat(limits.entry) }])))).toEqual({
    job: "run-1",
    tooLarge: true,
  });
  const bomb = gzipSync(Buffer.alloc(limits.unpackedEntry + 1, 0x20)).toString("base64");
  expect(bomb.length).toBeLessThan(100_000);
  expect(entryOf(["j", "run-1", "a", "1", "n", "0", "z", bomb])).toEqual({ job: "run-1", tooLarge: true });
  expect(entryOf(["j", "run-1", "a", "1", "n", "0", "z", randomBytes(100).toString("base64")])).toBeUndefined();
});

test("what is said is gathered, sent in order, and a slow reader holds up who speaks", async () => {
  const sent: FleetItem[][] = [];
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const talker = talkerOf(async (items) => {
    sent.push([...items]);
    await gate;
  }, 1);
  await talker.say({ type: "text", text: "first" });
  let isThrough = false;
  const second = talker.say({ type: "text", text: "y".repeat(limits.batch) }).then(() => (isThrough = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isThrough).toBe(false);
  release();
  await second;
  await talker.say({ type: "text", text: "last" });
  await talker.finish();
  expect(sent.flat().map((item) => (item.type === "text" ? item.text.slice(0, 5) : ""))).toEqual([
    "first",
    "yyyyy",
    "last",
  ]);
});

test("what can't be sent is told to who speaks next", async () => {
  const talker = talkerOf(() => Promise.reject(new Error("gone")), 1);
  await talker.say({ type: "text", text: "a" });
  await expect(talker.finish()).rejects.toThrow("gone");
  await expect(talker.say({ type: "text", text: "b" })).rejects.toThrow("gone");
});
