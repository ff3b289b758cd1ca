import { closeSync, constants, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf } from "../lib/errors.js";
import type { Redact } from "../lib/redact.js";

interface Transcript {
  write(chunk: Buffer): void;
  /** Closes the file. Returns the reason if the transcript is incomplete. */
  close(): string | undefined;
}

/** Maximum number of bytes that wait for a line end: secrets are searched in complete lines. */
const maxPendingBytes = 64 * 1024;

/**
 * Writes the first `maxBytes` bytes of a stream to a file, without secrets, and adds a note if more bytes came. Never
 * throws: on a full disk the transcript is incomplete, but the iteration continues.
 */
export function openTranscript(
  path: string | undefined,
  maxBytes: number,
  redact: Redact = (text) => text,
): Transcript {
  let problem: string | undefined;
  let remainingBytes = maxBytes;
  let droppedBytes = 0;
  // Text with one character for each byte (latin1), so that bytes that are not UTF-8 do not change.
  let pendingText = "";
  let file: number | undefined;

  const recordProblem = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      problem ??= `The transcript ${path} is incomplete: ${messageOf(error)}.`;
    }
  };
  const writeText = (text: string): void => {
    const bytes = Buffer.from(redact(text), "latin1");
    for (let offset = 0; offset < bytes.length && file !== undefined && problem === undefined;)
      recordProblem(() => (offset += writeSync(file as number, bytes, offset)));
  };

  if (path !== undefined)
    recordProblem(() => {
      mkdirSync(dirname(path), { recursive: true });
      // O_NONBLOCK, because opening a FIFO would wait forever.
      const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;
      file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK);
    });
  return {
    write(chunk) {
      const keptBytes = chunk.subarray(0, remainingBytes);
      remainingBytes -= keptBytes.length;
      droppedBytes += chunk.length - keptBytes.length;
      if (keptBytes.length === 0) return;
      pendingText += keptBytes.toString("latin1");
      const end = pendingText.length > maxPendingBytes ? pendingText.length : endOfCompleteText(pendingText);
      const completeText = pendingText.slice(0, end);
      pendingText = pendingText.slice(end);
      writeText(completeText);
    },
    close() {
      writeText(pendingText);
      if (droppedBytes > 0) writeText(`\n[cut: ${droppedBytes} more bytes were not kept]\n`);
      if (file !== undefined) recordProblem(() => closeSync(file as number));
      return problem;
    },
  };
}

/**
 * Length of the part of `text` after which no secret continues: all complete lines, up to an unfinished private key.
 */
function endOfCompleteText(text: string): number {
  const key = text.lastIndexOf("-----BEGIN ");
  return key !== -1 && !/-----END [^\n]*\n/.test(text.slice(key)) ? key : text.lastIndexOf("\n") + 1;
}
