import { tmpdir } from "node:os";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stateVersion } from "../../../../src/engine/storage/state/format-version.js";
import {
  receiveMessages,
  isFromThisProgram,
  writeMessage,
  maxMessageChars,
  readMessages,
  removeMessage,
  updateInstructions,
} from "../../../../src/engine/storage/state/steering-inbox.js";
import { read, temporaryFolder } from "../../../support/folders.js";

const now = Date.parse("2026-01-02T03:04:05.678Z");

describe("a message to a research", () => {
  it("waits, in the order of its leaving, until it is taken", async () => {
    const folder = temporaryFolder();
    await writeMessage(folder, { text: "first" }, now, tmpdir());
    await writeMessage(folder, { text: "second" }, now, tmpdir());
    await writeMessage(folder, { clear: true }, now - 3_600_000, tmpdir());
    const [first, ...rest] = await readMessages(folder);
    expect([first, ...rest]).toMatchObject([{ text: "first" }, { text: "second" }, { clear: true }]);
    expect(first?.id).toMatch(/^2026-01-02T03-04-05\.678Z-[0-9a-f]{8}$/);
    await removeMessage(folder, first?.id ?? "");
    await removeMessage(folder, "nobody");
    expect((await readMessages(folder)).map(({ id }) => id)).toEqual(rest.map(({ id }) => id));
  });

  it("may be a decision on a record, signed with its words", async () => {
    const folder = temporaryFolder();
    const state = temporaryFolder();
    const decision = { record: "p1", decision: "exclude", why: "Not it." } as const;
    await writeMessage(folder, decision, now, state);
    const [message] = await readMessages(folder);
    expect(message).toEqual({ ...decision, id: message?.id });
    const name = `${message?.id}.json`;
    const text = read(folder, `.ralph/inbox/${name}`);
    expect(await isFromThisProgram(folder, name, text, state)).toBe(true);
    for (const [was, is] of [
      ["Not it.", "Not it!"],
      ["exclude", "include"],
      ["p1", "p2"],
    ] as const)
      expect(await isFromThisProgram(folder, name, text.replace(`"${was}"`, `"${is}"`), state)).toBe(false);
    writeFileSync(join(folder, ".ralph/inbox", name), text.replace("exclude", "perhaps"));
    expect(await readMessages(folder)).toEqual([]);
  });

  it("of any kind is ours only under its name, in its project and with its words", async () => {
    const [folder, other, state] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    const messages = [
      [{ text: "hands" }, "hands", "feet"],
      [{ clear: true }, "true", "false"],
      [{ beside: { folder: "1" } }, '"1"', '"2"'],
    ] as const;
    for (const [message, is, otherwise] of messages) {
      await writeMessage(folder, message, now, state);
      const [{ id } = { id: "" }] = await readMessages(folder);
      const text = read(folder, `.ralph/inbox/${id}.json`);
      const isOurs = (words: string, where = folder, name = id) =>
        isFromThisProgram(where, `${name}.json`, words, state);
      expect(await isOurs(text)).toBe(true);
      expect(await isOurs(text.replace(is, otherwise))).toBe(false);
      expect(await isOurs(text, other)).toBe(false);
      expect(await isOurs(text, folder, `${id}0`)).toBe(false);
      await removeMessage(folder, id);
    }
    for (const none of ["", "{}", "null"]) expect(await isFromThisProgram(folder, "1.json", none, state)).toBe(false);
  });

  it("may be what was done beside the run, an object and nothing else", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".ralph/inbox"), { recursive: true });
    const texts = ['{"beside": null}', '{"beside": []}', '{"beside": "x"}', '{"beside": {"a": 1}}'];
    for (const [n, text] of texts.entries()) writeFileSync(join(folder, `.ralph/inbox/${n}.json`), text);
    expect(await readMessages(folder)).toEqual([{ id: "3", beside: { a: 1 } }]);
  });

  it("is no decision without a record, a reason and one of the two words; nor a message of a later format", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".ralph/inbox"), { recursive: true });
    const decision = { record: "p1", decision: "include", why: "It is one." };
    const later = { text: "x", record: undefined, format: stateVersion + 1 };
    const others = [{ record: 1 }, { why: undefined }, { decision: "no" }, later];
    for (const [n, other] of [{}, ...others].entries())
      writeFileSync(join(folder, `.ralph/inbox/${n}.json`), JSON.stringify({ ...decision, ...other }));
    expect(await readMessages(folder)).toEqual([{ id: "0", ...decision }]);
  });

  it("is for nobody's repository, and leaves what is said of that alone", async () => {
    const folder = temporaryFolder();
    await writeMessage(folder, { text: "x" }, now, tmpdir());
    expect(read(folder, ".ralph/.gitignore")).toBe("*\n");
    writeFileSync(join(folder, ".ralph/.gitignore"), "mine\n");
    await writeMessage(folder, { text: "y" }, now, tmpdir());
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
      await writeMessage(folder, { text }, now + ((index * 7) % 20), tmpdir());
    expect(await readMessages(folder)).toEqual(words.map((text) => ({ id: expect.any(String), text })));
  });

  it("that can't be left says why", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, ".ralph"), "");
    await expect(writeMessage(folder, { text: "x" }, now, tmpdir())).rejects.toThrow(
      `${join(folder, ".ralph")} is a file where a folder belongs; move it away.`,
    );
    expect(await readMessages(folder)).toEqual([]);
  });
});

