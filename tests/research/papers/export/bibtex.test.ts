import { expect, test } from "vitest";
import { bibliographyOf, bibtexOf } from "../../../../src/research/papers/export/bibtex.js";
import { worksOf } from "../../../../src/research/papers/export/cited-work.js";
import { read } from "../../../support/documents/citation-reader.js";
import { paper as paperOf, rrdWith } from "../../../support/projects/research.js";

const paper = {
  id: "doi_10.1000_x",
  title: "On hands",
  authors: ["Ann Lee"],
  date: "2024-02-01",
  url: "https://doi.org/10.1000/x",
};

test("an article has its journal, volume, number and pages; what stands in no journal has none of them", () => {
  const article = { ...paper, venue: "Hands & Tools", volume: "12", issue: "3", pages: "145–160" };
  expect(bibliographyOf([article])).toBe(
    "@article{lee2024,\n  title = {{On hands}},\n  author = {Lee, Ann},\n  journal = {Hands \\& Tools},\n  volume = {12},\n  number = {3},\n  pages = {145--160},\n  year = {2024},\n  month = {2},\n  day = {1},\n  doi = {10.1000/x},\n  url = {https://doi.org/10.1000/x}\n}\n",
  );
  const preprint = bibliographyOf([{ ...paper, venue: "arXiv" }]);
  expect(preprint).toMatch(/^@misc\{/);
  expect(preprint).not.toMatch(/journal|volume|number|pages/);
});

test("no value ends its field", () => {
  const text = bibliographyOf([{ ...paper, venue: "A}, x = {", volume: "1}", issue: "}", pages: "{2" }]);
  expect(read(text)).toMatchObject([{ "container-title": "A}, x = {", volume: "1}", issue: "}", page: "{2" }]);
});

test("neither an address nor a name, an author or a title can end its field, and no control character is left", () => {
  const injection = "}\n}\n@misc{forged,\n  title={Forged}";
  const text = bibliographyOf([
    {
      ...paper,
      title: `On hands \u001b]0;own\u0007${injection}`,
      authors: [`A\u009b31m\u202e${injection}`],
      url: `https://evil.example/\u001b]0;own\u0007a\\b${injection}`,
      identifiers: { doi: `10.1000/x},\n note={Injected`, arxiv: "2401.00001}\u202e" },
    },
  ]);
  expect(read(text)).toMatchObject([{ title: "On hands } } @misc{forged, title={Forged}" }]);
  expect(text.match(/^@|^ *title|^ *note/gm)).toEqual(["@", "  title"]);
  expect(text).toContain("  doi = {10.1000/x%7D,%20note=%7BInjected},\n  eprint = {2401.00001%7D},");
  expect(text).toContain("  url = {https://evil.example/a%5Cb%7D%20%7D%20@misc%7Bforged,%20title=%7BForged%7D}\n");
  // oxlint-disable-next-line no-control-regex -- none may be left
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});

test("an address stays as it is", () => {
  const url = "https://example.org/a_b~c?x=1&y=%20z#d";
  expect(bibliographyOf([{ ...paper, url }])).toContain(`  url = {${url}}`);
});

test("every paper of a project has its entry, also a rejected one, and a keyword tells what became of each", () => {
  const statuses = ["presented", "insights_extracted", "rejected", "pending"] as const;
  const text = bibtexOf(worksOf(rrdWith(statuses.map((status) => paperOf(status, { status })))));
  expect(text.match(/^@misc\{\w+/gm)).toEqual(["", "b", "c", "d"].map((letter) => `@misc{author2026${letter}`));
  expect(text.match(/keywords = \{.*\}/g)).toEqual(
    ["included", "kept for insights", "rejected", "not read yet"].map((word) => `keywords = {${word}}`),
  );
});

test("what stands in no volume keeps its venue", () => {
  expect(bibliographyOf([{ ...paper, venue: "Workshop on Hands" }])).toContain("  howpublished = {Workshop on Hands},");
});
