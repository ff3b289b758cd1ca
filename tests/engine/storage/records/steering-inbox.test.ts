import { tmpdir } from "node:os";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  isOurMessage,
  leaveMessage,
  readMessages,
  takeMessage,
} from "../../../../src/engine/storage/records/steering-inbox.js";
import { read, temporaryFolder } from "../../../support/folders.js";

const now = Date.parse("2026-01-02T03:04:05.678Z");

describe("a message to a research", () => {
  it("waits, in the order of its leaving, until it is taken", async () => {
    const folder = temporaryFolder();
    await leaveMessage(folder, { text: "first" }, now, tmpdir());
    await leaveMessage(folder, { text: "second" }, now, tmpdir());
    await leaveMessage(folder, { clear: true }, now - 3_600_000, tmpdir());
    const [first, ...rest] = await readMessages(folder);
    expect([first, ...rest]).toMatchObject([{ text: "first" }, { text: "second" }, { clear: true }]);
    expect(first?.id).toMatch(/^2026-01-02T03-04-05\.678Z-[0-9a-f]{8}$/);
    await takeMessage(folder, first?.id ?? "");
    await takeMessage(folder, "nobody");
    expect((await readMessages(folder)).map(({ id }) => id)).toEqual(rest.map(({ id }) => id));
  });

  it("may be a decision on a record, signed with its words", async () => {
    const folder = temporaryFolder();
    const state = temporaryFolder();
    const decision = { record: "p1", decision: "exclude", why: "Not it." } as const;
    await leaveMessage(folder, decision, now, state);
    const [message] = await readMessages(folder);
    expect(message).toEqual({ ...decision, id: message?.id });
    const name = `${message?.id}.json`;
    const text = read(folder, `.ralph/inbox/${name}`);
    expect(await isOurMessage(folder, name, text, state)).toBe(true);
    for (const [was, is] of [
      ["Not it.", "Not it!"],
      ["exclude", "include"],
      ["p1", "p2"],
    ] as const)
      expect(await isOurMessage(folder, name, text.replace(`"${was}"`, `"${is}"`), state)).toBe(false);
    writeFileSync(join(folder, ".ralph/inbox", name), text.replace("exclude", "perhaps"));
    expect(await readMessages(folder)).toEqual([]);
  });

  it("is for nobody's repository, and leaves what is said of that alone", async () => {
    const folder = temporaryFolder();
    await leaveMessage(folder, { text: "x" }, now, tmpdir());
    expect(read(folder, ".ralph/.gitignore")).toBe("*\n");
    writeFileSync(join(folder, ".ralph/.gitignore"), "mine\n");
    await leaveMessage(folder, { text: "y" }, now, tmpdir());
    expect(read(folder, ".ralph/.gitignore")).toBe("mine\n");
  });

  it("is none where it can't be read as one", async () => {
    const folder = temporaryFolder();
    expect(await readMessages(folder)).toEqual([]);
    mkdirSync(join(folder, ".ralph/inbox/5.json"), { recursive: true });
    const texts = ["{", "null", "7", '{"text": 7}', '{"text": "  "}', '{"clear": "yes"}', "{}"];
    for (const [n, text] of texts.entries()) writeFileSync(join(folder, ".ralph/inbox", `bad-${n}.json`), text);
    writeFileSync(join(folder, ".ralph/inbox/note.txt"), '{"text": "not mine"}');
    writeFileSync(join(folder, ".ralph/inbox/good.json"), '{"text": " Look at hands. ", "more": 1}');
    writeFileSync(join(folder, ".ralph/inbox/a.json-b.json"), '{"text": "Named oddly: é"}');
    expect(await readMessages(folder)).toEqual([
      { id: "a.json-b", text: "Named oddly: é" },
      { id: "good", text: " Look at hands. " },
    ]);
  });

  it("comes after all that were left before it, whatever the clock says and whatever else lies there", async () => {
    const folder = temporaryFolder();
    const words = Array.from({ length: 20 }, (_, index) => `word ${index}`);
    mkdirSync(join(folder, ".ralph/inbox"), { recursive: true });
    for (const name of ["note", "2026-99-99T99-99-99.999Z-0", "9"])
      writeFileSync(join(folder, `.ralph/inbox/${name}.json`), "");
    for (const [index, text] of words.entries())
      await leaveMessage(folder, { text }, now + ((index * 7) % 20), tmpdir());
    expect(await readMessages(folder)).toEqual(words.map((text) => ({ id: expect.any(String), text })));
  });

  it("that can't be left says why", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, ".ralph"), "");
    await expect(leaveMessage(folder, { text: "x" }, now, tmpdir())).rejects.toThrow(
      `${join(folder, ".ralph")} is a file where a folder belongs; move it away.`,
    );
    expect(await readMessages(folder)).toEqual([]);
  });
});
