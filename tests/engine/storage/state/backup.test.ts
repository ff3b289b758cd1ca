import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import { backUp } from "../../../../src/engine/storage/state/backup.js";
import { temporaryFolder } from "../../../support/folders.js";

const now = Date.parse("2026-01-02T03:04:05.678Z");

describe("a copy of the files as they were", () => {
  it("holds those that are there, in a folder named after the time", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "rrd.json"), "{}");
    writeFileSync(join(folder, "other"), "");
    const backup = await backUp(folder, now, ["rrd.json", "progress.txt"]);
    expect(backup).toBe(join(folder, ".ralph/backups/2026-01-02T03-04-05.678Z"));
    expect(readdirSync(backup)).toEqual(["rrd.json"]);
    expect(readFileSync(join(backup, "rrd.json"), "utf8")).toBe("{}");
  });

  it("never replaces one of the same time", async () => {
    const folder = temporaryFolder();
    for (const text of ["1", "2", "3"]) {
      writeFileSync(join(folder, "rrd.json"), text);
      const backup = await backUp(folder, now, ["rrd.json"]);
      expect(readFileSync(join(backup, "rrd.json"), "utf8")).toBe(text);
    }
    const name = "2026-01-02T03-04-05.678Z";
    expect(readdirSync(join(folder, ".ralph/backups")).toSorted()).toEqual([name, `${name}-2`, `${name}-3`]);
  });

  it("that can't be made says of which file", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "rrd.json"));
    await expect(backUp(folder, now, ["rrd.json"])).rejects.toThrow(join(folder, "rrd.json"));
    writeFileSync(join(folder, "file"), "");
    await expect(backUp(join(folder, "file"), now, [])).rejects.toBeInstanceOf(ExpectedError);
  });
});
