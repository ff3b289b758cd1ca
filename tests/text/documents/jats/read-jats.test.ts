import fc from "../../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import { readDocument } from "../../../../src/text/documents/read-document.js";
import { findQuote } from "../../../../src/text/evidence/find-quote.js";
import { readJats } from "../../../../src/text/documents/jats/read-jats.js";

const filler = "The cohort was followed for two years and seen every month by the same two nurses. ".repeat(12);
const article = (
  over: { front?: string; body?: string; back?: string; attributes?: string } = {},
) => `<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.2//EN" "JATS-archivearticle1.dtd">
<article ${over.attributes ?? 'article-type="research-article"'} xmlns:mml="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink">
<front><journal-meta><journal-title>A Journal</journal-title></journal-meta><article-meta>
<article-id pub-id-type="pmid">1</article-id><article-id pub-id-type="doi">10.1000/ABC</article-id>
<title-group><article-title>Walking <italic>after</italic> stroke<xref ref-type="fn" rid="n1">*</xref></article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Garc&#237;a</surname><given-names>Ana</given-names></name></contrib>
<contrib contrib-type="author"><collab>The Stroke Group</collab></contrib><contrib contrib-type="editor"><name><surname>Ed</surname><given-names>I</given-names></name></contrib></contrib-group>
<pub-date pub-type="ppub"><year>2024</year></pub-date><pub-date pub-type="epub"><day>5</day><month>3</month><year>2024</year></pub-date>
${over.front ?? ""}<abstract><p>We followed 120 patients.</p></abstract></article-meta></front>
<body>${over.body ?? `<sec><label>1</label><title>Introduction</title><p>${filler}</p></sec>`}</body>${over.back ?? ""}</article>`;

async function read(over: Parameters<typeof article>[0] = {}) {
  const result = await readJats(article(over));
  if (result.status !== "ok") throw new Error(result.reason);
  return result.text;
}

