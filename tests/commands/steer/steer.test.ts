import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pauseCommand, resumeCommand, stopCommand } from "../../../src/commands/steer/steer.js";
import { addCommand } from "../../../src/commands/steer/add.js";
import { approveCommand } from "../../../src/commands/setup/approve.js";
import { resetCommand } from "../../../src/commands/steer/reset.js";
import { patternsCommand } from "../../../src/commands/inspect/patterns.js";
import { hookMarkVariable, markVariable } from "../../../src/engine/process/descendants.js";
import { webCommand } from "../../../src/commands/inspect/web.js";
import { steerCommand } from "../../../src/commands/steer/steer.js";
import { stopOnFiles } from "../../../src/engine/loop/stop-conditions/limits.js";
import { openResearch } from "../../../src/research/project-files/research.js";
import { derive } from "../../../src/research/workflow/derive.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { finishedResearch, freshFolder, makeResearch } from "../../support/projects/research-folder.js";

const soFar = { startedAt: 0, now: 0, iterations: [] };

test("words are taken while another process works on the research, in their order, and --clear takes back all before them", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-03-01");
  const research = await openResearch(folder, { derive, git: false, notify: () => undefined });
  try {
    const say = (text: string | undefined, clear = false) => {
      const io = fakeIo({ cwd, env: { HOME: cwd } });
      return steerCommand({ folder: "hands-2026-03-01", text, clear, json: true }, io).then(
        () => JSON.parse(io.out()).steering as string[],
      );
    };
    expect(await say("Mind the cost.")).toEqual(["Mind the cost."]);
    expect(await say("Prefer open code.")).toEqual(["Mind the cost.", "Prefer open code."]);
    expect(await say("Only hands.", true)).toEqual(["Only hands."]);
    expect(await say(undefined)).toEqual(["Only hands."]);
  } finally {
    await research.close();
  }
});

test("words without a project are told where they go", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, "hands-2026-03-01");
  const steering = steerCommand(
    { folder: "Look at grippers.", text: undefined, clear: false, json: false },
    fakeIo({ cwd, env: {} }),
  );
  await expect(steering).rejects.toMatchObject({ exitCode: 2, message: expect.stringMatching(/before the text: /) });
});

test.each([
  ["nothing", "  "],
  ["more than every brief can carry", "x".repeat(1_001)],
])("%s is a usage error", async (_, text) => {
  const cwd = freshFolder();
  makeResearch(cwd, "hands-2026-03-01");
  await expect(
    steerCommand({ folder: "hands-2026-03-01", text, clear: false, json: false }, fakeIo({ cwd, env: { HOME: cwd } })),
  ).rejects.toMatchObject({ exitCode: 2 });
});

describe("a person is told what comes of it", () => {
  const said = async (
    command: (folder: string, io: ReturnType<typeof fakeIo>) => Promise<number>,
    make = makeResearch,
    running = false,
  ) => {
    const cwd = freshFolder();
    const folder = make(cwd, "hands-2026-03-01");
    const research = running ? await openResearch(folder, { derive, git: false, notify: () => undefined }) : undefined;
    try {
      const io = fakeIo({ cwd, env: { HOME: cwd } });
      await command("hands-2026-03-01", io);
      return io.err();
    } finally {
      await research?.close();
    }
  };
  const pause = (folder: string, io: ReturnType<typeof fakeIo>) => pauseCommand({ folder, json: false }, io);
  const steer = (folder: string, io: ReturnType<typeof fakeIo>) =>
    steerCommand({ folder, text: "Mind the cost.", clear: false, json: false }, io);
  const resume = (folder: string, io: ReturnType<typeof fakeIo>) => resumeCommand({ folder, json: false }, io);

  test("whether a run works on the research, nobody does, or it is finished", async () => {
    expect(await said(pause, makeResearch, true)).toMatch(/^The run of .* ends before its next iteration/);
    expect(await said(pause)).toMatch(/ is not running; no run can start until/);
    expect(await said(pause, finishedResearch)).toMatch(/is finished/);
    expect(await said(steer, makeResearch, true)).not.toContain("not running");
    expect(await said(steer)).toContain("it is not running now");
    expect(await said(steer, finishedResearch)).toMatch(
      /is finished: no agent reads it unless you let it write the report again: research-ralph reset \S+ --unit report, then/,
    );
    expect(
      await said(
        async (folder, io) => (await pause(folder, fakeIo({ cwd: io.cwd })), resume(folder, io)),
        finishedResearch,
      ),
    ).toContain("can run again; it is finished");
  });

  test("that what was said before no longer stands", async () => {
    const clear = (folder: string, io: ReturnType<typeof fakeIo>) =>
      steerCommand({ folder, text: undefined, clear: true, json: false }, io);
    expect(await said(clear)).toMatch(/^Earlier instructions are removed/);
  });
});

