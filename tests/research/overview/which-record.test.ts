import { describe, expect, test } from "vitest";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { recordNamed, recordsNamed } from "../../../src/research/overview/which-record.js";

const rrd = {
  papers_pool: [
    { id: "file_9a043155", key: "lo2020", title: "Water for shrews", status: "pending" },
    {
      id: "doi_10.1000_x",
      key: "lo2020b",
      title: "Water for moles",
      identifiers: { doi: "10.1000/x" },
      status: "pending",
    },
    {
      id: "arxiv_2401.00001",
      key: "Sample:2024",
      title: "Éclairs of voles",
      identifiers: { arxiv: "2401.00001" },
      status: "pending",
    },
  ],
  excluded: [
    { id: "pmid_7", key: "may1999", title: "Water, again", identifiers: { pmid: "7" }, reason: "old" },
    { id: "doi_10.1000_x", title: "Water for moles", reason: "the same work" },
  ],
} as unknown as Rrd;

describe("a paper is meant by", () => {
  test.each([
    ["its id", "file_9a043155", ["file_9a043155"]],
    ["its key, though another begins with it", "lo2020", ["file_9a043155"]],
    ["its key in other capitals", "sample:2024", ["arxiv_2401.00001"]],
    ["its DOI", "https://doi.org/10.1000/X", ["doi_10.1000_x"]],
    ["its number on arXiv", "arXiv:2401.00001", ["arxiv_2401.00001"]],
    ["the beginning of its id", "file_", ["file_9a043155"]],
    ["the beginning of its key", "samp", ["arxiv_2401.00001"]],
    ["words of its title, however they are written", "voles eclair", ["arxiv_2401.00001"]],
    ["the key of an excluded record", "may1999", ["pmid_7"]],
    ["words that several have", "water", ["file_9a043155", "doi_10.1000_x"]],
    ["nothing", " ", []],
    ["words that none has", "water for bats", []],
  ])("%s", (_, typed, wanted) => {
    expect(recordsNamed(rrd, typed).map(({ id }) => id)).toEqual(wanted);
  });

  test("what fits is listed where it is not one, and what is near where it is none", () => {
    expect(() => recordNamed(rrd, "water", "shrews")).toThrow(
      "'water' fits 2 papers: lo2020 (Water for shrews), lo2020b (Water for moles).",
    );
    expect(() => recordNamed(rrd, "loo2020", "shrews")).toThrow("the nearest name is lo2020;");
  });
});
