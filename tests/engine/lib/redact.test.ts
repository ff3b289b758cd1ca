import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { redacted, redactFor, redactValue } from "../../../src/engine/lib/redact.js";
import { openTranscript } from "../../../src/engine/process/transcript.js";

const redact = redactFor({
  MY_API_KEY: "abcdefgh-1234",
  SESSION_TOKEN: "abcdefgh-1234-longer",
  KEY_PATH: "/home/me/some-key",
  TOKEN_ON: "true",
  HOME: "/home/me-and-you",
});
// In two halves, or a scanner of sources would take them for real ones.
const key = `-----BEGIN OPENSSH ${"PRIVATE"} KEY-----\nAAAA\nBBBB\n-----END OPENSSH ${"PRIVATE"} KEY-----`;

test.each([
  ["the value of a variable named as a secret", "it is abcdefgh-1234.", `it is ${redacted}.`],
  ["the longer of two values that begin alike", "abcdefgh-1234-longer", redacted],
  ["a private key, whole", `a\n${key}\nb`, `a\n${redacted}\nb`],
  ["a private key cut off in the middle", `a\n${key.slice(0, 45)}`, `a\n${redacted}`],
  ["a token by its form", `use ghp_${"x1".repeat(18)}!`, `use ${redacted}!`],
  // In two halves too.
  ...(
    [
      ["sk-", "ant-", "a1B2".repeat(6)],
      ["github_", "pat_", "a1B2".repeat(9)],
      ["glp", "at-", "a1B2".repeat(6)],
      ["AK", "IA", "A1B2".repeat(4)],
      ["AS", "IA", "A1B2".repeat(4)],
      ["AI", "za", "a1B2c".repeat(7)],
      ["xo", "xb-", "a1B2".repeat(3)],
      ["np", "m_", "a1B2".repeat(9)],
    ] as const
  ).map((parts): [string, string, string] => [
    `a token that begins with ${parts[0]}${parts[1]}`,
    `use ${parts.join("")} now`,
    `use ${redacted} now`,
  ]),
  ["the beginning of a value that was cut off", "it is abcdefgh-1…", `it is ${redacted}…`],
  ["the beginning of a longer value, after another cut", "a… abcdefgh-1234-lo… b", `a… ${redacted}… b`],
  ["the beginning of a token by its form", `use ghp_${"x1".repeat(4)}… or`, `use ${redacted}… or`],
  ["nothing: what is cut off as any word is", "abc… abcdefgi… sk-…", "abc… abcdefgi… sk-…"],
  [
    "nothing: a path, a short value, another variable",
    "/home/me/some-key true /home/me-and-you",
    "/home/me/some-key true /home/me-and-you",
  ],
  [
    "nothing: prose about keys",
    "The secret key of the token is a password.",
    "The secret key of the token is a password.",
  ],
])("takes out %s", (_, text, clean) => {
  expect(redact(text)).toBe(clean);
});

test("what the paper itself says is no secret", () => {
  expect(redact(key, `An example: ${key}`)).toBe(key);
});

test("a value is redacted in every string and name, and says so", () => {
  expect(redactValue({ a: ["abcdefgh-1234", 1, null], "abcdefgh-1234": true }, redact)).toEqual({
    value: { a: [redacted, 1, null], [redacted]: true },
    found: true,
  });
  expect(redactValue({ a: "b" }, redact)).toEqual({ value: { a: "b" }, found: false });
});

test("a transcript holds no secret, wherever its chunks are cut, and every other byte", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rr-redact-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const all = Buffer.concat([
    Buffer.from(`one abcdefgh-1234 two\n${key}\nthree `),
    Buffer.from([0xff, 0xc3, 0x0a]),
    Buffer.from("end"),
  ]);
  for (let cut = 1; cut < all.length; cut += 3) {
    const path = join(folder, `${cut}.log`);
    const transcript = await openTranscript(path, 1000, redact);
    for (const part of [all.subarray(0, cut), all.subarray(cut)]) await transcript.write(part);
    expect(await transcript.close()).toBeUndefined();
    expect(readFileSync(path, "latin1")).toBe(`one ${redacted} two\n${redacted}\nthree \u00ff\u00c3\nend`);
  }
});
