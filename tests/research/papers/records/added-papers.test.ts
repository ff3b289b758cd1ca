import { expect, test } from "vitest";
import { withAdded } from "../../../../src/research/papers/records/added-papers.js";
import { recordOf } from "../../../../src/research/papers/records/listed-papers.js";
import type { Entry } from "../../../../src/research/papers/records/entry.js";
import { rrdWith } from "../../../support/projects/research.js";

const title = "Zinc deficiency shapes the winter sleep of common shrews";
const named = (over: Partial<Entry>) => ({
  reference: "a.ris",
  record: recordOf({ key: "a", title, authors: ["Lo, Ann"], date: "2020", identifiers: {}, ...over }, "a.ris"),
});

test("a record is known by an identifier that another record of the same file has brought", () => {
  const added = [
    named({ identifiers: { doi: "10.1000/a" } }),
    named({ identifiers: { doi: "10.1000/a", pmid: "30000001" } }),
    named({ identifiers: { pmid: "30000001" }, title: `${title}: a cohort`, authors: ["Lo A"], date: "2019" }),
  ];
  const { rrd, results } = withAdded(rrdWith([]), added);
  expect(results.map(({ result }) => result)).toEqual(["added", "already there", "already there"]);
  expect(rrd.papers_pool).toMatchObject([{ identifiers: { doi: "10.1000/a", pmid: "30000001" } }]);
});