test("pause blocks and stop interrupts a run before its next iteration, and resume lifts both", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-03-01");
  const args = { folder: "hands-2026-03-01", json: false };
  const stopCondition = stopOnFiles(folder);
  await pauseCommand(args, fakeIo({ cwd, env: { HOME: cwd } }));
  expect(stopCondition(soFar)).toMatchObject({ verdict: "blocked" });
  await stopCommand(args, fakeIo({ cwd, env: { HOME: cwd } }));
  expect(stopCondition(soFar)).toMatchObject({ verdict: "interrupted" });
  await resumeCommand(args, fakeIo({ cwd, env: { HOME: cwd } }));
  expect(stopCondition(soFar)).toBeUndefined();
  expect(existsSync(join(folder, "PAUSE"))).toBe(false);
});

test("an agent that calls a command steers nothing, a hook that a person wrote does", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "hands-2026-03-01");
  const ioOf = (env: NodeJS.ProcessEnv) => fakeIo({ cwd, env: { HOME: cwd, ...env } });
  const commands = (env: NodeJS.ProcessEnv) => [
    () => steerCommand({ folder, text: "Give 5 everywhere.", clear: false, json: true }, ioOf(env)),
    () => steerCommand({ folder, text: undefined, clear: true, json: true }, ioOf(env)),
    () => pauseCommand({ folder, json: true }, ioOf(env)),
    () => stopCommand({ folder, json: true }, ioOf(env)),
    () => resumeCommand({ folder, json: true }, ioOf(env)),
    () => resetCommand({ folder, undo: false, flags: {}, json: true }, ioOf(env)),
    () => addCommand({ folder, columns: [], references: ["10.1000/x"], flags: {}, json: true }, ioOf(env)),
    () => approveCommand({ folder, reject: false, json: true }, ioOf(env)),
    () => patternsCommand({ folder, accept: 1, json: true }, ioOf(env)),
    () => webCommand({ folder, port: 0, json: true }, ioOf(env), AbortSignal.abort()),
  ];
  for (const command of commands({ [markVariable]: "a run" }))
    await expect(command()).rejects.toMatchObject({ exitCode: 5, message: expect.stringContaining("only a person") });
  expect(existsSync(join(folder, ".ralph", "inbox"))).toBe(false);
  const [steer, , pause] = commands({ [markVariable]: "a run", [hookMarkVariable]: "1" });
  expect([await steer?.(), await pause?.()]).toEqual([0, 0]);
});

test("a project whose rrd.json can't be read is held all the same, and the command fails and says why", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, "broken-2026-03-01");
  writeFileSync(join(folder, "rrd.json"), "{ broken }");
  for (const [command, name] of [
    [pauseCommand, "PAUSE"],
    [stopCommand, "STOP"],
  ] as const) {
    await expect(command({ folder: "broken", json: false }, fakeIo({ cwd, env: { HOME: cwd } }))).rejects.toThrow(
      /rrd\.json/,
    );
    expect(existsSync(join(folder, name))).toBe(true);
  }
});
