import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isValid } from "../../../src/engine/storage/schema-check.js";
import type { TaskState } from "../../../src/task/generated/ralph-state.js";
import { noBubblewrap } from "../../support/processes/bubblewrap.js";
import { openTaskFolder, planted } from "./killed.js";

/** How many kills have to meet planted files, over both places; those that meet none come on top. */
const kills = Number(process.env["RR_GUARD_KILLS"] ?? 8);
/** Where the random numbers begin. */
const seed = Number(process.env["RR_GUARD_SEED"] ?? 1);
const places = [...(noBubblewrap === undefined ? ["bubblewrap"] : []), "host"];
/** The next plain starts, none with a word on agent, sandbox or criteria. */
const starts = [["list"], ["status"], ["config"], ["run"], ["task", "--dry-run", "--sandbox", "host"]] as const;

/** Numbers that are the same in every run of the test. */
function numbers(begin: number): () => number {
  let state = Math.imul(begin, 2_654_435_761);
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * A task that is never done. Its agents plant files, and on the host `tamper` with our own as well; an `innocent` one
 * does nothing. Run `run` has its agent of attempt `hold` wait, all planted, until it is killed or there is a file `go`.
 */
function prepare(place: string, deeds: "plant" | "tamper" | "innocent") {
  const it = openTaskFolder(true);
  // In the sandbox the task stands in another file, so that ralph.json can be planted.
  const file = place === "host" ? "ralph.json" : "own.json";
  const own = JSON.stringify({ task: "Never", acceptance_criteria: [{ type: "file_exists", path: "never" }] });
  it.write(file, own);
  const files = Object.entries(planted(it.mark)).filter(([name]) => name !== file);
  const tampering = [
    "echo '{}' > ralph.state.json; echo '{}' > .ralph/journal/999.json; : > .ralph/ledger.jsonl; echo '{}' > ralph.json",
    `echo 'touch ${it.mark}' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; git config core.fsmonitor ./x`,
  ];
  const lines = [
    "cat > /dev/null; n=$(( $(ls -d planted-$1-* 2>/dev/null | wc -l) + 1 )); : > begun-$1-$n",
    ...(deeds === "innocent" ? [] : files.map(([name, text]) => `cat > ${name} <<'END'\n${text}\nEND`)),
    ...(deeds === "tamper" ? tampering : []),
    ": > planted-$1-$n; while [ $n = $2 ] && [ ! -e go ]; do sleep 0.05; done; echo done",
  ];
  const script = join(it.folder, "agent.sh");
  it.write("agent.sh", lines.join("\n"));
  const has = (name: string) => existsSync(join(it.folder, name));
  const read = (name: string) => (has(name) ? readFileSync(join(it.folder, name), "utf8") : "");
  return {
    it,
    has,
    script,
    args: (run: number, hold: number) => [
      ...["task", file, "--json", "--force", "--sandbox", place, "--agent", `cmd:sh ${script} ${run} ${hold}`],
      ...(place === "host" ? ["--unconfined"] : []),
    ],
    there: () => files.map(([name]) => name).filter(has),
    ledger: () => read(".ralph/ledger.jsonl").split("\n").slice(0, -1),
    state: () => (has("ralph.state.json") ? (JSON.parse(read("ralph.state.json")) as TaskState) : undefined),
    /** What is wrong now that somebody has put things right; empty: nothing. */
    wrong: () => [
      ...files.map(([name]) => name).filter(has),
      ...[".git/hooks/post-commit", ".ralph/journal/999.json"].filter(has),
      ...(existsSync(it.mark) ? ["what was planted ran"] : []),
      ...(read(".git/config").includes("fsmonitor") ? [".git/config"] : []),
      ...(read(file) === own ? [] : [file]),
      ...(deeds === "innocent" && has(".ralph/set-aside") ? [".ralph/set-aside"] : []),
    ],
    /** Names in the sentences of a text that accuse an agent of what it has not done. */
    accused: (text: string) =>
      [...text.matchAll(/(?:: |"|^)([^:"\n]+?) changed while /gm)]
        .flatMap(([, names = ""]) => names.split(/, | and (?=\d+ more)/))
        .filter((name) => {
          const isPlanted = deeds !== "innocent" && files.some(([each]) => name === each);
          const isTampered =
            deeds === "tamper" && /^(?:ralph\.state\.json|ralph\.json|\.ralph\/.+|\.git\/.+|\d+ more)$/.test(name);
          return !isPlanted && !isTampered && !(deeds !== "innocent" && name === "1 more");
        }),
  };
}

