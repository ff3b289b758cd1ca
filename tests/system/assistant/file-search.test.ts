import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { bench } from "../../assistant/tools/setup.js";

const here = bench();
const write = (name: string, text: string | Buffer) => writeFileSync(join(here.root, name), text);

beforeEach(() => {
  mkdirSync(join(here.root, "paper"));
  write("paper/01.txt", "one\ntwo\nthree\n");
  writeFileSync(join(here.folder, "secret.txt"), "secret");
  symlinkSync(join(here.folder, "secret.txt"), join(here.root, "link.txt"));
  symlinkSync(here.folder, join(here.root, "up"));
});

describe("file_search", () => {
  it("ends a pattern that would never end", async () => {
    write("slow.txt", `${"a".repeat(60)}b\n`);
    const answer = await here.call("file_search", { search_path: "slow.txt", pattern: "^(a+)+$" });
    expect(answer).toMatchObject({ success: true, truncated: true, reason: expect.stringContaining("simpler") });
  });
});
