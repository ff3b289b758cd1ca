import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { pad, truncate, textWidth } from "../../engine/ui/terminal/format.js";
import { textOf } from "./compact.js";
import { firstMessage, type NamedSession } from "./saved.js";

/** The conversations of a folder as a table of at most `columns` columns, or as JSON. */
export function sessionsTable(sessions: readonly NamedSession[], isJson: boolean, columns: number): string {
  if (isJson) {
    const entries = sessions.map(({ name, kind, at, messages }) => ({
      name,
      kind,
      at: new Date(at).toISOString(),
      messages: messages.length,
      first: firstMessage(messages),
    }));
    return JSON.stringify({ sessions: entries });
  }
  if (sessions.length === 0) return "There is no conversation in this folder yet.";
  const maxNameWidth = Math.max(...sessions.map(({ name }) => textWidth(name)));
  const rows = sessions.map(({ name, kind, at, messages }) =>
    truncate(
      `${pad(name, maxNameWidth)}  ${kind.padEnd(8)}  ${new Date(at).toISOString().slice(0, 16).replace("T", " ")}  ${messages.length} messages  ${oneLine(firstMessage(messages))}`,
      columns,
    ).trimEnd(),
  );
  return [...rows, "`ralph sessions <name>` continues a conversation."].join("\n");
}

/** @throws ExpectedError (exit 2) if no conversation has this name. */
export function findSession(sessions: readonly NamedSession[], name: string): NamedSession {
  const session = sessions.find((candidate) => candidate.name === name);
  if (session !== undefined) return session;
  const nearest = nearestCandidate(
    name,
    sessions.map((candidate) => candidate.name),
  );
  const advice = nearest === undefined ? "`ralph sessions` lists all" : `the nearest one is ${nearest}`;
  throw new ExpectedError(`No conversation of this folder is named ${oneLine(name)}; ${advice}.`, 2);
}

/** A conversation as text for its user, without tool calls. */
export const conversationText = ({ messages }: NamedSession): string =>
  messages
    .flatMap((message) => {
      const text = message.role === "tool" ? "" : textOf(message).trim();
      return text === "" ? [] : [message.role === "user" ? `> ${text.replaceAll("\n", "\n> ")}` : text];
    })
    .join("\n\n");
