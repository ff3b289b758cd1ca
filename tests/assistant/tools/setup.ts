import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { callByName } from "../../../src/assistant/tools/call.js";
import { type Permission, type Question, toolContext } from "../../../src/assistant/tools/context.js";
import { assistantTools } from "../../../src/assistant/tools/list.js";
import type { ToolResult } from "../../../src/engine/tools/tool.js";

/** A folder with a workspace `ws` in it, and the assistant's tools in that; new for each test. */
export interface Bench {
  readonly folder: string;
  readonly root: string;
  readonly asked: Question[];
  /** What the person who is asked answers. */
  answer: Permission;
  call(name: string, given: unknown, signal?: AbortSignal): Promise<ToolResult>;
}

export function bench(): Bench {
  let folder = "";
  let call: Bench["call"];
  const made = {
    asked: [] as Question[],
    answer: "yes" as Permission,
    get folder() {
      return folder;
    },
    get root() {
      return join(folder, "ws");
    },
    call: async (...given: Parameters<Bench["call"]>) => await call(...given),
  };
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "tools-")));
    mkdirSync(made.root);
    made.asked.length = 0;
    made.answer = "yes";
    const ask = async (question: Question) => {
      made.asked.push(question);
      return made.answer;
    };
    const tools = assistantTools(toolContext({ root: made.root, window: 128_000, ask }));
    call = async (name, given, signal = new AbortController().signal) => await callByName(tools, name, given, signal);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return made;
}
