import { describe, expect, it } from "vitest";
import { ExpectedError } from "../../../src/engine/lib/errors.js";
import { withExplainedErrors, explainSystemError } from "../../../src/engine/storage/explain-system-error.js";

const systemError = (code: string) => Object.assign(new Error(code), { code });

describe("a failure of the system", () => {
  it.each([
    ["ENOSPC", "There is no space left on the disk for /a/b; free some space and run again."],
    ["EDQUOT", "There is no space left on the disk for /a/b; free some space and run again."],
    ["EROFS", "/a/b is on a read-only file system; make it writable, or copy the project folder elsewhere."],
    ["EACCES", "There is no permission for /a/b; check who owns it with 'ls -ld', or run as that user."],
    ["EPERM", "There is no permission for /a/b; check who owns it with 'ls -ld', or run as that user."],
    ["ENOENT", "/a/b cannot be reached: its folder does not exist; it may have been moved or deleted."],
    ["ENOTDIR", "/a/b cannot be reached: its folder does not exist; it may have been moved or deleted."],
    ["EFBIG", "/a/b is larger than this shell or file system allows; 'ulimit -f' shows the shell's limit."],
    ["EISDIR", "/a/b is a folder where a file belongs; move it away."],
    ["EIO", "The disk of /a/b fails or is gone (EIO); check it and its connection, and run again."],
    ["ESTALE", "The disk of /a/b fails or is gone (ESTALE); check it and its connection, and run again."],
    ["ENOTCONN", "The disk of /a/b fails or is gone (ENOTCONN); check it and its connection, and run again."],
    ["ENAMETOOLONG", "The path /a/b is longer than the system allows; move it to a shorter one."],
    ["ELOOP", "/a/b is a symbolic link, which is not followed here; put a file in its place."],
    ["EMLINK", "/a/b is a symbolic link, which is not followed here; put a file in its place."],
  ])("%s is told in a sentence with the file and what to do", (code, sentence) => {
    const explained = explainSystemError(systemError(code), "/a/b");
    expect(explained).toBeInstanceOf(ExpectedError);
    expect((explained as Error).message).toBe(sentence);
  });

  it("that a person can't mend stays what it is", async () => {
    const bug = systemError("EMFILE");
    expect(explainSystemError(bug, "/a/b")).toBe(bug);
    await expect(withExplainedErrors("/a/b", () => Promise.reject(bug))).rejects.toBe(bug);
    await expect(withExplainedErrors("/a/b", () => Promise.reject(systemError("EROFS")))).rejects.toBeInstanceOf(
      ExpectedError,
    );
    expect(await withExplainedErrors("/a/b", async () => 7)).toBe(7);
  });
});
