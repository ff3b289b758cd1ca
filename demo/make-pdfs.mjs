/**
 * Makes the two PDFs of the sample corpus: sample_03.pdf, two columns on two pages, and sample_11.pdf, which is cut
 * off and can't be read. Run once, `node demo/make-pdfs.mjs`; the PDFs are committed. The same text gives the same bytes.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { PDFDocument, StandardFonts } from "pdf-lib";

const LABEL = "Sample paper written for the research-ralph demo; its numbers are invented.";
const PAGE = { width: 595, height: 842, margin: 50, gutter: 23 };
const COLUMN = (PAGE.width - 2 * PAGE.margin - PAGE.gutter) / 2;
const FIXED = new Date("2025-06-17T00:00:00Z");

const here = (name) => new URL(name, import.meta.url);

const paper = parse(readFileSync(here("sample_03.txt"), "utf8"));
const pdf = await layOut(paper, "sample_03");
writeFileSync(here("corpus/sample_03.pdf"), pdf);
// Enough for the signature and a first object, too little for a page: what a broken download leaves.
writeFileSync(here("corpus/sample_11.pdf"), pdf.subarray(0, 1200));

/** Title, authors and blocks of a text whose headings begin with "# ". */
function parse(text) {
  const [title, authors, ...blocks] = text.trim().split(/\n{2,}/).map((block) => block.replace(/\s*\n\s*/g, " "));
  return { title, authors, blocks };
}

async function layOut({ title, authors, blocks }, id) {
  const doc = await PDFDocument.create();
  doc.setTitle(title);
  doc.setAuthor(authors);
  doc.setSubject(`${id}. ${LABEL}`);
  doc.setProducer("demo/make-pdfs.mjs");
  doc.setCreator("demo/make-pdfs.mjs");
  doc.setCreationDate(FIXED);
  doc.setModificationDate(FIXED);
  const roman = await doc.embedFont(StandardFonts.TimesRoman);
  const bold = await doc.embedFont(StandardFonts.TimesRomanBold);

  let page;
  let column = 1;
  let y = 0;
  let top = 0;
  const newPage = () => {
    page = doc.addPage([PAGE.width, PAGE.height]);
    // On the first page alone: what stands at the head of every page is taken for furniture and left out of the text.
    if (doc.getPageCount() === 1) page.drawText(LABEL, { x: PAGE.margin, y: PAGE.height - 34, size: 8, font: roman });
    page.drawText(String(doc.getPageCount()), { x: PAGE.width / 2, y: 28, size: 9, font: roman });
    top = PAGE.height - 60;
    column = 0;
    y = top;
  };
  const line = (text, font, size) => {
    if (y < 60) {
      if (column === 0) {
        column = 1;
        y = top;
      } else newPage();
    }
    page.drawText(text, { x: PAGE.margin + column * (COLUMN + PAGE.gutter), y, size, font });
    y -= size * 1.35;
  };

  newPage();
  for (const row of wrap(title, bold, 16, PAGE.width - 2 * PAGE.margin)) {
    page.drawText(row, { x: PAGE.margin, y, size: 16, font: bold });
    y -= 20;
  }
  page.drawText(authors, { x: PAGE.margin, y, size: 11, font: roman });
  top = y - 28;
  y = top;
  for (const block of blocks) {
    const heading = block.startsWith("# ");
    if (heading) y -= 5;
    for (const row of wrap(block.replace(/^# /, ""), heading ? bold : roman, heading ? 12 : 10.5, COLUMN)) line(row, heading ? bold : roman, heading ? 12 : 10.5);
    y -= 4;
  }
  return doc.save({ useObjectStreams: false });
}

function wrap(text, font, size, width) {
  const rows = [""];
  for (const word of text.split(" ")) {
    const longer = rows.at(-1) === "" ? word : `${rows.at(-1)} ${word}`;
    if (font.widthOfTextAtSize(longer, size) <= width) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  return rows;
}
