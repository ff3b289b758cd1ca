import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readAmp } from "../../src/engine/agents/amp.js";
import { readClaude } from "../../src/engine/agents/claude/stream.js";
import { readCodex } from "../../src/engine/agents/codex/stream.js";
import type { Reader } from "../../src/engine/agents/definition.js";
import { readPlainText } from "../../src/engine/agents/shared/plain-text.js";
import { splitLines } from "../../src/engine/process/lines.js";
import { problemsOf } from "../../src/engine/storage/schema-check.js";
import { fixture } from "../engine/agents/support.js";
import fc, { anyText } from "../support/runner/fast-check.js";
import { cases, mutate, mutations } from "./mutations.js";
import { tallyOf } from "./tally.js";

const readers = { claude: readClaude, codex: readCodex, amp: readAmp, plain: readPlainText };
type Name = keyof typeof readers;
const names = Object.keys(readers) as Name[];
const longest = 4000;

const recorded = readdirSync(fixture("x").replace(/x\.jsonl$/, "")).map((name) =>
  readFileSync(fixture(name.replace(/\.jsonl$/, ""))),
);
const events = recorded
  .flatMap((bytes) => bytes.toString("utf8").trimEnd().split("\n"))
  .map((line) => JSON.parse(line) as unknown);

/** Any bytes, real streams, real events with slips in them, and mixtures of all. */
const piece = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  anyText({ maxLength: 40 }).map((text) => Buffer.from(text)),
  fc
    .constantFrom(
      "\n",
      "\r\n",
      "\r",
      "\n\n",
      "\u2028",
      "\u0000",
      "\ufeff",
      "{",
      '{"type":"result"}\n',
      "é𝒳\n",
      "x".repeat(5000),
    )
    .map((text) => Buffer.from(text)),
  fc.constantFrom(...recorded),
  fc
    .tuple(fc.constantFrom(...events), mutations)
    .map(([event, slips]) => Buffer.from(`${JSON.stringify(mutate(event, slips))}\n`)),
);
const bytes = fc.array(piece, { maxLength: 8 }).map((pieces) => Buffer.concat(pieces));
const cuts = fc.array(fc.nat(), { maxLength: 20 });

function chunksOf(whole: Buffer, at: readonly number[]): Buffer[] {
  const places = at.map((each) => each % (whole.length + 1)).toSorted((a, b) => a - b);
  return [...places, whole.length].map((end, index) => whole.subarray(index === 0 ? 0 : places[index - 1], end));
}

const linesOf = (chunks: readonly Buffer[]): string[] => {
  const lines = splitLines(longest);
  return [...chunks.flatMap((chunk) => lines.push(chunk)), ...lines.end()];
};

function read(reader: Reader, lines: readonly string[]) {
  const said = lines.flatMap((line) => [...reader.line(line)]);
  return { said, finished: reader.isFinished(), answer: reader.answer() };
}

describe("the lines of a stream", () => {
  it("are the same wherever its bytes are cut, one byte at a time included", () => {
    const tally = tallyOf("lines of split streams", cases(0.1));
    fc.assert(
      fc.property(bytes, cuts, (whole, at) => {
        const usual = linesOf([whole]);
        expect(linesOf(chunksOf(whole, at))).toEqual(usual);
        expect(linesOf(Array.from(whole, (byte) => Buffer.of(byte)))).toEqual(usual);
        tally.count(at.length === 0 ? "whole" : "cut");
      }),
      { numRuns: cases(0.1) },
    );
    tally.close({ cut: 0.5 });
  });

  it("are all of the text, cut only where a line is too long", () => {
    fc.assert(
      fc.property(bytes, (whole) => {
        const wanted = whole.toString("utf8").split("\n");
        if (wanted.at(-1) === "") wanted.pop();
        const lines = linesOf([whole]);
        expect(lines.length).toBe(wanted.length);
        for (const [index, line] of lines.entries()) {
          const full = wanted[index] ?? "";
          if (full.length <= longest) expect(line).toBe(full.replace(/\r$/, ""));
          else expect(line.startsWith(full.slice(0, longest))).toBe(true);
        }
      }),
      { numRuns: cases(0.1) },
    );
  });
});

describe.each(names)("the reader of %s", (name) => {
  it("takes any bytes without a fault and says events of the schema only", () => {
    const tally = tallyOf(`stream of ${name}`, cases(0.1));
    fc.assert(
      fc.property(bytes, cuts, (whole, at) => {
        const { said, answer, finished } = read(readers[name](), linesOf(chunksOf(whole, at)));
        for (const event of said)
          expect(problemsOf("event", { type: "agent", at: "x", iteration: 1, event })).toEqual([]);
        const end =
          answer.failure === undefined
            ? { type: "end", message: answer.message ?? "" }
            : { type: "end", message: "", failure: answer.failure };
        expect(problemsOf("event", { type: "agent", at: "x", iteration: 1, event: end })).toEqual([]);
        expect(answer.message !== undefined && answer.failure !== undefined).toBe(false);
        tally.count(answer.failure !== undefined ? "failure" : answer.message === undefined ? "no answer" : "message");
        if (finished) tally.count("finished");
      }),
      { numRuns: cases(0.1) },
    );
    // Plain text has no end of its own and tells no failure: the exit code does.
    tally.close(
      name === "plain" ? { message: 1 } : { message: 0.03, failure: 0.03, "no answer": 0.03, finished: 0.06 },
    );
  });

  it("says the same however the bytes arrive", () => {
    const tally = tallyOf(`split stream of ${name}`, cases(0.1));
    fc.assert(
      fc.property(bytes, cuts, (whole, at) => {
        const usual = read(readers[name](), linesOf([whole]));
        const cut = read(readers[name](), linesOf(chunksOf(whole, at)));
        // A limit that ends "in 5 minutes" is told from now.
        const still = ({ answer, ...rest }: typeof usual) => ({
          ...rest,
          answer: { ...answer, failure: { ...answer.failure, reset_at: undefined } },
        });
        expect(still(cut)).toEqual(still(usual));
        tally.count(usual.said.length > 0 ? "says something" : "says nothing");
      }),
      { numRuns: cases(0.1) },
    );
    tally.close({ "says something": 0.1 });
  });
});
