import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Paper } from "../../../src/research/generated/rrd.js";
import { buildText } from "../../../src/text/documents/text/document-text.js";
import { acquireLock } from "../../../src/engine/storage/lock.js";
import { textsFolder } from "../../../src/research/project-files/layout.js";
import { saveText } from "../../../src/research/full-text/text-cache.js";
import { cli } from "../../support/processes/in-process.js";
import { freshFolder, line, makeResearch, paper } from "../../support/projects/research-folder.js";
import { type Browser, served } from "../../web/served.js";

const name = "hands-2026-01-14";
const at = `/p/${name}/`;

const pool = [
  paper("a", "presented", { title: "On hands", score: 31, authors: ["Ann Lee"], date: "2025-01-02" }),
  paper("b", "pending", { title: "On feet" }),
];
const change = (folder: string, over: object) => {
  const file = join(folder, "rrd.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...over }));
};
const page = async ({ get }: Browser, path = at) => (await get(path)).text();
const part = async ({ get }: Browser, id: string, path = at) => (await get(`${path}parts/${id}`)).text();

test("a page is made of the report's own sections, and what it tells of a part is what it gives", async () => {
  const cwd = freshFolder();
  makeResearch(cwd, name, { papers_pool: pool });
  const browser = await served(cwd);
  const text = await page(browser);
  expect(text).toContain('<section id="papers">');
  const parts = await browser.follow(`${at}events`).until((known) => known.has("papers"));
  expect(JSON.parse(/data-parts="([^"]*)"/.exec(text)?.[1]?.replaceAll("&quot;", '"') ?? "")).toEqual([...parts]);
  for (const [id, hash] of parts) {
    const answer = await browser.get(`${at}parts/${id}`);
    expect(answer.headers.get("x-part")).toBe(hash);
    const own = await answer.text();
    expect(own.trimEnd()).toMatch(new RegExp(`^<(\\w+) id="${id}"[^]*</\\1>$`));
    expect(text).toContain(own);
  }
  // One that has gone since is no mistake.
  expect((await browser.get(`${at}parts/nothing`)).status).toBe(204);
});

test("a change is told at once, and only of the parts that it changes", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, name, { papers_pool: pool });
  const browser = await served(cwd);
  const follower = browser.follow(`${at}events`);
  const before = await follower.until((parts) => parts.has("papers"));
  change(folder, { papers_pool: [pool[0], { ...(pool[1] as Paper), title: "On toes" }] });
  const after = await follower.until((parts) => parts.get("papers") !== before.get("papers"));
  expect(await part(browser, "papers")).toContain("On toes");
  for (const id of ["masthead", "question", "now", "steering"])
    expect([id, after.get(id)]).toEqual([id, before.get(id)]);
});

test("a browser that comes back is told of what it missed", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, name, { papers_pool: pool });
  const browser = await served(cwd);
  const first = browser.follow(`${at}events`);
  const before = await first.until((parts) => parts.has("papers"));
  first.close();
  change(folder, { papers_pool: [] });
  const after = await browser.follow(`${at}events`).until((parts) => parts.size > 0);
  expect(after.has("papers")).toBe(false);
  expect(before.has("papers")).toBe(true);
});

test("an rrd.json that can't be read is stood in for by its last good version, and the page says so", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, name, { papers_pool: pool });
  const good = readFileSync(join(folder, "rrd.json"), "utf8");
  const browser = await served(cwd);
  const follower = browser.follow(`${at}events`);
  await follower.until((parts) => parts.has("papers"));
  writeFileSync(join(folder, "rrd.json"), `${good.slice(0, 60)} }`);
  await follower.until((parts) => parts.has("broken"));
  expect(await part(browser, "broken")).toMatch(/rrd\.json:\d+:\d+.*last good version/);
  expect(await page(browser)).toContain("On hands");
  writeFileSync(join(folder, "rrd.json"), good);
  await follower.until((parts) => !parts.has("broken"));

  // A page that never saw it whole takes the copy that runs keep; without one it says what is wrong.
  writeFileSync(join(folder, "rrd.json"), "{ broken }");
  const other = await served(cwd);
  expect(await page(other)).toContain("rrd.json:1:");
  mkdirSync(join(folder, ".ralph"));
  writeFileSync(join(folder, ".ralph/rrd.last-good.json"), good);
  const third = await page(await served(cwd));
  expect(third).toContain("last good version");
  expect(third).toContain("On hands");
});

