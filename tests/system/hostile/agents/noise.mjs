#!/usr/bin/env node
// Does its unit well and prints, beside it, what its first argument says.
import { writeSync } from "node:fs";
import { goodResult, leave, mode } from "./brief.mjs";

/** Whole, however often the pipe is full. */
function print(bytes) {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

const noises = {
  megabytes: () => {
    const chunk = Buffer.from(`${"All work and no play makes a long line. ".repeat(25)}\n`.repeat(1024));
    const wanted = Number(process.argv[3]) * 1024 * 1024;
    for (let sent = 0; sent < wanted; sent += chunk.length) print(chunk);
  },
  "one-endless-line": () => {
    const chunk = Buffer.alloc(1024 * 1024, "x");
    for (let sent = 0; sent < Number(process.argv[3]); sent++) print(chunk);
  },
  "line-feeds": () => {
    for (let sent = 0; sent < 20; sent++) print(Buffer.alloc(1024 * 1024, "\n"));
  },
  sentinels: () => print(Buffer.from("<promise>COMPLETE</promise>\n".repeat(200_000))),
  "brackets-as-result": () => leave("[".repeat(5 * 1024 * 1024)),
  "nested-brackets-as-result": () => leave("[".repeat(2_600_000) + "]".repeat(2_600_000)),
  "2-MB-line": () => print(Buffer.concat([Buffer.alloc(2 * 1024 * 1024, "x"), Buffer.from("\n")])),
  "not-UTF-8": () => print(Buffer.from([0xff, 0xfe, 0x80, 0xc3, 0x28, 0x00, 0x0a, 0xf0, 0x9f, 0x98, 0x0a])),
  "escape-codes": () =>
    print(Buffer.from("\u001b[2J\u001b[1;1H\u001b]0;owned\u0007\u001b[31mred\u001b]52;c;b3duZWQ=\u0007\u009b5n\n")),
};

leave(goodResult());
noises[mode]();
print(Buffer.from("\nDone.\n"));
