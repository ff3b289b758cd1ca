import { describe, expect, it } from "vitest";
import type { ProjectUpdate, Rrd } from "../../../src/research/generated/rrd.js";
import type { PaperRow } from "../../../src/research/report/papers.js";
import { movesText, whatChanged } from "../../../src/research/report/narrative/what-changed.js";

const before = ["Touch helps.", "Touch helps.", "It is quick.", "It is cheap.", "It is old."].map((text, index) => ({
  id: `f${index + 1}`,
  text,
  level: 3,
}));
const update = (over: Partial<ProjectUpdate> = {}): ProjectUpdate => ({
  id: "update-1",
  since: "2026-01-01",
  until: "2026-02-01",
  at: "2026-02-01T00:00:00Z",
  iteration: 5,
  before,
  closed_at: "2026-02-02T00:00:00Z",
  report: "written",
  ...over,
});
const row = (id: string) => ({ id }) as PaperRow;
const changesOf = (
  updates: readonly ProjectUpdate[],
  findings: readonly [text: string, level: number, was?: string][],
) =>
  whatChanged(
    {
      updates: [...updates],
      papers_pool: [{ id: "p1", title: "One", status: "presented", iteration: 5 }] as Rrd["papers_pool"],
    },
    findings.map(([text, , was]) => ({ text, rests_on: [], ...(was === undefined ? {} : { was }) })) as never,
    findings.map(([text, level]) => ({ text, strength: { level } })) as never,
    row,
  );

describe("what an update changed", () => {
  it("says of every finding, former ones too, how it moved, those that moved most first", () => {
    const changes = changesOf(
      [update()],
      [
        ["Touch helps.", 3, "f1"],
        ["It takes a minute.", 3, "f3"],
        ["It is cheap.", 4, "f4"],
        ["It is heavy.", 2],
        ["It was built long ago.", 1, "f5"],
      ],
    );
    expect(changes?.findings.map(({ move, text }) => [move, text])).toEqual([
      ["gone", "Touch helps."],
      ["weaker", "It was built long ago."],
      ["stronger", "It is cheap."],
      ["new", "It is heavy."],
      ["reworded", "It takes a minute."],
      ["kept", "Touch helps."],
    ]);
    expect(changes?.findings.map(({ before: old }) => old)).toEqual([...Array(4), "It is quick.", undefined]);
    expect(movesText(changes?.findings ?? [])).toBe("1 gone, 1 weaker, 1 stronger, 1 new, 1 reworded, 1 kept");
  });

  it("lets two findings that are worded alike continue one each, also where the agent names the same for both", () => {
    const same: [string, number, string][] = [
      ["Touch helps.", 3, "f1"],
      ["Touch helps.", 3, "f1"],
    ];
    const rest: [string, number][] = [
      ["It is quick.", 3],
      ["It is cheap.", 3],
      ["It is old.", 3],
    ];
    expect(movesText(changesOf([update()], [...same, ...rest])?.findings ?? [])).toBe("5 kept");
  });

  it("is told by the place of a finding where the report was only rendered again", () => {
    const shown = before.map(({ text }): [string, number] => [text, 3]);
    const changes = changesOf([update({ report: "rendered" })], [["Touch helps.", 2], ...shown.slice(1)]);
    expect([movesText(changes?.findings ?? []), changes?.isWritten]).toEqual(["1 weaker, 4 kept", false]);
  });

  it("is nothing while the update is open, and names a paper that could not be read again", () => {
    const { closed_at: _, ...open } = update();
    expect(changesOf([open], [])).toBeUndefined();
    const changed = [{ id: "p1", says: "a correction", read_again: true }];
    expect(changesOf([update({ changed })], [])?.changed[0]?.reading).toBe("it could not be read again");
    expect(changesOf([update({ changed, iteration: 4 })], [])?.changed[0]?.reading).toBe("read again");
  });
});
