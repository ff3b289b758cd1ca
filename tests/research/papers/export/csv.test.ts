import { expect, test } from "vitest";
import { csvOf, recordsAsCsv } from "../../../../src/research/papers/export/csv.js";
import { allRecords } from "../../../../src/research/overview/all-records.js";
import { formColumns } from "../../../../src/research/units/form/columns.js";
import fc from "../../../support/runner/fast-check.js";
import { paper, rrdWith } from "../../../support/projects/research.js";

/** Reads RFC 4180, written apart from the writer. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|$)/y;
  for (;;) {
    const [, value = "", end] = cell.exec(text) ?? [];
    rows.at(-1)?.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end === "\r\n" && cell.lastIndex < text.length) rows.push([]);
    else if (end !== ",") return rows;
  }
}

test("cells come back, whatever they hold, and none starts a formula", () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('"', ",", "\r\n", "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1"),
  );
  fc.assert(
    fc.property(fc.array(fc.array(text, { minLength: 3, maxLength: 3 }), { minLength: 1 }), (rows) => {
      const found = rowsOf(csvOf(rows));
      expect(found.map((row) => row.map((cell) => cell.replace(/^'(?=\s*[=+\-@＝|%\t\r])/, "")))).toEqual(rows);
      for (const cell of found.flat()) expect(cell).not.toMatch(/^\s*[=+\-@＝＋－＠|%\t\r]/);
    }),
  );
});

test("a spreadsheet is told that the text is UTF-8, and each paper has its row", () => {
  const rrd = rrdWith(
    [
      paper("p1", { title: '=HYPERLINK("https://evil.example","x")', status: "presented", score: 31 }),
      paper("p2", { title: 'Hands, "soft"', authors: ["Ann Lee", "Jan van der Berg"], date: null }),
    ],
    { insights: [{ insight: "i", paper_id: "p1", tags: ["a", "b"] }] },
  );
  const text = recordsAsCsv(rrd, allRecords(rrd, [], undefined), formColumns(rrd));
  expect(text.startsWith("\ufeffid,key,type,title,")).toBe(true);
  const [head = [], ...rows] = rowsOf(text.slice(1));
  const cells = rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index]])));
  expect(cells).toMatchObject([
    {
      id: "p1",
      title: '\'=HYPERLINK("https://evil.example","x")',
      status: "included",
      decision: "included",
      score: "31",
      tags: "a; b",
      insights: "1",
    },
    { id: "p2", title: 'Hands, "soft"', authors: "Ann Lee; Jan van der Berg", year: "", key: "lee" },
  ]);
});
