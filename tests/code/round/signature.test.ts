import { describe, expect, it } from "vitest";
import { areSame, signatureOf } from "../../../src/code/round/signature.js";

const of = (message: string, file = "src/a.ts") =>
  signatureOf({ error: { type: "runtime", message, source_location: { file, line: 3 } } });

describe("the signature of an error", () => {
  it("is the same whatever numbers, paths, addresses and values stand in it", () => {
    const one = of('TypeError: "a" is not a function at /tmp/x1/src/a.ts:12:4 (0x7ff01)');
    expect(of('TypeError: "other" is not a function at /home/me/project/src/b.ts:99:1 (0xabc)')).toBe(one);
    expect(one).toContain("@ src/a.ts");
    expect(one).not.toMatch(/\d/);
  });

  it("differs by message and by file", () => {
    expect(of("x is not a function")).not.toBe(of("y was called twice"));
    expect(of("x is not a function")).not.toBe(of("x is not a function", "src/b.ts"));
  });

  it("is taken for the same where it is nearly so, and only where all of them are", async () => {
    const a = of("Expected values to be strictly equal while reading the list of users");
    const near = of("Expected values to be strictly equal while reading the lists of users");
    const other = of("socket hang up");
    expect(await areSame([a], [near])).toBe(true);
    expect(await areSame([a], [a, other])).toBe(false);
    expect(await areSame([], [])).toBe(false);
  });
});
