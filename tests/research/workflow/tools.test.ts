import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import type { ToolServer } from "../../../src/engine/loop/types.js";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { piecesOf } from "../../../src/research/tools/passage.js";
import { readingTools, searchingTools } from "../../../src/research/tools/all-tools.js";
import { nextUnit } from "../../../src/research/workflow/next-unit.js";
import { scholarlySearch } from "../../../src/research/units/screening/search-session.js";
import { statusOf } from "../../../src/research/workflow/next-unit.js";
import type { Unit } from "../../../src/engine/loop/types.js";
import { briefFor } from "../../../src/research/workflow/brief/write-brief.js";
import { workspacesOf } from "../../../src/research/workflow/workspace.js";
import { library, materialFor, paper, rrdWith, temporaryFolder } from "../../support/projects/research.js";
import type { Library } from "../../../src/research/units/unit-kind.js";
import { unwatched } from "../../support/network/unwatched-search.js";

const serve = (names: readonly string[], about?: string): ToolServer => ({
  command: "server",
  args: about === undefined ? [] : [about],
  names,
  env: [],
});

async function briefWith(rrd: Rrd, given: Library, tools?: typeof serve) {
  const root = temporaryFolder();
  const state = { rrd, ledger: [], status: statusOf(rrd, []), agentNotes: new Map() };
  const workspace = temporaryFolder();
  const where = {
    folder: root,
    root,
    services: given.services,
    workspaces: workspacesOf(root, root),
    ...(tools && { tools }),
  };
  const unit = nextUnit(state, [], [], "/my-research") as Unit;
  const material = (await materialFor(given, state, unit)) ?? {};
  return { ...(await briefFor(where, state, unit, material, {}, 1, workspace)).brief, workspace };
}

const body = Array.from(
  { length: 9_000 },
  (_, index) => `Sentence ${index} of a very long paper says nothing new.`,
).join(" ");
const long = buildText([{ label: "§ 1 All", text: body }], { kind: "markdown", depth: "full" });
const holding = library({ text: async () => ({ text: long }) });

test("a paper too long for its brief is read with tools of that paper alone, each place of it named, and no file or right to read", async () => {
  const { text, access, workspace } = await briefWith(rrdWith([paper("p1")]), holding, serve);
  expect(access).toMatchObject({ read: false, tools: { names: readingTools, args: ["p1"] } });
  for (const { start } of piecesOf(long)) expect(text).toContain(`\n@${start}: `);
  expect(existsSync(join(workspace, "paper"))).toBe(false);
});

test("an agent that takes no tools gets it as files", async () => {
  const { access, workspace } = await briefWith(rrdWith([paper("p1")]), holding);
  expect(access.tools).toBeUndefined();
  expect(access.read).toBe(true);
  expect(existsSync(join(workspace, "paper", "01.txt"))).toBe(true);
});

test("a paper that stands in its brief needs no tools", async () => {
  expect((await briefWith(rrdWith([paper("p1")]), library(), serve)).access.tools).toBeUndefined();
});

test("discovery searches further with tools where code can search a source outside, and nowhere else", async () => {
  const { services } = scholarlySearch({
    ...unwatched,
    root: "/",
    folder: "/",
    now: () => 0,
    patienceMs: 0,
    signal: new AbortController().signal,
    contextFor: ({ name }) => ({ unavailable: `${name} is not asked.` }),
  });
  const given = library({ serves: (name) => name === "samples" || name.startsWith("folder:"), services });
  const from = (...sources: string[]) => ({
    ...rrdWith([]),
    requirements: { target_papers: 3, sources, keywords: ["k"] },
  });
  for (const sources of [["arXiv"], ["samples", "Google Scholar"]])
    expect((await briefWith(from(...sources), given, serve)).access.tools?.names).toEqual(searchingTools);
  for (const sources of [["samples"], ["folder:papers"], ["web"]])
    expect((await briefWith(from(...sources), given, serve)).access.tools).toBeUndefined();
});
