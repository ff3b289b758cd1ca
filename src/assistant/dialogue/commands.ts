import { serviceName } from "../settings.js";
import { count, many, money } from "../../engine/lib/words.js";
import { memoryCommand, memoryCommandNames } from "../memory/memory-commands.js";
import type { McpServers, ServerState } from "../mcp/servers.js";
import { tokensIn } from "../conversation/room.js";
import type { Session } from "../session.js";

/** What a command of the dialogue works on. */
export interface Reached {
  readonly session: Session;
  readonly servers: McpServers;
}

interface Command {
  readonly args?: string;
  readonly does: string;
  /** What is printed. */
  run(words: readonly string[], reached: Reached): Promise<string>;
}

/** All commands; `quit` and `exit` leave, with a slash or without. */
export const commands: Readonly<Record<string, Command>> = {
  help: { does: "print this", run: async () => helpText() },
  memory: {
    args: "<command>",
    does: "what is remembered: list, search, show, edit, indices, stats, …",
    async run(words, { session }) {
      const memory = await session.memory({ create: true });
      return memory === undefined ? "There is no memory to use." : (await memoryCommand(memory, words)).text;
    },
  },
  tools: {
    does: "list the tools that the model may call, and what they cost",
    async run(_, { session }) {
      const [tools, left] = await Promise.all([session.tools(), session.toolsLeftOut()]);
      const lines = tools.map(({ name, does }) => `${name}${does.length === 0 ? "" : `  (${does.join(", ")})`}`);
      return [
        ...lines,
        `${many(tools.length, "tool")}, about ${count(tokensIn({ messages: [], tools }))} tokens in each request`,
        ...(left === 0
          ? []
          : [`${many(left, "tool")} left out: the window of ${session.settings.model} has no room for more`]),
      ].join("\n");
    },
  },
  mcp: {
    does: "list the MCP servers; those that failed are tried again",
    async run(_, { servers }) {
      if (servers.states().length === 0) return "No MCP server is configured (mcpServers).";
      await servers.again();
      return servers.states().map(serverLine).join("\n");
    },
  },
  model: {
    args: "[name]",
    does: "say which model answers, or ask another one from now on",
    async run([name], { session }) {
      if (name !== undefined) await session.useModel(name);
      const { model, window, isWindowKnown } = session.settings;
      return `${model} of ${serviceName(session.settings)}; window ${count(window)} tokens${isWindowKnown ? "" : " (the default: set context_window)"}`;
    },
  },
  cost: {
    does: "say what this session used so far",
    async run(_, { session }) {
      const { usage, usd } = session.spent;
      const price = usd === undefined ? "its price is not known" : `about ${money(usd)}`;
      const occupied = await session.occupied();
      const { window } = session.settings;
      return `${many(usage.requests, "request")}: ${count(usage.input)} tokens in (${count(usage.cached)} cached), ${count(usage.output)} out; ${price}
The next request begins with about ${count(occupied)} tokens, ${Math.round((occupied / window) * 100)} % of the window`;
    },
  },
  clear: {
    does: "forget this conversation and begin another",
    async run(_, { session }) {
      session.clear();
      return "A new conversation begins.";
    },
  },
};

export const leaving: readonly string[] = ["quit", "exit", "/quit", "/exit"];

/** What a line that begins with a slash does; undefined where it is a message that happens to. */
export async function onCommand(line: string, reached: Reached): Promise<string | undefined> {
  const [first = "", ...words] = line.split(/\s+/).filter((word) => word !== "");
  // A path, say.
  if (!/^\/[a-z]*$/.test(first)) return undefined;
  const name = first.slice(1);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return `There is no command /${name}.\n${helpText()}`;
  return await command.run(words, reached);
}

function helpText(): string {
  const lines = Object.entries(commands).map(([name, { args = "", does }]) => [`/${name} ${args}`, does] as const);
  return [
    ...lines,
    ["quit, exit", "leave; Ctrl+D does too"] as const,
    ["@file", "add a file of this folder to the message; Tab completes"] as const,
    ["\\ and Enter", "go on in another line"] as const,
    ["Ctrl+C", "stop the answer, or empty the line; twice leaves"] as const,
  ]
    .map(([what, does]) => `  ${what.padEnd(18)} ${does}`)
    .join("\n");
}

function serverLine(server: ServerState): string {
  const { name, state } = server;
  if (state === "connecting") return `${name}  connecting`;
  if (state === "failed") return `${name}  failed: ${server.problem}`;
  return `${name}  ${state}, ${many(server.tools, "tool")}, about ${count(server.tokens)} tokens in each request`;
}

/** What Tab offers for a line: names of commands, of memory commands, of tools. */
export function commandsFrom(line: string): [names: string[], begun: string] | undefined {
  if (!line.startsWith("/")) return undefined;
  const memory = /^\/memory\s+(\S*)$/.exec(line);
  if (memory !== null) {
    const begun = memory[1] ?? "";
    return [memoryCommandNames.filter((name) => name.startsWith(begun)).map((name) => `${name} `), begun];
  }
  if (/\s/.test(line)) return [[], line];
  const names = [...Object.keys(commands), "quit"].map((name) => `/${name}`);
  return [names.filter((name) => name.startsWith(line)).map((name) => `${name} `), line];
}
