import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { jobOf, takenJob, unpack } from "../../../src/fleet/job.js";
import { limits } from "../../../src/fleet/keys.js";
import { briefOf, fresh, nothing, run } from "../../fleet/sent-brief.js";

test("the most that is sent is taken", async () => {
  const here = fresh();
  for (let number = 1; number <= limits.fileCount; number++) writeFileSync(join(here, `${number}.txt`), "text");
  const job = await jobOf(run, briefOf(here, { text: "x".repeat(1_048_576) }), {}, nothing);
  expect(takenJob(job)).toHaveProperty("job");
});

const packed = (files: unknown): string => gzipSync(JSON.stringify(files)).toString("base64");

test("what unpacks to more than 64 MB, or is no list of files, is refused", () => {
  const bomb = gzipSync(Buffer.alloc(limits.unpackedFiles + 1, 0x20));
  expect(bomb.length).toBeLessThan(200_000);
  expect(unpack(bomb.toString("base64"))).toMatchObject({ reason: expect.stringContaining("64.0 MB unpacked") });
  for (const files of [[], null, { a: 5 }, "x"])
    expect(unpack(packed(files))).toEqual({ reason: "its files are not a list of files by name" });
  const many = Object.fromEntries(Array.from({ length: limits.fileCount + 1 }, (_, number) => [`f${number}`, ""]));
  expect(unpack(packed(many))).toMatchObject({ reason: expect.stringContaining("more than 1000 files") });
  expect(unpack("AAAA")).toHaveProperty("reason");
});
