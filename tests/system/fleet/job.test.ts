import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createJob, signJob, readJob, unpackFiles } from "../../../src/fleet/jobs/job.js";
import { limits } from "../../../src/fleet/keys.js";
import { openSigner } from "../../../src/fleet/jobs/signature.js";
import { briefOf, fresh, name, nothing } from "../../fleet/sent-brief.js";

test("the most that is sent is taken", async () => {
  const here = fresh();
  mkdirSync(join(here, "paper"));
  for (let number = 0; number < limits.maxFiles; number++) writeFileSync(join(here, `paper/${1_000 + number}.txt`), "");
  const job = await createJob(name, briefOf(here, { text: "x".repeat(1_048_576) }), {}, nothing);
  if ("kind" in job) throw new Error(job.message);
  const signer = await openSigner(fresh());
  const taking = { ...name, accepts: new Set([signer.key]), now: 0 };
  expect(readJob(signJob(job, signer), taking)).toHaveProperty("job");
});

const packed = (files: unknown): string => gzipSync(JSON.stringify(files)).toString("base64");

test("what unpacks to more than 64 MB, or is no list of files, is refused", () => {
  const bomb = gzipSync(Buffer.alloc(limits.maxUnpackedBytes + 1, 0x20));
  expect(bomb.length).toBeLessThan(200_000);
  expect(unpackFiles(bomb.toString("base64"))).toMatchObject({
    reason: expect.stringContaining("unpacked files have more than 64.0 MB"),
  });
  for (const files of [[], null, { "a/01.txt": 5 }, "x"])
    expect(unpackFiles(packed(files))).toEqual({ reason: "its files are not an object with names and contents" });
  const many = Object.fromEntries(
    Array.from({ length: limits.maxFiles + 1 }, (_, number) => [`a/${1_000 + number}.txt`, ""]),
  );
  expect(unpackFiles(packed(many))).toMatchObject({ reason: expect.stringContaining("more than 1000 files") });
  expect(unpackFiles("AAAA")).toHaveProperty("reason");
});
