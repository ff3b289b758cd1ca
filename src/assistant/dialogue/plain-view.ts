import { sanitise } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import type { ConversationEvent } from "../converse.js";

/** Text that may be a tool call written as JSON, which is not part of the answer. */
const mayBeCall = /^\s*(?:[[{]|`|$)/;

/** Prints the answer on stdout while it arrives, without formatting: a file or another program reads it. */
export function plainView(io: Io) {
  let isMidLine = false;
  /** The text of this message, while it may still be a tool call. */
  let heldText: string | undefined = "";
  const print = (text: string) => {
    if (text !== "") isMidLine = !text.endsWith("\n");
    io.stdout(text);
  };
  const release = () => {
    if (heldText !== undefined) print(heldText);
    heldText = undefined;
  };
  return {
    tell(event: ConversationEvent) {
      if (event.type === "text") {
        const text = sanitise(event.text);
        if (heldText === undefined) return print(text);
        heldText += text;
        if (!mayBeCall.test(heldText)) release();
      }
      if (event.type !== "retry" && event.type !== "tool") return;
      // A new message begins on a new line. Text that is still held back is part of the tool call.
      if (isMidLine) io.stdout("\n");
      isMidLine = false;
      heldText = "";
      if (event.type === "retry") io.stderr(`ralph: ${event.reason}\n`);
    },
    /** Call it before an error message, so that the message begins on a new line. */
    beforeError() {
      if (isMidLine) io.stderr("\n");
    },
    end: release,
  };
}

/** Prints only the reasons for retries; the caller prints the answer when it is complete. */
export const quietView = (io: Io) => ({
  tell(event: ConversationEvent) {
    if (event.type === "retry") io.stderr(`ralph: ${event.reason}\n`);
  },
  beforeError: () => undefined,
  end: () => undefined,
});
