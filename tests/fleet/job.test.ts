import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { briefIn, jobOf, pack, takenJob, unpack } from "../../src/fleet/job.js";
import { limits, queueOf } from "../../src/fleet/keys.js";
import type { FleetJob } from "../../src/engine/generated/fleet-job.js";
import type { Brief } from "../../src/engine/loop/types.js";
import { briefOf, fresh, nothing, run } from "./sent-brief.js";

test("a brief and the files of its workspace come to another machine, and no path of this one", async () => {
  const here = fresh();
  mkdirSync(join(here, "paper"));
  writeFileSync(join(here, "paper/01.txt"), "Größe ✓");
  const paths = new Map([["/home/me/researches/x", "x"]]);
  const job = (await jobOf(
    run,
    briefOf(here, { temperature: 0.5 }),
    { maxUsd: 1 },
    { paths, redact: (text) => text.replaceAll("hush", "…") },
  )) as FleetJob;
  expect(JSON.stringify(job)).not.toContain(here);
  expect(JSON.stringify(job)).not.toContain("/home/me");

  const there = fresh();
  const taken = takenJob(JSON.parse(JSON.stringify(job)));
  if (!("job" in taken)) throw new Error("it was not taken");
  const brief = await briefIn(there, taken, 3);
  expect(brief).toEqual({
    iteration: 3,
    text: `Write ${there}/result.json, not ${there}/other. The folder is x, ….`,
    tokens: 10,
    workspace: there,
    access: { web: true, read: true, everything: false },
    temperature: 0.5,
  });
  expect(readFileSync(join(there, "paper/01.txt"), "utf8")).toBe("Größe ✓");
});

test("links are not packed: neither what they lead to nor they themselves", async () => {
  const here = fresh();
  const secret = join(fresh(), "login");
  writeFileSync(secret, "secret");
  symlinkSync(secret, join(here, "link"));
  symlinkSync(fresh(), join(here, "folder"));
  writeFileSync(join(here, "own.txt"), "own");
  expect([
    ...(unpack(((await pack(here)) as Buffer).toString("base64")) as { files: Map<string, Buffer> }).files.keys(),
  ]).toEqual(["own.txt"]);
});

test("a unit that works on files of this machine is refused, and so are too many files", async () => {
  const here = fresh();
  for (const access of [
    { web: false, read: true, everything: false, shell: true as const },
    { web: false, read: true, everything: true },
  ])
    expect(await jobOf(run, briefOf(here, { access }), {}, nothing)).toMatchObject({ kind: "unusable" });
  writeFileSync(join(here, "a"), randomBytes(limits.files + 1_000_000));
  expect(await jobOf(run, briefOf(here), {}, nothing)).toMatchObject({ kind: "too-large" });
});

test("what workers refuse is not sent, and is said in one sentence", async () => {
  const tried = async (make: (folder: string) => void, more: Partial<Brief> = {}) => {
    const here = fresh();
    make(here);
    return jobOf(run, briefOf(here, more), {}, nothing);
  };
  const many = (folder: string): void => {
    for (let number = 0; number <= limits.fileCount; number++) writeFileSync(join(folder, String(number)), "");
  };
  const most = `${limits.fileCount} are the most`;
  expect(await tried(many)).toMatchObject({ kind: "too-large", message: expect.stringContaining(most) });
  // It packs to little; as base64 it is 64 MB and more.
  const large = (folder: string): void =>
    writeFileSync(join(folder, "a"), Buffer.alloc((limits.unpackedFiles * 3) / 4));
  expect(await tried(large)).toMatchObject({ kind: "too-large", message: expect.stringContaining("64.0 MB") });
  const deep = (folder: string): void => {
    mkdirSync(join(folder, "d".repeat(150)));
    writeFileSync(join(folder, "d".repeat(150), "f".repeat(60)), "");
  };
  expect(await tried(deep)).toMatchObject({ kind: "unusable", message: expect.stringContaining("200 characters") });
  const text = "x".repeat(1_048_577);
  expect(await tried(() => undefined, { text })).toMatchObject({ kind: "too-large" });
  expect(await tried(() => undefined, { temperature: 2 })).toMatchObject({ kind: "unusable" });
});

test("signs that replacements know stand in a path as they are", async () => {
  const [root, there] = [fresh(), join(fresh(), "$&$1$$")];
  const here = join(root, "$&");
  mkdirSync(here);
  mkdirSync(there);
  const paths = new Map([["/home/me/researches/x", "$`x$'"]]);
  const taken = takenJob(await jobOf(run, briefOf(here), {}, { ...nothing, paths }));
  if (!("job" in taken)) throw new Error("it was not taken");
  expect((await briefIn(there, taken, 1)).text).toBe(
    `Write ${there}/result.json, not ${there}/other. The folder is $\`x$', hush.`,
  );
});

const packed = (files: unknown): string => gzipSync(JSON.stringify(files)).toString("base64");

test.each(["../x", "/x", "a/../../x", "a//b", "./a", "", "a\\b", "a\u0000b", "a/./b", "x".repeat(201)])(
  "a file named %j is refused",
  (name) => {
    expect(unpack(packed({ [name]: "" }))).toMatchObject({
      reason: expect.stringContaining("outside of its workspace"),
    });
  },
);

test("a job that is none is not taken, and one of another version is told apart", async () => {
  const job = (await jobOf(run, briefOf(fresh()), {}, nothing)) as FleetJob;
  expect(takenJob({ ...job, version: 2 })).toEqual({ version: 2 });
  expect(takenJob(null)).toEqual({ version: undefined });
  for (const wrong of [
    { run: "../../evil" },
    { run: "*" },
    { agent: "cmd:rm" },
    { files: "§" },
    { brief: { ...job.brief, access: { ...job.brief.access, everything: true } } },
    { brief: { ...job.brief, access: { ...job.brief.access, shell: true } } },
    { brief: { ...job.brief, workspace: "e" } },
    { brief: { ...job.brief, text: "x".repeat(1_048_577) } },
    { maxMs: -1 },
  ])
    expect(takenJob({ ...job, ...wrong }), JSON.stringify(wrong).slice(0, 60)).toHaveProperty("reason");
});

test("two names on a file that is there already are never written through", async () => {
  const there = fresh();
  const outside = join(fresh(), "outside");
  writeFileSync(outside, "mine");
  linkSync(outside, join(there, "a"));
  const taken = {
    job: (await jobOf(run, briefOf(fresh()), {}, nothing)) as FleetJob,
    files: new Map([["a", Buffer.from("theirs")]]),
  };
  await expect(briefIn(there, taken, 1)).rejects.toThrow("EEXIST");
  expect(readFileSync(outside, "utf8")).toBe("mine");
  expect(existsSync(outside)).toBe(true);
});

test("agents have queues of their own, whatever signs their names have", () => {
  const names = [
    "claude",
    "Claude",
    "my agent",
    "my-agent",
    "cmd:./a.sh",
    "cmd:./a sh",
    "x".repeat(100),
    "x".repeat(101),
    "agent:x",
    "*",
  ];
  const queues = names.map(queueOf);
  expect(new Set(queues).size).toBe(names.length);
  for (const queue of queues) expect(queue).toMatch(/^agent-[a-z0-9-]{1,60}$/);
  expect(queueOf("claude")).toBe("agent-claude");
});
