import { ExpectedError } from "../../engine/lib/errors.js";
import { nearestCandidate } from "../../engine/lib/nearest.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import { pad, truncate, textWidth } from "../../engine/ui/terminal/format.js";
import { textOf } from "./compact.js";
import { firstOf, type KeptSession } from "./saved.js";

/** The conversations of a folder as a table of at most so many columns, or as JSON. */
export function listedSessions(sessions: readonly KeptSession[], isJson: boolean, columns: number): string {
  if (isJson) {
    const told = sessions.map(({ name, kind, at, messages }) => ({
      name,
      kind,
      at: new Date(at).toISOString(),
      messages: messages.length,
      first: firstOf(messages),
    }));
    return JSON.stringify({ sessions: told });
  }
  if (sessions.length === 0) return "There is no conversation in this folder yet.";
  const longest = Math.max(...sessions.map(({ name }) => textWidth(name)));
  const rows = sessions.map(({ name, kind, at, messages }) =>
    truncate(
      `${pad(name, longest)}  ${kind.padEnd(8)}  ${new Date(at).toISOString().slice(0, 16).replace("T", " ")}  ${messages.length} messages  ${oneLine(firstOf(messages))}`,
      columns,
    ).trimEnd(),
  );
  return [...rows, "`ralph sessions <name>` goes on with one."].join("\n");
}

/** @throws ExpectedError (exit 2) where no conversation has this name. */
export function sessionNamed(sessions: readonly KeptSession[], name: string): KeptSession {
  const found = sessions.find((each) => each.name === name);
  if (found !== undefined) return found;
  const near = nearestCandidate(
    name,
    sessions.map((each) => each.name),
  );
  const advice = near === undefined ? "`ralph sessions` lists all" : `the nearest one is ${near}`;
  throw new ExpectedError(`No conversation of this folder is named ${oneLine(name)}; ${advice}.`, 2);
}

/** A conversation as its user reads it: who said what, without the calls of tools. */
export const readable = ({ messages }: KeptSession): string =>
  messages
    .flatMap((message) => {
      const text = message.role === "tool" ? "" : textOf(message).trim();
      return text === "" ? [] : [message.role === "user" ? `> ${text.replaceAll("\n", "\n> ")}` : text];
    })
    .join("\n\n");
