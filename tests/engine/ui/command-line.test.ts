import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fail } from "../../../src/assistant/main.js";
import { printError } from "../../../src/commands/explain.js";
import { packageVersion } from "../../../src/engine/lib/package-root.js";
import { bugSentence } from "../../../src/engine/ui/command-line.js";
import { temporaryFolder } from "../../support/folders.js";
import { fakeIo } from "./fake-io.js";

const platform = `${packageVersion()} (Node ${process.version}, ${process.platform} ${process.arch})`;
const stateIn = (cwd: string, debug = {}) => fakeIo({ cwd, env: { HOME: cwd, XDG_STATE_HOME: cwd, ...debug } });

it("an unexpected error is told with version and platform, and its details are kept", () => {
  const cwd = temporaryFolder();
  const sentence = bugSentence(new TypeError("a\nb"), stateIn(cwd), "x", ["list", "-q"]);
  const folder = join(cwd, "research-ralph", "bugs");
  const file = join(folder, readdirSync(folder)[0] ?? "");
  expect(sentence).toBe(`a b; this is a bug in x ${platform}, the details are in ${file}.`);
  expect(readFileSync(file, "utf8")).toMatch(/^x .*\n\nx list -q\n\nTypeError: a\nb\n +at /);
});

it("where nothing can be written it says how to see the details, and shows them where they are asked for", () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "research-ralph"), "");
  expect(bugSentence("odd", stateIn(cwd), "x", [])).toMatch(/RESEARCH_RALPH_DEBUG=1 shows the details\.$/);
  const io = stateIn(cwd, { RESEARCH_RALPH_DEBUG: "1" });
  expect([bugSentence("odd", io, "x", []), io.err()]).toEqual([
    expect.stringMatching(/see the details above\.$/),
    "odd\n",
  ]);
});

it("the assistant tells of its own bugs in the same way", () => {
  const io = stateIn(temporaryFolder());
  expect([fail(new TypeError("odd"), io), io.err()]).toEqual([
    1,
    expect.stringContaining(`ralph: odd; this is a bug in ralph ${platform}, the details are in `),
  ]);
});

it.each([
  ["ENOSPC", { path: "/mnt/stick/x.test.js" }, "There is no space left on the disk for /mnt/stick/x.test.js"],
  ["EDQUOT", {}, "There is no space left on the disk"],
  ["EIO", { path: "/mnt/stick/rrd.json" }, "The disk of /mnt/stick/rrd.json fails or is gone (EIO)"],
  ["ENOTCONN", {}, "The disk fails or is gone (ENOTCONN)"],
  // Its files have other names in each version, and some are read only when they are needed.
  ["ERR_MODULE_NOT_FOUND", {}, "Files of this program are missing, as after an update while it ran"],
  ["MODULE_NOT_FOUND", {}, `A package of this program for ${process.platform} ${process.arch} is not installed`],
])("what the machine does is no bug, wherever it is met (%s)", (code, of, words) => {
  const io = stateIn(temporaryFolder());
  const error = Object.assign(new Error(code), { code, ...of });
  expect([printError(error, io, []), fail(error, io)]).toEqual([1, 1]);
  const said = io.err().replaceAll(/\s+/g, " ");
  expect(said.split(words)).toEqual(["research-ralph: ", expect.stringMatching(/^; .* ralph: $/), expect.any(String)]);
  expect(said).not.toContain("bug");
});
