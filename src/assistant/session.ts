import { existsSync } from "node:fs";
import { totalUsage } from "../engine/agents/shared/messages.js";
import type { ModelMessage } from "ai";
import { modelNamed, isPriced, priceOf } from "../engine/agents/prices.js";
import { folderInstructions, instructionTokens } from "../engine/config/folder-instructions.js";
import { messageOf } from "../engine/lib/errors.js";
import { redactFor } from "../engine/lib/redact.js";
import type { Usage } from "../engine/loop/types.js";
import type { Memory } from "../memory/memory.js";
import type { Io } from "../engine/ui/io.js";
import { converse, type Said, type Spoken } from "./converse.js";
import { mcpTool } from "./mcp/as-tools.js";
import type { McpServers } from "./mcp/servers.js";
import { recalled } from "./memory/memory-commands.js";
import { memoryLater, memoryPath } from "./memory/own-memory.js";
import { type Asked, type Settings, settingsOf } from "./settings.js";
import { bound, type BoundTool } from "./tools/call.js";
import type { Handed, ToolContext } from "./tools/context.js";
import { ownToolCount } from "./tools/list.js";
import { ownTools } from "./tools/open.js";
import { compacted } from "./conversation/compact.js";
import { tokensIn } from "./conversation/room.js";
import { type SavedSession, saveSession, type SessionKind } from "./conversation/saved.js";
import { folderPrompt, systemPrompt } from "./conversation/system-prompt.js";

/** What a session is begun with. */
export interface Beginning {
  readonly io: Io;
  readonly asked: Asked;
  readonly settings: Settings;
  readonly fetch: typeof globalThis.fetch;
  readonly servers?: McpServers;
  /** What the assistant has of the other wings. */
  readonly handed: Handed;
  /** Asked before a tool writes or runs. */
  readonly ask: ToolContext["ask"];
  /** Told one sentence of what goes wrong without ending anything. */
  readonly say: (sentence: string) => void;
  /** As what the conversation is kept. */
  readonly kind: SessionKind;
  /** The conversation to go on with. */
  readonly before?: SavedSession;
}

/** Milliseconds that a person at the terminal waits for a service that asks for patience. */
const maxWaitMs = 120_000;
/** The share of the window from which on older exchanges are shortened after an answer. */
const compactFrom = 0.4;

/** A conversation with all that it needs: a model, tools, a memory, a prompt. One answer at a time. */
export class Session {
  readonly #beginning: Beginning;
  #settings: Settings;
  #messages: readonly ModelMessage[];
  /** Under which the conversation is kept, once it is. */
  #name: string | undefined;
  #usage: Usage;
  #cost: number | undefined = 0;
  readonly #memory: ReturnType<typeof memoryLater>;
  #isMemoryTold = false;
  #isPromptTold = false;
  #embedding: Promise<unknown> | undefined;
  #own: ReturnType<typeof ownTools> | undefined;
  readonly #ended = new AbortController();

  constructor(beginning: Beginning) {
    const { io, asked, settings, fetch, before } = beginning;
    this.#beginning = beginning;
    this.#settings = settings;
    this.#messages = before?.messages ?? [];
    this.#name = before?.name;
    this.#usage = before?.usage ?? totalUsage([]);
    if (this.#usage.requests > 0) this.#cost = this.#priceOf(this.#usage);
    this.#memory = memoryLater(io, asked.keys, fetch);
  }

  /** The assistant's own tools and the program's, opened when they are first needed. */
  async #ownTools(): ReturnType<typeof ownTools> {
    const { io, handed, ask } = this.#beginning;
    const memory = async () => (await this.memory({ create: true })) ?? "The memory can't be opened.";
    this.#own ??= ownTools({ io, settings: this.#settings, memory, handed, ask });
    return await this.#own;
  }

