import { expect, test } from "vitest";
import { withAddedBriefs } from "../../../src/engine/points/points.js";
import { type MadeFile, type Participant, combineParticipants } from "../../../src/engine/points/points.js";
import type { NewEvent, Unit, Workflow } from "../../../src/engine/loop/types.js";

const quiet: Participant = { at: async () => [], ask: async () => ({ vetoes: [], notices: [] }) };
const notice = (message: string): NewEvent => ({ type: "notice", level: "warning", message });
const upper: Participant = {
  ...quiet,
  changeOutput: async ({ files = [] }) => ({
    files: files.map(({ path, text }) => ({ path, text: text.toUpperCase() })),
    fields: { upper: { seen: files.length } },
    notices: [notice("upper")],
  }),
};
const marks: Participant = {
  ...quiet,
  changeOutput: async ({ files = [] }) => ({
    files: files.filter(({ path }) => path === "a").map(({ path, text }) => ({ path, text: `${text}!` })),
    fields: { marks: { seen: true } },
    notices: [],
  }),
};

test("each participant transforms what the one before it made, and those who transform nothing are passed by", async () => {
  const points = combineParticipants(() => [quiet, upper, quiet, marks]);
  const files: MadeFile[] = [
    { path: "a", text: "one" },
    { path: "b", text: "two" },
  ];
  const remade = await points.changeOutput({ iteration: 1, unit: "u", phase: "P", title: "t", files });
  expect(remade).toEqual({
    files: [
      { path: "a", text: "ONE!" },
      { path: "b", text: "TWO" },
    ],
    fields: { upper: { seen: 2 }, marks: { seen: true } },
    notices: [notice("upper")],
  });
  expect([points.canChangeOutput(), combineParticipants(() => [quiet]).canChangeOutput()]).toEqual([true, false]);
});

test("everyone is asked at each point, and one veto is a veto", async () => {
  const asked: string[] = [];
  const vetoing = (name: string, vetoes: string[]): Participant => ({
    ...quiet,
    ask: async (point) => (asked.push(`${name} ${point}`), { vetoes, notices: [notice(name)] }),
  });
  const points = combineParticipants(() => [vetoing("a", []), vetoing("b", ["not yet"])]);
  const { vetoes, notices } = await points.ask(["accepted", "complete"], {});
  expect(vetoes).toEqual(["not yet", "not yet"]);
  expect([asked.length, notices.length]).toEqual([4, 4]);
});

test("what is added stands at the end of a brief, is counted, and a brief without it stays as it was", async () => {
  const workflow = {
    name: "w",
    brief: async () => ({ brief: { text: "Do it.", workspace: "/w", tokens: 100 }, context: undefined }),
  } as unknown as Workflow<object>;
  const unit: Unit = { kind: "k", id: "u", phase: "P", title: "t" };
  const told: string[] = [];
  const withAdded = (text: string) =>
    withAddedBriefs(
      workflow,
      { addToBrief: async () => ({ text, notices: [notice("heard")] }) },
      async (each) => void told.push(each.type),
    ).brief({}, unit, undefined, {});
  expect(await withAdded("## More\n\nShort.")).toMatchObject({ brief: { text: "Do it.\n\n## More\n\nShort.\n" } });
  const longer = await withAdded("word ".repeat(100));
  expect(longer).toMatchObject({ brief: { workspace: "/w" } });
  expect((longer as { brief: { tokens: number } }).brief.tokens).toBeGreaterThan(150);
  expect(await withAdded("")).toMatchObject({ brief: { text: "Do it.", tokens: 100 } });
  expect(told).toEqual(["notice", "notice", "notice"]);
});
