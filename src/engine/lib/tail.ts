export interface Tail {
  push(chunk: Buffer): void;
  text(): string;
}

/** Keeps the last `most` bytes of a stream, for error messages. */
export function keepTail(most: number): Tail {
  let chunks: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > 4 * most) {
        const last = Buffer.concat(chunks).subarray(-most);
        chunks = [Buffer.from(last)];
        size = last.length;
      }
    },
    text: () => Buffer.concat(chunks).subarray(-most).toString("utf8"),
  };
}
