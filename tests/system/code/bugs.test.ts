import { afterEach, describe, expect, it } from "vitest";
import { byRole, codeProject } from "../../support/projects/code-project.js";

let project: ReturnType<typeof codeProject>;
afterEach(() => project.remove());

/** A small program with a bug. */
interface Bug {
  readonly files: Readonly<Record<string, string>>;
  /** Files that have to be in the librarian's brief, for they hold the cause. */
  readonly causes: readonly string[];
  readonly mend: string;
  /** What the first failing test says, where it is the bug and not the module that does not load. */
  readonly says?: RegExp;
}

const manifest = JSON.stringify({ private: true, type: "module", scripts: { test: "node --test" } });
const testOf = (imports: string, body: string): string =>
  `import assert from "node:assert";\nimport { test } from "node:test";\n${imports}\ntest("works", async () => {\n  ${body}\n});\n`;

const bugs: Readonly<Record<string, Bug>> = {
  "a missing await": {
    files: {
      "src/price.mjs": "export const price = async () => 2;\n",
      "src/total.mjs":
        'import { price } from "./price.mjs";\n\nexport async function total(count) {\n  const each = price();\n  return each * count;\n}\n',
      "test/total.test.mjs": testOf('import { total } from "../src/total.mjs";', "assert.equal(await total(3), 6);"),
    },
    causes: ["src/total.mjs", "src/price.mjs"],
    mend: "sed -i 's/= price()/= await price()/' src/total.mjs",
    says: /NaN/,
  },
  "a wrong import": {
    files: {
      "src/lib/half.mjs": "export const half = (value) => value / 2;\n",
      "src/mean.mjs": 'import { half } from "./half.mjs";\n\nexport const mean = (a, b) => half(a + b);\n',
      "test/mean.test.mjs": testOf('import { mean } from "../src/mean.mjs";', "assert.equal(mean(2, 4), 3);"),
    },
    causes: ["src/mean.mjs"],
    mend: "sed -i 's#./half.mjs#./lib/half.mjs#' src/mean.mjs",
  },
  "a bug in two files": {
    files: {
      "src/parse.mjs": 'export const parse = (line) => line.split(";");\n',
      "src/format.mjs": 'export const format = (parts) => parts.join(";");\n',
      "src/swap.mjs":
        'import { format } from "./format.mjs";\nimport { parse } from "./parse.mjs";\n\nexport const swap = (line) => format(parse(line).reverse());\n',
      "test/swap.test.mjs": testOf('import { swap } from "../src/swap.mjs";', 'assert.equal(swap("a,b"), "b,a");'),
    },
    causes: ["src/swap.mjs", "src/parse.mjs", "src/format.mjs"],
    mend: "sed -i 's/;\")/,\")/' src/parse.mjs src/format.mjs",
    says: /a,b/,
  },
  "a cycle of imports": {
    files: {
      "src/a.mjs": 'import { b } from "./b.mjs";\n\nexport const base = 1;\nexport const a = () => b + base;\n',
      "src/b.mjs": 'import { base } from "./a.mjs";\n\nexport const b = base + 1;\n',
      "test/a.test.mjs": testOf('import { a } from "../src/a.mjs";', "assert.equal(a(), 3);"),
    },
    causes: ["src/a.mjs", "src/b.mjs"],
    mend: `printf 'export const base = 1;\\n' > src/base.mjs; sed -i 's#./a.mjs#./base.mjs#' src/b.mjs; sed -i 's#^export const base = 1;#export { base } from "./base.mjs"; import { base } from "./base.mjs";#' src/a.mjs`,
  },
};

describe("a coding run repairs", () => {
  it.each(Object.entries(bugs))("%s", async (_name, { files, causes, mend, says }) => {
    project = codeProject({ "package.json": manifest, ...files });
    const did = `echo '${JSON.stringify({ hypothesis: "h", action_taken: "mended" })}'`;
    const plan = { cause: "c", files: causes.map((path) => ({ path })), plan: ["mend it"] };
    const roles = { librarian: `echo '${JSON.stringify(plan)}'`, artisan: `${mend}; ${did}` };
    const { last } = await project.json(...project.agent(byRole(roles)));
    if (says !== undefined) expect(project.brief("librarian")).toMatch(says);
    expect([last.verdict, last.rounds, last.failing]).toEqual(["complete", 1, 0]);
    for (const path of causes) {
      expect(project.brief("librarian")).toMatch(new RegExp(`## ${path.replaceAll(".", "\\.")} \\(distance [0-3]\\)`));
      expect(project.brief("artisan")).toContain(`## ${path}`);
    }
  });

  it.each(Object.entries(bugs))("%s, with code for the librarian", async (_name, { files, mend }) => {
    project = codeProject({ "package.json": manifest, ...files });
    project.write("ralph.config.json", JSON.stringify({ code: { roles: { librarian: { agent: "built-in" } } } }));
    const artisan = `${mend}; echo '{"hypothesis":"h","action_taken":"mended"}'`;
    const { last } = await project.json(...project.agent(byRole({ artisan })));
    expect([last.verdict, last.runs]).toEqual(["complete", 3]);
  });
});
