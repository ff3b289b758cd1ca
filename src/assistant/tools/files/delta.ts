import { takes, type ToolFailure } from "../../../engine/tools/tool.js";
import type { AssistantTool, ToolContext } from "../context.js";
import { fileFailure } from "./paths.js";
import { bytesIn, onFile } from "./read.js";
import { previewOf, replaceFile } from "./write.js";

/**
 * One change of a file. Lines are counted from 1 in the file as it is before all changes. `insert` puts content before
 * `start_line` (at the end: one more than there are lines); `replace` and `delete` are of `start_line` to `end_line`,
 * or of `old_text`, which must stand in the file exactly once.
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

/** A stretch of the text, by characters, and what stands there afterwards. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

const wrong = (place: number, error: string): ToolFailure =>
  fileFailure("INVALID_OPERATION", `Operation ${place + 1}: ${error} Nothing was changed.`);

/** The text after all operations, or why none of them is done. */
export function applied(text: string, operations: readonly Operation[]): string | ToolFailure {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  if (starts.length > 1 && starts.at(-1) === text.length) starts.pop();
  const newline = /\r\n/.test(text) ? "\r\n" : "\n";
  const edits: Edit[] = [];
  for (const [place, operation] of operations.entries()) {
    const edit = editOf(text, starts, operation);
    if (typeof edit === "string") return wrong(place, edit);
    const by = edit.by.replace(/\r?\n/g, newline);
    const clash = edits.findIndex(({ from, to }) => edit.from < to && from < edit.to);
    if (clash !== -1) return wrong(place, `It overlaps operation ${clash + 1}.`);
    edits.push({ ...edit, by });
  }
  // Those at one place stay in their order.
  const ordered = edits.map((edit, place) => ({ ...edit, place })).sort((a, b) => a.from - b.from || a.place - b.place);
  let out = "";
  let at = 0;
  for (const { from, to, by } of ordered) {
    const between = text.slice(at, from);
    out += between;
    // A last line without its end gets one before another line.
    if (from === to && from === text.length && out !== "" && !out.endsWith("\n")) out += newline;
    out += by;
    at = to;
  }
  return out + text.slice(at);
}

/** Where an operation acts, or what is wrong with it. */
function editOf(
  text: string,
  starts: readonly number[],
  { type, start_line: first, end_line: last = first, old_text: old, content = "" }: Operation,
): Edit | string {
  const lines = text === "" ? 0 : starts.length;
  const offset = (line: number) => (line > lines ? text.length : (starts[line - 1] ?? text.length));
  const whole = content === "" || content.endsWith("\n") ? content : `${content}\n`;
  if (type === "insert") {
    if (first === undefined) return "insert needs start_line.";
    if (first > lines + 1) return `There is no line ${first}; the file has ${lines}.`;
    return { from: offset(first), to: offset(first), by: whole };
  }
  if (old !== undefined) {
    if (old === "") return "old_text is empty.";
    const from = text.indexOf(old);
    if (from === -1) return "old_text is not in the file.";
    if (text.indexOf(old, from + 1) !== -1) return "old_text is in the file more than once; give more of it.";
    return { from, to: from + old.length, by: type === "delete" ? "" : content };
  }
  if (first === undefined || last === undefined) return `${type} needs start_line, or old_text.`;
  if (last < first) return `end_line ${last} comes before start_line ${first}.`;
  if (last > lines) return `There is no line ${last}; the file has ${lines}.`;
  const to = offset(last + 1);
  // What had no line end at the file's end has none afterwards.
  const isLast = last === lines && !text.endsWith("\n");
  const by = type === "delete" ? "" : isLast ? content : whole;
  return { from: offset(first), to, by };
}

async function textAfter({ root }: ToolContext, { file_path: named, operations }: DeltaArguments) {
  const bytes = await bytesIn(root, named);
  if ("code" in bytes) return bytes;
  const text = bytes.toString("utf8");
  // Written again, other bytes would be lost.
  if (!Buffer.from(text).equals(bytes)) return fileFailure("IO", `${named} is not UTF-8 text.`);
  return applied(text, operations);
}

export const fileDelta: AssistantTool<DeltaArguments> = {
  name: "file_delta",
  description:
    "Change parts of a file, all or nothing. Lines are those before any change; old_text must be in the file once.",
  does: ["writes"],
  parameters: takes(
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
  async preview(given, context) {
    const after = await textAfter(context, given).catch(() => undefined);
    return typeof after === "string" ? await previewOf(context, given.file_path, after) : `Change ${given.file_path}`;
  },
  run: async (given, context) =>
    await onFile(given.file_path, async () => {
      const after = await textAfter(context, given);
      return typeof after === "string"
        ? await replaceFile(context, given.file_path, after, given.create_backup ?? true)
        : after;
    }),
};