describe("messages that are heard", () => {
  const nothing = (text: string) => text;

  it("are applied in one edit, before they are taken away and told of", async () => {
    const folder = temporaryFolder();
    const said: string[] = [];
    let waiting: number | undefined;
    let [edits, state] = [0, ""];
    const store = {
      folder,
      async edit(change: (before: string) => string) {
        state = change(state);
        edits++;
        waiting = (await readMessages(folder)).length;
        return state;
      },
    };
    const hearAll = () =>
      receiveMessages<string>(
        store,
        (before, messages) => before + messages.length,
        async (event) => void said.push(event.type === "notice" ? `${event.level}: ${event.message}` : event.type),
      );
    await hearAll();
    expect(edits).toBe(0);
    await writeMessage(folder, { text: "Look at hands." }, now, tmpdir());
    await writeMessage(folder, { clear: true }, now, tmpdir());
    await writeMessage(folder, { record: "p1", decision: "include", why: "It is one." }, now, tmpdir());
    await writeMessage(folder, { beside: { a: 1 } }, now, tmpdir());
    await hearAll();
    expect({ edits, state, waiting }).toEqual({ edits: 1, state: "4", waiting: 4 });
    expect(await readMessages(folder)).toEqual([]);
    // Decisions and what was done beside the run are told of by those who know what they mean.
    expect(said).toEqual([
      expect.stringMatching(/^info: .*Look at hands\./),
      expect.stringMatching(/^info: .*removed/),
    ]);
  });

  it("stay where the edit can't be written", async () => {
    const folder = temporaryFolder();
    await writeMessage(folder, { text: "Look at hands." }, now, tmpdir());
    const edit = () => Promise.reject(new Error("full"));
    const tell = () => Promise.reject(new Error("told"));
    await expect(receiveMessages({ folder, edit }, (state) => state, tell)).rejects.toThrow("full");
    expect(await readMessages(folder)).toHaveLength(1);
  });

  it("add their words once, up to a length, without secrets; or take all words before away", () => {
    const before = [{ id: "0", at: "2026-01-01T00:00:00.000Z", text: "before" }];
    const at = "2026-01-02T00:00:00.000Z";
    const long = "x".repeat(maxMessageChars + 1);
    const hidden = (text: string) => text.replace("secret", "[removed]");
    expect(updateInstructions(before, [{ id: "1", text: "a secret" }], at, hidden)).toEqual([
      ...before,
      { id: "1", at, text: "a [removed]" },
    ]);
    expect(updateInstructions(before, [{ id: "0", text: "again" }], at, nothing)).toEqual(before);
    expect(updateInstructions([], [{ id: "1", text: long }], at, nothing)).toEqual([
      { id: "1", at, text: long.slice(1) },
    ]);
    const decision = { id: "1", record: "p1", decision: "include", why: "It is one." } as const;
    expect(updateInstructions(before, [decision, { id: "2", beside: {} }], at, nothing)).toEqual(before);
    expect(
      updateInstructions(
        before,
        [
          { id: "1", text: "x" },
          { id: "2", clear: true },
        ],
        at,
        nothing,
      ),
    ).toEqual([]);
    expect(
      updateInstructions(
        before,
        [
          { id: "1", clear: true },
          { id: "2", text: "x" },
        ],
        at,
        nothing,
      ),
    ).toEqual([{ id: "2", at, text: "x" }]);
  });
});
