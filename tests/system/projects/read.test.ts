import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePdf } from "../../fixtures/pdf/make-pdf.js";
import { serveScholars } from "../../fixtures/scholar-server.js";
import { serve } from "../../fixtures/web-server.js";
import { cli } from "../../support/processes/in-process.js";
import { unitAgent } from "../../support/processes/command-agents.js";
import { freshFolder } from "../../support/projects/research-folder.js";

const agent = ["--agent", unitAgent, "--unconfined"];
const paragraph = (n: number) =>
  `We present an inspection method that reaches ${80 + n} percent accuracy on ${1000 + n} samples in the laboratory. It needs ${n + 10} minutes on one machine with a single camera and no training.`;
const pdf = () =>
  makePdf({
    title: "A Study of Efficient Inspection",
    authors: ["Ada Adams", "Bob Brown"],
    pages: [
      ["Abstract", paragraph(1)],
      ["1 Results", paragraph(2)],
    ],
  });
const html = `<html><head><title>Inspection on a page</title></head><body><article><h1>Inspection on a page</h1><h2>Results</h2><p>${paragraph(3)}</p></article></body></html>`;
const left = (cwd: string) => {
  const state = join(cwd, ".local/state/research-ralph");
  return readdirSync(state, { recursive: true }).map(String).sort();
};

test("a PDF on this machine: each claim with its quote, its page and ✓ or ✗, within 80 columns, and nothing is kept but what it cost", async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "paper.pdf"), await pdf());
  const { code, out } = await cli(["read", "paper.pdf", "--quiet", ...agent], cwd, { MISQUOTE: "1" });
  expect(code).toBe(0);
  expect(out).toContain("A Study of Efficient Inspection\nAda Adams, Bob Brown · ");
  expect(out).toMatch(/^ {2}✓ Claim 1\. \(p\. 1\)\n(?: {6}.*\n)*? {6}.*“We present/m);
  expect(out).toContain("  ✗ A claim of its own. (not in the text)\n      “These words stand in no paper");
  expect(out).toMatch(/ · cost not known · \S+\nThirty papers like this one: about [<\dms ]+, cost not known\n$/);
  expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(out, "a name and its points stay on one line").not.toMatch(/^ {2}\d/m);
  expect(left(cwd)).toEqual(["guards", "ledger.jsonl", "steering-key", "workspaces"]);
  expect(existsSync(join(cwd, "researches"))).toBe(false);
});

