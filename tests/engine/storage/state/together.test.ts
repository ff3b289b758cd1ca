import fs, { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ExpectedError } from "../../../../src/engine/lib/errors.js";
import { defaultHistoryLimits } from "../../../../src/engine/lib/history-limits.js";
import { openWriter } from "../../../../src/engine/storage/state/fold.js";
import { makeJournal } from "../../../../src/engine/storage/state/journal.js";
import type { Fold } from "../../../../src/research/project-files/research.js";
import { openResearch } from "../../../../src/research/project-files/research.js";
import type { Rrd } from "../../../../src/research/generated/rrd.js";
import { researchFormat } from "../../../../src/research/project-files/rrd-file.js";
import { derive, deriveBetween } from "../../../../src/research/workflow/derive.js";
import fc from "../../../support/runner/fast-check.js";
import {
  acceptance,
  git,
  open,
  paperOf,
  pendingPaper,
  read,
  readRrd,
  repository,
  researchFolder,
  researchIn,
  sampleRrd,
  temporaryFolder,
  type Told,
  writeRrd,
} from "../../../support/folders.js";

const journalled = (folder: string) => readdirSync(join(folder, ".ralph/journal")).filter((name) => name !== "done");
const iterationsIn = (folder: string) =>
  read(folder, "ledger.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { iteration: number }).iteration);

/** What comes of one iteration: a paper is read, a result is refused, or an agent fails; all of it remembered. */
function foldOf(iteration: number, outcome: "accepted" | "refused" | "failed"): Fold {
  const id = `sample_${iteration}`;
  const whole = acceptance(iteration);
  const observation = { iteration, unit: id, outcome, said: `It was ${outcome}.`, digest: `read ${id}` };
  const observed = { in: "loop", set: {}, add: { observations: [observation] } };
  const insight = { paper_id: id, insight: `Found in ${iteration}`, tags: [] };
  if (outcome === "accepted")
    return {
      ...whole,
      // All take the same number, as those do that were judged from one state.
      changes: [
        { in: "papers_pool", id, set: { status: "presented", iteration } },
        { in: "insights", id: "insight_001", set: { ...insight, id: "insight_001" }, was: null },
        ...whole.changes.slice(2),
        observed,
      ],
      files: iteration % 3 === 0 ? [{ name: "research-report.md", text: `Report ${iteration}\n` }] : [],
      appends: [{ name: "queries.jsonl", text: `{"query":${iteration}}\n` }],
    };
  const { progress: _, ...silent } = whole;
  const refusal = { iteration, at: whole.at, reasons: ["no number"] };
  const refused = [{ in: "papers_pool", id, set: {}, add: { refusals: [refusal] } }, observed];
  return {
    ...silent,
    changes: outcome === "refused" ? refused : [observed],
    ledger: { ...whole.ledger, outcome },
    commitsLater: outcome === "failed",
  };
}

const names = ["rrd.json", "ledger.jsonl", "progress.txt", "queries.jsonl", "research-report.md"];
const filesIn = (folder: string) =>
  Object.fromEntries(names.map((name) => [name, fs.existsSync(join(folder, name)) ? read(folder, name) : ""]));

/** A project as the program itself opens it. */
async function opened(folder: string, told: Told[] = []) {
  const limits = { ...defaultHistoryLimits, observations: 3, recent: 1, window: 4 };
  const research = await openResearch(folder, {
    derive: (rrd, ledger) => derive(rrd, ledger, limits),
    deriveBetween: (rrd, ledger) => deriveBetween(rrd, ledger, limits),
    git: false,
    notify: (level, message) => told.push({ level, message }),
  });
  return research;
}

/**
 * Folds these one by one, or in groups of these sizes, the state being loaded and sometimes edited in between, as the
 * loop does.
 */
async function foldIn(
  folder: string,
  folds: readonly Fold[],
  sizes: readonly number[] | undefined,
  edited: number,
): Promise<void> {
  const research = await opened(folder);
  const left = [...folds];
  for (const size of [...(sizes ?? folds.map(() => 1)), folds.length]) {
    const group = left.splice(0, size);
    const together = sizes === undefined ? (work: () => Promise<void>) => work() : research.together;
    await together(async () => {
      for (const fold of group) {
        const { rrd, ledger } = await research.load();
        expect(ledger).toHaveLength(folds.indexOf(fold));
        // What a summary is made of is what stands there now.
        const seen = (rrd.loop?.observations ?? []).map(({ iteration }) => iteration).join(" ");
        if (fold.iteration % 5 === edited)
          await research.edit((now) => ({ ...now, loop: { ...now.loop, history_summary: `After ${seen}` } }));
        await research.fold(fold);
      }
    });
    expect(journalled(folder)).toEqual([]);
  }
  await research.close();
}

describe("results that are folded together", () => {
  it("leave the same files as one by one, whatever their order and however they are grouped", async () => {
    const most = 9;
    const cases = fc.record({
      outcomes: fc.array(fc.constantFrom("accepted" as const, "refused" as const, "failed" as const), {
        minLength: most,
        maxLength: most,
      }),
      order: fc.shuffledSubarray(
        Array.from({ length: most }, (_, index) => index + 1),
        { minLength: 2 },
      ),
      sizes: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }),
      edited: fc.integer({ min: 0, max: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ outcomes, order, sizes, edited }) => {
        const folds = order.map((iteration) => foldOf(iteration, outcomes[iteration - 1] ?? "accepted"));
        const [alone, grouped] = [researchFolder(sampleRrd(most)), researchFolder(sampleRrd(most))];
        await foldIn(alone, folds, undefined, edited);
        await foldIn(grouped, folds, sizes, edited);
        expect(filesIn(grouped)).toEqual(filesIn(alone));
        expect(iterationsIn(grouped)).toEqual(order);
      }),
      { numRuns: 25 },
    );
  });

  it("read and write the state once, and stand in the journal before that", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    const before = read(folder, "rrd.json");
    await research.together(async () => {
      for (const iteration of [1, 2, 3]) await research.fold(acceptance(iteration));
      expect(read(folder, "rrd.json")).toBe(before);
      expect(journalled(folder)).toEqual(["1.json", "2.json", "3.json"]);
      expect((await research.load()).rrd.statistics).toEqual({ total_analyzed: 3, lines: 3 });
    });
    expect(readRrd(folder).statistics).toEqual({ total_analyzed: 3, lines: 3 });
    expect(journalled(folder)).toEqual([]);
    expect(read(folder, ".ralph/rrd.last-good.json")).toBe(read(folder, "rrd.json"));
  });

  it("are merged with what a person saves meanwhile", async () => {
    const folder = researchFolder();
    const told: Told[] = [];
    const research = await open(folder, { told });
    await research.together(async () => {
      await research.fold(acceptance(1));
      const rrd = readRrd(folder);
      const papers = rrd.papers_pool.map((paper) => ({ ...paper, score: paper.id === "sample_2" ? 7 : null }));
      writeRrd(folder, { ...rrd, description: "mine", papers_pool: papers });
      await research.fold(acceptance(2));
    });
    const rrd = readRrd(folder);
    expect(rrd.description).toBe("mine");
    expect(rrd.papers_pool.map(({ status, score }) => [status, score]).slice(0, 3)).toEqual([
      ["presented", 30],
      ["presented", 7],
      ["pending", null],
    ]);
    expect(told.map(({ message }) => message)).toEqual([
      "You changed score of sample_2 during the run; your version stays.",
    ]);
  });

  it("over a file that a person breaks meanwhile wait in the journal, and are made up for in their order", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    const text = read(folder, "rrd.json");
    const folded = research.together(async () => {
      await research.fold(acceptance(2));
      await research.fold(acceptance(1));
      writeFileSync(join(folder, "rrd.json"), "{ broken }");
    });
    await expect(folded).rejects.toBeInstanceOf(ExpectedError);
    expect(journalled(folder)).toEqual(["1.json", "2.json"]);
    writeFileSync(join(folder, "rrd.json"), text);
    expect((await research.load()).rrd.statistics).toEqual({ total_analyzed: 2, lines: 2 });
    expect(iterationsIn(folder)).toEqual([2, 1]);
  });

  it("are kept where a later one meets a bug, or would make the file invalid", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    const invalid = { ...acceptance(2), changes: [{ in: "rrd", set: { phase: "NOWHERE" } }] };
    const folded = research.together(async () => {
      await research.fold(acceptance(1));
      await research.fold(invalid);
    });
    await expect(folded).rejects.toThrow("the fold of iteration 2 would make rrd.json invalid");
    expect([iterationsIn(folder), journalled(folder)]).toEqual([[1], []]);
    await research.fold(acceptance(3));
    expect(iterationsIn(folder)).toEqual([1, 3]);
  });

  it("are not written where another program has the folder by then, and are made up for later", async () => {
    const folder = researchFolder();
    const research = await open(folder);
    const before = read(folder, "rrd.json");
    const folded = research.together(async () => {
      await research.fold(acceptance(1));
      writeFileSync(join(folder, ".ralph/lock"), JSON.stringify({ pid: 1, host: "elsewhere", token: "far" }));
    });
    await expect(folded).rejects.toThrow("on the machine elsewhere");
    expect([read(folder, "rrd.json"), journalled(folder)]).toEqual([before, ["1.json"]]);
    rmSync(join(folder, ".ralph/lock"));
    const again = await open(folder);
    expect(paperOf((await again.load()).rrd, "sample_1")?.status).toBe("presented");
  });

  it("are one commit, which names them all; one that is alone has its own message", async () => {
    const root = repository();
    const folder = researchIn(root);
    const research = await open(folder, { git: true });
    await research.together(async () => {
      for (const iteration of [1, 2]) await research.fold(acceptance(iteration));
    });
    await research.together(() => research.fold(acceptance(3)));
    await research.together(async () => {
      for (const iteration of [4, 5]) await research.fold({ ...acceptance(iteration), commitsLater: true });
    });
    expect(
      git(root, "log", "--format=%B%x00")
        .split("\0")
        .map((message) => message.trim()),
    ).toEqual([
      "analysis: sample_3 (presented)",
      "2 iterations\n\n#1 analysis: sample_1 (presented)\n#2 analysis: sample_2 (presented)",
      "begin",
      "",
    ]);
    expect(git(folder, "show", "HEAD~1:./ledger.jsonl").trim().split("\n")).toHaveLength(2);
  });

  it("lose nothing and double nothing by a kill between any two steps", async () => {
    const folder = researchFolder(sampleRrd(4));
    const folds = [foldOf(3, "accepted"), foldOf(1, "accepted"), foldOf(2, "refused"), foldOf(4, "accepted")];
    const research = await opened(folder);
    await research.fold(folds[0] as Fold);
    const kills = await instantsOf(folder, () =>
      research.together(async () => {
        for (const fold of folds.slice(1)) await research.fold(fold);
      }),
    );
    const whole = filesIn(folder);
    await research.close();
    expect(kills.length).toBeGreaterThan(40);
    const made = new Set<number>();
    for (const killed of kills) {
      // Whoever reads before the next start finds a whole file.
      expect(() => readRrd(killed)).not.toThrow();
      rmSync(join(killed, ".ralph/lock"), { force: true });
      const again = await opened(killed);
      const { ledger } = await again.load();
      made.add(ledger.length);
      // Results whose entry was not written are those of agents that a kill ends: their units are done again.
      for (const fold of folds.slice(ledger.length)) await again.fold(fold);
      expect(filesIn(killed)).toEqual(whole);
      expect(journalled(killed)).toEqual([]);
      await again.close();
    }
    expect([...made].toSorted()).toEqual([1, 2, 3, 4]);
  });
});