  get settings(): Settings {
    return this.#settings;
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /** Tokens and, where the model's prices are known, US dollars of the whole session. */
  get spent(): { readonly usage: Usage; readonly usd?: number } {
    return { usage: this.#usage, usd: this.#cost };
  }

  /** Estimated tokens that the next request has before its message. */
  async occupied(): Promise<number> {
    const tools = await this.tools();
    return tokensIn({ system: await this.#system(tools), messages: this.#messages, tools });
  }

  /** How many tools there is no room for in the model's window. */
  async toolsLeftOut(): Promise<number> {
    const [{ tools }, handed] = await Promise.all([this.#ownTools(), this.#beginning.handed.tools()]);
    return ownToolCount + handed.length - tools.length;
  }

  /** All tools that the model may call now. */
  async tools(): Promise<readonly BoundTool[]> {
    const { tools, context } = await this.#ownTools();
    const served = this.#beginning.servers?.tools() ?? [];
    return [...tools, ...served.map((tool) => bound(mcpTool(tool), context))];
  }

  /** The user's memory, opened when it is first needed; undefined where it is missing, or it does not open. */
  async memory({ create = false } = {}): Promise<Memory | undefined> {
    const { io, say } = this.#beginning;
    if (!create && !existsSync(memoryPath(io.env))) return undefined;
    const opened = await this.#memory.open();
    if (typeof opened === "string") {
      if (!this.#isMemoryTold) say(`${opened} Going on without it.`);
      this.#isMemoryTold = true;
      return undefined;
    }
    return opened;
  }

  async #system(tools: readonly BoundTool[], memories?: string): Promise<string> {
    const { io } = this.#beginning;
    return systemPrompt({
      cwd: io.cwd,
      tools: tools.map(({ name }) => name),
      own: this.#settings.systemPrompt,
      memories,
      ...(await this.#folderPrompts()),
    });
  }

  /** What the project and the user ask for in this folder, where it can be read. */
  async #folderPrompts(): Promise<{ readonly instructions?: string; readonly folder?: string }> {
    const { io, say } = this.#beginning;
    const read = async (text: Promise<string | undefined>) =>
      await text.catch((error: unknown) => {
        if (!this.#isPromptTold) say(`${messageOf(error)} Going on without it.`);
        this.#isPromptTold = true;
        return undefined;
      });
    const room = Math.min(instructionTokens, Math.floor(this.#settings.window / 20));
    return { instructions: await read(folderInstructions(io.cwd, room)), folder: await read(folderPrompt(io.cwd)) };
  }

  async #memoriesFor(message: string): Promise<string | undefined> {
    try {
      const memory = await this.memory();
      if (memory === undefined) return undefined;
      const room = { folder: this.#beginning.io.cwd, tokens: Math.min(1_500, Math.floor(this.#settings.window / 20)) };
      const found = await recalled(memory, message, room);
      // Vectors of another model are made anew while answers are awaited; the search has shown how long they are.
      this.#embedding ??= memory.embedAgain(this.#ended.signal).catch(() => 0);
      return found;
    } catch (error) {
      this.#beginning.say(`The memory could not be searched (${messageOf(error)}); going on without it.`);
      return undefined;
    }
  }

  /** Loads what the first answer needs, so that it is there when the user has typed their message. */
  async warmUp(): Promise<void> {
    await Promise.all([import("ai"), this.#open(), import("undici"), this.memory(), this.tools()]);
  }

  async #open() {
    const { provider, url, model, key } = this.#settings;
    return await provider.open({ url, model, fetch: this.#beginning.fetch, key });
  }

  /** Answers one message; what was said stays in the conversation, also where the answer was stopped. */
  async answer(message: string, signal: AbortSignal, tell: (said: Said) => void): Promise<Spoken> {
    this.#beginning.servers?.retryFailed();
    const [model, memories] = await Promise.all([this.#open(), this.#memoriesFor(message)]);
    const tools = await this.tools();
    let text = "";
    const spoken = await converse({
      model,
      settings: this.#settings,
      system: await this.#system(tools, memories),
      messages: [...this.#messages, { role: "user", content: message }],
      tools,
      clock: this.#beginning.io.clock,
      signal,
      maxWaitMs,
      tell(said) {
        if (said.type === "text") text += said.text;
        if (said.type === "tool" || said.type === "again") text = "";
        tell(said);
      },
    });
    this.#count(spoken.usage);
    this.#messages = this.#kept(spoken, text);
    return spoken;
  }

  /** The conversation after an answer. A message that got none is not sent again with the next one. */
  #kept(spoken: Spoken, text: string): readonly ModelMessage[] {
    const { messages } = spoken;
    if (!("failure" in spoken)) return this.#compactedFrom(messages);
    if (messages.at(-1)?.role === "user" && text === "") return messages.slice(0, -1);
    const why = spoken.failure.kind === "aborted" ? "The user stopped this answer." : "This answer ended early.";
    return [...messages, { role: "assistant", content: `${text}\n[${why}]`.trim() }];
  }

  #compactedFrom(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    const isLong = tokensIn({ messages }) > this.#settings.window * compactFrom;
    return isLong ? compacted(messages, this.#settings.history) : messages;
  }

  #count(usage: Usage): void {
    const price = this.#priceOf(usage);
    this.#cost = this.#cost === undefined || price === undefined ? undefined : this.#cost + price;
    this.#usage = totalUsage([this.#usage, usage]);
  }

  #priceOf(usage: Usage): number | undefined {
    const model = modelNamed(this.#settings.model);
    return model !== undefined && isPriced(model) ? priceOf(usage, model) : undefined;
  }

  /** Goes on with another model of the same provider. Throws ExpectedError where the settings are wrong. */
  async useModel(model: string): Promise<void> {
    this.#settings = await settingsOf({ ...this.#beginning.asked, model });
    const before = this.#own;
    this.#own = undefined;
    if (before === undefined) return;
    const [{ context: old }, { context }] = await Promise.all([before, this.#ownTools()]);
    for (const kind of old.allowed) context.allowed.add(kind);
    context.todos = old.todos;
  }

  /** Begins another conversation; what was spent stays counted, and the one so far stays kept. */
  clear(): void {
    this.#messages = [];
    this.#name = undefined;
  }

  /** Keeps the conversation for `--continue`. */
  async save(): Promise<void> {
    const { io, say, kind } = this.#beginning;
    if (this.#messages.length === 0) return;
    const redact = redactFor(io.env, { API_KEY: this.#settings.key });
    try {
      const kept = { kind, at: io.clock.now(), messages: this.#messages, usage: this.#usage, name: this.#name };
      this.#name = await saveSession(io.env, io.cwd, kept, redact);
    } catch (error) {
      say(`The conversation could not be kept (${messageOf(error)}).`);
    }
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.#embedding;
    await Promise.all([this.#memory.close().catch(() => undefined), this.#beginning.servers?.close()]);
  }
}