test("a paper gets points only where a rubric is named", async () => {
  const cwd = freshFolder();
  const outcome = async (...rubric: string[]) => {
    const { out } = await cli(["read", "sample:sample_01.md", "--quiet", ...agent, ...rubric], cwd);
    return /^(?:included|rejected).*$/m.exec(out)?.[0];
  };
  expect(await outcome()).toBe("included, read: full");
  expect(await outcome("--rubric", "original")).toMatch(/^\w+ [\d.]+\/50 \(execution /);
});

test("a retracted paper starts no agent: its verdict, and nothing that only a reading brings", async () => {
  const cwd = freshFolder();
  const body = "# RETRACTED: A Study of Efficient Inspection\n\nIt reaches 87 percent accuracy on 1200 samples.\n";
  writeFileSync(join(cwd, "paper.md"), body);
  const { code, out } = await cli(["read", "paper.md", "--quiet", ...agent], cwd);
  expect({ code, verdict: /^\w+, not read$/m.exec(out)?.[0] }).toEqual({ code: 0, verdict: "rejected, not read" });
  expect(out).toContain("! Retracted.");
  for (const heading of ["Evidence", "Summary", "tokens in", "Thirty papers"]) expect(out).not.toContain(heading);
});

test("a PDF and a page of a web server, and a packaged sample, are read alike", async () => {
  const server = await serve({
    "/paper.pdf": { headers: { "content-type": "application/pdf" }, body: await pdf() },
    "/page": { body: html },
  });
  try {
    const cwd = freshFolder();
    for (const [reference, title] of [
      [`${server.origin}/paper.pdf`, "A Study of Efficient Inspection"],
      [`${server.origin}/page`, "Inspection on a page"],
      ["sample:sample_01.md", "One Calibration Platform"],
    ] as const) {
      const { code, out } = await cli(["read", reference, "--json", ...agent], cwd);
      const { paper } = JSON.parse(out.trim().split("\n").at(-1) ?? "") as {
        paper: { title: string; analysis: { evidence: { status: string }[] } };
      };
      expect({
        code,
        title: paper.title,
        statuses: new Set(paper.analysis.evidence.map(({ status }) => status)),
      }).toEqual({ code: 0, title: expect.stringContaining(title), statuses: new Set(["verified"]) });
    }
  } finally {
    await server.close();
  }
});

test("what can't be read is one sentence with its exit code, and no agent is started", async () => {
  const server = await serve({ "/secret": { status: 403, body: "no" } });
  try {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "broken.pdf"), "%PDF-1.7 and no more");
    for (const [reference, code, sentence] of [
      ["hello world", 2, "neither an arXiv id, a DOI, a PubMed id, a URL nor a document"],
      ["missing.pdf", 1, "There is no file"],
      ["broken.pdf", 1, "not a complete PDF"],
      [`${server.origin}/nothing`, 1, "HTTP 404"],
      [`${server.origin}/secret`, 5, "HTTP 403"],
    ] as const) {
      const { err, ...ended } = await cli(
        ["read", reference, "--agent", `cmd:touch ${cwd}/started`, "--unconfined"],
        cwd,
      );
      expect({ ...ended, err }).toEqual({ code, out: "", err: expect.stringMatching(/^research-ralph: [^\n]+\n$/) });
      expect(err).toContain(sentence);
    }
    expect(existsSync(join(cwd, "started"))).toBe(false);
  } finally {
    await server.close();
  }
});

test("an agent that leaves no result three times is blocked, without advice about a folder that is not there: exit 5", async () => {
  const { code, err } = await cli(
    ["read", "sample:sample_01.md", "--quiet", "--agent", "cmd:true", "--unconfined"],
    freshFolder(),
  );
  expect({ code, err }).toEqual({
    code: 5,
    err: expect.stringContaining("blocked: The agent's results were refused 3 times; another --agent may do better."),
  });
});

test("a paper is asked for where the configuration says, and a host that asks to wait is left alone by the next call too", async () => {
  const scholars = await serveScholars();
  try {
    const cwd = freshFolder();
    writeFileSync(
      join(cwd, "ralph.config.json"),
      JSON.stringify({ state_dir: join(cwd, "state"), sources: scholars.sources }),
    );
    const { code, out } = await cli(["read", "2601.00001", "--json", ...agent], cwd);
    const { paper } = JSON.parse(out.trim().split("\n").at(-1) ?? "") as {
      paper: { title: string; read_depth: string };
    };
    expect({ code, ...paper }).toMatchObject({
      code: 0,
      title: "Tactile Grasping with Soft Robot Fingers",
      read_depth: "full",
    });
    expect(scholars.requests.map((path) => path.replace(/\?.*/, ""))).toEqual(
      expect.arrayContaining(["/arxiv/api/query", "/arxiv/html/2601.00001"]),
    );

    const busy = await serve({ "/paper.pdf": { status: 429, headers: { "retry-after": "600" }, body: "later" } });
    try {
      const ask = () => cli(["read", `${busy.origin}/paper.pdf`, ...agent], cwd);
      expect((await ask()).code).toBe(5);
      expect(busy.requests).toHaveLength(1);
      expect(await ask()).toMatchObject({ code: 5, err: expect.stringMatching(/127\.0\.0\.1.* is rate-limiting us/) });
      expect(busy.requests).toHaveLength(1);
    } finally {
      await busy.close();
    }
  } finally {
    await scholars.close();
  }
});
