import { basename } from "node:path";
import { fence, sanitise } from "../../engine/lib/sanitise.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { chunksOf } from "../../memory/chunks.js";
import { documentsIndex } from "../../memory/memory.js";
import { isMemoryProblem } from "../../memory/problem.js";
import { parametersOf, toolFailure, type ToolResult } from "../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "./context.js";
import { runOnMemory } from "./memories.js";
import { readBytes, runOnFile } from "./files/read.js";
import { truncate } from "./files/truncate.js";

/** Maximum bytes of a page or file from the web. */
const maxDownloadBytes = 10 * 1024 * 1024;

interface FetchArguments {
  readonly url: string;
  readonly max_tokens?: number;
}

const fetchCodes = {
  blocked: "BLOCKED",
  rate_limited: "RATE_LIMITED",
  "not-found": "NOT_FOUND",
  error: "FAILED",
} as const;

export const fetchUrl: AssistantTool<FetchArguments> = {
  name: "fetch_url",
  description: "Fetch a public web page, PDF or text as plain text.",
  effects: ["network"],
  parameters: parametersOf({ url: { type: "string", maxLength: 2000 }, max_tokens: { type: "integer", minimum: 1 } }, [
    "url",
  ]),
  async run({ url, max_tokens: maxTokens }, context, signal) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      return toolFailure("NETWORK_ERROR_INVALID_URL", `'${url.slice(0, 200)}' is not an http or https address.`);
    const http = await context.http(signal);
    const response = await http.get({ url, limit: maxDownloadBytes });
    if (response.status !== "ok") return toolFailure(`NETWORK_ERROR_${fetchCodes[response.status]}`, response.reason);
    const document = await context.readDocument(response.bytes, {
      type: response.type,
      name: response.url,
      minTextChars: 1,
      signal,
    });
    if (document.status !== "ok") return toolFailure("NETWORK_ERROR_UNREADABLE", document.reason);
    const { text, omittedLines } = truncate(
      sanitise(document.text.text),
      Math.min(maxTokens ?? context.maxResultTokens, context.maxResultTokens),
    );
    return {
      success: true,
      url: response.url,
      kind: document.text.kind,
      title: document.text.title,
      content: fence(text),
      ...(omittedLines === 0 ? {} : { truncated: true, lines_left_out: omittedLines }),
    };
  },
};

/** The chunks of a document. The source of each chunk contains its first page: "paper.pdf, p. 3". */
function chunksWithPages({ text, marks }: DocumentText, fileName: string) {
  const pages = marks.filter(({ label }) => label.startsWith("p. "));
  let chunkStart = 0;
  return chunksOf(text).map((chunk) => {
    // Chunks are parts of the text, in order.
    chunkStart = Math.max(chunkStart, text.indexOf(chunk, chunkStart));
    const page = pages.findLast(({ at }) => at <= chunkStart)?.label;
    return { content: sanitise(chunk), source: page === undefined ? fileName : `${fileName}, ${page}` };
  });
}

/** Reads a PDF or another document of the folder and adds its chunks to an index. */
async function addDocument(
  context: ToolContext,
  fileName: string,
  index: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  return await runOnFile(fileName, async () => {
    const bytes = await readBytes(context.root, fileName);
    if ("code" in bytes) return bytes;
    const document = await context.readDocument(bytes, { name: fileName, signal });
    if (document.status !== "ok") return toolFailure("PDF_ERROR_UNREADABLE", `${fileName}: ${document.reason}`);
    const { title, warnings } = document.text;
    const chunks = chunksWithPages(document.text, fileName);
    if (chunks.length === 0) return toolFailure("PDF_ERROR_UNREADABLE", `${fileName} holds no text.`);
    return await runOnMemory(context, async (memory) => {
      const addedDocument = await memory.addDocument(
        index,
        { title: title ?? basename(fileName), folder: context.root },
        chunks,
      );
      if (isMemoryProblem(addedDocument)) return addedDocument;
      const pages = document.text.marks.filter(({ label }) => label.startsWith("p. ")).length;
      return {
        success: true,
        document_id: addedDocument.document,
        index_name: index,
        title: title ?? basename(fileName),
        chunks: chunks.length,
        ...(pages === 0 ? {} : { pages }),
        ...(warnings.length === 0 ? {} : { warnings }),
      };
    });
  });
}

const path = { type: "string" };
const indexName = { type: "string", minLength: 1, maxLength: 64 };

export const processPdf: AssistantTool<{ readonly file_path: string; readonly index_name?: string }> = {
  name: "process_pdf_document",
  description: `Read a PDF of the folder and keep its text in an index (${documentsIndex}), to be recalled later.`,
  effects: ["reads", "remembers"],
  parameters: parametersOf({ file_path: path, index_name: indexName }, ["file_path"]),
  run: async ({ file_path: fileName, index_name: index = documentsIndex }, context, signal) =>
    await addDocument(context, fileName, index, signal),
};

export const vectorAddPdf: AssistantTool<{ readonly index_name: string; readonly file_path: string }> = {
  name: "vector_db_add_pdf_document",
  description: "Add the text of a PDF to an index, cut into chunks.",
  effects: ["reads", "remembers"],
  parameters: parametersOf({ index_name: indexName, file_path: path }, ["index_name", "file_path"]),
  run: async ({ file_path: fileName, index_name: index }, context, signal) =>
    await addDocument(context, fileName, index, signal),
};
