import { existsSync } from "node:fs";
import { totalUsage } from "../engine/agents/shared/messages.js";
import type { ModelMessage } from "ai";
import { modelByName, isPriced, priceOf } from "../engine/agents/prices.js";
import { folderInstructions, maxInstructionTokens } from "../engine/config/folder-instructions.js";
import { messageOf } from "../engine/lib/errors.js";
import { redactFor } from "../engine/lib/redact.js";
import type { Usage } from "../engine/loop/types.js";
import type { Memory } from "../memory/memory.js";
import type { Io } from "../engine/ui/io.js";
import { converse, type ConversationEvent, type ConversationResult } from "./converse.js";
import { type McpServers, mcpTool } from "./mcp/servers.js";
import { memoriesFor } from "./memory/memory-commands.js";
import { lazyMemory, memoryPath } from "./memory/own-memory.js";
import { type SettingsRequest, type Settings, settingsOf } from "./settings.js";
import { bindTool, type BoundTool } from "./tools/call.js";
import type { ProgramServices, ToolContext } from "./tools/context.js";
import { builtInToolCount, openTools } from "./tools/list.js";
import { compactMessages } from "./conversation/compact.js";
import { tokensIn } from "./conversation/room.js";
import { type SavedSession, saveSession, type SessionKind } from "./conversation/saved.js";
import { folderPrompt, systemPrompt } from "./conversation/system-prompt.js";

/** The options of a session. */
export interface SessionOptions {
  readonly io: Io;
  readonly request: SettingsRequest;
  readonly settings: Settings;
  readonly fetch: typeof globalThis.fetch;
  readonly servers?: McpServers;
  /** Functions and tools of the other parts of the program. */
  readonly services: ProgramServices;
  /** Asks the user before a tool writes or runs something. */
  readonly ask: ToolContext["ask"];
  /** Shows the user a sentence about a problem that does not end the session. */
  readonly say: (sentence: string) => void;
  /** The kind under which the conversation is saved. */
  readonly kind: SessionKind;
  /** The saved conversation that this one continues. */
  readonly savedSession?: SavedSession;
}

/** Maximum milliseconds that a person at the terminal waits for a busy service. */
const maxWaitMs = 120_000;
/** If the messages fill more than this share of the window after an answer, older exchanges are shortened. */
const compactAboveShare = 0.4;

/** A conversation with its model, tools, memory and prompt. It gives one answer at a time. */
export class Session {
  readonly #options: SessionOptions;
  #settings: Settings;
  #messages: readonly ModelMessage[];
  /** The name of the saved conversation; undefined before it is saved. */
  #name: string | undefined;
  #usage: Usage;
  #cost: number | undefined = 0;
  readonly #memory: ReturnType<typeof lazyMemory>;
  #isMemoryProblemReported = false;
  #isPromptProblemReported = false;
  #embeddingUpdate: Promise<unknown> | undefined;
  #openedTools: ReturnType<typeof openTools> | undefined;
  readonly #closeController = new AbortController();

  constructor(options: SessionOptions) {
    const { io, request, settings, fetch, savedSession } = options;
    this.#options = options;
    this.#settings = settings;
    this.#messages = savedSession?.messages ?? [];
    this.#name = savedSession?.name;
    this.#usage = savedSession?.usage ?? totalUsage([]);
    if (this.#usage.requests > 0) this.#cost = this.#priceOf(this.#usage);
    this.#memory = lazyMemory(io, request.keys, fetch);
  }

  /** The built-in tools and the program's tools. They are opened when they are first needed. */
  async #ownTools(): ReturnType<typeof openTools> {
    const { io, services, ask } = this.#options;
    const memory = async () => (await this.memory({ create: true })) ?? "The memory can't be opened.";
    this.#openedTools ??= openTools({ io, settings: this.#settings, memory, services, ask });
    return await this.#openedTools;
  }

