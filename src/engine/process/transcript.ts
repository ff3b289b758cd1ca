import { closeSync, constants, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../lib/errors.js";
import type { Redact } from "../lib/redact.js";

interface Transcript {
  write(chunk: Buffer): void;
  /** Closes the file; the reason why it is not whole, if it is not. */
  close(): string | undefined;
}

/** A text is looked through from line end to line end; of one without any, so many bytes wait for the next chunk. */
const maxHeld = 64 * 1024;

/**
 * Keeps a stream in a file, the first `maxBytes` bytes of it, secrets taken out, with a closing note where more came.
 * It never throws: a full disk costs the transcript, not the iteration.
 */
export function openTranscript(
  path: string | undefined,
  maxBytes: number,
  redact: Redact = (text) => text,
): Transcript {
  let problem: string | undefined;
  let room = maxBytes;
  let missed = 0;
  // One character a byte, so that whatever is not UTF-8 comes through as it was.
  let held = "";
  let file: number | undefined;

  const attempt = (what: () => void): void => {
    try {
      what();
    } catch (error) {
      problem ??= `The transcript ${path} is incomplete: ${messageOf(error)}.`;
    }
  };
  const keep = (text: string): void => {
    const bytes = Buffer.from(redact(text), "latin1");
    for (let at = 0; at < bytes.length && file !== undefined && problem === undefined;)
      attempt(() => (at += writeSync(file as number, bytes, at)));
  };

  if (path !== undefined)
    attempt(() => {
      mkdirSync(dirname(path), { recursive: true });
      // Opening a FIFO that stands there would be waiting forever.
      const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;
      file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK);
    });
  return {
    write(chunk) {
      const kept = chunk.subarray(0, room);
      room -= kept.length;
      missed += chunk.length - kept.length;
      if (kept.length === 0) return;
      held += kept.toString("latin1");
      const end = held.length > maxHeld ? held.length : endOfWhole(held);
      const whole = held.slice(0, end);
      held = held.slice(end);
      keep(whole);
    },
    close() {
      keep(held);
      if (missed > 0) keep(`\n[cut: ${missed} more bytes were not kept]\n`);
      if (file !== undefined) attempt(() => closeSync(file as number));
      return problem;
    },
  };
}

/**
 * Length of the start of `text` that no secret can continue from: whole lines, up to a private key that has begun and
 * not ended.
 */
function endOfWhole(text: string): number {
  const key = text.lastIndexOf("-----BEGIN ");
  return key !== -1 && !/-----END [^\n]*\n/.test(text.slice(key)) ? key : text.lastIndexOf("\n") + 1;
}
