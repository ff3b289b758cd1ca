import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { prismaCsv } from "../../../../src/research/papers/export/prisma.js";

const rowsIn = (text: string) =>
  text
    .trimEnd()
    .split("\r\n")
    .slice(1)
    .map((row) => ({
      name: row.split(",")[0] ?? "",
      n: /(?:,"([^"]*)"|,([^,"]*))$/.exec(row)?.slice(1).find(Boolean),
    }));

test("the table has the columns and every count that the package looks for by its name", () => {
  const open = { records_not_screened: 4, records_waiting: 1, dbr_not_read: 2, dbr_waiting: 2, other_waiting: 1 };
  const text = prismaCsv({ counts: { database_results: 34, dbr_excluded: 3, ...open }, reasons: [], sources: [] });
  expect(text.slice(0, text.indexOf("\r\n"))).toBe("data,node,box,description,boxtext,tooltips,url,n");
  // The names by which PRISMA_data of version 1.1.4 looks.
  const looked =
    "previous_studies previous_reports register_results database_results database_specific_results register_specific_results website_results organisation_results citations_results duplicates excluded_automatic excluded_other records_screened records_excluded dbr_sought_reports dbr_notretrieved_reports other_sought_reports other_notretrieved_reports dbr_assessed dbr_excluded other_assessed other_excluded new_studies new_reports total_studies total_reports total_studies_ma total_reports_ma";
  const names = rowsIn(text).map(({ name }) => name);
  // It takes each row whose name contains the one it looks for, so that none may stand twice, nor in an open row.
  for (const name of looked.split(" ")) {
    expect(names.filter((each) => each === name)).toHaveLength(1);
    expect(Object.keys(open).filter((each) => each.includes(name))).toEqual([]);
  }
  expect(names).toEqual(expect.arrayContaining(Object.keys(open)));
  for (const box of ["prevstud", "newstud", "othstud", "identification", "screening", "included"])
    expect(text).toContain(`,${box},`);
});

test("counts, reasons and sources are told; a list that does not add up to its count is left out", () => {
  const flow = {
    counts: { database_results: 34, dbr_excluded: 3, records_screened: 11 },
    reasons: [
      { label: "too few points; or, worse", count: 2 },
      { label: "retracted", count: 1 },
    ],
    sources: [{ label: "arXiv", count: 30 }],
  };
  const found = new Map(rowsIn(prismaCsv(flow)).map(({ name, n }) => [name, n]));
  expect(found.get("database_results")).toBe("34");
  expect(found.get("records_screened")).toBe("11");
  expect(found.get("dbr_excluded")).toBe("too few points or worse, 2; retracted, 1");
  expect(found.get("database_specific_results")).toBe("34");
  expect(found.get("previous_studies")).toBe("0");
});

const hasR = spawnSync("Rscript", ["--version"]).status === 0;

// What PRISMA_data does with each name: `grep` in the first column, the number with its commas taken out, lists at ";".
const look = `
data <- as.data.frame(read.csv("stdin"))
number <- function(n) as.numeric(gsub("[^0-9.]", "", as.character(n)))
for (name in commandArgs(TRUE)) {
  n <- data[grep(name, data[, 1]), ]$n
  stopifnot(length(n) == 1)
  parts <- if (grepl("[^0-9,]", n)) unlist(strsplit(as.character(n), split = "(;)( )?")) else as.character(n)
  counts <- number(gsub(".*?,([ 0-9,]*)|.*()", "\\\\1", parts))
  if (length(parts) == 1 && !grepl(",", parts)) counts <- number(parts)
  cat(name, sum(counts), "\\n")
}
for (box in c("prevstud", "newstud", "othstud")) stopifnot(nchar(data[grep(box, data[, 3]), ]$boxtext) > 0)
`;

test.skipIf(!hasR)("R reads every count by its name, as the package looks for it", () => {
  const flow = {
    counts: { database_results: 12345, dbr_excluded: 3, new_studies: 6, total_studies: 6 },
    reasons: [
      { label: "too few points; or, worse", count: 2 },
      { label: "“quoted”, 5 %", count: 1 },
    ],
    sources: [
      { label: "arXiv", count: 12_000 },
      { label: "Google Scholar", count: 345 },
    ],
  };
  const names = [
    ..."database_results database_specific_results register_results dbr_excluded other_excluded".split(" "),
  ];
  names.push("new_studies", "total_studies$", "total_reports$", "total_studies_ma", "records_excluded", "dbr_assessed");
  const { status, stdout, stderr } = spawnSync("Rscript", ["-e", look, ...names], {
    input: prismaCsv(flow),
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
  const found = new Map(
    stdout
      .trim()
      .split(/\s*\n/)
      .map((line) => line.split(" ") as [string, string]),
  );
  expect(Object.fromEntries(found)).toEqual({
    ...Object.fromEntries(names.map((name) => [name, "0"])),
    database_results: "12345",
    database_specific_results: "12345",
    dbr_excluded: "3",
    new_studies: "6",
    total_studies$: "6",
  });
});
