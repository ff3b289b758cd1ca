import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readLatex } from "../../../src/text/documents/latex/read-latex.js";
import { readPdf } from "../../../src/text/documents/pdf/read-pdf.js";
import { type RawPlan, rawPdf, textAt } from "../../fixtures/pdf/raw-pdf.js";

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const sentence = (number: number) => `Sentence ${number} says that the gripper learned to grasp by ${number} percent.`;
const pageFrom = (first: number, count: number) =>
  upTo(count)
    .map((row) => textAt(sentence(first + row - 1), 60, 740 - row * 12))
    .join("");
const page = pageFrom(1, 20);
const line = sentence(1);

async function read(plan: RawPlan): Promise<string> {
  const result = await readPdf(rawPdf(plan));
  return result.status === "ok" ? result.text.text : result.reason;
}
const numbersOf = (text: string) =>
  [...text.replace(/\s+/g, " ").matchAll(/Sentence (\d+) says/g)].map((match) => Number(match[1]));

describe("a large PDF", () => {
  const form = (content: string, within = "") => ({
    dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << ${within} >>`,
    content,
  });

  // In the process itself: a program that may start no other reads documents there, and a loop of pdf.js lets nothing else run.
  it("whose patterns draw themselves is given up, and a drawing of many patterns is not", async () => {
    const shown = textAt(`The gripper learned. ${line.repeat(2)}`, 60, 700);
    const paint = "/Pattern cs /P scn 0 0 5 5 re f\n";
    const tile = (content: string, within = "") => ({
      dictionary: `/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 10 10] /XStep 10 /YStep 10 /Resources << ${within} >>`,
      content,
    });
    const resources = "/Pattern << /P @first >>";
    const cycles: readonly NonNullable<RawPlan["objects"]>[] = [
      { first: tile(paint, resources) },
      { first: tile(paint.repeat(10), resources) },
      { first: tile(paint, "/Pattern << /P @second >>"), second: tile(paint, resources) },
      { first: tile("/F Do\n", "/XObject << /F @within >>"), within: form(paint, resources) },
    ];
    for (const objects of cycles)
      expect(await readPdf(rawPdf({ pages: [shown + paint], objects, resources }))).toEqual({
        status: "unreadable",
        reason: "The PDF draws patterns within patterns too often, and reading it might never end.",
      });
    const names = upTo(3000).map((number) => `t${number}`);
    const drawing = {
      pages: [shown + names.map((name) => `/Pattern cs /${name} scn 0 0 5 5 re f\n`).join("")],
      objects: Object.fromEntries(names.map((name) => [name, tile("0 0 5 5 re f\n".repeat(40))])),
      resources: `/Pattern << ${names.map((name) => `/${name} @${name}`).join(" ")} >>`,
    };
    expect(await read(drawing)).toContain(line);
  });

  it("whose forms draw others without end is given up, and a plot whose points are forms is not", async () => {
    const shown = textAt(`The gripper learned. ${line.repeat(2)}`, 60, 700);
    const deep = Object.fromEntries(
      upTo(20).map((depth) => [
        `f${depth}`,
        form("/F Do ".repeat(8), depth === 20 ? "" : `/XObject << /F @f${depth + 1} >>`),
      ]),
    );
    const endless = rawPdf({ pages: [`${shown}/F Do\n`], objects: deep, resources: "/XObject << /F @f1 >>" });
    expect(await readPdf(endless)).toEqual({
      status: "unreadable",
      reason: "The PDF draws forms within forms too often, and reading it might never end.",
    });
    const plot = {
      figure: form("/F Do\n", "/XObject << /F @axes >>"),
      axes: form("/F Do\n", "/XObject << /F @marks >>"),
      marks: form(
        upTo(1500)
          .map((at) => `q 1 0 0 1 ${at % 500} ${at} cm /F Do Q `)
          .join(""),
        "/XObject << /F @mark >>",
      ),
      mark: form("0 0 2 2 re f\n"),
    };
    const text = await read({ pages: [`${shown}/F Do\n`], objects: plot, resources: "/XObject << /F @figure >>" });
    expect(text).toContain("The gripper learned.");
  });

  it("whose page writes its text in a million pieces is given up, and one that sets each letter by itself is read", async () => {
    const pieces = (count: number) => `BT /F1 1 Tf 20 700 Td ${"(a) Tj ".repeat(count)}ET\n`;
    expect(await readPdf(rawPdf({ pages: [pieces(1_000_000)] }))).toEqual({
      status: "unreadable",
      reason: "A page of the PDF writes its text in too many pieces, and reading it might never end.",
    });
    expect(await read({ pages: [`${page}${pieces(20_000)}`, page] })).toContain("Sentence 20 says");
  });

  it("of which a stream unpacks to much more than a page is given up", async () => {
    const content = deflateSync(Buffer.alloc(70 * 1024 * 1024, " ")).toString("latin1");
    const bomb = { dictionary: "/Filter /FlateDecode /Type /XObject /Subtype /Form /BBox [0 0 9 9]", content };
    const bytes = rawPdf({ pages: ["/F Do\n"], objects: { bomb }, resources: "/XObject << /F @bomb >>" });
    expect(await readPdf(bytes)).toEqual({
      status: "unreadable",
      reason: "A stream of the PDF unpacks to more than 64 MB.",
    });
  });

  it("loses what stands in a stream that unpacks to too much, and nothing else", async () => {
    const content = deflateSync(Buffer.alloc(65 * 1024 * 1024, 32)).toString("latin1");
    const bomb = { dictionary: "/Filter /FlateDecode /Type /XObject /Subtype /Form /BBox [0 0 9 9]", content };
    const drawing = { objects: { bomb }, resources: "/XObject << /F @bomb >>" };
    const result = await readPdf(rawPdf({ pages: [page, `/F Do\n${page}`], ...drawing }));
    if (result.status !== "ok") throw new Error(result.reason);
    expect(numbersOf(result.text.text)).toEqual([...upTo(20), ...upTo(20)]);
    expect(result.text.depth).toBe("partial");
    expect(result.text.warnings).toEqual([
      "A stream of the PDF unpacks to more than 64 MB; its content is missing from the text.",
    ]);
  });

  it("of 100 pages is read to its end, each page under its mark, without the heads that number them", async () => {
    const pages = Array.from(
      { length: 100 },
      (_, index) => textAt(`Journal of Hands ${index + 1}`, 60, 775) + pageFrom(index * 3, 3),
    );
    const result = await readPdf(rawPdf({ pages }));
    if (result.status !== "ok") throw new Error(result.reason);
    expect(result.text.marks.map(({ label }) => label)).toEqual(upTo(100).map((number) => `p. ${number}`));
    expect(numbersOf(result.text.text)).toEqual(Array.from({ length: 300 }, (_, index) => index));
    expect(result.text).toMatchObject({ depth: "full" });
    expect(result.text.text).not.toContain("Journal of Hands");
  });
});

it("a LaTeX source that unpacks without end is refused", () => {
  expect(readLatex(gzipSync(Buffer.alloc(130 * 1024 * 1024)))).toMatchObject({
    status: "unreadable",
    reason: expect.stringMatching(/unpacks to more/),
  });
});
