import { existsSync, lstatSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import * as acp from "@agentclientprotocol/sdk";
import { messageOf } from "../../lib/errors.js";
import { fieldsIn, isObject } from "../../lib/json-fields.js";
import { isWithin, realPathOf } from "../../process/search-path.js";
import { text } from "../shared/json-line.js";

/** One turn (a prompt and its answer) of an agent, and what the agent may do in it. */
export interface Turn {
  readonly prompt: string;
  /** Absolute path of the folder that the agent works in. */
  readonly cwd: string;
  /**
   * True: every permission that the agent asks for is granted, once. Otherwise the agent may read and write in `cwd`,
   * and may use the web if `web` is true.
   */
  readonly isUnrestricted: boolean;
  readonly web: boolean;
  /** The model to choose. If absent, the agent keeps its current model. */
  readonly model?: string;
  /** A server of tools, and the names of the tools that the agent may use without asking. */
  readonly tools?: { readonly server: acp.McpServer; readonly names: readonly string[] };
  /** Milliseconds after which an agent that cannot reach its model service is stopped. */
  readonly patienceMs: number;
  /** The environment variable that sets the path of the agent's log file. */
  readonly logVariable?: string;
  /** The version of this package. */
  readonly version: string;
}

/** One event of the agent's output, printed as one line of JSON and read by `stream.ts`. */
export type Line = Readonly<Record<string, unknown>> & {
  readonly type: "start" | "update" | "refused" | "end" | "error";
};

/** Large, because an agent may send a whole file in one message. */
const maxMessageBytes = 64 * 1024 * 1024;

/** The stream over an agent's stdin and stdout. */
export const streamOver = (input: WritableStream<Uint8Array>, output: ReadableStream<Uint8Array>): acp.Stream =>
  acp.ndJsonStream(input, output, { maxMessageBytes });

/**
 * Runs one turn with an agent that speaks the Agent Client Protocol: opens a session and sends the prompt. Every event
 * goes to `print`; the last event is an `end` or an `error`. Never throws. When `signal` aborts, the agent is asked to
 * cancel its turn.
 */
export async function takeTurn(
  target: acp.Stream | acp.AgentApp,
  turn: Turn,
  print: (line: Line) => void,
  signal: AbortSignal,
): Promise<void> {
  const client = acp
    .client({ name: "research-ralph" })
    .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
      const isGranted = isAllowed(params.toolCall, turn);
      if (!isGranted) print({ type: "refused", tool: params.toolCall.title ?? params.toolCall.kind ?? "a tool" });
      return { outcome: answerTo(params.options, isGranted) };
    })
    .onNotification(acp.methods.client.session.update, ({ params }) => {
      print({ type: "update", update: withoutContents(params.update) });
    });
  try {
    await client.connectWith(target, async (agent) => {
      const { agentInfo, protocolVersion } = await agent.request(acp.methods.agent.initialize, {
        protocolVersion: acp.PROTOCOL_VERSION,
        // The agent uses its own tools, in the sandbox of its process.
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: { name: "research-ralph", version: turn.version },
      });
      if (protocolVersion !== acp.PROTOCOL_VERSION)
        return print({
          type: "error",
          kind: "unusable",
          message: `It speaks version ${protocolVersion} of the Agent Client Protocol, and research-ralph speaks ${acp.PROTOCOL_VERSION}.`,
        });
      const session = await agent.request(acp.methods.agent.session.new, {
        cwd: turn.cwd,
        mcpServers: turn.tools === undefined ? [] : [turn.tools.server],
      });
      const { sessionId } = session;
      const model = modelChoices(session);
      if (turn.model !== undefined && turn.model !== model?.current) {
        if (model?.option === undefined)
          return print({
            type: "error",
            kind: "unusable",
            message: `It does not let a client choose its model, so '${turn.model}' can't be used; leave out --model, or set the model in its own configuration.`,
          });
        if (!model.values.includes(turn.model))
          return print({
            type: "error",
            kind: "unusable",
            message: `It has no model '${turn.model}'; some of its models are ${model.values.slice(0, 6).join(", ")}.`,
          });
        const choice = { sessionId, configId: model.option, value: turn.model };
        await agent.request(acp.methods.agent.session.setConfigOption, choice);
      }
      print({ type: "start", version: agentInfo?.version, model: turn.model ?? model?.current });
      const cancel = () => void agent.notify(acp.methods.agent.session.cancel, { sessionId }).catch(() => undefined);
      signal.addEventListener("abort", cancel);
      if (signal.aborted) cancel();
      const prompt = [{ type: "text" as const, text: turn.prompt }];
      const end = await agent.request(acp.methods.agent.session.prompt, { sessionId, prompt });
      print({ ...(end as object), type: "end" });
    });
  } catch (error) {
    print({ type: "error", ...errorDetails(error) });
  }
}

