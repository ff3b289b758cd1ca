import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "./errors.js";

export interface Transcript {
  write(chunk: Buffer): Promise<void>;
  /** Closes the file; the reason why it is not whole, if it is not. */
  close(): Promise<string | undefined>;
}

/**
 * Keeps a stream in a file, the first `most` bytes of it, with a closing note where more came.
 * It never throws: a full disk costs the transcript, not the iteration.
 */
export async function openTranscript(path: string | undefined, most: number): Promise<Transcript> {
  let problem: string | undefined;
  let room = most;
  let missed = 0;

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

  return {
    async write(chunk) {
      const kept = chunk.subarray(0, room);
      room -= kept.length;
      missed += chunk.length - kept.length;
      if (kept.length > 0) await attempt(async () => file?.writeFile(kept));
    },
    async close() {
      if (missed > 0) await attempt(async () => file?.writeFile(`\n[cut: ${missed} more bytes were not kept]\n`));
      await attempt(async () => file?.close());
      return problem;
    },
  };
}
