import { expect, test } from "vitest";
import { toolCommand } from "../../../src/commands/search/tool.js";
import { buildProgram } from "../../../src/commands/command-line/program.js";
import { tools } from "../../../src/research/tools/all-tools.js";
import { fakeIo } from "../../engine/ui/fake-io.js";
import { freshFolder, makeResearch, paper } from "../../support/projects/research-folder.js";
import { scholarly } from "../../support/network/scholarly.js";

function withTwoPapers(): string {
  const cwd = freshFolder();
  makeResearch(cwd, "hands", { papers_pool: [paper("p1", "pending"), paper("p2", "pending")] });
  return cwd;
}

test.each([
  [{ name: "outline", json: '{"paper":"p1"}' }, 2, "outline: there is no argument 'paper'; it takes id."],
  [
    { name: "search_papers", json: '{"query":"hands","words":"hands"}' },
    2,
    "search_papers: there is no argument 'words'; it takes query, from, most.",
  ],
  [{ name: "outline" }, 2, "Say which paper: `id` is missing."],
  [{ name: "outline", paper: "p9" }, 2, "There is no paper 'p9' in this project"],
  [{ name: "outline", paper: "p1" }, 1, "No text of 'p1' is kept"],
])(
  "%j ends with exit code %i: 2 where the call is wrong, 1 where only the answer is missing",
  async (args, exitCode, sentence) => {
    const io = fakeIo({ cwd: withTwoPapers() });
    await expect(toolCommand(args, io)).rejects.toMatchObject({ exitCode, message: expect.stringContaining(sentence) });
  },
);

test("a search that nobody answered ends with exit code 5, as the search command does", async () => {
  const { cwd, env } = await scholarly({ body: "no feed" }, {});
  makeResearch(cwd, "hands", { requirements: { target_papers: 4, sources: ["arXiv"] } });
  const io = fakeIo({ cwd, env });
  expect(await toolCommand({ name: "search_papers", json: '{"query":"hands"}' }, io)).toBe(5);
  expect(io.out()).toContain("No source could be asked.");
});

test.each(tools.map(({ name, parameters }) => [name, Object.keys(parameters.properties)] as const))(
  "tool %s --help prints every argument it takes, without any research",
  async (name, parameters) => {
    const io = fakeIo({ cwd: freshFolder() });
    const ended: number[] = [];
    await buildProgram(io, "1", { setExitCode: (code) => ended.push(code), run: async () => 1 }).parseAsync(
      ["mcp", name, "--help"],
      { from: "user" },
    );
    expect(ended).toEqual([0]);
    for (const parameter of parameters)
      expect(io.out()).toMatch(new RegExp(`^ {2}${parameter} +(string|integer|object)`, "m"));
  },
);
