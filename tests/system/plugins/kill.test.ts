import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { noBubblewrap, skippedFor } from "../../support/processes/bubblewrap.js";
import { withUnitAgent } from "../../support/processes/command-agents.js";
import { sharedPackage } from "../../support/processes/built.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";
import { listener, writePlugins } from "./support.js";

describe.skipIf(noBubblewrap !== undefined)(`a kill${skippedFor(noBubblewrap)}`, () => {
  test("between a hook and the fold has the hook called again, and what came of it is kept once", async () => {
    const cwd = freshFolder();
    const folder = sampleResearch(cwd);
    const told = await listener();
    const tell =
      "(hook, made, { config }) => fetch(config.tell, { method: 'POST', body: JSON.stringify({ hook, unit: made.unit ?? made.paper.id }) })";
    const slow = `onAfterGen: async (made, context) => {
        await (${tell})("after", made, context);
        if (context.config.wait && !made.unit.startsWith("discovery")) await new Promise((resolve) => setTimeout(resolve, 8000));
        return { fields: { unit: made.unit } };
      },
      onReading: (made, context) => (${tell})("reading", made, context),`;
    const configure = (wait: boolean) =>
      writePlugins(cwd, { slow }, { slow: { config: { tell: told.address, wait }, allow: { hosts: [told.host] } } });
    configure(true);
    const heard = (hook: string) =>
      told.heard
        .map(({ body }) => JSON.parse(body))
        .filter((each) => each.hook === hook && !each.unit.startsWith("discovery"));
    const args = ["run", "-i", "3", ...withUnitAgent];
    const env = { PATH: process.env["PATH"], HOME: cwd, RESEARCH_RALPH_TRUST: "true", RESEARCH_RALPH_CHECK: "false" };
    const child = spawn(process.execPath, [join(await sharedPackage(), "dist/cli.js"), ...args], { cwd, env });
    const ended = once(child, "exit");
    for (let left = 600; heard("after").length === 0 && left > 0; left -= 1)
      await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill("SIGKILL");
    await ended;
    const [first] = heard("after");
    expect(first?.unit).toEqual(expect.any(String));
    expect(heard("reading")).toEqual([]);

    configure(false);
    await cli(args, cwd);
    expect(heard("after").filter(({ unit }) => unit === first?.unit)).toHaveLength(2);
    expect(heard("reading").filter(({ unit }) => unit === first?.unit)).toHaveLength(1);
    const { papers_pool: pool } = JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8"));
    expect(pool.find(({ id }: { id: string }) => id === first?.unit)?.plugins).toEqual({ slow: { unit: first?.unit } });
    expect((await cli(["validate"], cwd)).code).toBe(0);
  });
});
