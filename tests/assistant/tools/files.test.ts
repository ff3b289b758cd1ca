import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, win32 } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { applyOperations } from "../../../src/assistant/tools/files/delta.js";
import { fileFailureOf, resolveWithin } from "../../../src/assistant/tools/files/paths.js";
import { truncate } from "../../../src/assistant/tools/files/truncate.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";
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
  const calls: [string, (path: string) => object][] = [
    ["file_read", (path) => ({ file_path: path })],
    ["file_info", (path) => ({ file_path: path })],
    ["file_write", (path) => ({ file_path: path, content: "x" })],
    ["file_append", (path) => ({ file_path: path, content: "x" })],
    ["file_delta", (path) => ({ file_path: path, operations: [{ type: "insert", start_line: 1, content: "x" }] })],
    ["file_list", (path) => ({ directory_path: path })],
    ["file_search", (path) => ({ search_path: path, pattern: "secret" })],
    ["shell_execute", (path) => ({ command: "pwd", working_directory: path })],
    ["process_pdf_document", (path) => ({ file_path: path })],
  ];
  it.each(calls)("is none to %s", async (tool, given) => {
    for (const path of paths) {
      const answer = await here.call(tool, given(path));
      expect(answer, path).toMatchObject({ success: false, code: "FILE_ERROR_INVALID_PATH" });
      expect(JSON.stringify(answer)).not.toContain('"content"');
    }
    expect(readFileSync(join(here.folder, "secret.txt"), "utf8")).toBe("secret");
  });

  it("is none through a link whose end is missing, or below one", async () => {
    symlinkSync(join(here.folder, "new.txt"), join(here.root, "dangling"));
    for (const path of ["dangling", "dangling/x", "up/new.txt"])
      expect(await here.call("file_write", { file_path: path, content: "x" })).toMatchObject({
        code: "FILE_ERROR_INVALID_PATH",
      });
    expect(existsSync(join(here.folder, "new.txt"))).toBe(false);
  });

  it.each([
    "..\\secret.txt",
    "sub\\..\\..\\x",
    "C:\\Windows\\win.ini",
    "C:notes.txt",
    "D:\\work\\x",
    "\\\\server\\share\\x",
    "\\\\?\\C:\\work\\x",
    "//server/share",
    "notes.txt:hidden",
    "a\0b",
  ])("%j is none on Windows", (path) => {
    expect(resolveWithin("C:\\work", path, win32)).toBeUndefined();
  });

  it.each(["notes.txt", "sub\\notes.txt", "sub/notes.txt", "C:\\work\\notes.txt", ".", "..notes"])(
    "%j is one on Windows",
    (path) => {
      expect(resolveWithin("C:\\work", path, win32)).toMatch(/^C:\\work/);
    },
  );

  it("may be absolute, and through a link that stays inside", async () => {
    symlinkSync(join(here.root, "paper"), join(here.root, "inner"));
    for (const path of [join(here.root, "paper/01.txt"), "inner/01.txt", "./paper//01.txt"])
      expect(await here.call("file_read", { file_path: path })).toMatchObject({ success: true });
  });
});

