import { serviceName } from "../settings.js";
import { shortCount, quantity, usdText } from "../../engine/lib/words.js";
import { runMemoryCommand, memoryCommandNames } from "../memory/memory-commands.js";
import type { McpServers, ServerState } from "../mcp/servers.js";
import { tokensIn } from "../conversation/room.js";
import type { Session } from "../session.js";

/** The conversation and the servers that a command of the dialogue uses. */
export interface CommandContext {
  readonly session: Session;
  readonly servers: McpServers;
}

interface Command {
  readonly args?: string;
  readonly description: string;
  /** Returns the text to print. */
  run(words: readonly string[], context: CommandContext): Promise<string>;
}

/** All commands. `quit` and `exit`, with or without a slash, leave the dialogue. */
const commands: Readonly<Record<string, Command>> = {
  help: { description: "print this", run: async () => helpText() },
  memory: {
    args: "<command>",
    description: "use the memory: list, search, show, edit, indices, stats, …",
    async run(words, { session }) {
      const memory = await session.memory({ create: true });
      return memory === undefined ? "There is no memory to use." : (await runMemoryCommand(memory, words)).text;
    },
  },
  tools: {
    description: "list the tools that the model may call, and their tokens",
    async run(_, { session }) {
      const [tools, omittedCount] = await Promise.all([session.tools(), session.omittedToolCount()]);
      const lines = tools.map(
        ({ name, effects }) => `${name}${effects.length === 0 ? "" : `  (${effects.join(", ")})`}`,
      );
      return [
        ...lines,
        `${quantity(tools.length, "tool")}, about ${shortCount(tokensIn({ messages: [], tools }))} tokens in each request`,
        ...(omittedCount === 0
          ? []
          : [
              `${quantity(omittedCount, "tool")} left out: the context window of ${session.settings.model} has no room for more`,
            ]),
      ].join("\n");
    },
  },
  mcp: {
    description: "list the MCP servers, and connect again to those that failed",
    async run(_, { servers }) {
      if (servers.states().length === 0) return "No MCP server is configured (mcpServers).";
      await servers.reconnectAll();
      return servers.states().map(serverLine).join("\n");
    },
  },
  model: {
    args: "[name]",
    description: "show the model, or change it",
    async run([name], { session }) {
      if (name !== undefined) await session.useModel(name);
      const { model, window, isWindowKnown } = session.settings;
      return `${model} of ${serviceName(session.settings)}; window ${shortCount(window)} tokens${isWindowKnown ? "" : " (the default: set context_window)"}`;
    },
  },
  cost: {
    description: "show the tokens and the cost of this session",
    async run(_, { session }) {
      const { usage, usd } = session.spending;
      const price = usd === undefined ? "its price is not known" : `about ${usdText(usd)}`;
      const occupied = await session.occupiedTokens();
      const { window } = session.settings;
      return `${quantity(usage.requests, "request")}: ${shortCount(usage.input)} tokens in (${shortCount(usage.cached)} cached), ${shortCount(usage.output)} out; ${price}
The next request begins with about ${shortCount(occupied)} tokens, ${Math.round((occupied / window) * 100)} % of the window`;
    },
  },
  clear: {
    description: "forget this conversation and begin another",
    async run(_, { session }) {
      session.clear();
      return "A new conversation begins.";
    },
  },
};

export const exitWords: readonly string[] = ["quit", "exit", "/quit", "/exit"];

/** Runs a command and returns its output; undefined if the line is a message that begins with a slash. */
export async function runDialogueCommand(line: string, context: CommandContext): Promise<string | undefined> {
  const [first = "", ...words] = line.split(/\s+/).filter((word) => word !== "");
  // A message may begin with a path.
  if (!/^\/[a-z]*$/.test(first)) return undefined;
  const name = first.slice(1);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) return `There is no command /${name}.\n${helpText()}`;
  return await command.run(words, context);
}

function helpText(): string {
  const lines = Object.entries(commands).map(
    ([name, { args = "", description }]) => [`/${name} ${args}`, description] as const,
  );
  return [
    ...lines,
    ["quit, exit", "leave; Ctrl+D does too"] as const,
    ["@file", "add a file of this folder to the message; Tab completes"] as const,
    ["\\ and Enter", "continue in another line"] as const,
    ["Ctrl+C", "stop the answer, or empty the line; press twice to leave"] as const,
  ]
    .map(([usage, does]) => `  ${usage.padEnd(18)} ${does}`)
    .join("\n");
}

function serverLine(server: ServerState): string {
  const { name, state } = server;
  if (state === "connecting") return `${name}  connecting`;
  if (state === "failed") return `${name}  failed: ${server.problem}`;
  return `${name}  ${state}, ${quantity(server.tools, "tool")}, about ${shortCount(server.tokens)} tokens in each request`;
}

/** Completions for Tab: names of commands and of memory commands. */
export function commandsFrom(line: string): [names: string[], typed: string] | undefined {
  if (!line.startsWith("/")) return undefined;
  const memory = /^\/memory\s+(\S*)$/.exec(line);
  if (memory !== null) {
    const typedName = memory[1] ?? "";
    return [memoryCommandNames.filter((name) => name.startsWith(typedName)).map((name) => `${name} `), typedName];
  }
  if (/\s/.test(line)) return [[], line];
  const names = [...Object.keys(commands), "quit"].map((name) => `/${name}`);
  return [names.filter((name) => name.startsWith(line)).map((name) => `${name} `), line];
}