it("results that a kill left without their lines are merged once, also those that the state has forgotten since", async () => {
  const folder = researchFolder(sampleRrd(6));
  const research = await opened(folder);
  await research.together(async () => {
    for (const iteration of [1, 2, 3, 4, 5, 6]) await research.fold(foldOf(iteration, "accepted"));
  });
  await research.close();
  const whole = filesIn(folder);
  expect(readRrd(folder).loop?.observations).toHaveLength(4);
  const done = join(folder, ".ralph/journal/done");
  for (const name of fs.readdirSync(done)) fs.renameSync(join(done, name), join(folder, ".ralph/journal", name));
  rmSync(join(folder, "ledger.jsonl"));
  const again = await opened(folder);
  await again.load();
  expect(filesIn(folder)).toEqual(whole);
  await again.close();
});

/** Copies of the folder as a kill would leave it: before each change on the disk while it works, and in its middle. */
async function instantsOf(folder: string, work: () => Promise<void>): Promise<string[]> {
  const root = temporaryFolder();
  const kept: string[] = [];
  const { writeFileSync: write, renameSync, unlinkSync, rmSync: remove, openSync } = fs;
  let isOurs = false;
  const keep = () => {
    if (isOurs) return;
    isOurs = true;
    const copy = join(mkdtempSync(join(root, "kill-")), "sample");
    cpSync(folder, copy, { recursive: true });
    kept.push(copy);
    isOurs = false;
  };
  const before =
    <Args extends unknown[], Result>(change: (...args: Args) => Result) =>
    (...args: Args): Result => {
      keep();
      return change(...args);
    };
  const torn: typeof write = (file, data, ...rest) => {
    keep();
    if (typeof file === "number" && Buffer.isBuffer(data) && !isOurs) {
      const half = Math.floor(data.length / 2);
      write(file, data.subarray(0, half), ...rest);
      keep();
      return write(file, data.subarray(half), ...rest);
    }
    return write(file, data, ...rest);
  };
  const own = { writeFileSync: torn, renameSync: before(renameSync), unlinkSync: before(unlinkSync) };
  Object.assign(fs, { ...own, rmSync: before(remove), openSync: before(openSync) });
  syncBuiltinESMExports();
  const putBack = () => {
    Object.assign(fs, { writeFileSync: write, renameSync, unlinkSync, rmSync: remove, openSync });
    syncBuiltinESMExports();
  };
  onTestFinished(putBack);
  try {
    await work();
  } finally {
    putBack();
  }
  return kept;
}