/** When a kill comes: all is planted and the agent waits; while it plants; while its attempt ends, or the next begins. */
function instant(next: () => number, run: number) {
  const kind = next();
  if (kind < 0.5) {
    // The attempts before it have been kept by then.
    const hold = 1 + Math.floor(next() * 2);
    return { hold, kept: hold - 1, marker: `planted-${run}-${hold}`, wait: next() * 150 };
  }
  if (kind < 0.7) return { hold: 1, kept: 0, marker: `begun-${run}-1`, wait: next() * 60 };
  // The second one waits, however late the kill comes: a fifth in a row would end the task as stuck.
  return { hold: 2, kept: 0, marker: `planted-${run}-1`, wait: next() * 700 };
}

type Counts = { died: number; met: number; innocent: number; attempts: number };

/** Kills runs of one task, each followed by a plain start, after which all has to be right. */
async function campaign(task: ReturnType<typeof prepare>, next: () => number, counts: Counts, isOver: () => boolean) {
  const { it, args } = task;
  let [ledger, attempts]: [string[], string[]] = [[], []];
  const check = (at: string, least: number) => {
    expect(task.wrong(), at).toEqual([]);
    expect(it.guards(), at).toEqual([]);
    const state = task.state();
    if (state !== undefined) expect(isValid("ralph-state", state), at).toBe(true);
    const now = { ledger: task.ledger(), attempts: state?.attempts.map((each) => JSON.stringify(each)) ?? [] };
    expect(now.ledger.slice(0, ledger.length), at).toEqual(ledger);
    expect(now.attempts.slice(0, attempts.length), at).toEqual(attempts);
    expect(now.ledger.length, at).toBeGreaterThanOrEqual(ledger.length + least);
    expect(now.attempts.length, at).toBeGreaterThanOrEqual(attempts.length + least);
    counts.attempts += now.attempts.length - attempts.length;
    ({ ledger, attempts } = now);
  };
  let run = 0;
  try {
    for (; run < 4 && !isOver(); run += 1) {
      const { hold, kept, marker, wait } = instant(next, run);
      rmSync(join(it.folder, "go"), { force: true });
      const out = await it.killAfter(args(run, hold), () => task.has(marker), wait);
      it.write("go", "");
      await it.gone(task.script);
      const met = task.there();
      counts.died += 1;
      if (met.length > 0) counts.met += 1;
      const start = starts[Math.floor(next() * starts.length)] ?? starts[0];
      const { code, err } = await it.run(...start);
      const at = `kill ${counts.died}, ${marker} and ${Math.round(wait)} ms, then ${start.join(" ")}: ${code} ${err}`;
      expect([0, 1, 2], at).toContain(code);
      expect(err, at).not.toMatch(/^ +at /m);
      // Told, with what was done.
      if (met.length > 0) expect(err, at).toContain("changed while an agent worked whose run was then killed");
      expect(task.accused(`${out}\n${err}`), at).toEqual([]);
      check(at, kept);
    }
    // The journal's last entry is replayed, and every attempt has its line.
    const { err, code } = await it.run(...args(run, 0), "-i", "1");
    check(`the last run: ${code} ${err}`, 1);
    const iterations = ledger.map((line) => (JSON.parse(line) as { iteration: number }).iteration);
    expect(iterations).toEqual(attempts.map((each) => (JSON.parse(each) as { iteration: number }).iteration));
  } finally {
    it.write("go", "");
    await it.gone(task.script);
    it.close();
  }
}

describe.concurrent(`${kills} kills that meet planted files:`, () => {
  test.for(places)(
    "nothing planted is left or runs, nothing of ours is lost, no innocent agent is accused: %s",
    { timeout: 60_000 + kills * 20_000 },
    async (place) => {
      const next = numbers(seed + place.length);
      const wanted = Math.ceil(kills / places.length);
      const counts: Counts = { died: 0, met: 0, innocent: 0, attempts: 0 };
      const order = [place === "host" ? "tamper" : "plant", "innocent", "plant"] as const;
      for (let folder = 0; counts.met < wanted; folder += 1) {
        const deeds = order[folder % order.length] ?? "plant";
        const before = counts.died;
        const isOver = () => (deeds === "innocent" ? counts.died >= before + 1 : counts.met >= wanted);
        await campaign(prepare(place, deeds), next, counts, isOver);
        if (deeds === "innocent") counts.innocent += counts.died - before;
      }
      const { died, met, innocent, attempts } = counts;
      process.stderr.write(
        `${place}: ${died} kills, ${met} met planted files, ${innocent} an innocent agent; ${attempts} attempts kept\n`,
      );
    },
  );
});
