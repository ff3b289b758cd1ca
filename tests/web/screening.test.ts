import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderProject } from "../../src/research/report/documents/render-project.js";
import { pageName } from "../../src/research/project-files/layout.js";
import type { Rrd } from "../../src/research/generated/rrd.js";
import { screeningProject } from "../fixtures/screening-project.js";
import { unitAgent } from "../support/processes/command-agents.js";
import { freshFolder, makeResearch } from "../support/projects/research-folder.js";
import { type Browser, served } from "./served.js";

const name = "hands-2026-03-01";
const at = `/p/${name}/`;

async function opened(): Promise<{ cwd: string; browser: Browser; state: () => Rrd; of: (id: string) => unknown }> {
  const cwd = freshFolder();
  const folder = makeResearch(cwd, name, screeningProject);
  const state = () => JSON.parse(readFileSync(join(folder, "rrd.json"), "utf8")) as Rrd;
  const of = (id: string) => state().papers_pool.find((each) => each.id === id)?.override;
  return { cwd, browser: await served(cwd), state, of };
}

test("only the page itself decides, asks and adds: a foreign origin, a browser without the cookie and a GET change nothing", async () => {
  const { cwd, browser, of } = await opened();
  const before = readFileSync(join(cwd, "researches", name, "rrd.json"), "utf8");
  const form = { which: "waiting", id: "p1", act: "include", text: "10.1000/x" };
  for (const path of ["screen", "ask", "add"]) {
    const status = async (headers: Record<string, string>) => (await browser.post(at + path, form, headers)).status;
    expect([path, await status({ origin: "http://evil.example" })]).toEqual([path, 403]);
    expect([path, await status({ origin: "null" })]).toEqual([path, 403]);
    expect([path, await status({ cookie: "" })]).toEqual([path, 401]);
  }
  expect((await browser.get(`${at}screen?which=waiting&id=p1&act=include`)).status).toBe(200);
  expect((await browser.get(`${at}ask?text=x`)).status).toBe(404);
  expect([of("p1"), readFileSync(join(cwd, "researches", name, "rrd.json"), "utf8")]).toEqual([undefined, before]);
});

test("a decision on the page is what the commands write, and its redirect shows the next record", async () => {
  const { browser, of } = await opened();
  const answer = await browser.post(`${at}screen`, { which: "waiting", id: "p1", by: "c2" });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, `${at}screen?which=waiting&at=p2`]);
  expect(of("p1")).toMatchObject({ decision: "exclude", criterion: "c2", why: "c2 applies (It is an animal study)" });
  const page = await (await browser.get(answer.headers.get("location") ?? "")).text();
  expect(page).toContain("is excluded");
  expect(page).toContain("2 of 3 · 1 decided");
  await browser.post(`${at}screen`, { which: "all", id: "x1", act: "undo" });
  expect(of("p1")).toBeUndefined();
});

test("a decision on the page comes into the report as one of the command does", async () => {
  const { cwd, browser } = await opened();
  const folder = join(cwd, "researches", name);
  await renderProject(folder, { git: false, now: Date.now, notify: () => undefined });
  const page = () => readFileSync(join(folder, pageName), "utf8");
  expect(page()).not.toContain("not about hands");
  await browser.post(`${at}screen`, { which: "waiting", id: "p1", act: "exclude", why: "not about hands" });
  await browser.close();
  expect(page()).toContain("not about hands");
});

test("what a form should not hold changes nothing and is said: an unknown record, a criterion that is not there, no reason", async () => {
  const { browser, state } = await opened();
  const before = state();
  for (const [form, says] of [
    [{ which: "waiting", id: "../../etc/passwd", act: "include" }, "not in this list"],
    [{ which: "nothing", id: "p1", by: "c9" }, "There is no criterion"],
    [{ which: "waiting", id: "p1", act: "exclude", why: " " }, "The reason is empty"],
    [{ which: "waiting", id: "p1", act: "exclude", why: "9" }, "9 names no criterion"],
    [{ which: "waiting", id: "p1", act: "exclude", why: "x".repeat(1001) }, "1001 characters"],
  ] as const) {
    const to = (await browser.post(`${at}screen`, form)).headers.get("location") ?? "";
    expect(await (await browser.get(to)).text()).toContain(says);
  }
  expect(state()).toEqual(before);
  expect((await browser.post(`${at}screen`, { id: "p1", act: "x".repeat(70_000) })).status).toBe(413);
});

test("a question on the page is answered by the agent of the settings, and the answer comes onto the page", async () => {
  const { cwd, browser } = await opened();
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ agent: "baseline", git: false }));
  const json = { accept: "application/json" };
  expect(await (await browser.post(`${at}ask`, { text: " " }, json)).json()).toEqual({
    says: "The question is empty.",
  });
  // Both at once: the answer of one may be there before a second one could follow it.
  const text = "What slips of <b>forty</b> tools?";
  const both = await Promise.all([1, 2].map(() => browser.post(`${at}ask`, { text }, json)));
  const told = await Promise.all(both.map(async (each) => [each.status, (await each.json()) as object]));
  expect(told.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
    [200, { says: "Asked. The answer comes onto this page." }],
    [409, { says: "A question is being answered; ask again when its answer is there." }],
  ]);
  const part = async (id: string) => (await browser.get(`${at}parts/${id}`)).text();
  await expect.poll(() => part("to-ask")).toContain("in the list of questions below");
  expect(await part("to-ask")).not.toContain("<b>forty");
  expect(await part("questions")).toContain("What slips of &lt;b&gt;forty");
});

test("an agent that the folder names counts only once it is trusted, also for the page", async () => {
  const { cwd, browser } = await opened();
  writeFileSync(join(cwd, "ralph.config.json"), JSON.stringify({ agent: unitAgent, unconfined: true }));
  await browser.post(`${at}ask`, { text: "What slips?" });
  const part = async () => (await browser.get(`${at}parts/to-ask`)).text();
  await expect.poll(part).toContain("research-ralph trust");
  expect(existsSync(join(cwd, "researches", name, "answers.jsonl"))).toBe(false);
});

test("a paper is added by what a person names, and what can't be had is said", async () => {
  const { cwd, browser, state } = await opened();
  writeFileSync(join(cwd, "mine.md"), "# Wet hands\n\nAbstract\n\nHands slip when they are wet.\n");
  const add = async (text: string) => {
    const answer = await browser.post(`${at}add`, { text }, { accept: "application/json" });
    return [answer.status, ((await answer.json()) as { says: string }).says];
  };
  expect(await add("mine.md")).toEqual([200, expect.stringMatching(/^added: /)]);
  expect(await add("mine.md")).toEqual([200, expect.stringMatching(/^already there: /)]);
  expect(state().papers_pool.at(-1)).toMatchObject({ title: "Wet hands", status: "pending", added: true });
  expect((await add("nothing.pdf"))[1]).toContain("nothing.pdf");
  // A stolen cookie must not get files of the machine read.
  symlinkSync("/etc/hosts", join(cwd, "hosts.txt"));
  for (const path of ["/etc/hosts", "../".repeat(20) + "etc/hosts", "hosts.txt", "file:///etc/hosts"])
    expect(await add(path)).toEqual([409, expect.stringMatching(/outside the folder|is neither/)]);
  expect(await add("")).toEqual([409, expect.stringContaining("Nothing is named")]);
});
