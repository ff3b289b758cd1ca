import { basename } from "node:path";
import { fence, sanitise } from "../../engine/lib/sanitise.js";
import type { DocumentText } from "../../text/documents/text/document-text.js";
import { chunksOf } from "../../memory/chunks.js";
import { documents } from "../../memory/memory.js";
import { isMemoryProblem } from "../../memory/problem.js";
import { takes, toolFailure, type ToolResult } from "../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "./context.js";
import { onMemory } from "./memories.js";
import { bytesIn, onFile } from "./files/read.js";
import { truncate } from "./files/truncate.js";

/** Most bytes of a page or file from the web. */
const maxDownload = 10 * 1024 * 1024;

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
  does: ["network"],
  parameters: takes({ url: { type: "string", maxLength: 2000 }, max_tokens: { type: "integer", minimum: 1 } }, ["url"]),
  async run({ url, max_tokens: most }, context, signal) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      return toolFailure("NETWORK_ERROR_INVALID_URL", `'${url.slice(0, 200)}' is not an http or https address.`);
    const http = await context.http(signal);
    const got = await http.get({ url, limit: maxDownload });
    if (got.status !== "ok") return toolFailure(`NETWORK_ERROR_${fetchCodes[got.status]}`, got.reason);
    const read = await context.readDocument(got.bytes, { type: got.type, name: got.url, leastText: 1, signal });
    if (read.status !== "ok") return toolFailure("NETWORK_ERROR_UNREADABLE", read.reason);
    const { text, linesLeftOut } = truncate(sanitise(read.text.text), Math.min(most ?? context.room, context.room));
    return {
      success: true,
      url: got.url,
      kind: read.text.kind,
      title: read.text.title,
      content: fence(text),
      ...(linesLeftOut === 0 ? {} : { truncated: true, lines_left_out: linesLeftOut }),
    };
  },
};

/** The chunks of a document, each with the page that it begins on as part of its source: "paper.pdf, p. 3". */
function withPages({ text, marks }: DocumentText, named: string) {
  const pages = marks.filter(({ label }) => label.startsWith("p. "));
  let from = 0;
  return chunksOf(text).map((chunk) => {
    // A chunk is a piece of the text, and none begins before the one in front of it.
    from = Math.max(from, text.indexOf(chunk, from));
    const page = pages.findLast(({ at }) => at <= from)?.label;
    return { content: sanitise(chunk), source: page === undefined ? named : `${named}, ${page}` };
  });
}

/** Reads a PDF, or another document, of the folder and adds its text to an index, cut into chunks. */
async function addDocument(
  context: ToolContext,
  named: string,
  index: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  return await onFile(named, async () => {
    const bytes = await bytesIn(context.root, named);
    if ("code" in bytes) return bytes;
    const read = await context.readDocument(bytes, { name: named, signal });
    if (read.status !== "ok") return toolFailure("PDF_ERROR_UNREADABLE", `${named}: ${read.reason}`);
    const { title, warnings } = read.text;
    const chunks = withPages(read.text, named);
    if (chunks.length === 0) return toolFailure("PDF_ERROR_UNREADABLE", `${named} holds no text.`);
    return await onMemory(context, async (memory) => {
      const added = await memory.addDocument(index, { title: title ?? basename(named), folder: context.root }, chunks);
      if (isMemoryProblem(added)) return added;
      const pages = read.text.marks.filter(({ label }) => label.startsWith("p. ")).length;
      return {
        success: true,
        document_id: added.document,
        index_name: index,
        title: title ?? basename(named),
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
  description: `Read a PDF of the folder and keep its text in an index (${documents}), to be recalled later.`,
  does: ["reads", "remembers"],
  parameters: takes({ file_path: path, index_name: indexName }, ["file_path"]),
  run: async ({ file_path: named, index_name: index = documents }, context, signal) =>
    await addDocument(context, named, index, signal),
};

export const vectorAddPdf: AssistantTool<{ readonly index_name: string; readonly file_path: string }> = {
  name: "vector_db_add_pdf_document",
  description: "Add the text of a PDF to an index, cut into chunks.",
  does: ["reads", "remembers"],
  parameters: takes({ index_name: indexName, file_path: path }, ["index_name", "file_path"]),
  run: async ({ file_path: named, index_name: index }, context, signal) =>
    await addDocument(context, named, index, signal),
};
