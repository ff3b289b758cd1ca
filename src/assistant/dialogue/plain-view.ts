import { sanitise } from "../../engine/lib/sanitise.js";
import type { Io } from "../../engine/ui/io.js";
import type { Said } from "../converse.js";

/** Words that may be a call written as JSON, which does not belong to the answer. */
const mayBeCall = /^\s*(?:[[{]|`|$)/;

/** The answer as it is on stdout, for a file or another program. */
export function plainView(io: Io) {
  let isMidLine = false;
  /** The words of this message, as long as they may be a call. */
  let held: string | undefined = "";
  const print = (text: string) => {
    if (text !== "") isMidLine = !text.endsWith("\n");
    io.stdout(text);
  };
  const release = () => {
    if (held !== undefined) print(held);
    held = undefined;
  };
  return {
    tell(said: Said) {
      if (said.type === "text") {
        const text = sanitise(said.text);
        if (held === undefined) return print(text);
        held += text;
        if (!mayBeCall.test(held)) release();
      }
      if (said.type !== "again" && said.type !== "tool") return;
      // What comes now begins a line of its own: words before a call do not belong to the answer.
      if (isMidLine) io.stdout("\n");
      isMidLine = false;
      held = "";
      if (said.type === "again") io.stderr(`ralph: ${said.reason}\n`);
    },
    /** A sentence about what went wrong begins a line of its own. */
    broke() {
      if (isMidLine) io.stderr("\n");
    },
    end: release,
  };
}

/** Nothing before the end: whether the answer is JSON is known then. */
export const quietView = (io: Io) => ({
  tell(said: Said) {
    if (said.type === "again") io.stderr(`ralph: ${said.reason}\n`);
  },
  broke: () => undefined,
  end: () => undefined,
});
