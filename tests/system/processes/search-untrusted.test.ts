import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { checkReading, uncheckedReading } from "../../../src/text/evidence/check-evidence.js";
import { setProgramFinder } from "../../../src/engine/lib/package-root.js";
import { readerProcess, searchUntrusted } from "../../../src/research/full-text/reader-process.js";

const said = "The gripper held nine of the wet spheres for 4.9 s in all.";
const prose = "Its cables were drawn along the frame of the machine. ".repeat(2000);
const text = buildText([{ text: `${prose}${said} ${prose}` }], { kind: "text", depth: "full" });
const items = [
  { claim: "it holds", quote: said },
  { claim: "it drops", quote: said.replace("held", "dropped") },
];

const folder = await mkdtemp(join(tmpdir(), "search-"));
afterAll(async () => {
  readerProcess.close();
  await rm(folder, { recursive: true });
});

describe("the search for quotes in a long text", () => {
  it("answers as in this process, though it runs in another", async () => {
    expect(await searchUntrusted("checkReading", items, "4.9 s", text)).toEqual({
      value: checkReading(items, "4.9 s", text),
    });
  });

  it("comes to its end with 60,000 combining strokes in the text or in the quote", async () => {
    const strokes = "\u0334\u0301".repeat(30_000);
    for (const [where, quote] of [
      [`${said} ${strokes}`, "the gripper held eight of them"],
      [said, `${said} ${strokes}`],
    ] as const)
      expect(await searchUntrusted("findQuotes", { text: where }, [quote])).toMatchObject({
        value: [{ found: false }],
      });
  });

  it("says nothing about the quotes where its process ends, and why", async () => {
    readerProcess.close();
    const program = join(folder, "ends.mjs");
    writeFileSync(program, "process.on('message', () => process.exit(3));");
    setProgramFinder(() => program);
    const search = await searchUntrusted("checkReading", items, "4.9 s", text);
    expect(search).toEqual({ cut: expect.stringContaining("limit") });
    const { evidence, notInText } = uncheckedReading(items, "cut" in search ? search.cut : "");
    expect(notInText).toBe(0);
    expect(evidence).toMatchObject(
      items.map((item) => ({ ...item, status: "could-not-check", reason: "cut" in search && search.cut })),
    );
  });
});
