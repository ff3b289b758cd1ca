import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadMachine } from "../../../src/code/round/next-role.js";
import { pendingEntries } from "../../../src/engine/storage/state/journal.js";
import { isValid } from "../../../src/engine/storage/schema-check.js";
import { sharedPackage } from "../../support/processes/built.js";
import { killedOrFinished, killProcesses } from "../../support/processes/kill-processes.js";
import { byRole, codeProject, offByOne } from "../../support/projects/code-project.js";

/** Numbers that are the same in every run of the test. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** RR_KILLS=100 makes the whole campaign, which takes minutes. */
const most = Number(process.env["RR_KILLS"] ?? 25);
const longest = Math.max(900_000, most * 15_000);

it(
  "a coding run that is killed at random instants resumes at the right role and loses nothing",
  async () => {
    const program = join(await sharedPackage(), "dist/cli.js");
    const placeOf = await loadMachine();
    const next = numbers(11);
    let kills = 0;
    while (kills < most) {
      const project = codeProject(offByOne);
      // The first change is wrong, so that there are two rounds.
      const right = byRole({});
      const artisan = `if grep -q wrong src/sum.mjs; then sed -i 's/i < b/i <= b/' src/range.mjs; else echo '// wrong' >> src/sum.mjs; fi; echo '{"hypothesis":"h","action_taken":"a"}'`;
      const agent = project.agent(
        `sleep 0.0$(( $$ % 10 ))\n${right.replace(/^artisan\).*$/m, `artisan) ${artisan} ;;`)}`,
      );
      const start = () =>
        spawn(process.execPath, [program, "code", "--json", ...agent], {
          cwd: project.folder,
          env: { PATH: process.env["PATH"], HOME: project.top },
          stdio: ["ignore", "pipe", "pipe"],
          detached: true,
        });
      let steps = 0;
      for (let isDone = false; !isDone && kills < most;) {
        // What a killed run had only noted is folded in at the next start: then the record tells of no role yet.
        const isNoted = pendingEntries(project.folder).length > 0;
        const before = !isNoted && existsSync(project.path("ralph.state.json")) ? project.state() : undefined;
        const child = start();
        const timer = setTimeout(() => child.pid !== undefined && killProcesses([-child.pid]), 300 + next() * 5_000);
        const { how, out } = await killedOrFinished(child).finally(() => clearTimeout(timer));
        isDone = how === "finished";
        if (!isDone) kills += 1;
        const started: string[] = [];
        for (const line of out.split("\n"))
          if (line.includes('"iteration-started"') && line.endsWith("}")) started.push(JSON.parse(line).role);
        // The first agent that is started is the role that the round's record says is next.
        const last = before?.rounds?.at(-1);
        if (last !== undefined && started[0] !== undefined) {
          const place = placeOf(last.steps, true);
          if (place === "librarian" || place === "artisan" || place === "critic" || place === "adversary")
            expect(started[0]).toBe(place);
        }
        if (!existsSync(project.path("ralph.state.json"))) continue;
        const state = project.state();
        expect(isValid("ralph-state", state)).toBe(true);
        const count = (state.rounds ?? []).reduce((sum, round) => sum + round.steps.length, 0);
        expect(count).toBeGreaterThanOrEqual(steps);
        steps = count;
        const attempts = state.attempts.map(({ iteration }) => iteration);
        expect(new Set(attempts).size).toBe(attempts.length);
        if (existsSync(project.path(".ralph/ledger.jsonl"))) {
          const whole = readFileSync(project.path(".ralph/ledger.jsonl"), "utf8");
          const lines = whole
            .slice(0, whole.lastIndexOf("\n") + 1)
            .split("\n")
            .filter((line) => line !== "");
          expect(attempts.length - lines.length).toBeGreaterThanOrEqual(0);
          expect(attempts.length - lines.length).toBeLessThanOrEqual(1);
        }
      }
      expect((await killedOrFinished(start())).how).toBe("finished");
      expect(project.state().done).toBe(true);
      expect(project.read("src/range.mjs")).toContain("i <= b");
      project.remove();
    }
  },
  longest,
);
