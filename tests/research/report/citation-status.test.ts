import { expect, test } from "vitest";
import type { Paper } from "../../../src/research/generated/rrd.js";
import { citationStatusOf } from "../../../src/research/report/citation-status.js";
import { paper } from "../../support/projects/research.js";

const at = "2026-11-22T10:00:00.000Z";
const check = (over: object, checked_by: string[] = [], unchecked: string[] = []) => ({
  updates_check: { at, checked_by, unchecked, citation: { matched_by: [], differs: [], unknown_to: [], ...over } },
});

test.each<[string, Partial<Paper>, string]>([
  ["a service's record agrees", check({ matched_by: ["Crossref"] }, ["Crossref"]), "verified"],
  ["a catalogue gave its record", { found: { sources: ["OpenAlex"], why: "" } }, "verified"],
  ["its text was fetched", { text_from: "a page, https://example.org", read_depth: "full" }, "verified"],
  ["a service's record differs", check({ differs: ["Crossref: the year is 1999"] }, ["Crossref"]), "metadata-differ"],
  ["nobody knows its identifier", check({ unknown_to: ["Crossref", "OpenAlex"] }), "not-found"],
  ["one of them was away", check({ unknown_to: ["Crossref"] }, [], ["OpenAlex: away"]), "could-not-check"],
  ["nobody was asked", { identifiers: { doi: "10.1000/x" } }, "could-not-check"],
  ["it is a page of the web", { source: "web", url: "https://blog.example/post" }, "not-scholarly"],
  ["it is a file of a person's own", { source: "folder:notes", url: "file:///home/me/scan_0012.pdf" }, "own-document"],
  ["its source calls it software", { publication_type: "software" }, "not-scholarly"],
])("where %s it is %s", (_, over, status) => {
  const citation = citationStatusOf(paper("p1", over));
  expect([citation.status, citation.says]).toEqual([status, expect.stringMatching(/\.$/)]);
});
