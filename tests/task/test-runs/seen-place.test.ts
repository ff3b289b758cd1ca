import { describe, expect, it } from "vitest";
import { noAccess } from "../../../src/engine/process/access.js";
import { runProcess } from "../../../src/engine/process/run-process.js";
import type { Place, TestPlace } from "../../../src/task/place/run.js";
import { readOnlyHint, placeOfTests } from "../../../src/task/test-runs/seen-place.js";

const tests: TestPlace = { path: "/workspace", maxMs: 300_000 };
const place = (more: Partial<Place> = {}): Place => ({
  exec: runProcess,
  node: "/usr/bin/node",
  cwd: "/repo/packages/a",
  env: { LANG: "C" },
  scratch: "/scratch",
  access: {
    ...noAccess,
    read: ["/opt/node", "/repo", "/repo/packages/a/.git"],
    write: ["/repo/packages/a", "/scratch"],
  },
  signal: new AbortController().signal,
  ...more,
});

describe("a run of tests", () => {
  it("sees the project where it is, unless the place says otherwise", () => {
    const usual = place();
    const { place: seen, path } = placeOfTests(usual);
    expect(seen).toBe(usual);
    expect(path("/repo/packages/a/x")).toBe("/repo/packages/a/x");
  });

  it("has the project read-only at another path, and may write to the scratch folder alone", () => {
    const { place: seen, path } = placeOfTests(place({ testPlace: tests }));
    expect(seen.cwd).toBe("/workspace");
    expect(seen.access.write).toEqual(["/scratch"]);
    expect(seen.access.read).toEqual(["/opt/node", "/repo", { from: "/repo/packages/a", target: "/workspace" }]);
    expect(path("/repo/packages/a/node_modules/.bin/x")).toBe("/workspace/node_modules/.bin/x");
    expect(path("/usr/bin/python3")).toBe("/usr/bin/python3");
    expect(seen.env["CARGO_TARGET_DIR"]).toBe("/scratch/cargo-target");
  });

  it("of a package of several has all of them there", () => {
    const { place: seen, path } = placeOfTests(place({ testPlace: { ...tests, packageFolder: "/repo" } }));
    expect([seen.cwd, path("/repo/node_modules/.bin/x")]).toEqual([
      "/workspace/packages/a",
      "/workspace/node_modules/.bin/x",
    ]);
    expect(seen.access.read).toEqual(["/opt/node", { from: "/repo", target: "/workspace" }]);
    // A copy of the project elsewhere is none of them.
    expect(placeOfTests(place({ cwd: "/copy", testPlace: { ...tests, packageFolder: "/repo" } })).place.cwd).toBe(
      "/workspace",
    );
  });

  it("is told what to do where it can't write, and only there", () => {
    expect(readOnlyHint(place({ testPlace: tests }), "touch: cannot touch 'x': Read-only file system")).toContain(
      "/workspace",
    );
    expect(readOnlyHint(place({ testPlace: tests }), "Error: EROFS: read-only file system, open 'x'")).toContain(
      "$TMPDIR",
    );
    expect(readOnlyHint(place({ testPlace: tests }), "it failed")).toBeUndefined();
    expect(readOnlyHint(place(), "Read-only file system")).toBeUndefined();
  });
});