test("a folder that is deleted under an open page is said to be gone, and what was shown stays", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, name, { papers_pool: pool });
  const browser = await served(cwd);
  const follower = browser.follow(`${at}events`);
  const before = await follower.until((parts) => parts.has("papers"));
  cpSync(folder, join(cwd, "kept"), { recursive: true });
  rmSync(folder, { recursive: true });
  const after = await follower.until((parts) => parts.get("now") !== before.get("now"));
  expect(await part(browser, "now")).toContain("is gone");
  expect(after.get("papers")).toBe(before.get("papers"));
  expect((await browser.post(`${at}pause`)).status).toBe(409);
  expect(existsSync(folder)).toBe(false);
  cpSync(join(cwd, "kept"), folder, { recursive: true });
  await follower.until((parts) => parts.get("now") === before.get("now"));
  expect(browser.warnings).toEqual([]);
});

test("pause, stop, resume and steer do what the commands do", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, name, { papers_pool: pool });
  const browser = await served(cwd);
  const json = { accept: "application/json" };
  for (const [act, file] of [
    ["pause", "PAUSE"],
    ["stop", "STOP"],
  ] as const) {
    const { says } = (await (await browser.post(at + act, {}, json)).json()) as { says: string };
    expect(existsSync(join(folder, file))).toBe(true);
    rmSync(join(folder, file));
    const { err } = await cli([act, name], cwd);
    expect(err.trim()).toBe(says);
  }
  expect(await part(browser, "now")).toContain("Resume");
  expect((await browser.post(`${at}resume`)).headers.get("location")).toBe(at);
  expect(existsSync(join(folder, "PAUSE")) || existsSync(join(folder, "STOP"))).toBe(false);

  expect((await browser.post(`${at}steer`, { text: " Look at <thumbs> too. " }, json)).status).toBe(200);
  expect(await part(browser, "steering")).toContain("Look at &lt;thumbs&gt; too.");
  expect((await cli(["steer", name], cwd)).out).toBe("- Look at <thumbs> too.\n");
  for (const text of ["", "x".repeat(1001)]) {
    const refused = await browser.post(`${at}steer`, { text }, json);
    expect([refused.status, ((await refused.json()) as { says: string }).says]).toEqual([
      409,
      expect.stringMatching(/empty|1001/),
    ]);
  }
  expect((await browser.post(`${at}steer`, { text: "x".repeat(70_000) }, json)).status).toBe(413);
  await browser.post(`${at}clear`);
  expect((await cli(["steer", name], cwd)).out).toBe("");
});

test("the agent at work is shown by its transcript, without secrets; what a killed run left is not", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, name, { papers_pool: pool }, [line(1, "a")]);
  const transcripts = join(folder, ".ralph/transcripts");
  mkdirSync(transcripts, { recursive: true });
  const brief = '# The unit\n\n<unit>\n{\n "kind": "paper",\n "unit": "b",\n "title": "On feet"\n}\n</unit>\n';
  writeFileSync(join(transcripts, "1.brief.md"), brief);
  writeFileSync(join(transcripts, "1.jsonl"), "said before\n");
  const lock = await acquireLock(join(folder, ".ralph/lock"), { subject: "It" });
  const browser = await served(cwd);
  const follower = browser.follow(`${at}events`);
  await follower.until((parts) => parts.has("now"));
  expect(await part(browser, "now")).toContain("Running");
  writeFileSync(join(transcripts, "2.brief.md"), brief);
  const stream = readFileSync("tests/fixtures/agents/claude-success.jsonl", "utf8").split("\n");
  writeFileSync(join(transcripts, "2.jsonl"), `${stream.slice(0, 2).join("\n")}\n`);
  const first = await follower.until((parts) => parts.has("agent-2"));
  expect(first.has("agent-1")).toBe(false);
  const shown = await part(browser, "agent-2");
  expect(shown).toContain(`Reads <a href="${at}paper/b" dir="auto">On feet</a>`);
  expect(shown).toContain("comes lat");
  appendFileSync(
    join(transcripts, "2.jsonl"),
    `${JSON.stringify({ type: "assistant", message: { id: "m2", content: [{ type: "text", text: "The key is sk-secret <b>." }] } })}\n`,
  );
  await follower.until((parts) => parts.get("agent-2") !== first.get("agent-2"));
  expect(await part(browser, "agent-2")).toContain("The key is [secret removed] &lt;b&gt;.");
  appendFileSync(join(folder, "ledger.jsonl"), `${JSON.stringify(line(2, "b"))}\n`);
  await follower.until((parts) => !parts.has("agent-2"));
  await lock.release();
  await follower.until(() => true);
  expect(browser.warnings).toEqual([]);
});

