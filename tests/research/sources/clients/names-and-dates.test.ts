import { describe, expect, it } from "vitest";
import { dateFrom } from "../../../../src/engine/lib/json-fields.js";
import { abstractText, plainText } from "../../../../src/research/sources/shared/markup-to-text.js";
import { arxivKey, identifiersFrom, sharesIdentifier } from "../../../../src/research/papers/identifiers.js";
import { pageRecord } from "../../../../src/research/sources/shared/web-page.js";

describe("a DOI", () => {
  it.each([
    "10.1000/ABC(1)x",
    "https://doi.org/10.1000/abc(1)x",
    "HTTPS://DOI.ORG/10.1000/ABC(1)X",
    "http://dx.doi.org/10.1000/abc(1)x",
    "https://www.doi.org/10.1000/abc(1)x",
    "doi.org/10.1000/abc(1)x",
    "https://doi.org/10.1000%2Fabc%281%29x",
    "10.1000%2Fabc(1)x",
    "doi:10.1000/abc(1)x",
    "DOI 10.1000/abc(1)x",
    "info:doi/10.1000/abc(1)x",
    "urn:doi:10.1000/abc(1)x",
    "doi:https://doi.org/10.1000/abc(1)x",
    "10.1000/abc(1)x.",
    "(10.1000/abc(1)x)",
    "<10.1000/abc(1)x>;",
    "“10.1000/abc(1)x”",
    "10.1000/abc(1)x\u200b",
    "https://doi.org/10.1000/abc(1)x?utm_source=feed",
  ])("is one and the same as %s", (written) =>
    expect(identifiersFrom({ doi: written })).toEqual({ doi: "10.1000/abc(1)x" }),
  );

  it.each([
    [
      "10.1002/(SICI)1097-0215(19991112)83:4<456::AID-IJC4>3.0.CO;2-5",
      "10.1002/(sici)1097-0215(19991112)83:4<456::aid-ijc4>3.0.co;2-5",
    ],
    ["10.1016/S0140-6736(05)12345-6", "10.1016/s0140-6736(05)12345-6"],
    ["10.1000.10/123", "10.1000.10/123"],
    // bioRxiv's addresses carry a version that the DOI has not; journals of the same publisher have letters.
    ["10.1101/2020.01.30.927871v2", "10.1101/2020.01.30.927871"],
    ["10.1101/2020.01.30.927871v2.full.pdf", "10.1101/2020.01.30.927871"],
    ["10.1101/gr.123456.111", "10.1101/gr.123456.111"],
  ])("keeps what belongs to it: %s", (written, doi) => expect(identifiersFrom({ doi: written })).toEqual({ doi }));

  it.each(["", "null", "10.1000/", "10.1000/abc def", "abc", "11.1000/abc", "/etc/passwd", 7, null, ["10.1000/a"]])(
    "is not %j",
    (written) => expect(identifiersFrom({ doi: written })).toEqual({}),
  );

  it("of arXiv's is an arXiv id, old ones too", () => {
    expect(identifiersFrom({ doi: "https://doi.org/10.48550/arXiv.2301.00001v2" })).toEqual({ arxiv: "2301.00001v2" });
    expect(identifiersFrom({ doi: "10.48550/ARXIV.HEP-TH/9901001" })).toEqual({ arxiv: "hep-th/9901001" });
  });

  it("stands in the address of a preprint's page", () => {
    const page = pageRecord("Web", {
      url: "https://www.biorxiv.org/content/10.1101/2024.01.02.573000v3.full",
      title: "A hand",
    });
    expect(page?.identifiers).toEqual({ doi: "10.1101/2024.01.02.573000" });
  });
});

describe("an arXiv id", () => {
  it.each([
    ["arXiv:2401.00010v1 [cs.CL] 5 Jan 2024", "2401.00010v1"],
    ["2401.00010 [cs.CL]", "2401.00010"],
    ["ARXIV:2401.00010V3", "2401.00010v3"],
    ["oai:arXiv.org:2401.00010", "2401.00010"],
    ["https://arxiv.org/pdf/2401.00010v1.pdf", "2401.00010v1"],
    ["https://www.alphaxiv.org/abs/2401.00010", "2401.00010"],
    ["https://huggingface.co/papers/2401.00010", "2401.00010"],
    ["http://arxiv.org/abs/math.GT/0309136v1", "math.GT/0309136v1"],
    ["HEP-TH/9901001", "hep-th/9901001"],
  ])("is read from %s", (written, arxiv) => expect(identifiersFrom({ arxiv: written })).toEqual({ arxiv }));

  it("of the old kind is the same with and without its subject class", () => {
    expect(arxivKey("math.GT/0309136v2")).toBe("math/0309136");
    expect(sharesIdentifier({ arxiv: "math.GT/0309136v2" }, { arxiv: "math/0309136" })).toBe(true);
    expect(sharesIdentifier({ arxiv: "math/0309136" }, { arxiv: "cs/0309136" })).toBe(false);
  });
});

describe("a date", () => {
  it.each<[unknown, string | undefined]>([
    [2024, "2024"],
    ["2024", "2024"],
    ["2024-1-5", "2024-01-05"],
    ["2024/01/05", "2024-01-05"],
    ["20240105", "2024-01-05"],
    ["2024-01-05T23:59:59Z", "2024-01-05"],
    ["2024-02-30", "2024-02"],
    ["2024-13-01", "2024"],
    ["2024-00-00", "2024"],
    ["2024-Q1", "2024"],
    ["1999 Nov 12", "1999-11-12"],
    ["1999 Nov-Dec", "1999-11"],
    ["2024 Spring", "2024"],
    ["Nov 2024", "2024-11"],
    ["November 12, 2024", "2024-11-12"],
    ["12. November 2024", "2024-11-12"],
    ["Tue, 02 Jan 2024 00:00:00 -0500", "2024-01-02"],
    ["0000-00-00", undefined],
    ["n.d.", undefined],
    ["1705059200", undefined],
    [null, undefined],
    [{}, undefined],
  ])("written as %j is %s", (written, read) => expect(dateFrom(written)).toBe(read));
});

describe("mark-up", () => {
  it.each([
    ["&Eacute;tude of &ouml;, &ntilde;, &szlig;, &Lstrok;", "Étude of ö, ñ, ß, Ł"],
    ["p &le; 0.05 &plusmn; 2&deg; &Delta;", "p ≤ 0.05 ± 2° Δ"],
    ["<![CDATA[We <i>do</i>]]>", "We do"],
    ["&unknown; &amp;amp;", "&unknown; &"],
  ])("becomes text: %s", (written, text) => expect(plainText(written)).toBe(text));

  it("leaves no heading before an abstract, also one that runs into it, and takes no other word for one", () => {
    expect(["AbstractWe do", "ABSTRACTWe do", "Abstract. We do", "Summary: We do"].map(abstractText)).toEqual(
      Array(4).fill("We do"),
    );
    expect(abstractText("Abstraction in robots")).toBe("Abstraction in robots");
    expect(abstractText("ABSTRACTION IN ROBOTS")).toBe("ABSTRACTION IN ROBOTS");
  });
});
