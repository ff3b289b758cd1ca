import { sanitise } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import type { ConversationEvent } from "../converse.js";

/** Prints the answer on stdout while it arrives, without formatting: a file or another program reads it. */
export function plainView(io: Io) {
  let isMidLine = false;
  return {
    tell(event: ConversationEvent) {
      if (event.type === "text") {
        const text = sanitise(event.text);
        if (text !== "") isMidLine = !text.endsWith("\n");
        io.stdout(text);
      }
      if (event.type !== "retry" && event.type !== "tool") return;
      // A new message begins on a new line.
      if (isMidLine) io.stdout("\n");
      isMidLine = false;
      if (event.type === "retry") io.stderr(`ralph: ${event.reason}\n`);
    },
    /** Call it before an error message, so that the message begins on a new line. */
    beforeError() {
      if (isMidLine) io.stderr("\n");
    },
    end: () => undefined,
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
