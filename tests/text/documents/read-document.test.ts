import { describe, expect, it } from "vitest";
import { readDocument } from "../../../src/text/documents/read-document.js";

const prose = "The gripper learned to grasp objects that it had never felt before. ".repeat(30);

describe("a document", () => {
  it("of text with a stray NUL byte is read, and a binary file called text is none", async () => {
    expect(await readDocument(Buffer.from(`${prose}\0${prose}`), { name: "a.txt" })).toMatchObject({ status: "ok" });
    expect(await readDocument(Buffer.alloc(500), { name: "a.txt" })).toMatchObject({ status: "unreadable" });
  });

  it("of LaTeX says no lengths that it sets", async () => {
    const source = `\\documentclass{article}\\begin{document}\\parskip=0pt plus 1pt \\parindent = 12pt ${prose}\\end{document}`;
    const read = await readDocument(Buffer.from(source), { name: "a.tex" });
    expect(read.status === "ok" ? read.text.text : read.reason).not.toMatch(/0pt|12pt|plus/);
  });

  it("of LaTeX has the title that its macros make", async () => {
    const source = `\\documentclass{article}\\newcommand{\\name}{GraspNet}\\title{\\name: Learning to Grasp}\\begin{document}\\maketitle ${prose}\\end{document}`;
    const read = await readDocument(Buffer.from(source), { name: "a.tex" });
    expect(read).toMatchObject({ status: "ok", text: { title: "GraspNet: Learning to Grasp" } });
  });

  it.each([
    [
      "a.html",
      "&#8239;",
      (body: string) => `<html><body><article><h1>Hands</h1><p>${body}</p></article></body></html>`,
    ],
    ["a.nxml", "&#x2009;", (body: string) => `<article><front/><body><p>${body}</p></body></article>`],
    ["a.tex", "\\,", (body: string) => `\\documentclass{article}\\begin{document}${body}\\end{document}`],
  ] as const)("%s keeps the thousands of a number together, and no other numbers", async (name, space, documentOf) => {
    const body = `We screened 12${space}450 hands, 3${space}of them twice, and 5${space}\n120 arms. ${prose}`;
    const read = await readDocument(Buffer.from(documentOf(body)), { name });
    expect(read.status === "ok" ? read.text.text : read.reason).toMatch(
      /We screened 12\u202f450 hands, 3 of them twice, and 5\s120 arms\./,
    );
  });

  it("in JATS with its ending keeps its abstract, kind and licence", async () => {
    const xml = `<article article-type="research-article"><front><article-meta><title-group><article-title>Grasping</article-title></title-group><permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/"/></permissions><abstract abstract-type="abstract"><p>We grasp.</p></abstract></article-meta></front><body><p>${prose}</p></body></article>`;
    expect(await readDocument(Buffer.from(xml), { name: "a.nxml" })).toMatchObject({
      status: "ok",
      text: {
        kind: "jats",
        abstract: "We grasp.",
        publicationType: "research article",
        license: "https://creativecommons.org/licenses/by/4.0/",
      },
    });
  });
});