/** The code and the message of a JSON-RPC error, with the details, in which some agents give the reason. */
function errorDetails(error: unknown): { readonly code?: number; readonly message: string } {
  if (!(error instanceof acp.RequestError)) return { message: messageOf(error) };
  const details = isObject(error.data) ? error.data["details"] : undefined;
  return { code: error.code, message: typeof details === "string" ? `${error.message}: ${details}` : error.message };
}

/**
 * The current model of a new session, and the option that changes it. Some agents report the model in an option, others
 * in a field.
 */
function modelChoices(
  session: object,
): { readonly current: string | undefined; readonly option?: string; readonly values: readonly string[] } | undefined {
  const options: unknown = Reflect.get(session, "configOptions");
  const option = (Array.isArray(options) ? options : []).find(
    (entry) =>
      isObject(entry) && entry["type"] === "select" && (entry["category"] === "model" || entry["id"] === "model"),
  );
  if (isObject(option)) {
    const listedOptions = Array.isArray(option["options"]) ? option["options"] : [];
    const flatOptions = listedOptions.flatMap((entry) =>
      isObject(entry) && Array.isArray(entry["options"]) ? entry["options"] : [entry],
    );
    const values = flatOptions.flatMap((choice) =>
      isObject(choice) && typeof choice["value"] === "string" ? [choice["value"]] : [],
    );
    return { current: text(option["currentValue"]), option: String(option["id"]), values };
  }
  const models: unknown = Reflect.get(session, "models");
  return isObject(models) ? { current: text(models["currentModelId"]), values: [] } : undefined;
}

/** Whether the agent gets the permission that it asks for. */
function isAllowed(tool: acp.ToolCallUpdate, { isUnrestricted: all, web, cwd, tools }: Turn): boolean {
  if (all) return true;
  // An agent may put the name of the server in front of the name of the tool.
  const words = `${tool.name ?? ""} ${tool.title ?? ""}`.split(/[^\w]+/);
  if (tools?.names.some((name) => words.some((word) => word === name || word.endsWith(`_${name}`))) === true)
    return true;
  if (tool.kind === "fetch") return web;
  // The brief asks for a result in a file of the workspace.
  if (tool.kind !== "read" && tool.kind !== "search" && tool.kind !== "edit") return false;
  const paths = (tool.locations ?? []).map(({ path }) => resolve(cwd, path));
  return paths.length > 0 && paths.every((path) => isInFolder(path, cwd));
}

/**
 * Compares real paths, because a link in the workspace may point outside. For a missing file, the real path of its
 * folder counts.
 */
function isInFolder(path: string, folder: string): boolean {
  if (existsSync(path)) return isWithin(realPathOf(path), realPathOf(folder));
  const isDangling = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  return !isDangling && isWithin(join(realPathOf(dirname(path)), basename(path)), realPathOf(folder));
}

/** The most restrictive option that allows or rejects. Without such an option, the request is cancelled. */
function answerTo(options: readonly acp.PermissionOption[], isGranted: boolean): acp.RequestPermissionOutcome {
  const kinds = isGranted ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
  const chosenOption = kinds
    .map((kind) => options.find((option) => option.kind === kind))
    .find((option) => option !== undefined);
  return chosenOption === undefined
    ? { outcome: "cancelled" }
    : { outcome: "selected", optionId: chosenOption.optionId };
}

/** An update without the text that tools read or wrote, which may be whole files. */
function withoutContents(update: acp.SessionUpdate): Readonly<Record<string, unknown>> {
  if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") return { ...update };
  const { content: _content, rawOutput: _output, ...otherFields } = update;
  return otherFields;
}

/** The turn that the JSON argument of this program describes, with the prompt. */
export function turnFrom(argument: string, prompt: string): Omit<Turn, "cwd"> {
  const fields = fieldsIn(argument) ?? {};
  return { isUnrestricted: false, web: false, patienceMs: 60_000, version: "", ...fields, prompt };
}
