// Asks an agent about labelled pairs of a claim and a passage, in the way in which a report is checked: a project whose
// claims wait for a check is run, so that brief, controls, refusals and costs are those of a user's run.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeResearch } from "./fixture.mjs";
import { cli, run } from "./measure.mjs";

const folder = "researches/judged-2025-01-01";

/**
 * The pairs with the agent's verdict on each, its answers to controls, and what it took. `cwd`: a folder of its own.
 * Pairs that it gave no verdict on are left out. `why`: what the command says where it started nobody.
 */
export async function judgedBy(agent, pairs, cwd, { unconfined = false } = {}) {
  const { papers, handles } = papersOf(pairs);
  const path = join(cwd, folder);
  mkdirSync(path, { recursive: true });
  writeResearch(path, { papers: 0, more: papers });
  const file = join(path, "rrd.json");
  const rrd = JSON.parse(readFileSync(file, "utf8"));
  const keyOf = (handle) => createHash("sha256").update(handle).digest("hex");
  const claims = handles.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const meaning = { open: { report: 0, step: "check", sentences: [], claims } };
  const requirements = { ...rrd.requirements, target_papers: papers.length };
  const handoff = { product_ideation: { enabled: false } };
  writeFileSync(file, JSON.stringify({ ...rrd, requirements, handoff, meaning, phase: "COMPLETE" }));
  // Its report is written: nothing but the check is left.
  const report = {
    iteration: 1,
    at: "2025-01-01T00:00:00.000Z",
    unit: "report",
    phase: "ANALYSIS",
    outcome: "accepted",
  };
  const written = {
    ...report,
    agent: "bench",
    prompt_sha256: "0".repeat(64),
    confinement: "sandbox",
    duration_seconds: 1,
  };
  writeFileSync(join(path, "ledger.jsonl"), `${JSON.stringify(written)}\n`);
  const env = { ...process.env, RESEARCH_RALPH_TRUST: "true" };
  const args = [cli, "run", folder, "--agent", agent, "--no-git", ...(unconfined ? ["--unconfined"] : [])];
  const { stderr } = await run(process.execPath, args, { cwd, env });
  const after = JSON.parse(readFileSync(file, "utf8"));
  const ledger = readFileSync(join(path, "ledger.jsonl"), "utf8").trim().split("\n").filter(Boolean);
  const byHandle = new Map(
    after.papers_pool.flatMap(({ id, analysis }) =>
      (analysis?.evidence ?? []).map(({ check }, index) => [`${id}#${index + 1}`, check?.verdict]),
    ),
  );
  const judged = pairs.flatMap((pair, index) => {
    const verdict = byHandle.get(handles[index]);
    return verdict === undefined ? [] : [{ ...pair, verdict }];
  });
  return {
    judged,
    rates: Object.values(after.meaning?.checkers ?? {})[0],
    why: /^research-ralph: (.*)$/m.exec(stderr)?.[1],
    lines: ledger.map((line) => JSON.parse(line)).filter(({ unit }) => unit === "check"),
  };
}

/** A paper for each passage, and the handle of each pair. */
function papersOf(pairs) {
  const evidence = new Map();
  const handles = pairs.map(({ claim, passage }) => {
    const own = evidence.get(passage) ?? evidence.set(passage, []).get(passage);
    own.push({ claim, passage, quoted: `0-${passage.length}`, status: "verified", locator: null });
    return `paper_${[...evidence.keys()].indexOf(passage) + 1}#${own.length}`;
  });
  const papers = [...evidence.values()].map((own, index) => ({
    id: `paper_${index + 1}`,
    title: `Paper ${index + 1}`,
    url: `https://example.org/papers/${index + 1}`,
    status: "presented",
    analysis: { summary: "Its passages are judged.", evidence: own },
  }));
  return { papers, handles };
}
