import { StringDecoder } from "node:string_decoder";

interface LineSplitter {
  /** The lines that `chunk` completes, without their line ends. */
  push(chunk: Buffer): string[];
  /** The last line, if the text does not end with a line end. */
  end(): string[];
}

/** Maximum number of empty lines in a row that are returned: 20 MB of line feeds would be 20 million lines. */
const maxEmptyLines = 1000;

/**
 * Splits a byte stream into lines with bounded memory. A line longer than `maxChars` characters is truncated and ends
 * in a note; after a thousand empty lines in a row, further ones are dropped. Bytes that are not UTF-8 become U+FFFD; a
 * character that is split between two chunks is decoded correctly.
 */
export function splitLines(maxChars: number): LineSplitter {
  const decoder = new StringDecoder("utf8");
  const note = ` [cut: the line was longer than ${maxChars} characters]`;
  let line = "";
  let isCut = false;
  let emptyLines = 0;

  function append(text: string): void {
    const remainingChars = maxChars - line.length;
    if (text.length > remainingChars) isCut = true;
    if (remainingChars > 0) line += text.slice(0, remainingChars);
  }
  function takeLine(): string {
    const completeLine = isCut ? line + note : line.endsWith("\r") ? line.slice(0, -1) : line;
    line = "";
    isCut = false;
    return completeLine;
  }
  function split(text: string): string[] {
    const lines: string[] = [];
    let lineStart = 0;
    for (let lineEnd = text.indexOf("\n"); lineEnd !== -1; lineEnd = text.indexOf("\n", lineStart)) {
      if (lineStart === lineEnd && line === "") {
        emptyLines += 1;
        if (emptyLines <= maxEmptyLines) lines.push("");
        lineStart = lineEnd + 1;
        continue;
      }
      append(text.slice(lineStart, lineEnd));
      lines.push(takeLine());
      emptyLines = 0;
      lineStart = lineEnd + 1;
    }
    append(text.slice(lineStart));
    return lines;
  }

  return {
    push: (chunk) => split(decoder.write(chunk)),
    end() {
      const lines = split(decoder.end());
      return line === "" && !isCut ? lines : [...lines, takeLine()];
    },
  };
}
