import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli } from "../../support/processes/in-process.js";
import { byRole, codeProject, offByOne, usual } from "../../support/projects/code-project.js";

let project: ReturnType<typeof codeProject>;
beforeEach(() => {
  project = codeProject(offByOne);
});
afterEach(() => project.remove());

describe("a folder in which a coding run has worked", () => {
  const here = async (...args: string[]) => await cli(args, project.folder);

  it("can be paused, stopped and resumed, as its messages say", async () => {
    await project.json(...project.agent(byRole({})), "--rounds", "1", "-i", "1");
    for (const [hold, file, exit] of [
      ["pause", "PAUSE", 5],
      ["stop", "STOP", 130],
    ] as const) {
      expect((await here(hold)).code).toBe(0);
      expect(existsSync(project.path(file))).toBe(true);
      expect((await project.json(...project.agent(byRole({})))).code).toBe(exit);
      const { code, err } = await here("resume");
      expect([code, err]).toEqual([0, expect.stringContaining("can run again: research-ralph task\n")]);
      expect(existsSync(project.path(file))).toBe(false);
    }
  });

  it("tells every role what a person says, also while one is at work, until it is taken back", async () => {
    await project.json(...project.agent(byRole({})), "-i", "1");
    expect((await here("steer", "use no library")).err).toBe(
      "Every brief includes it from the next iteration of this task on; it is not running now.\n",
    );
    const mend = "sed -i 's/i < b/i <= b/' src/range.mjs";
    const words = `cp ${project.top}/message.json .ralph/inbox/`;
    const artisan = `if [ $N = 1 ]; then mkdir -p .ralph/inbox; ${words}; fi; ${mend}; ${usual.artisan.split("; ")[1]}`;
    writeFileSync(join(project.top, "message.json"), JSON.stringify({ text: "write no comments" }));
    const { last } = await project.json(...project.agent(byRole({ artisan })));
    expect(last.verdict).toBe("complete");
    expect(project.brief("artisan")).toContain("use no library");
    expect(project.brief("critic")).toContain("use no library");
    // What nobody signed was planted by the agent.
    expect(project.brief("critic")).not.toContain("write no comments");
    expect((await here("steer")).out).toBe("- use no library\n");
    expect((await here("steer", "--clear")).err).toContain("is finished");
    expect((await here("steer")).out).toBe("");
  });
});
