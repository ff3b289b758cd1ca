import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { distancesFrom, readGraph } from "../../../src/code/graph/graph.js";
import { rankFiles, rankedText } from "../../../src/code/graph/ranking.js";
import { estimateTokens } from "../../../src/engine/lib/tokens.js";

let folder: string;
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function project(files: Readonly<Record<string, string>>): string {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "graph-")));
  execFileSync("git", ["init", "-q", folder]);
  mkdirSync(join(folder, ".ralph"));
  put(files);
  return folder;
}

function put(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const importsOf = async (path: string): Promise<readonly string[]> =>
  [...((await readGraph(folder)).imports.get(path) ?? [])].toSorted();

describe("the import graph", () => {
  it("finds static, dynamic, passed on and required files of TypeScript and JavaScript", async () => {
    project({
      "package.json": '{"name":"a","type":"module"}',
      "a.ts":
        'import { b } from "./b.js";\nimport type { T } from "./types.js";\nexport * from "./c";\nconst d = await import("./d.ts");\nimport e from "./lib";\n',
      "b.ts": "export const b = 1;\n",
      "types.ts": "export type T = 1;\n",
      "c.ts": "export const c = 1;\n",
      "d.ts": "export const d = 1;\n",
      "lib/index.ts": "export default 1;\n",
      "old.cjs": 'const x = require("./x.cjs"); // require("./never.cjs")\nconst s = "require(\'./never.cjs\')";\n',
      "x.cjs": "",
      "never.cjs": "",
    });
    expect(await importsOf("a.ts")).toEqual(["b.ts", "c.ts", "d.ts", "lib/index.ts", "types.ts"]);
    expect(await importsOf("old.cjs")).toEqual(["x.cjs"]);
  });

  it.each([
    ["mkfifo tsconfig.json", "tsconfig.json"],
    ["mkfifo package.json", "package.json"],
    ["ln -s /dev/zero package.json", "package.json"],
    ["truncate -s 2M package.json", "package.json"],
    ["mkfifo src/package.json", "src/package.json"],
    ["mkdir -p src/lib && mkfifo src/lib/package.json", "src/lib/package.json"],
    ["mkdir -p node_modules/dep && mkfifo node_modules/dep/package.json", "node_modules/dep/package.json"],
    [
      "mkdir -p far node_modules && mkfifo far/package.json && ln -s ../far node_modules/dep",
      "node_modules/dep/package.json",
    ],
  ])(
    "waits for no manifest that is no regular file (%s), and follows imports once it is gone",
    async (script, path) => {
      project({ "src/a.ts": 'import "./b.js";\nimport "./lib";\nimport "dep";\n', "src/b.ts": "", "src/lib.ts": "" });
      execFileSync("sh", ["-c", script], { cwd: folder });
      expect((await readGraph(folder)).problems.get(path)).toContain("not a regular file");
      rmSync(join(folder, path));
      rmSync(join(folder, "far"), { recursive: true, force: true });
      expect(await importsOf("src/a.ts")).toEqual(["src/b.ts", "src/lib.ts"]);
      expect((await readGraph(folder)).problems.size).toBe(0);
    },
  );

  it("follows paths of a tsconfig and packages of a workspace", async () => {
    project({
      "package.json": '{"private":true,"workspaces":["packages/*"]}',
      "tsconfig.json": '{"compilerOptions":{"baseUrl":".","paths":{"@/*":["src/*"]}}}',
      "src/a.ts": 'import "@/deep/b";\nimport "core";\n',
      "src/deep/b.ts": "",
      "packages/core/package.json": '{"name":"core","exports":{".":"./main.ts"}}',
      "packages/core/main.ts": "",
      ".gitignore": "node_modules\n",
    });
    mkdirSync(join(folder, "node_modules"));
    symlinkSync("../packages/core", join(folder, "node_modules/core"));
    expect(await importsOf("src/a.ts")).toEqual(["packages/core/main.ts", "src/deep/b.ts"]);
  });

  it("finds modules of Python: packages, src, relative ones, names that are modules", async () => {
    project({
      "src/app/__init__.py": "",
      "src/app/main.py":
        "import os\nfrom . import util\nfrom .deep.a import (\n  one,  # a name\n  two as three,\n)\nfrom ..app import util as u\n",
      "src/app/util.py": "",
      "src/app/deep/__init__.py": "",
      "src/app/deep/a.py": "one = two = 1\n",
      "test_main.py": 'from app.main import x\nimport app.deep.a\ntext = "import app.util"\n',
      "broken.py": "x = = 2\n",
    });
    expect(await importsOf("src/app/main.py")).toEqual(["src/app/deep/a.py", "src/app/util.py"]);
    expect(await importsOf("test_main.py")).toEqual(["src/app/deep/a.py", "src/app/main.py"]);
    expect([...(await readGraph(folder)).problems.keys()]).toEqual(["broken.py"]);
  });

  it("finds modules of Rust: mod, use of crate, self and super, nested ones and other crates", async () => {
    project({
      "Cargo.toml": '[package]\nname = "my-lib"\nversion = "0.1.0"\n',
      "src/lib.rs": "pub mod a;\nmod inner { mod deep; }\nuse crate::a::{b::B, c};\n",
      "src/a/mod.rs": "pub mod b;\npub mod c;\n",
      "src/a/b.rs": "use super::c::C;\npub struct B;\n",
      "src/a/c.rs": "use crate::inner;\npub struct C;\n",
      "src/inner/deep.rs": "",
      "tests/it.rs": "use my_lib::a::b::B;\n",
    });
    expect(await importsOf("src/lib.rs")).toEqual(["src/a/b.rs", "src/a/c.rs", "src/a/mod.rs", "src/inner/deep.rs"]);
    expect(await importsOf("src/a/b.rs")).toEqual(["src/a/c.rs"]);
    expect(await importsOf("src/a/c.rs")).toEqual(["src/lib.rs"]);
    expect(await importsOf("tests/it.rs")).toEqual(["src/a/b.rs"]);
  });

  it("finds the sources of what packages of the project export as built files, by their own name too", async () => {
    const manifest = {
      name: "@me/castle",
      exports: { ".": { import: "./built/index.js" }, "./boxes/*": { types: "./built/boxes/*.d.ts" } },
    };
    project({
      "package.json": JSON.stringify({ ...manifest, workspaces: ["packages/*"] }),
      ".gitignore": "built\nnode_modules\n",
      "src/index.ts": "",
      "src/boxes/docker.ts": 'import "@me/castle";\nimport "core";\nimport "core/deep";\nimport "left-pad";\n',
      "built/index.js": "",
      "templates/run.ts": 'import "@me/castle/boxes/docker";\n',
      "packages/core/package.json": '{"name":"core","main":"lib/main.js"}',
      "packages/core/src/main.ts": "",
      "packages/core/src/deep.ts": "",
    });
    const expected = ["packages/core/src/deep.ts", "packages/core/src/main.ts", "src/index.ts"];
    expect(await importsOf("src/boxes/docker.ts")).toEqual(expected);
    expect(await importsOf("templates/run.ts")).toEqual(["src/boxes/docker.ts"]);
  });

  it("finds modules of a Python workspace's members, its own before those of others", async () => {
    project({
      "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
      "packages/core/pyproject.toml": "",
      "packages/core/src/core/__init__.py": "",
      "packages/core/src/core/deep.py": "",
      "packages/core/tests/helpers.py": "",
      "packages/core/tests/test_it.py": "import tests.helpers\n",
      "packages/app/pyproject.toml": "",
      "packages/app/src/app/main.py":
        "from core.deep import x\nimport core\nfrom tests import helpers\nimport vendored.a\n",
      "packages/app/tests/helpers.py": "",
      "python/vendored/__init__.py": "",
      "python/vendored/a.py": "",
    });
    expect(await importsOf("packages/app/src/app/main.py")).toEqual([
      "packages/app/tests/helpers.py",
      "packages/core/src/core/__init__.py",
      "packages/core/src/core/deep.py",
      "python/vendored/a.py",
    ]);
    expect(await importsOf("packages/core/tests/test_it.py")).toEqual(["packages/core/tests/helpers.py"]);
  });

  it("finds what `crate` means in a program of a Rust crate, a test's shared module and a path of its manifest", async () => {
    project({
      "Cargo.toml": '[package]\nname = "tool"\n\n[[bin]]\nname = "other"\npath = "cmd/other.rs"\n',
      "src/lib.rs": "pub mod args;\n",
      "src/args.rs": "",
      "src/bin/run/main.rs": "mod args;\nmod work;\nuse crate::args::A;\n",
      "src/bin/run/args.rs": "",
      "src/bin/run/work.rs": "use crate::{args, Top};\nuse tool::args;\n",
      "src/bin/small.rs": "use crate::Own;\nuse tool::args::A;\n",
      "cmd/other.rs": "mod part;\nuse crate::part::P;\n",
      "cmd/part.rs": "use crate::Top;\n",
      "tests/common/mod.rs": "pub mod more;\n",
      "tests/common/more.rs": "use crate::common::X;\n",
    });
    expect(await importsOf("src/bin/run/main.rs")).toEqual(["src/bin/run/args.rs", "src/bin/run/work.rs"]);
    const ofWork = ["src/args.rs", "src/bin/run/args.rs", "src/bin/run/main.rs"];
    expect(await importsOf("src/bin/run/work.rs")).toEqual(ofWork);
    expect(await importsOf("src/bin/small.rs")).toEqual(["src/args.rs"]);
    expect(await importsOf("cmd/other.rs")).toEqual(["cmd/part.rs"]);
    expect(await importsOf("cmd/part.rs")).toEqual(["cmd/other.rs"]);
    expect(await importsOf("tests/common/more.rs")).toEqual(["tests/common/mod.rs"]);
  });

  it("leaves out what git ignores, links, binaries and large files, and lists what does not parse", async () => {
    project({
      ".gitignore": "dist/\n",
      "a.js": 'import "./dist/b.js"; import "./link.js"; import "./big.js"; import "./binary.js";',
      "dist/b.js": "",
      "real.js": "",
      "big.js": " ".repeat(1_000_001),
      "binary.js": "\0",
      "broken.js": "const = ;",
    });
    symlinkSync("real.js", join(folder, "link.js"));
    const { imports, problems } = await readGraph(folder);
    expect([...imports.keys()].toSorted()).toEqual(["a.js", "broken.js", "real.js"]);
    expect(imports.get("a.js")).toEqual(["real.js"]);
    expect([...problems.keys()]).toEqual(["broken.js"]);
  });

  it("survives a cycle, and reads a file again only once it has changed, a new file or a manifest included", async () => {
    project({ "a.js": 'import "./b.js";', "b.js": 'import "./a.js"; import "./c.js";' });
    expect(await importsOf("b.js")).toEqual(["a.js"]);
    expect([...distancesFrom(await readGraph(folder), ["a.js"])]).toEqual([
      ["a.js", 0],
      ["b.js", 1],
    ]);
    put({ "c.js": "" });
    expect(await importsOf("b.js")).toEqual(["a.js", "c.js"]);
    put({ "a.js": 'import "./c.js"; // longer' });
    expect(await importsOf("a.js")).toEqual(["c.js"]);
    writeFileSync(join(folder, ".ralph/graph.json"), "{ broken");
    expect(await importsOf("a.js")).toEqual(["c.js"]);
    expect(JSON.parse(readFileSync(join(folder, ".ralph/graph.json"), "utf8"))).toHaveProperty("layout");
  });

  it("ranks by distance in both directions", async () => {
    project({
      "t.js": 'import "./m.js";',
      "m.js": 'import "./deep.js";',
      "deep.js": "",
      "user.js": 'import "./m.js";',
      "far.js": "",
    });
    const files = rankFiles(await readGraph(folder), new Map([["t.js", [1]]]));
    expect(files.map(({ path }) => path)).toEqual(["t.js", "m.js", "deep.js", "user.js", "far.js"]);
  });

  it("shows the nearest files whatever their length, and never more than its room", async () => {
    const long = Array.from({ length: 4_000 }, (_, at) => `export const name${at} = ${at};`).join("\n");
    project({
      "t.js": `import "./m.js";\n${long}`,
      "m.js": long,
      ...Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}.js`, long.slice(0, 4_000)])),
    });
    const starts = new Map([["t.js", [3_000]]]);
    const files = rankFiles(await readGraph(folder), starts);
    for (const room of [3_000, 12_000, 40_000]) {
      const text = rankedText(folder, files, starts, room);
      expect(estimateTokens(text)).toBeLessThanOrEqual(room);
      expect(text).toContain("## t.js (distance 0)");
      expect(text).toContain("name2998 =");
      expect(text).toContain("## m.js (distance 1)");
    }
  });
});
