import { lookup } from "node:dns";
import { lookup as lookupPromise } from "node:dns/promises";
import { promisify } from "node:util";
import { request } from "undici";
import { expect, test } from "vitest";

test("tests reach no other machine", async () => {
  await expect(promisify(lookup)("example.org")).rejects.toThrow("ENOTFOUND example.org: tests reach");
  await expect(lookupPromise("example.org")).rejects.toThrow("ENOTFOUND example.org: tests reach");
  await expect(request("http://example.org/")).rejects.toThrow("ENOTFOUND example.org: tests reach");
  expect((await lookupPromise("localhost")).address).toMatch(/^(127\.|::1$)/);
});
