import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { skillsIn } from "../../../src/engine/config/skill-files.js";
import { packageFile } from "../../../src/engine/lib/package-root.js";
import { agentThat, cli } from "../../support/processes/in-process.js";
import { freshFolder, sampleResearch } from "../../support/projects/research-folder.js";

function write(folder: string, path: string, text: string): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

test("skills of a folder are listed by name with what they are for, the built-in one of the original too", async () => {
  const cwd = freshFolder();
  const bare = await cli(["skill", "--list"], cwd);
  expect(bare).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^rrd +built in +makes a project from a topic\n$/),
  });
  expect(bare.err).toContain("This folder has no skill of its own");
  write(cwd, "skills/tidy/SKILL.md", "---\nname: tidy\ndescription: >\n  Tidies\n  notes.\n---\n# Tidy\n");
  write(cwd, ".claude/skills/tidy/SKILL.md", "another");
  write(cwd, ".agents/skills/broken/SKILL.md", "---\n{: [\n---\ntext");
  write(cwd, "skills/empty/README.md", "no skill");
  expect(JSON.parse((await cli(["skill", "--json"], cwd)).out)).toEqual([
    { name: "rrd", description: "makes a project from a topic", file: "" },
    { name: "broken", description: "", file: ".agents/skills/broken/SKILL.md" },
    { name: "tidy", description: "Tidies notes.", file: "skills/tidy/SKILL.md" },
  ]);
  expect(await cli(["skill", "tydy", "x"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("did you mean tidy?"),
  });
  expect(await cli(["skill", "tidy"], cwd)).toMatchObject({
    code: 2,
    err: expect.stringContaining("Say what to do with the skill"),
  });
  expect((await cli(["skill", "tidy", "the notes"], cwd)).err).toContain("The task has no acceptance criteria");
});

test("the skill that ships can be installed by its front matter", async () => {
  const [skill] = await skillsIn(packageFile());
  expect(skill).toMatchObject({ name: "research-ralph", file: "skills/research-ralph/SKILL.md" });
  expect(skill?.description.length).toBeGreaterThan(100);
  expect(skill?.description.length).toBeLessThan(1024);
  expect(readFileSync(packageFile(skill?.file ?? ""), "utf8")).toMatch(/^---\nname: research-ralph\n/);
});

test.each(["skills", ".claude/skills"])(
  "%s/rrd and MISSION.md of a folder are in the brief that makes a project of a topic",
  async (skills) => {
    const cwd = freshFolder();
    write(
      cwd,
      `${skills}/rrd/SKILL.md`,
      "---\nname: rrd\ndescription: ours\n---\nAsk for WORN FINGERTIPS. Save to rrd.json.",
    );
    write(cwd, "MISSION.md", "# Mission\n\nWe sell SOFT GRIPPERS.");
    let brief = "";
    const agent = agentThat((_, stdin) => {
      brief = stdin;
    });
    await cli(["skill", "rrd", "grasping in simulation", "--agent", agent, "--unconfined", "--no-git", "--quiet"], cwd);
    expect(brief).toContain("We sell SOFT GRIPPERS.");
    expect(brief).toContain("Ask for WORN FINGERTIPS.");
    expect(brief).not.toContain("description: ours");
    expect(brief).toContain("write no other file, whatever the skill says");
  },
);

test("MISSION.md stands in the briefs of a project, within their bound", async () => {
  const cwd = freshFolder();
  sampleResearch(cwd);
  write(cwd, "MISSION.md", `# Mission\n\nWe sell SOFT GRIPPERS.\n\n# More\n\n${"word ".repeat(20_000)}`);
  const { out } = await cli(["brief", "--json"], cwd, { RESEARCH_RALPH_AGENT: "baseline" });
  const { text, tokens } = JSON.parse(out) as { text: string; tokens: number };
  expect(text).toContain("We sell SOFT GRIPPERS.");
  expect(tokens).toBeLessThan(6_000);
});