test("a paper's quotes stand beside its text, marked in place, and lead to each other", async () => {
  const cwd = freshFolder();
  const text = buildText(
    [
      {
        label: "§ 1 Results",
        text: "## 1 Results\n\nWe tried <b>thumbs</b>. The hand closed in 14 minutes on average. It opened again without help. So it went.",
      },
    ],
    { kind: "markdown", depth: "full" },
  );
  const evidence = [
    {
      claim: "Quick.",
      quote: "The hand closed in 14 minutes on average. It opened again without help.",
      status: "verified",
      locator: "§ 1",
    },
    { claim: "Again.", quote: "It opened again without help. So it went.", status: "verified" },
    { claim: "Forged.", quote: "The hand never closed at all.", status: "not-in-text" },
  ] as const;
  const folder = makeResearch(cwd, name, {
    papers_pool: [
      paper("a", "presented", { text_sha256: text.sha256, analysis: { evidence: [...evidence] } }),
      paper("b", "presented", { abstract: "An abstract.", analysis: { evidence: [evidence[0]] } }),
    ],
  });
  await saveText(textsFolder(folder), "a", text);
  const browser = await served(cwd);
  const shown = await page(browser, `${at}paper/a`);
  expect(shown).toContain(
    '<span id="q1" class="place"></span><mark>The hand closed in 14 minutes on average. </mark><span id="q2" class="place"></span><mark>It opened again without help.</mark><a class="to" href="#e1" aria-label="Quote 1">1</a><mark> So it went.</mark><a class="to" href="#e2" aria-label="Quote 2">2</a>',
  );
  expect(shown).toContain("We tried &lt;b&gt;thumbs&lt;/b&gt;.");
  expect(shown).not.toContain("never closed");
  expect(shown).toContain("1 more quote was not in the text");
  expect(await page(browser, `${at}paper/b`)).toContain("The text of this paper is not stored on this machine.");
  expect(await page(browser)).toContain(`href="${at}paper/a"`);
});

test("the list tells of projects that come, change and go; one that can't be read says why", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, name, { papers_pool: pool });
  const browser = await served(cwd);
  const follower = browser.follow("/events");
  const before = await follower.until((parts) => parts.size === 2);
  expect(await page(browser, "/")).toMatch(
    /Not running, in analysis<\/b> <span class="progress"><progress max="2" value="1">/,
  );
  const feet = makeResearch(cwd, "feet-2026-01-15", { phase: "COMPLETE", project: "Research: Feet of <robots>" });
  // An agent that does not say what it cost has not cost nothing.
  const line = { iteration: 1, at: "2026-01-15T10:00:00Z", unit: "a", phase: "ANALYSIS", outcome: "accepted" };
  writeFileSync(join(feet, "ledger.jsonl"), `${JSON.stringify({ ...line, agent: "cmd:mine", duration_seconds: 3 })}\n`);
  await follower.until((parts) => parts.size === 3);
  const list = await page(browser, "/");
  expect(list).toContain('dir="auto">Feet of &lt;robots&gt;</a>');
  expect(list).toContain("cost not known");
  change(folder, { papers_pool: [pool[0]] });
  await follower.until((parts) => [...before].some(([id, hash]) => parts.has(id) && parts.get(id) !== hash));
  writeFileSync(join(folder, "rrd.json"), "{ broken }");
  await follower.until((parts) => parts.size === 3);
  await expect.poll(() => page(browser, "/")).toContain("It can’t be read: rrd.json:1:");
  rmSync(folder, { recursive: true });
  await follower.until((parts) => parts.size === 2);
});

test("one named project is all that is shown", async () => {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, name, { papers_pool: pool });
  makeResearch(cwd, "feet-2026-01-15");
  const browser = await served(cwd, folder);
  expect((await browser.get("/")).headers.get("location")).toBe(at);
  expect((await browser.get(at)).status).toBe(200);
  expect((await browser.get("/p/feet-2026-01-15/")).status).toBe(404);
});

test("a title is text wherever it stands", async () => {
  const cwd = freshFolder();
  const title = `</script><script>alert(1)</script><img src=x onerror=alert(1)>${"x".repeat(3000)}\u202e`;
  makeResearch(cwd, name, {
    project: `Research: ${title}`,
    papers_pool: [paper("a", "presented", { title, url: "javascript:alert(1)", analysis: { summary: title } })],
  });
  const browser = await served(cwd);
  for (const path of ["/", at, `${at}paper/a`]) {
    const text = await page(browser, path);
    expect(text).not.toMatch(/<script>|<img|href="javascript|\u202e/);
  }
});