  get settings(): Settings {
    return this.#settings;
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /** Tokens of the whole session, and its cost in US dollars if the model's prices are known. */
  get spending(): { readonly usage: Usage; readonly usd?: number } {
    return { usage: this.#usage, usd: this.#cost };
  }

  /** Estimated tokens of the next request without its message. */
  async occupiedTokens(): Promise<number> {
    const tools = await this.tools();
    return tokensIn({ system: await this.#system(tools), messages: this.#messages, tools });
  }

  /** The number of tools that are omitted because the model's context window has no room for them. */
  async omittedToolCount(): Promise<number> {
    const [{ tools }, handed] = await Promise.all([this.#ownTools(), this.#options.services.tools()]);
    return builtInToolCount + handed.length - tools.length;
  }

  /** All tools that the model can call now. */
  async tools(): Promise<readonly BoundTool[]> {
    const { tools, context } = await this.#ownTools();
    const serverTools = this.#options.servers?.tools() ?? [];
    return [...tools, ...serverTools.map((tool) => bindTool(mcpTool(tool), context))];
  }

  /** The user's memory, opened when it is first needed; undefined if it is missing or can't be opened. */
  async memory({ create = false } = {}): Promise<Memory | undefined> {
    const { io, say } = this.#options;
    if (!create && !existsSync(memoryPath(io.env))) return undefined;
    const memory = await this.#memory.open();
    if (typeof memory === "string") {
      if (!this.#isMemoryProblemReported) say(`${memory} Going on without it.`);
      this.#isMemoryProblemReported = true;
      return undefined;
    }
    return memory;
  }

  async #system(tools: readonly BoundTool[], memories?: string): Promise<string> {
    const { io } = this.#options;
    return systemPrompt({
      cwd: io.cwd,
      tools: tools.map(({ name }) => name),
      settingsPrompt: this.#settings.systemPrompt,
      memories,
      ...(await this.#folderPrompts()),
    });
  }

  /** The instructions of the project and the user for this folder, if they can be read. */
  async #folderPrompts(): Promise<{ readonly instructions?: string; readonly promptFile?: string }> {
    const { io, say } = this.#options;
    const read = async (text: Promise<string | undefined>) =>
      await text.catch((error: unknown) => {
        if (!this.#isPromptProblemReported) say(`${messageOf(error)} Going on without it.`);
        this.#isPromptProblemReported = true;
        return undefined;
      });
    const maxTokens = Math.min(maxInstructionTokens, Math.floor(this.#settings.window / 20));
    return {
      instructions: await read(folderInstructions(io.cwd, maxTokens)),
      promptFile: await read(folderPrompt(io.cwd)),
    };
  }

  async #memoriesFor(message: string): Promise<string | undefined> {
    try {
      const memory = await this.memory();
      if (memory === undefined) return undefined;
      const limits = {
        folder: this.#options.io.cwd,
        maxTokens: Math.min(1_500, Math.floor(this.#settings.window / 20)),
      };
      const memories = await memoriesFor(memory, message, limits);
      // If the embedding model has changed, the old vectors are computed again in the background. That is done after
      // the search, which finds out the length of the new vectors.
      this.#embeddingUpdate ??= memory.embedAgain(this.#closeController.signal).catch(() => 0);
      return memories;
    } catch (error) {
      this.#options.say(`The memory could not be searched (${messageOf(error)}); going on without it.`);
      return undefined;
    }
  }

  /** Loads what the first answer needs, while the user types the message. */
  async warmUp(): Promise<void> {
    await Promise.all([import("ai"), this.#openModel(), import("undici"), this.memory(), this.tools()]);
  }

  async #openModel() {
    const { provider, url, model, key } = this.#settings;
    return await provider.open({ url, model, fetch: this.#options.fetch, key });
  }

  /** Answers one message. If the answer is stopped, its text so far stays in the conversation. */
  async answer(
    message: string,
    signal: AbortSignal,
    tell: (event: ConversationEvent) => void,
  ): Promise<ConversationResult> {
    this.#options.servers?.retryFailed();
    const [model, memories] = await Promise.all([this.#openModel(), this.#memoriesFor(message)]);
    const tools = await this.tools();
    let text = "";
    const result = await converse({
      model,
      settings: this.#settings,
      system: await this.#system(tools, memories),
      messages: [...this.#messages, { role: "user", content: message }],
      tools,
      clock: this.#options.io.clock,
      signal,
      maxWaitMs,
      tell(event) {
        if (event.type === "text") text += event.text;
        if (event.type === "tool" || event.type === "retry") text = "";
        tell(event);
      },
    });
    this.#addUsage(result.usage);
    this.#messages = this.#messagesAfter(result, text);
    return result;
  }

  /** The conversation after an answer. If a message got no answer, it is removed. */
  #messagesAfter(result: ConversationResult, text: string): readonly ModelMessage[] {
    const { messages } = result;
    if (!("failure" in result)) return this.#compactIfLong(messages);
    if (messages.at(-1)?.role === "user" && text === "") return messages.slice(0, -1);
    const reason = result.failure.kind === "aborted" ? "The user stopped this answer." : "This answer ended early.";
    return [...messages, { role: "assistant", content: `${text}\n[${reason}]`.trim() }];
  }

  #compactIfLong(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    const isLong = tokensIn({ messages }) > this.#settings.window * compactAboveShare;
    return isLong ? compactMessages(messages, this.#settings.history) : messages;
  }

  #addUsage(usage: Usage): void {
    const price = this.#priceOf(usage);
    this.#cost = this.#cost === undefined || price === undefined ? undefined : this.#cost + price;
    this.#usage = totalUsage([this.#usage, usage]);
  }

  #priceOf(usage: Usage): number | undefined {
    const model = modelByName(this.#settings.model);
    return model !== undefined && isPriced(model) ? priceOf(usage, model) : undefined;
  }

  /** Changes to another model of the same provider. Throws ExpectedError if the settings are invalid. */
  async useModel(model: string): Promise<void> {
    this.#settings = await settingsOf({ ...this.#options.request, model });
    const previousTools = this.#openedTools;
    this.#openedTools = undefined;
    if (previousTools === undefined) return;
    const [{ context: oldContext }, { context }] = await Promise.all([previousTools, this.#ownTools()]);
    for (const kind of oldContext.allowedKinds) context.allowedKinds.add(kind);
    context.todos = oldContext.todos;
  }

  /** Starts another conversation. The cost still includes the earlier one, which stays saved. */
  clear(): void {
    this.#messages = [];
    this.#name = undefined;
  }

  /** Saves the conversation for `--continue`. */
  async save(): Promise<void> {
    const { io, say, kind } = this.#options;
    if (this.#messages.length === 0) return;
    const redact = redactFor(io.env, { API_KEY: this.#settings.key });
    try {
      const session = { kind, at: io.clock.now(), messages: this.#messages, usage: this.#usage, name: this.#name };
      this.#name = await saveSession(io.env, io.cwd, session, redact);
    } catch (error) {
      say(`The conversation could not be saved (${messageOf(error)}).`);
    }
  }

  async close(): Promise<void> {
    this.#closeController.abort();
    await this.#embeddingUpdate;
    await Promise.all([this.#memory.close().catch(() => undefined), this.#options.servers?.close()]);
  }
}
