import { type RawPlan, rawPdf, textAt } from "../../fixtures/pdf/raw-pdf.js";

/** Makes a PDF that holds something so many times. */
type LongPdf = (times: number) => Uint8Array;

const prose = Array.from({ length: 12 }, (_, line) =>
  textAt("The gripper learned to grasp objects that it had never felt before.", 60, 700 - 12 * line),
).join("");

const each = <Value>(times: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: times }, (_, index) => make(index));

/** A page of prose and of what `make` gives for each index. */
const drawn =
  (make: (index: number, times: number) => string, rest: Partial<RawPlan> = {}): LongPdf =>
  (times) =>
    rawPdf({ pages: [prose + each(times, (index) => make(index, times)).join("")], ...rest });

/** A page of prose and of what is opened as often as it is closed. */
const nested =
  (open: string, close: string, rest: Partial<RawPlan> = {}): LongPdf =>
  (times) =>
    rawPdf({ pages: [`${prose}${open.repeat(times)}${textAt("The end.", 60, 500)}${close.repeat(times)}`], ...rest });

const withObjects =
  (make: (times: number) => Partial<RawPlan>): LongPdf =>
  (times) =>
    rawPdf({ pages: [prose], ...make(times) });

const form = (content: string, resources = "") => ({
  dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> ${resources} >>`,
  content,
});
const rectangle = (x: number, y: number, width: number, height: number) => `${x} ${y} ${width} ${height} re\n`;
const at = (index: number) => [60 + 7 * (index % 67), 480 - 0.25 * Math.floor(index / 67)] as const;

/** What a hostile PDF holds many times: text, drawing, structure, objects and what stands around a page. */
export const longPdfs: Readonly<Record<string, LongPdf>> = {
  "runs of text on one line": drawn((index) => textAt("word", 60 + index / 10, 400)),
  "runs of text on lines of their own": drawn((index) => textAt("word by word", 60, 450 - index / 20)),
  "runs of text at one place": drawn(() => textAt("word", 60, 400)),
  "letters set one by one": drawn((index) => textAt("a", ...at(index))),
  "lines in two columns": drawn((index) =>
    textAt("a line of prose in a column of text", index % 2 === 0 ? 60 : 320, 450 - Math.floor(index / 2) / 10),
  ),
  "lines in two columns, from the foot of the page": drawn((index) =>
    textAt("a line of prose in a column of text", index % 2 === 0 ? 60 : 320, Math.floor(index / 2) / 10),
  ),
  "numbers in the margin": drawn((index) => textAt(String(index), 30, 780 - index / 10)),
  "numbers all over": drawn((index) => textAt(String(index % 99), ...at(index))),
  "cells of a table": drawn((index) => textAt("0.5", 60 + 60 * (index % 8), 450 - Math.floor(index / 8) / 5)),
  accents: drawn((index) => textAt("\xb4", ...at(index))),
  footnotes: drawn((index) => textAt(`${index % 9} note of the authors`, 60, 450 - index / 10, "/F1 6 Tf")),
  captions: drawn((index) => textAt(`Figure ${index % 99}: what is shown here`, 60, 450 - index / 10)),
  "sizes of letters": drawn((index) => textAt("word", ...at(index), `/F1 ${5 + index / 100} Tf`)),
  "words broken at line ends": drawn((index) => textAt("ef- fec- tive-", 60, 450 - index / 10)),
  "text in white": drawn((index) => `1 g ${textAt("word", ...at(index))}`),
  "text in white on one line": drawn((index) => `1 g ${textAt("word", 60 + index / 10, 400)}`),
  "text in white and in black on one line": drawn((index) => `${index % 2} g ${textAt("word", 60 + index / 10, 400)}`),
  "invisible text": drawn((index) => `3 Tr ${textAt("word", ...at(index))}`),
  "text too small": drawn((index) => textAt("word", ...at(index), "/F1 0.5 Tf")),
  "text outside of the page": drawn((index) => textAt("word", 700 + index, 400)),
  "text in all directions": drawn((index) => {
    const [cos, sin] = [Math.cos(index).toFixed(3), Math.sin(index).toFixed(3)];
    return `BT /F1 10 Tf ${cos} ${sin} -${sin} ${cos} 300 300 Tm (word) Tj ET\n`;
  }),
  "a long string": (times) => rawPdf({ pages: [prose + textAt("word ".repeat(times), 60, 400, "/F1 1.5 Tf")] }),
  "a long string in pieces": (times) =>
    rawPdf({ pages: [`${prose}BT /F1 9 Tf 60 400 Td [${"(w) 20 ".repeat(times)}] TJ ET`] }),
  "a long string of brackets": (times) =>
    rawPdf({ pages: [`${prose}BT /F1 9 Tf 60 400 Td (${"(".repeat(times)}${")".repeat(times)}) Tj ET`] }),
  "a long string in hexadecimal": (times) =>
    rawPdf({ pages: [`${prose}BT /F1 9 Tf 60 400 Td <${"41".repeat(times)}> Tj ET`] }),
  "moves within a text": (times) =>
    rawPdf({ pages: [`${prose}BT /F1 9 Tf 60 480 Td ${"0 -0.1 Td (word) Tj ".repeat(times)} ET`] }),
  rectangles: drawn((index) => `0.9 g ${rectangle(...at(index), 6, 5)}f\n`),
  "rectangles over one another": drawn(() => `0.9 g ${rectangle(50, 300, 400, 200)}f\n`),
  "rectangles and text on them": drawn(
    (index) => `0.9 g ${rectangle(...at(index), 6, 5)}f 0.9 g ${textAt("w", ...at(index), "/F1 4 Tf")}`,
  ),
  "rectangles of one path": (times) =>
    rawPdf({ pages: [`${prose}${each(times, (index) => rectangle(...at(index), 6, 5)).join("")}f\n`] }),
  clips: drawn(() => `${rectangle(50, 50, 500, 700)}W n\n`),
  "clips and text in them": drawn((index) => `q ${rectangle(50, 50, 500, 700)}W n ${textAt("w", ...at(index))}Q\n`),
  curves: drawn(() => "50 50 m 60 60 70 70 80 80 c S\n"),
  "points of one curve": (times) => rawPdf({ pages: [`${prose}50 50 m ${"60 60 70 70 80 80 c ".repeat(times)}S\n`] }),
  dashes: drawn(() => "[1 2 3] 0 d 50 50 m 80 80 l S\n"),
  colours: drawn((index) => `${(index % 100) / 100} 0.5 0.5 rg\n`),
  "saved states": nested("q ", "Q "),
  "saved states that stay open": nested("q ", ""),
  "states restored that were not saved": nested("Q ", ""),
  "marked contents": nested("/Span BMC ", "EMC "),
  "marked contents that stay open": nested("/Span BMC ", ""),
  "marked contents with properties": nested("/Span << /MCID 1 >> BDC ", "EMC "),
  "marked contents with text in place": drawn(
    (index) => `/Span << /ActualText (word) >> BDC ${textAt("w", ...at(index))}EMC\n`,
  ),
  "optional contents": nested("/OC /Group BDC ", "EMC ", {
    objects: { group: "<< /Type /OCG /Name (Layer) >>" },
    resources: "/Properties << /Group @group >>",
    catalog: "/OCProperties << /OCGs [@group] /D << /OFF [@group] >> >>",
  }),
  "groups of optional content": withObjects((times) => ({
    objects: Object.fromEntries(each(times, (index) => [`g${index}`, "<< /Type /OCG /Name (Layer) >>"])),
    catalog: `/OCProperties << /OCGs [${each(times, (index) => `@g${index}`).join(" ")}] /D << >> >>`,
  })),
  "texts begun": nested("BT ", ""),
  "texts begun and ended": nested("BT ET ", ""),
  "operations that there are not": nested("xyz ", ""),
  "numbers without an operation": nested("1 ", ""),
  "arrays in arrays": nested("[", "]"),
  "dictionaries in dictionaries": nested("<< /A ", ">> "),
  "inline pictures": drawn(() => "BI /W 1 /H 1 /BPC 8 /CS /G ID x EI\n"),
  forms: drawn(() => "/Fm Do\n", { objects: { fm: form("0 0 m") }, resources: "/XObject << /Fm @fm >>" }),
  "forms with text": drawn(() => "/Fm Do\n", {
    objects: { fm: form(textAt("word", 60, 300)) },
    resources: "/XObject << /Fm @fm >>",
  }),
  fonts: (times) =>
    rawPdf({
      pages: [prose + each(times, (index) => textAt("word", ...at(index), `/T${index} 9 Tf`)).join("")],
      fonts: each(times, (index) => `/T${index} @t${index}`).join(" "),
      objects: Object.fromEntries(
        each(times, (index) => [
          `t${index}`,
          `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /FirstChar 32 /Widths [${300 + index}] >>`,
        ]),
      ),
    }),
  "changes of the font": drawn((index) => textAt("w", ...at(index), `/${index % 2 === 0 ? "F1" : "F2"} 9 Tf`), {
    fonts: "/F2 @second",
    objects: { second: "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding >>" },
  }),
  "characters of a font's table": (times) =>
    rawPdf({
      pages: [prose + textAt("word", 60, 400, "/F2 9 Tf")],
      fonts: "/F2 @second",
      objects: {
        second: "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /ToUnicode @table >>",
        table: {
          dictionary: "",
          content: `begincmap 1 begincodespacerange <00> <ff> endcodespacerange\n${"1 beginbfchar <41> <0041> endbfchar\n".repeat(times)}endcmap`,
        },
      },
    }),
  "differences of an encoding": (times) =>
    rawPdf({
      pages: [prose + textAt("word", 60, 400, "/F2 9 Tf")],
      fonts: "/F2 @second",
      objects: {
        second: `<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding << /Differences [65 ${"/A 65 ".repeat(times)}] >> >>`,
      },
    }),
  annotations: withObjects((times) => ({
    page: `/Annots [${each(times, (index) => `@a${index}`).join(" ")}]`,
    objects: Object.fromEntries(
      each(times, (index) => [
        `a${index}`,
        "<< /Type /Annot /Subtype /Text /Rect [10 10 20 20] /Contents (A remark about it.) >>",
      ]),
    ),
  })),
  links: withObjects((times) => ({
    page: `/Annots [${"<< /Type /Annot /Subtype /Link /Rect [10 10 20 20] /A << /S /URI /URI (http://a.example) >> >> ".repeat(times)}]`,
  })),
  "fields of a form": withObjects((times) => ({
    page: `/Annots [${each(times, (index) => `@a${index}`).join(" ")}]`,
    catalog: `/AcroForm << /Fields [${each(times, (index) => `@a${index}`).join(" ")}] >>`,
    objects: Object.fromEntries(
      each(times, (index) => [
        `a${index}`,
        `<< /Type /Annot /Subtype /Widget /FT /Tx /T (field ${index}) /V (a value) /Rect [10 10 20 20] >>`,
      ]),
    ),
  })),
  "fields within fields": withObjects((times) => ({
    catalog: "/AcroForm << /Fields [@a0] >>",
    objects: Object.fromEntries(
      each(times, (index) => [
        `a${index}`,
        `<< /FT /Tx /T (field) ${index + 1 < times ? `/Kids [@a${index + 1}]` : "/V (deep)"} ${index > 0 ? `/Parent @a${index - 1}` : ""} >>`,
      ]),
    ),
  })),
  "objects that nothing uses": withObjects((times) => ({
    objects: Object.fromEntries(each(times, (index) => [`o${index}`, "<< /A 1 >>"])),
  })),
  "objects, and no table of them": withObjects((times) => ({
    objects: Object.fromEntries(each(times, (index) => [`o${index}`, "<< /A 1 >>"])),
    table: "missing",
  })),
  "bytes before the header": (times) => Buffer.concat([Buffer.from("x\n".repeat(times)), rawPdf({ pages: [prose] })]),
  "bytes behind the end": (times) => Buffer.concat([rawPdf({ pages: [prose] }), Buffer.from("x\n".repeat(times))]),
  "objects begun behind the end": (times) =>
    Buffer.concat([rawPdf({ pages: [prose], table: "missing" }), Buffer.from("1 0 obj\n<<".repeat(times))]),
  trailers: (times) =>
    Buffer.concat([
      rawPdf({ pages: [prose], table: "missing" }),
      Buffer.from("trailer\n<< /Root 1 0 R >>\n".repeat(times)),
    ]),
  "a long title": (times) => withInfo(`/Title (${"word ".repeat(times)})`),
  "a title of dots": (times) => withInfo(`/Title (${"a.".repeat(times)})`),
  "a title of digits": (times) => withInfo(`/Title (${"1".repeat(times)} x)`),
  authors: (times) => withInfo(`/Author (${"Ann Bee, ".repeat(times)})`),
  "authors in white space": (times) => withInfo(`/Author (${" ".repeat(times)}and)`),
};

function withInfo(entries: string): Uint8Array {
  const text = Buffer.from(rawPdf({ pages: [prose], objects: { info: `<< ${entries} >>` } })).toString("latin1");
  return Buffer.from(text.replace("/Root 1 0 R", "/Root 1 0 R /Info 6 0 R"), "latin1");
}

/** What a hostile PDF has many of that each cost a hundred times as much. */
export const costlyLongPdfs: Readonly<Record<string, LongPdf>> = {
  "empty pages": (times) => rawPdf({ pages: [prose, ...each(times, () => "")] }),
  "pages of one line": (times) =>
    rawPdf({ pages: each(times, (index) => textAt(`This is the one line of page number ${index}.`, 60, 400)) }),
  "forms in forms": (times) =>
    rawPdf({
      pages: [`${prose}/Fm Do\n`],
      objects: Object.fromEntries(
        each(times, (index) => [
          `f${index}`,
          index + 1 < times ? form("/Fm Do\n", `/XObject << /Fm @f${index + 1} >>`) : form(textAt("deep", 60, 300)),
        ]),
      ),
      resources: "/XObject << /Fm @f0 >>",
    }),
  "pages with heads and numbers": (times) =>
    rawPdf({
      pages: each(
        times,
        (index) => textAt("A running head of it", 60, 780) + prose + textAt(String(index + 1), 300, 30),
      ),
    }),
};
