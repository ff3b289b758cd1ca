import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { maxReaderMemoryBytes, readGuarded } from "../../../src/text/documents/guarded-reader.js";
import { openTaskProcess } from "../../../src/engine/process/task-process.js";
import { sharedPackage } from "../../support/processes/built.js";
import { rawPdf } from "../../fixtures/pdf/raw-pdf.js";
import { deflateSync } from "node:zlib";

let starts = 0;
const reader = openTaskProcess({
  program: async () => {
    starts += 1;
    return join(await sharedPackage(), "dist/reader.js");
  },
  maxMemoryBytes: maxReaderMemoryBytes,
});
afterAll(() => reader.close());

const prose = "The gripper learned to grasp objects that it had never felt before. ".repeat(20);
const html = (head: string, body = `<p>${prose}</p>`) =>
  Buffer.from(`<html><head>${head}</head><body>${body}</body></html>`);
const read = (bytes: Uint8Array, name: string, options: { signal?: AbortSignal; maxMs?: number } = {}) =>
  readGuarded(reader, bytes, { name, ...options });

describe("a document from a stranger", () => {
  it("is read in another process, the same one for all of them, and plain text in this one", async () => {
    const before = starts;
    reader.close();
    expect(await read(Buffer.from(`# A title\n\n${prose}`), "a.md")).toMatchObject({
      status: "ok",
      text: { kind: "markdown" },
    });
    expect(starts).toBe(before);
    expect(await read(html(""), "a.html")).toMatchObject({ status: "ok", text: { kind: "html" } });
    expect(await read(html("<title>B</title>"), "b.html")).toMatchObject({ status: "ok" });
    expect(starts).toBe(before + 1);
  });

  it("called a text that is a PDF goes to the other process too", async () => {
    const before = starts;
    reader.close();
    expect(await read(Buffer.from("\n%PDF-1.4\n nothing"), "a.txt")).toMatchObject({ status: "unreadable" });
    expect(starts).toBe(before + 1);
  });

  it("that unpacks to more than the memory allows is unreadable, and the next is read", async () => {
    const bomb = deflateSync(deflateSync(Buffer.alloc(200_000_000, 32), { level: 1 }));
    const result = await read(Buffer.from(manyStreams(bomb, 12)), "bomb.pdf");
    expect(result).toMatchObject({ status: "unreadable", reason: expect.stringMatching(/ 512 MB of memory|64 MB/) });
    expect(await read(html(""), "a.html")).toMatchObject({ status: "ok" });
  });

  it("that takes longer than allowed is unreadable and says so, and the next is read", async () => {
    const result = await read(
      rawPdf({ pages: Array.from({ length: 200 }, () => "BT /F1 10 Tf 1 0 0 1 60 700 Tm (One line of text) Tj ET\n") }),
      "a.pdf",
      { maxMs: 1 },
    );
    expect(result).toEqual({ status: "unreadable", reason: "The document could not be read within 0.001 seconds." });
    expect(await read(html(""), "a.html")).toMatchObject({ status: "ok" });
  });

  it("is no verdict on the document where reading was interrupted or no process is to be had", async () => {
    expect(await read(html(""), "a.html", { signal: AbortSignal.abort() })).toMatchObject({
      status: "error",
      transient: true,
    });
    const none = openTaskProcess({ program: () => Promise.reject(new Error("too few files")), maxMemoryBytes: 1 });
    expect(await readGuarded(none, html(""), { name: "a.html" })).toMatchObject({
      status: "error",
      transient: true,
      reason: expect.stringContaining("too few files"),
    });
  });
});

/** A PDF of one page whose contents are one stream, given many times. */
function manyStreams(data: Buffer, count: number): string {
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents[${"4 0 R ".repeat(count)}]/Resources<<>>>>`,
    `<</Filter[/ASCIIHexDecode/FlateDecode/FlateDecode]/Length ${data.length * 2}>>\nstream\n${data.toString("hex")}\nendstream`,
  ];
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join("");
  return `%PDF-1.5\n${body}trailer<</Root 1 0 R/Size 5>>\n%%EOF`;
}