describe("file_read", () => {
  it.each([
    [{ file_path: "paper/01.txt" }, { success: true, content: "one\ntwo\nthree\n", total_lines: 3 }],
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

describe("what is longer than its room", () => {
  const source = Array.from({ length: 4000 }, (_, line) =>
    line % 100 === 0
      ? `export function part${line}(given: string): string {`
      : `  const value${line} = given + "${line}";`,
  ).join("\n");

  it("keeps head, tail and signatures, and says what is missing", async () => {
    write("long.ts", source);
    const answer = await here.call("file_read", { file_path: "long.ts", max_tokens: 2000 });
    expect(answer).toMatchObject({ success: true, truncated: true, total_lines: 4000 });
    const content = String(answer["content"]);
    expect(content).toContain("function part0(");
    expect(content).toContain("value3999");
    expect(content).toContain("function part2000(");
    expect(content).toMatch(/\[… \d+ lines left out …\]/);
    expect(Number(answer["lines_left_out"])).toBeGreaterThan(3000);
  });

  it.each([10, 100, 1000, 5000])("fits into %i tokens", (tokens) => {
    expect(estimateTokens(truncate(source, tokens).text)).toBeLessThanOrEqual(tokens * 1.1 + 10);
    const oneLine = truncate("x".repeat(1_000_000), tokens).text;
    expect(estimateTokens(oneLine)).toBeLessThanOrEqual(tokens * 1.1 + 10);
  });

  it("stays whole where it fits", () => {
    expect(truncate("a\nb\n", 10)).toEqual({ text: "a\nb\n", omittedLines: 0 });
  });
});

describe("file_write", () => {
  it("makes a file and its folders, and says so", async () => {
    const answer = await here.call("file_write", { file_path: "a/b/c.txt", content: "héllo" });
    expect(answer).toMatchObject({ success: true, code: "FILE_SUCCESS", created: true, bytes_written: 6 });
    expect(readFileSync(join(here.root, "a/b/c.txt"), "utf8")).toBe("héllo");
    expect(here.asked).toMatchObject([{ tool: "file_write", preview: "New file a/b/c.txt\n+ héllo" }]);
  });

  it.each([
    ["one\ntwo\nthree\nfour\n", "  line 4:\n+ four"],
    ["one\ntwo\nthree", "  the line break at the end"],
  ])("shows what changes, and no line behind the last break: %j", async (content, shown) => {
    await here.call("file_write", { file_path: "paper/01.txt", content });
    expect(here.asked[0]?.preview).toBe(`Change paper/01.txt\n${shown}`);
  });

  it("shows all of what is allowed, however long", async () => {
    const lines = Array.from({ length: 90 }, (_, index) => `${index} ${"x".repeat(index === 80 ? 2000 : 1)}`);
    await here.call("file_write", { file_path: "long.txt", content: lines.join("\n") });
    expect(here.asked[0]?.preview).toBe(`New file long.txt\n${lines.map((line) => `+ ${line}`).join("\n")}`);
  });

  it("keeps what was there, readable by its user alone, and not beside it", async () => {
    const answer = await here.call("file_write", { file_path: "paper/01.txt", content: "new\n" });
    const backup = String(answer["backup"]);
    expect(readFileSync(backup, "utf8")).toBe("one\ntwo\nthree\n");
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(here.root, "paper"))).toEqual(["01.txt"]);
    expect(here.asked[0]?.preview).toBe("Change paper/01.txt\n- one\n- two\n- three\n+ new");
  });

  it("keeps nothing where that is not wanted", async () => {
    const given = { file_path: "paper/01.txt", content: "", create_backup: false };
    expect(await here.call("file_write", given)).toMatchObject({ backup: undefined });
    expect(existsSync(join(here.folder, "replaced"))).toBe(false);
    expect(readFileSync(join(here.root, "paper/01.txt"), "utf8")).toBe("");
  });

  it("keeps the rights of a file, and writes through no link", async () => {
    chmodSync(join(here.root, "paper/01.txt"), 0o640);
    await here.call("file_write", { file_path: "paper/01.txt", content: "x" });
    expect(statSync(join(here.root, "paper/01.txt")).mode & 0o777).toBe(0o640);
  });

  it("writes no more than 10 MB, and no folder", async () => {
    const content = "x".repeat(10 * 1024 * 1024 + 1);
    expect(await here.call("file_write", { file_path: "large", content })).toMatchObject({
      code: "FILE_ERROR_TOO_LARGE",
    });
    expect(await here.call("file_append", { file_path: "paper/01.txt", content })).toMatchObject({
      code: "FILE_ERROR_TOO_LARGE",
    });
    expect(await here.call("file_write", { file_path: "paper", content: "x" })).toMatchObject({
      code: "FILE_ERROR_INVALID_PATH",
    });
    expect(existsSync(join(here.root, "large"))).toBe(false);
  });
});

describe("file_append", () => {
  it("adds to a file that is there", async () => {
    expect(await here.call("file_append", { file_path: "paper/01.txt", content: "four\n" })).toMatchObject({
      success: true,
      size_bytes: 19,
    });
    expect(readFileSync(join(here.root, "paper/01.txt"), "utf8")).toBe("one\ntwo\nthree\nfour\n");
  });

  it("makes none", async () => {
    expect(await here.call("file_append", { file_path: "none.txt", content: "x" })).toMatchObject({
      code: "FILE_ERROR_NOT_FOUND",
    });
  });
});

describe("file_delta", () => {
  const text = "one\ntwo\nthree\n";
  it.each([
    ["insert before a line", [{ type: "insert", start_line: 2, content: "1.5" }], "one\n1.5\ntwo\nthree\n"],
    ["insert at the end", [{ type: "insert", start_line: 4, content: "four\n" }], "one\ntwo\nthree\nfour\n"],
    ["replace lines", [{ type: "replace", start_line: 1, end_line: 2, content: "x" }], "x\nthree\n"],
    ["replace a text", [{ type: "replace", old_text: "wo", content: "wenty" }], "one\ntwenty\nthree\n"],
    ["delete lines", [{ type: "delete", start_line: 2, end_line: 3 }], "one\n"],
    ["delete a text", [{ type: "delete", old_text: "two\n" }], "one\nthree\n"],
    [
      "several, by the lines before any of them",
      [
        { type: "insert", start_line: 1, content: "zero" },
        { type: "delete", start_line: 2 },
        { type: "replace", start_line: 3, content: "3" },
      ],
      "zero\none\n3\n",
    ],
  ] as const)("can %s", (_, operations, expected) => {
    expect(applyOperations(text, operations)).toBe(expected);
  });

  it.each([
    ["", [{ type: "insert", start_line: 1, content: "a" }], "a\n"],
    ["no end", [{ type: "insert", start_line: 2, content: "next" }], "no end\nnext\n"],
    ["a\nno end", [{ type: "replace", start_line: 2, content: "b" }], "a\nb"],
    ["a\r\nb\r\n", [{ type: "insert", start_line: 2, content: "x\ny" }], "a\r\nx\r\ny\r\nb\r\n"],
  ] as const)("keeps the line ends of %j", (before, operations, expected) => {
    expect(applyOperations(before, operations)).toBe(expected);
  });

  it.each([
    ["a line that is not there", [{ type: "delete", start_line: 9 }]],
    ["an end before its start", [{ type: "delete", start_line: 2, end_line: 1 }]],
    ["a text that is not there", [{ type: "replace", old_text: "zwei", content: "x" }]],
    ["a text that is there twice", [{ type: "replace", old_text: "e", content: "x" }]],
    ["no place", [{ type: "replace", content: "x" }]],
    [
      "two that overlap",
      [
        { type: "delete", start_line: 1, end_line: 2 },
        { type: "replace", start_line: 2, content: "x" },
      ],
    ],
    [
      "a good one and a bad one",
      [
        { type: "insert", start_line: 1, content: "x" },
        { type: "delete", start_line: 99 },
      ],
    ],
  ] as const)("changes nothing for %s", async (_, operations) => {
    write("delta.txt", text);
    const answer = await here.call("file_delta", { file_path: "delta.txt", operations });
    expect(answer).toMatchObject({ success: false, code: "FILE_ERROR_INVALID_OPERATION" });
    expect(readFileSync(join(here.root, "delta.txt"), "utf8")).toBe(text);
  });

  it("shows what would change, and keeps what was", async () => {
    write("delta.txt", text);
    const operations = [{ type: "replace", start_line: 2, content: "TWO" }];
    const answer = await here.call("file_delta", { file_path: "delta.txt", operations });
    expect(here.asked[0]?.preview).toBe("Change delta.txt\n  line 2:\n- two\n+ TWO");
    expect(readFileSync(String(answer["backup"]), "utf8")).toBe(text);
    expect(readFileSync(join(here.root, "delta.txt"), "utf8")).toBe("one\nTWO\nthree\n");
  });

  it("leaves a file alone that is no UTF-8 text", async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x61, 0x0a]);
    write("latin.txt", bytes);
    const operations = [{ type: "insert", start_line: 1, content: "x" }];
    expect(await here.call("file_delta", { file_path: "latin.txt", operations })).toMatchObject({
      code: "FILE_ERROR_IO",
    });
    expect(readFileSync(join(here.root, "latin.txt"))).toEqual(bytes);
  });
});

