import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { nothingHanded } from "../nothing-handed.js";
import { type BoundTool, callByName } from "../../../src/assistant/tools/call.js";
import { type Permission, type Question, toolContext, type ToolContext } from "../../../src/assistant/tools/context.js";
import { assistantTools } from "../../../src/assistant/tools/list.js";
import { lexicalEmbedder } from "../../../src/memory/embedder.js";
import { type Memory, openMemory } from "../../../src/memory/memory.js";
import type { Http } from "../../../src/net/http.js";
import { runProcess } from "../../../src/engine/process/run-process.js";
import type { ToolResult } from "../../../src/engine/tools/tool.js";

/** A folder with a workspace `ws` in it, and the assistant's tools in that; new for each test. */
export class Bench {
  folder = "";
  context!: ToolContext;
  tools: readonly BoundTool[] = [];
  readonly asked: Question[] = [];
  /** What the person who is asked answers. */
  answer: Permission = "yes";
  /** What the network answers. */
  web: Http["get"] = async () => ({ status: "error", reason: "There is no network." });
  #memory: Promise<Memory | string> | undefined;

  get root(): string {
    return join(this.folder, "ws");
  }

  async call(name: string, given: unknown, signal = new AbortController().signal): Promise<ToolResult> {
    return await callByName(this.tools, name, given, signal);
  }

  open(): void {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), "tools-")));
    mkdirSync(this.root);
    this.asked.length = 0;
    this.answer = "yes";
    this.context = toolContext({
      root: this.root,
      window: 128_000,
      backupFolder: join(this.folder, "replaced"),
      env: { PATH: process.env["PATH"], DEPLOY_TOKEN: "secret-0123456789" },
      exec: runProcess,
      memory: async () => await (this.#memory ??= openMemory(join(this.folder, "memory.db"), lexicalEmbedder)),
      http: async () => ({ get: async (request) => await this.web(request) }),
      readDocument: nothingHanded.readDocument,
      ask: async (question) => {
        this.asked.push(question);
        return this.answer;
      },
    });
    this.tools = assistantTools(this.context, []);
  }

  async close(): Promise<void> {
    const memory = await this.#memory;
    this.#memory = undefined;
    if (typeof memory === "object") await memory.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function bench(): Bench {
  const made = new Bench();
  beforeEach(() => made.open());
  afterEach(() => made.close());
  return made;
}
