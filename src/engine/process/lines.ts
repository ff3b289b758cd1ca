import { StringDecoder } from "node:string_decoder";

interface LineSplitter {
  /** The lines that `chunk` completes, without their line ends. */
  push(chunk: Buffer): string[];
  /** The last line, where the text does not end with a line end. */
  end(): string[];
}

/** Empty lines in a row that are given; twenty megabytes of them are twenty million, and say nothing more. */
const maxEmpty = 1000;

/**
 * Cuts a byte stream into lines with bounded memory: of a line longer than `maxChars` characters the beginning is kept
 * and a note says so; of more than a thousand empty lines in a row the rest is left out. Bytes that are not UTF-8
 * become U+FFFD; a character split between two chunks stays whole.
 */
export function splitLines(maxChars: number): LineSplitter {
  const decoder = new StringDecoder("utf8");
  const note = ` [cut: the line was longer than ${maxChars} characters]`;
  let line = "";
  let cut = false;
  let empty = 0;

  function add(text: string): void {
    const room = maxChars - line.length;
    if (text.length > room) cut = true;
    if (room > 0) line += text.slice(0, room);
  }
  function take(): string {
    const whole = cut ? line + note : line.endsWith("\r") ? line.slice(0, -1) : line;
    line = "";
    cut = false;
    return whole;
  }
  function split(text: string): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      if (from === at && line === "") {
        empty += 1;
        if (empty <= maxEmpty) lines.push("");
        from = at + 1;
        continue;
      }
      add(text.slice(from, at));
      lines.push(take());
      empty = 0;
      from = at + 1;
    }
    add(text.slice(from));
    return lines;
  }

  return {
    push: (chunk) => split(decoder.write(chunk)),
    end() {
      const lines = split(decoder.end());
      return line === "" && !cut ? lines : [...lines, take()];
    },
  };
}
