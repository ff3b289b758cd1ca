import { PassThrough } from "node:stream";
import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { expect, onTestFinished } from "vitest";
import { main } from "../../../src/commands/main.js";
import { splitLines } from "../../../src/engine/process/lines.js";
import type { FakeIo } from "../../engine/ui/fake-io.js";
import { ioIn } from "./in-process.js";

/** A server in this process. */
export interface Served {
  readonly io: FakeIo;
  readonly stdin: PassThrough;
  /** Its exit code. */
  readonly ended: Promise<number>;
}

/** Starts the server as `research-ralph mcp` does; what it prints goes to `hear`. Ends when its stdin does. */
export function startServer(
  cwd: string,
  args: readonly string[],
  hear: (text: string) => void,
  env: Record<string, string> = {},
): Served {
  const stdin = new PassThrough();
  const io = ioIn(cwd, env, { stdin, stdout: hear });
  return { io, stdin, ended: main(["mcp", ...args], io, "0.0.0") };
}

/** An official client that speaks to a server in this process over streams, as over the pipes of a child. */
export async function connectClient(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Client> {
  const lines = splitLines(10_000_000);
  const transport: Transport = {
    start: async () => undefined,
    send: async (message: JSONRPCMessage) => void started.stdin.write(`${JSON.stringify(message)}\n`),
    close: async () => {
      started.stdin.end();
      expect(await started.ended).toBe(0);
      transport.onclose?.();
    },
  };
  const hear = (text: string) => {
    for (const line of lines.push(Buffer.from(text))) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
  };
  const started = startServer(cwd, args, hear, env);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

/** The text of an answer. */
export const said = (answer: Awaited<ReturnType<Client["callTool"]>>): string =>
  answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
