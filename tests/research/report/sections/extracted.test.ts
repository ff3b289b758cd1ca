import { expect, test } from "vitest";
import { rowsOfTable } from "../../../../src/research/report/sections/extracted.js";
import type { ReportModel } from "../../../../src/research/report/model.js";
import { paper, rrdWith } from "../../../support/projects/research.js";

test("a paper has its values in the table, but for one that a criterion, a person or a retraction excludes", () => {
  const extracted = [{ field: "f1", status: "not-reported" as const }];
  const excluded = { decision: "exclude" as const, why: "Off topic." };
  const pool = [
    paper("shown", { status: "presented", extracted }),
    paper("few-points", { status: "rejected", extracted }),
    paper("by-criterion", { status: "rejected", extracted, excluded_by: "c1" }),
    paper("by-person", { status: "rejected", extracted, override: excluded }),
    paper("unread", { status: "rejected" }),
  ];
  const rows = pool.map(({ id, status }) => ({ id, status, isRetracted: false }));
  const model = { rrd: rrdWith(pool), rows } as unknown as Pick<ReportModel, "rrd" | "rows">;
  expect(rowsOfTable(model).map(({ id }) => id)).toEqual(["shown", "few-points"]);
});