describe("readJats", () => {
  it("keeps words of an abstract apart that stand in its headings and paragraphs", async () => {
    const { abstract } = await read({
      front:
        "<abstract><title>Abstract</title><sec><title>Background</title><p>We asked.</p></sec><sec><title>Results</title><p>It was so.</p></sec></abstract>",
    });
    expect(abstract).toBe("Background We asked. Results It was so.");
  });

  it("takes an article's executive summary where it has no other abstract", async () => {
    const xml = article().replace("<abstract>", '<abstract abstract-type="executive-summary">');
    const result = await readJats(xml);
    expect(result.status === "ok" && result.text.abstract).toBe("We followed 120 patients.");
  });

  it("takes a group for one author, whose members are none", async () => {
    const members =
      '<contrib-group><contrib contrib-type="author"><name><surname>Bee</surname><given-names>Ann</given-names></name></contrib></contrib-group>';
    const result = await readJats(article().replace("The Stroke Group", `The Stroke Group${members}`));
    expect(result.status === "ok" && result.text.authors).toEqual(["Ana García", "The Stroke Group"]);
  });

  it("takes title, authors, first day, DOI and abstract from the front", async () => {
    expect(await read()).toMatchObject({
      kind: "jats",
      depth: "full",
      title: "Walking after stroke",
      authors: ["Ana García", "The Stroke Group"],
      date: "2024-03-05",
      doi: "10.1000/abc",
      abstract: "We followed 120 patients.",
    });
  });

  it("marks each section with its number and heading", async () => {
    const text = await read({
      body: `<sec><title>Methods</title><p>One.</p><sec><label>2.1</label><title>The <bold>cohort</bold></title><p>${filler}</p></sec></sec><sec><title>Results</title><p>Two.</p></sec>`,
      back: "<back><ack><p>Thanks.</p></ack></back>",
    });
    expect(text.marks.map(({ label }) => label)).toEqual([
      "§ Abstract",
      "§ Methods",
      "§ 2.1 The cohort",
      "§ Results",
      "§ Acknowledgements",
    ]);
    for (const mark of text.marks) expect(text.text.startsWith(`## ${mark.label.slice(2)}`, mark.at)).toBe(true);
  });

  it("sets tables row by row under their caption, and formulas once", async () => {
    const { text } = await read({
      body: `<sec><title>R</title><p>Speed was <inline-formula><alternatives><tex-math id="m">\\documentclass{minimal}\\begin{document}$$v = 1.2$$\\end{document}</tex-math><mml:math><mml:mi>v</mml:mi></mml:math></alternatives></inline-formula> m/s &lt; 2.</p>
        <table-wrap><label>Table 1</label><caption><title>Gait.</title><p>By group.</p></caption><table><thead><tr><th>Group</th><th>Speed</th></tr></thead><tbody><tr><td>A</td><td>1.2</td></tr></tbody></table></table-wrap><p>${filler}</p></sec>`,
    });
    expect(text).toContain("Speed was $v = 1.2$ m/s < 2.");
    expect(text).toMatch(/Table 1: Gait\. By group\.\s+Group \| Speed\nA \| 1\.2/);
  });

  it("sets a figure, a table or a formula of a paragraph behind it, so that a sentence over it can be quoted", async () => {
    const fig =
      '<fig id="f1"><label>Figure 1</label><caption><p>A legend<disp-formula><tex-math>k</tex-math></disp-formula>of it.</p></caption></fig>';
    const table =
      "<table-wrap><label>Table 1</label><table><tr><td><p>At <disp-formula><tex-math>t</tex-math></disp-formula></p></td><td>5</td></tr></table></table-wrap>";
    const formula =
      "<disp-formula><tex-math>a = b</tex-math><label>(1)</label></disp-formula><disp-formula><tex-math>c</tex-math></disp-formula>";
    const text = await read({
      body: `<sec><title>R</title><p>The voles that were${fig}kept in the barn ${table} grew as in ${formula}, where <italic>a</italic> is mass. ${filler}</p><p>The next.</p></sec>`,
    });
    expect(findQuote(text, "The voles that were kept in the barn grew as in, where a is mass.").found).toBe(true);
    expect(text.text).toMatch(
      /same two nurses\.\n\nFigure 1: A legend of it\.\n\n\$k\$\n\nTable 1:\s+At \$t\$ \| 5\n\n\$a = b\$ \(1\)\n\n\$c\$\n\nThe next\./,
    );
  });

  it("keeps the columns of rows below a cell that spans them, and behind one that spans columns", async () => {
    const rows =
      '<tr><th rowspan="2">Group</th><th colspan="2">Weight</th><th>n</th></tr><tr><td>first</td><td>last</td><td>7</td></tr>' +
      '<tr><td>A</td><td rowspan="9">3</td><td>4</td></tr><tr><td>B</td><td>5</td><td rowspan="x">8</td></tr>';
    const { text } = await read({
      body: `<sec><title>R</title><table-wrap><table><tbody>${rows}</tbody><tbody><tr><td>C</td><td>6</td></tr></tbody></table></table-wrap><p>${filler}</p></sec>`,
    });
    expect(text).toContain("Group | Weight | | n\n| first | last | 7\nA | 3 | 4\nB | | 5 | 8\nC | 6");
  });

  it("keeps the label and the name of a theorem", async () => {
    const body = `<sec><title>R</title><statement><label>Theorem 2</label><title>Bound</title><p>All are small.</p></statement><p>${filler}</p></sec>`;
    expect((await read({ body })).text).toContain("Theorem 2 Bound\n\nAll are small.");
  });

  it("keeps raised citations apart from their words and footnotes out of sentences", async () => {
    const { text } = await read({
      body: `<sec><title>R</title><p>It helps<sup><xref ref-type="bibr" rid="r1">1</xref>,<xref ref-type="bibr" rid="r2">2</xref></sup> much<fn id="f"><p>Not always.</p></fn> indeed. ${filler}</p></sec>`,
      back: `<back><ref-list><ref id="r1"><label>1</label><mixed-citation><name><surname>Lee</surname></name>. First. 2020.</mixed-citation></ref>
        <ref id="r2"><label>2</label><element-citation><name><surname>Kim</surname><given-names>B</given-names></name><article-title>Second</article-title><source>J</source><year>2021</year></element-citation></ref></ref-list></back>`,
    });
    expect(text).toContain("It helps [1,2] much indeed.");
    expect(text).toContain("Footnote: Not always.");
    expect(text).toContain("## References\n\n[1] Lee. First. 2020.\n\n[2] Kim B. Second. J. 2021");
  });

  it("takes the round brackets of a raised citation as a part of it", async () => {
    const link = '<sup>(</sup><xref ref-type="bibr" rid="r1"><sup>10</sup></xref><sup>)</sup>';
    const body = `<sec><title>Past</title><p>Others lowered the level of TAG${link}. ${filler}</p></sec>`;
    const abstract = `<abstract><p>Others did it${link} before us.</p></abstract>`;
    const result = await readJats(article({ body }).replace(/<abstract>.*<\/abstract>/, abstract));
    if (result.status !== "ok") throw new Error(result.reason);
    expect(result.text.text).toContain("the level of TAG [10].");
    expect(result.text.abstract).toBe("Others did it before us.");
    expect(findQuote(result.text, "Others lowered the level of TAG.").found).toBe(true);
  });

  it("brackets numbers of citations that are each raised in a link of their own", async () => {
    const link = (number: number) => `<xref ref-type="bibr" rid="r${number}"><sup>${number}</sup></xref>`;
    const body = `<sec><title>Past</title><p>Others did it${link(1)}<sup>&#x2013;</sup>${link(3)} in the years before us. ${filler}</p></sec>`;
    const abstract = `<abstract abstract-type="abstract"><p>Others did it${link(1)}&#x2013;${link(3)} before us.</p></abstract>`;
    const result = await readJats(article({ body }).replace(/<abstract>.*<\/abstract>/, abstract));
    if (result.status !== "ok") throw new Error(result.reason);
    const { text } = result;
    expect(text.text).toContain("Others did it [1–3] in the years");
    expect(text.abstract).toBe("Others did it before us.");
    for (const quote of ["Others did it in the years before us", "Others did it¹–³ in the years before us"])
      expect(findQuote(text, quote).found).toBe(true);
    expect(findQuote(text, "Others did it⁴–⁶ in the years before us").found).toBe(false);
  });

  it("keeps apart what stands without a space in an entry of the references", async () => {
    const cited =
      "<name><surname>Oakes</surname><given-names>RS</given-names></name><article-title>Detection of fibrosis in old valves</article-title>" +
      "<source>Circulation</source><year>2009</year>;<volume>119</volume>";
    const { text } = await read({
      back: `<back><ref-list><ref><mixed-citation>${cited}</mixed-citation></ref></ref-list></back>`,
    });
    expect(text).toContain("[1] Oakes RS Detection of fibrosis in old valves Circulation 2009;119");
  });

  it("says that an article was retracted, and not that the notice was", async () => {
    const related = '<related-article related-article-type="retraction-forward" xlink:href="10.1000/notice"/>';
    expect(await read({ front: related })).toMatchObject({
      retracted: true,
      text: expect.stringContaining("marks this article as retracted"),
    });
    const notice = await read({
      front: '<related-article related-article-type="retracted-article"/>',
      attributes: 'article-type="retraction"',
    });
    expect(notice.retracted).toBeUndefined();
  });

  it("takes an article without its body for no more than the abstract", async () => {
    expect(await read({ body: "<p>See the scan.</p>" })).toMatchObject({ depth: "abstract" });
  });

  it("refuses an article that is cut off, and expands no entity of the document's own", async () => {
    const whole = article();
    expect(await readJats(whole.slice(0, -200))).toMatchObject({
      status: "unreadable",
      reason: expect.stringMatching(/damaged or cut off/),
    });
    const bomb = whole
      .replace(
        /<!DOCTYPE[^>]*>/,
        '<!DOCTYPE article [<!ENTITY a "BOOM"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>',
      )
      .replace("<p>We", "<p>&b;&x; We");
    const read = await readJats(bomb);
    expect(JSON.stringify(read)).not.toMatch(/BOOM|root:/);
  });

  it("is what XML from PubMed Central is read as", async () => {
    expect(await readDocument(Buffer.from(article()), { type: "application/xml" })).toMatchObject({
      text: { kind: "jats" },
    });
  });

  it("is found in the envelope of an archive, and an error in its place is no paper", async () => {
    const enveloped = `<?xml version="1.0"?><OAI-PMH><GetRecord><metadata>${article().replace(/^[\s\S]*?(?=<article)/, "")}</metadata></GetRecord></OAI-PMH>`;
    expect(await readDocument(Buffer.from(enveloped), { type: "text/xml" })).toMatchObject({
      text: { kind: "jats", depth: "full" },
    });
    const error =
      '<?xml version="1.0"?><pmc-articleset><Reply Id="1" error="The following PMCID is not available: 1"/></pmc-articleset>';
    for (const body of [error, '<?xml version="1.0"?><error>not found</error>'])
      expect(await readDocument(Buffer.from(body), { type: "application/xml" })).toEqual({
        status: "unreadable",
        reason: "The document is XML and contains no article.",
      });
  });

  it("never throws, whatever stands in the body", async () => {
    const piece = fc.constantFrom(
      "<sec>",
      "</sec>",
      "<p>",
      "</p>",
      "<title>T</title>",
      "<fn>",
      "</fn>",
      "<table-wrap>",
      "</table-wrap>",
      "<tr><td>1</td></tr>",
      "<inline-formula>",
      "</inline-formula>",
      "&amp;",
      "&",
      "<",
      "text ",
      "<xref ref-type='bibr'>3</xref>",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        expect(["ok", "unreadable"]).toContain((await readJats(article({ body: pieces.join("") }))).status);
      }),
      { numRuns: 100, seed: 4 },
    );
    const deep = article({ body: `${"<sec>".repeat(20_000)}${filler}${"</sec>".repeat(20_000)}` });
    expect(["ok", "unreadable"]).toContain((await readJats(deep)).status);
  });

  it("writes a power with raised characters, and leaves other raised text as it is", async () => {
    const text = await read({
      body: `<sec><title>R</title><p>Below 10<sup>-5</sup> M, 2 × 10<sup>6</sup> cells in 3 m s<sup>−1</sup> of Ca<sup>2+</sup> and Mg<sup>+2</sup> by the 4<sup>th</sup> day. ${filler}</p></sec>`,
    });
    expect(text.text).toContain("Below 10⁻⁵ M, 2 × 10⁶ cells in 3 m s⁻¹ of Ca2+ and Mg+2 by the 4th day.");
    for (const quote of ["Below 10^-5 M, 2 × 10^6 cells", "Below 10⁻⁵ M, 2 × 10⁶ cells"])
      expect(findQuote(text, quote).found).toBe(true);
    expect(findQuote(text, "Below 106 M, 2 × 10-5 cells").found).toBe(false);
  });
});