describe("file_list", () => {
  beforeEach(() => {
    write("paper/02.txt", "");
    write(".hidden", "");
    mkdirSync(join(here.root, "node_modules/x"), { recursive: true });
    write("node_modules/x/index.txt", "");
  });

  it.each([
    [{ directory_path: "paper" }, ["01.txt", "02.txt"]],
    [{ directory_path: "." }, ["link.txt", "node_modules/", "paper/", "up"]],
    [{ directory_path: ".", include_hidden: true }, [".hidden", "link.txt", "node_modules/", "paper/", "up"]],
    [{ directory_path: ".", pattern: "**/*.txt" }, ["link.txt", "paper/01.txt", "paper/02.txt"]],
    [{ directory_path: ".", pattern: "nothing*" }, []],
  ])("answers %j", async (given, entries) => {
    expect(await here.call("file_list", given)).toMatchObject({ success: true, entries });
  });

  it.each([
    [{ directory_path: ".", pattern: "../**" }, "FILE_ERROR_INVALID_PATH"],
    [{ directory_path: ".", pattern: "/etc/*" }, "FILE_ERROR_INVALID_PATH"],
    [{ directory_path: "none" }, "FILE_ERROR_NOT_FOUND"],
    [{ directory_path: "paper/01.txt" }, "FILE_ERROR_NOT_FOUND"],
  ])("refuses %j", async (given, code) => {
    expect(await here.call("file_list", given)).toMatchObject({ success: false, code });
  });
});

