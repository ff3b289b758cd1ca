import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { bench } from "./setup.js";

const here = bench();
const write = (name: string, text: string | Buffer) => writeFileSync(join(here.root, name), text);

beforeEach(() => {
  mkdirSync(join(here.root, "paper"));
  write("paper/01.txt", "one\ntwo\nthree\n");
  writeFileSync(join(here.folder, "secret.txt"), "secret");
  symlinkSync(join(here.folder, "secret.txt"), join(here.root, "link.txt"));
  symlinkSync(here.folder, join(here.root, "up"));
});

describe("a path that leads out", () => {
  const paths = ["../secret.txt", "paper/../../secret.txt", "link.txt", "up/secret.txt", "/etc/passwd", "a\0b", ""];
  const all = ["file_read", "file_info"].map((tool) => [tool, "file_path"]);
  it.each(paths.flatMap((path) => [...all, ["file_list", "directory_path"]].map(([tool, key]) => [path, tool, key])))(
    "%j is none to %s",
    async (path = "", tool = "", key = "") => {
      const answer = await here.call(tool, { [key]: path });
      expect(answer).toMatchObject({ success: false, code: "FILE_ERROR_INVALID_PATH" });
      expect(JSON.stringify(answer)).not.toContain('"content"');
    },
  );
});

describe("file_read", () => {
  it.each([
    [{ file_path: "paper/01.txt" }, { success: true, content: "one\ntwo\nthree\n", total_lines: 4 }],
    [
      { file_path: "paper/01.txt", start_line: 2, end_line: 2 },
      { content: "two", first_line: 2, last_line: 2 },
    ],
    [{ file_path: "paper/02.txt" }, { success: false, code: "FILE_ERROR_NOT_FOUND" }],
    [{ file_path: "paper" }, { success: false, code: "FILE_ERROR_INVALID_PATH" }],
    [{}, { success: false, code: "TOOL_ERROR_INVALID_ARGUMENTS" }],
  ] as const)("answers %j", async (input, expected) => {
    expect(await here.call("file_read", input)).toMatchObject(expected);
  });

  it("does not read a file of more than 10 MB", async () => {
    write("large.txt", Buffer.alloc(10 * 1024 * 1024 + 1, "a"));
    expect(await here.call("file_read", { file_path: "large.txt" })).toMatchObject({ code: "FILE_ERROR_TOO_LARGE" });
  });
});

describe("file_list", () => {
  it("lists a folder", async () => {
    linkSync(join(here.root, "paper/01.txt"), join(here.root, "paper/02.txt"));
    expect(await here.call("file_list", { directory_path: "paper" })).toMatchObject({ entries: ["01.txt", "02.txt"] });
  });
});
