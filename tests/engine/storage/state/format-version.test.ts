import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import {
  isNewer,
  jsonFilesIn,
  requireKnownFormats,
  requireKnownText,
  stateVersion,
} from "../../../../src/engine/storage/state/format-version.js";
import { temporaryFolder } from "../../../support/folders.js";
import { taskFormat } from "../../../support/projects/task-format.js";

const isRefused = (text: string): boolean[] =>
  [text, Buffer.from(text)].map((content) => {
    try {
      requireKnownText("task.json", content);
      return false;
    } catch (error) {
      expect(error).toMatchObject({ exitCode: 5, message: expect.stringContaining("task.json was written in format") });
      return true;
    }
  });
const both = (answer: boolean) => [answer, answer];

const later = stateVersion + 1;

describe("a file of a later format", () => {
  it.each([
    `{"format":${later}}`,
    `{"title": "x", "format" : ${later}}`,
    '{"format":\n10}',
    `{"a": {"format": 1}, "format": ${later}}`,
  ])("is refused, however it is written: %j", (text) => expect(isRefused(text)).toEqual(both(true)));

  it.each([
    ["of this one, or of none", `{"format": ${stateVersion}}`],
    ["without the field", '{"title": "x"}'],
    ["in which a record has a field of that name", `{"format": ${stateVersion}, "criteria": [{"format": ${later}}]}`],
    ["in which the field holds no number", '{"criteria": [{"format": "pdf", "pages": 30}], "format": "99"}'],
    ["that is torn, or just being saved", `{"format": ${later}, "title`],
  ])("is not one %s", (_, text) => expect(isRefused(text)).toEqual(both(false)));

  it("says so by a number alone", () =>
    expect(
      [{ format: later }, { format: String(later) }, { format: stateVersion }, {}, null, undefined, "format"].map(
        isNewer,
      ),
    ).toEqual([true, ...Array<boolean>(6).fill(false)]));
});

describe("the files that wait in a folder", () => {
  const folder = () => {
    const made = temporaryFolder();
    mkdirSync(join(made, ".ralph"));
    writeFileSync(join(made, "task.json"), "{}");
    return made;
  };

  it("are those of JSON, in their order; what a write or a person left beside them is not looked at", async () => {
    const made = folder();
    const inbox = join(made, ".ralph", "inbox");
    mkdirSync(inbox);
    for (const name of ["2.json", "1.json"]) writeFileSync(join(inbox, name), '{"format": 1}');
    for (const name of ["0.json.unusable", "note.txt"]) writeFileSync(join(inbox, name), `{"format": ${later}}`);
    expect(jsonFilesIn(inbox)).toEqual([join(inbox, "1.json"), join(inbox, "2.json")]);
    await requireKnownFormats(made, taskFormat);
  });

  it("are none where there is no such folder, or a file stands in its place; what else hinders is explained", async () => {
    const made = folder();
    writeFileSync(join(made, ".ralph", "journal"), "");
    await requireKnownFormats(made, taskFormat);
    expect(["inbox", "journal"].map((name) => jsonFilesIn(join(made, ".ralph", name)))).toEqual([[], []]);
    symlinkSync("loop", join(made, "loop"));
    expect(() => jsonFilesIn(join(made, "loop"))).toThrow(ExpectedError);
  });
});
