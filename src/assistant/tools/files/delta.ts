import { parametersOf, type ToolFailure } from "../../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "../context.js";
import { fileFailure } from "./paths.js";
import { readBytes, runOnFile } from "./read.js";
import { previewOf, replaceFile } from "./write.js";

/**
 * One change of a file. Line numbers begin at 1 and refer to the file before all changes. `insert` puts content before
 * `start_line`, which may be the number after the last line. `replace` and `delete` change the lines from `start_line`
 * to `end_line`, or `old_text`, which must occur exactly once in the file.
 */
interface Operation {
  readonly type: "insert" | "replace" | "delete";
  readonly start_line?: number;
  readonly end_line?: number;
  readonly old_text?: string;
  readonly content?: string;
}

interface DeltaArguments {
  readonly file_path: string;
  readonly operations: readonly Operation[];
  readonly create_backup?: boolean;
}

/** A range of characters in the text, and its replacement. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const invalidOperation = (index: number, error: string): ToolFailure =>
  fileFailure("INVALID_OPERATION", `Operation ${index + 1}: ${error} Nothing was changed.`);

/** The text after all operations, or the error if one of them is invalid. */
export function applyOperations(text: string, operations: readonly Operation[]): string | ToolFailure {
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  if (lineStarts.length > 1 && lineStarts.at(-1) === text.length) lineStarts.pop();
  const newline = /\r\n/.test(text) ? "\r\n" : "\n";
  const edits: Edit[] = [];
  for (const [index, operation] of operations.entries()) {
    const edit = editOf(text, lineStarts, operation);
    if (typeof edit === "string") return invalidOperation(index, edit);
    const replacement = edit.replacement.replace(/\r?\n/g, newline);
    const overlapIndex = edits.findIndex(({ start, end }) => edit.start < end && start < edit.end);
    if (overlapIndex !== -1) return invalidOperation(index, `It overlaps operation ${overlapIndex + 1}.`);
    edits.push({ ...edit, replacement });
  }
  // Edits at the same position stay in their order.
  const orderedEdits = edits
    .map((edit, index) => ({ ...edit, order: index }))
    .sort((a, b) => a.start - b.start || a.order - b.order);
  let result = "";
  let position = 0;
  for (const { start, end, replacement } of orderedEdits) {
    const unchanged = text.slice(position, start);
    result += unchanged;
    // If the last line has no line break, one is added before an inserted line.
    if (start === end && start === text.length && result !== "" && !result.endsWith("\n")) result += newline;
    result += replacement;
    position = end;
  }
  return result + text.slice(position);
}

/** The edit for an operation, or an error. */
function editOf(
  text: string,
  lineStarts: readonly number[],
  { type, start_line: firstLine, end_line: lastLine = firstLine, old_text: oldText, content = "" }: Operation,
): Edit | string {
  const lines = text === "" ? 0 : lineStarts.length;
  const offset = (line: number) => (line > lines ? text.length : (lineStarts[line - 1] ?? text.length));
  const contentLines = content === "" || content.endsWith("\n") ? content : `${content}\n`;
  if (type === "insert") {
    if (firstLine === undefined) return "insert needs start_line.";
    if (firstLine > lines + 1) return `There is no line ${firstLine}; the file has ${lines}.`;
    return { start: offset(firstLine), end: offset(firstLine), replacement: contentLines };
  }
  if (oldText !== undefined) {
    if (oldText === "") return "old_text is empty.";
    const from = text.indexOf(oldText);
    if (from === -1) return "old_text is not in the file.";
    if (text.indexOf(oldText, from + 1) !== -1) return "old_text is in the file more than once; give more of it.";
    return { start: from, end: from + oldText.length, replacement: type === "delete" ? "" : content };
  }
  if (firstLine === undefined || lastLine === undefined) return `${type} needs start_line, or old_text.`;
  if (lastLine < firstLine) return `end_line ${lastLine} comes before start_line ${firstLine}.`;
  if (lastLine > lines) return `There is no line ${lastLine}; the file has ${lines}.`;
  const to = offset(lastLine + 1);
  // If the last line had no line break, its replacement gets none.
  const isLast = lastLine === lines && !text.endsWith("\n");
  const replacement = type === "delete" ? "" : isLast ? content : contentLines;
  return { start: offset(firstLine), end: to, replacement };
}

async function computeNewText({ root }: ToolContext, { file_path: filePath, operations }: DeltaArguments) {
  const bytes = await readBytes(root, filePath);
  if ("code" in bytes) return bytes;
  const text = bytes.toString("utf8");
  // Bytes that are not UTF-8 would be lost when the text is written.
  if (!Buffer.from(text).equals(bytes)) return fileFailure("IO", `${filePath} is not UTF-8 text.`);
  return applyOperations(text, operations);
}

export const fileDelta: AssistantTool<DeltaArguments> = {
  name: "file_delta",
  description:
    "Change parts of a file, all or nothing. Lines are those before any change; old_text must be in the file once.",
  effects: ["writes"],
  parameters: parametersOf(
    {
      file_path: { type: "string" },
      operations: {
        type: "array",
        minItems: 1,
        maxItems: 500,
        items: {
          type: "object",
          properties: {
            type: { enum: ["insert", "replace", "delete"] },
            start_line: { type: "integer", minimum: 1 },
            end_line: { type: "integer", minimum: 1 },
            old_text: { type: "string" },
            content: { type: "string" },
          },
          required: ["type"],
          additionalProperties: false,
        },
      },
      create_backup: { type: "boolean" },
    },
    ["file_path", "operations"],
  ),
  async preview(givenArgs, context) {
    const newText = await computeNewText(context, givenArgs).catch(() => undefined);
    return typeof newText === "string"
      ? await previewOf(context, givenArgs.file_path, newText)
      : `Change ${givenArgs.file_path}`;
  },
  run: async (givenArgs, context) =>
    await runOnFile(givenArgs.file_path, async () => {
      const newText = await computeNewText(context, givenArgs);
      return typeof newText === "string"
        ? await replaceFile(context, givenArgs.file_path, newText, givenArgs.create_backup ?? true)
        : newText;
    }),
};
