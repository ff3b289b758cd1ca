import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../lib/errors.js";
import type { Redact } from "../lib/redact.js";

interface Transcript {
  write(chunk: Buffer): Promise<void>;
  /** Closes the file; the reason why it is not whole, if it is not. */
  close(): Promise<string | undefined>;
}

/** A text is looked through from line end to line end; of one without any, so many bytes wait for the next chunk. */
const maxHeld = 64 * 1024;

/**
 * Keeps a stream in a file, the first `maxBytes` bytes of it, secrets taken out, with a closing note where more came.
 * It never throws: a full disk costs the transcript, not the iteration.
 */
export async function openTranscript(
  path: string | undefined,
  maxBytes: number,
  redact: Redact = (text) => text,
): Promise<Transcript> {
  let problem: string | undefined;
  let room = maxBytes;
  let missed = 0;
  // One character a byte, so that whatever is not UTF-8 comes through as it was.
  let held = "";

  async function attempt<T>(what: () => Promise<T>): Promise<T | undefined> {
    if (path === undefined || problem !== undefined) return undefined;
    try {
      return await what();
    } catch (error) {
      problem = `The transcript ${path} is not whole: ${messageOf(error)}.`;
      return undefined;
    }
  }

  const file = await attempt(async () => {
    const at = path ?? "";
    await mkdir(dirname(at), { recursive: true });
    return open(at, "w");
  });

  const keep = async (text: string): Promise<void> => {
    if (text !== "") await attempt(async () => file?.writeFile(Buffer.from(redact(text), "latin1")));
  };

  return {
    async write(chunk) {
      const kept = chunk.subarray(0, room);
      room -= kept.length;
      missed += chunk.length - kept.length;
      if (kept.length === 0) return;
      held += kept.toString("latin1");
      const end = held.length > maxHeld ? held.length : endOfWhole(held);
      const whole = held.slice(0, end);
      held = held.slice(end);
      await keep(whole);
    },
    async close() {
      await keep(held);
      if (missed > 0) await attempt(async () => file?.writeFile(`\n[cut: ${missed} more bytes were not kept]\n`));
      await attempt(async () => file?.close());
      return problem;
    },
  };
}

/** Length of the start of `text` that no secret can continue from: whole lines, up to a private key that has begun and not ended. */
function endOfWhole(text: string): number {
  const key = text.lastIndexOf("-----BEGIN ");
  return key !== -1 && !/-----END [^\n]*\n/.test(text.slice(key)) ? key : text.lastIndexOf("\n") + 1;
}
