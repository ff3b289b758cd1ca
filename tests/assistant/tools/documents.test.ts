import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PDFDocument } from "pdf-lib";
import { describe, expect, it } from "vitest";
import type { Http } from "../../../src/net/http.js";
import { politeHttp } from "../../../src/net/polite-http.js";
import { bench } from "./setup.js";

const here = bench();

async function pdf(name: string, ...pages: string[]): Promise<void> {
  const made = await PDFDocument.create();
  for (const text of pages) made.addPage().drawText(text, { x: 50, y: 700, size: 12 });
  writeFileSync(join(here.root, name), await made.save());
}

const served =
  (body: string | Uint8Array, type: string): Http["get"] =>
  async ({ url }) => ({ status: "ok", bytes: Buffer.from(body), url, type });

describe("a PDF", () => {
  it.each([
    ["process_pdf_document", { file_path: "a.pdf" }, "documents"],
    ["process_pdf_document", { file_path: "a.pdf", index_name: "papers" }, "papers"],
    ["vector_db_add_pdf_document", { file_path: "a.pdf", index_name: "papers" }, "papers"],
  ])("is kept by %s %j, and found by its words", async (tool, given, index) => {
    await pdf("a.pdf", "Worn fingertips lower the success rate.", "The second page is about grippers.");
    await here.call("vector_db_create_index", { index_name: "papers", kind: "documents" });
    expect(await here.call(tool, given)).toMatchObject({ success: true, index_name: index, pages: 2 });
    const found = await here.call("vector_db_search", { index_name: index, query: "fingertips" });
    expect(JSON.stringify(found)).toContain("Worn fingertips");
    expect(found).toMatchObject({ results: [{ source: "a.pdf, p. 1" }] });
  });

  it.each([
    [{ file_path: "none.pdf" }, "FILE_ERROR_NOT_FOUND"],
    [{ file_path: "broken.pdf" }, "PDF_ERROR_UNREADABLE"],
    [{ file_path: "empty.pdf" }, "PDF_ERROR_UNREADABLE"],
    [{ file_path: "good.pdf", index_name: "none" }, "VECTOR_DB_ERROR_INDEX_NOT_FOUND"],
  ])("%j is refused as %s", async (given, code) => {
    writeFileSync(join(here.root, "broken.pdf"), "%PDF-1.7 and nothing more");
    await pdf("empty.pdf", " ");
    await pdf("good.pdf", "Worn fingertips lower the success rate of grasps.");
    expect(await here.call("process_pdf_document", given)).toMatchObject({ success: false, code });
  });
});

describe("fetch_url", () => {
  it("answers with the text of a page, fenced as data", async () => {
    here.web = served("<html><title>Notes</title><body><h1>Notes</h1><p>Hermes is up.</p></body></html>", "text/html");
    const answer = await here.call("fetch_url", { url: "https://example.org/notes" });
    expect(answer).toMatchObject({ success: true, url: "https://example.org/notes", kind: "html" });
    expect(String(answer["content"])).toMatch(/^<untrusted-text[^>]*>\n[\s\S]*Hermes is up\.[\s\S]*<\/untrusted-text/);
  });

  it("cuts a long page to its room, and says so", async () => {
    here.web = served("word ".repeat(20).concat("\n").repeat(10_000), "text/plain");
    const answer = await here.call("fetch_url", { url: "https://example.org/long.txt", max_tokens: 500 });
    expect(answer).toMatchObject({ success: true, truncated: true });
    expect(String(answer["content"]).length).toBeLessThan(4000);
  });

  it.each([
    ["no address", { url: "notes" }, "NETWORK_ERROR_INVALID_URL"],
    ["a file", { url: "file:///etc/passwd" }, "NETWORK_ERROR_INVALID_URL"],
  ])("%s is refused", async (_, given, code) => {
    expect(await here.call("fetch_url", given)).toMatchObject({ success: false, code });
  });

  it.each([
    ["blocked", "NETWORK_ERROR_BLOCKED"],
    ["rate_limited", "NETWORK_ERROR_RATE_LIMITED"],
    ["not-found", "NETWORK_ERROR_NOT_FOUND"],
    ["error", "NETWORK_ERROR_FAILED"],
  ] as const)("an answer that is %s is %s", async (status, code) => {
    here.web = async () => ({ status, reason: "It says no." });
    expect(await here.call("fetch_url", { url: "https://example.org/" })).toEqual({
      success: false,
      code,
      error: "It says no.",
    });
  });

  it("what can't be read is said", async () => {
    here.web = served(Uint8Array.of(0, 1, 2, 3, 0), "application/octet-stream");
    expect(await here.call("fetch_url", { url: "https://example.org/x.bin" })).toMatchObject({
      code: "NETWORK_ERROR_UNREADABLE",
    });
  });

  it.each(["http://127.0.0.1:8080/", "http://localhost:8080/", "http://169.254.169.254/latest/", "http://[::1]:8080/"])(
    "%s is in this machine's network and not asked",
    async (url) => {
      const http = politeHttp({ signal: new AbortController().signal, stateDir: here.folder, budgets: [] });
      here.web = async (request) => await http.get(request);
      expect(await here.call("fetch_url", { url })).toMatchObject({ code: "NETWORK_ERROR_BLOCKED" });
    },
  );
});