describe("file_search", () => {
  it("finds lines by a regular expression, and follows no link", async () => {
    expect(await here.call("file_search", { search_path: ".", pattern: "^T(wo|hree)|secret" })).toMatchObject({
      success: true,
      matches: [
        { file: "paper/01.txt", line: 2, text: "two" },
        { file: "paper/01.txt", line: 3, text: "three" },
      ],
      files_searched: 1,
    });
  });

  it("minds case where that is asked, and searches a single file", async () => {
    const given = { search_path: "paper/01.txt", pattern: "TWO" };
    expect(await here.call("file_search", given)).toMatchObject({ matches: [{ line: 2 }] });
    expect(await here.call("file_search", { ...given, case_sensitive: true })).toMatchObject({ matches: [] });
  });

  it("takes what is no regular expression as it stands", async () => {
    write("code.txt", "call(x\n");
    expect(await here.call("file_search", { search_path: "code.txt", pattern: "call(x" })).toMatchObject({
      matches: [{ line: 1 }],
      note: expect.stringContaining("not a regular expression"),
    });
  });

  it("gives no more than was asked for", async () => {
    write("many.txt", "hit\n".repeat(500));
    const most = await here.call("file_search", { search_path: "many.txt", pattern: "hit", max_results: 7 });
    expect(most).toMatchObject({ truncated: true });
    expect(most["matches"]).toHaveLength(7);
    const few = await here.call("file_search", { search_path: "many.txt", pattern: "hit", max_tokens: 100 });
    expect((few["matches"] as unknown[]).length).toBeLessThan(10);
  });
});

describe("file_info", () => {
  it("tells of a file and of a folder", async () => {
    expect(await here.call("file_info", { file_path: "paper/01.txt" })).toMatchObject({
      success: true,
      kind: "file",
      size_bytes: 14,
      lines: 4,
      is_writable: true,
      is_link: false,
    });
    expect(await here.call("file_info", { file_path: "paper" })).toMatchObject({ kind: "folder" });
    expect(await here.call("file_info", { file_path: "none" })).toMatchObject({ code: "FILE_ERROR_NOT_FOUND" });
  });
});

describe("what the system has against a file", () => {
  const failing = (code: string) => Object.assign(new Error(code), { code });
  it.each([
    ["ENOENT", "FILE_ERROR_NOT_FOUND"],
    ["EACCES", "FILE_ERROR_PERMISSION"],
    ["EROFS", "FILE_ERROR_PERMISSION"],
    ["ERR_ACCESS_DENIED", "FILE_ERROR_PERMISSION"],
    ["ENAMETOOLONG", "FILE_ERROR_INVALID_PATH"],
    ["ENOMEM", "FILE_ERROR_MEMORY"],
    ["ENOSPC", "FILE_ERROR_IO"],
    ["EIO", "FILE_ERROR_IO"],
  ])("%s is %s", (code, expected) => {
    expect(fileFailureOf(failing(code), "x")).toMatchObject({ success: false, code: expected });
  });

  it("a defect of ours is none of it", () => {
    expect(() => fileFailureOf(new TypeError("x"), "x")).toThrow(TypeError);
  });
});