/** A writer with checkpoints that only note what they are asked. */
async function writing(folder: string, options: Partial<Parameters<typeof openWriter<Rrd>>[2]> = {}) {
  makeJournal(folder);
  const commits: [string, boolean | undefined][] = [];
  const nothing = async () => undefined;
  const commit = async (message: string, later?: boolean) => void commits.push([message, later]);
  const checkpoints = { commit, announce: nothing, finish: nothing };
  const all = { derive, notify: () => undefined, ...options };
  return { writer: await openWriter(folder, researchFormat, all, checkpoints), commits };
}

it("an edit between results that are committed later is no reason to commit them now", async () => {
  const { writer, commits } = await writing(researchFolder());
  await writer.load();
  writer.hold();
  await writer.fold({ ...acceptance(1), commitsLater: true });
  await writer.edit((rrd) => ({ ...rrd, description: "mine" }));
  await writer.write();
  expect(commits).toEqual([["analysis: sample_1 (presented)", true]]);
});

it("results together are committed now where one of them is, whatever comes after it", async () => {
  const { writer, commits } = await writing(researchFolder());
  await writer.load();
  writer.hold();
  await writer.fold(acceptance(1));
  await writer.fold({ ...acceptance(2), commitsLater: true });
  await writer.write();
  expect(commits).toEqual([[expect.stringMatching(/^2 iterations\n/), undefined]]);
});

it("results from which something invalid would follow are a bug of ours, and stand in the journal", async () => {
  const folder = researchFolder();
  const wrong: typeof derive = (rrd, lines) => (lines.length === 0 ? rrd : { ...rrd, phase: "NOWHERE" as never });
  const { writer } = await writing(folder, { derive: wrong, deriveBetween: (rrd) => rrd });
  const before = read(folder, "rrd.json");
  await writer.load();
  writer.hold();
  await writer.fold(acceptance(1));
  await expect(writer.write()).rejects.toThrow("what follows from the records would make rrd.json invalid");
  expect([read(folder, "rrd.json"), journalled(folder)]).toEqual([before, ["1.json"]]);
});

it("a writer that holds nothing writes nothing", async () => {
  const folder = researchFolder({ ...sampleRrd(), papers_pool: [pendingPaper(1)] });
  const { writer, commits } = await writing(folder);
  const before = read(folder, "rrd.json");
  await writer.load();
  writer.hold();
  await writer.write();
  expect([read(folder, "rrd.json"), commits]).toEqual([before, []]);
});
