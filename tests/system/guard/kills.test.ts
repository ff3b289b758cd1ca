import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { isValid } from "../../../src/engine/storage/schema-check.js";
import type { TaskState } from "../../../src/task/generated/ralph-state.js";
import { noBubblewrap } from "../../support/processes/bubblewrap.js";
import { openTaskFolder, planted } from "./killed.js";

/** Kills of the whole group at random instants while an agent plants files; RR_GUARD_KILLS says how many. */
const kills = Number(process.env["RR_GUARD_KILLS"] ?? 30);
const places = [...(noBubblewrap === undefined ? ["bubblewrap"] : []), "host"];

/** Numbers that are the same in every run of the test. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A task that is never done, whose agent plants all it can and then makes one file more. */
function prepare(place: string) {
  const it = openTaskFolder(true);
  const own = JSON.stringify({
    task: "Make them all",
    acceptance_criteria: Array.from({ length: 60 }, (_, index) => ({ type: "file_exists", path: `${index + 1}.txt` })),
    max_iterations: 5_000,
  });
  // In the sandbox the task stands in another file, so that ralph.json can be planted.
  const file = place === "host" ? "ralph.json" : "own.json";
  it.write(file, own);
  const files = Object.entries(planted(it.mark));
  const lines = files.map(([name, text]) => `cat > ${name} <<'END' 2>/dev/null\n${text}\nEND`);
  const onHost = [
    "echo '{}' > ralph.state.json; echo '{}' > .ralph/journal/999.json; : > .ralph/ledger.jsonl",
    `echo 'touch ${it.mark}' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; git config core.fsmonitor ./x`,
  ];
  const made = `n=$(ls [0-9]*.txt 2>/dev/null | wc -l); : > $(( n + 1 )).txt; sleep 0.$(( $$ % 8 )); echo done`;
  it.write("agent.sh", ["cat > /dev/null", ...lines, ...(place === "host" ? onHost : []), made].join("\n"));
  const args = ["task", file, "--json", "--sandbox", place, "--agent", "cmd:sh agent.sh"];
  return {
    it,
    own,
    file,
    args: [...args, ...(place === "host" ? ["--unconfined"] : [])],
    names: files.map(([name]) => name),
  };
}

test.for(places)(
  `${kills} kills with planted files leave nothing planted, run nothing of it and lose nothing of ours: %s`,
  { timeout: 60_000 + kills * 20_000 },
  async (place) => {
    const next = numbers(kills + place.length);
    let [healed, died, attempts] = [0, 0, 0];
    while (died < Math.ceil(kills / places.length)) {
      const { it, own, file, args, names } = prepare(place);
      const there = () => names.filter((name) => name !== file && existsSync(join(it.folder, name)));
      let counted = 0;
      try {
        // Well before the task is done.
        while (died < Math.ceil(kills / places.length) && counted < 8) {
          // Mostly once an agent has begun to plant; the others at any instant since the start.
          const isLate = next() > 0.2;
          const end = await it.killAfter(
            args,
            () => !isLate || there().length > 0,
            next() * (isLate ? next() * 3_000 : 3_000),
          );
          if (end.how === "finished") break;
          died += 1;
          // On the host the agent outlives the kill: it plants on until it ends.
          if (place === "host") await sleep(1_200);
          if (there().length > 0) healed += 1;
          const { code, err } = await it.run("list");
          const about = `kill ${died}: ${err}`;
          expect(code, about).toBe(0);
          expect(there(), about).toEqual([]);
          expect(readFileSync(join(it.folder, file), "utf8"), about).toBe(own);
          for (const path of [
            it.mark,
            join(it.folder, ".git/hooks/post-commit"),
            join(it.folder, ".ralph/journal/999.json"),
          ])
            expect(existsSync(path), about).toBe(false);
          expect(it.guards(), about).toEqual([]);
          const stateFile = join(it.folder, "ralph.state.json");
          if (!existsSync(stateFile)) continue;
          const state = JSON.parse(readFileSync(stateFile, "utf8")) as TaskState;
          expect(isValid("ralph-state", state), about).toBe(true);
          expect(state.attempts.length, about).toBeGreaterThanOrEqual(counted);
          attempts += state.attempts.length - counted;
          counted = state.attempts.length;
        }
      } finally {
        it.close();
      }
    }
    // Kills that met no agent at work would show nothing.
    expect(healed).toBeGreaterThan(died / 10);
    process.stderr.write(`${place}: ${died} kills, ${healed} with files planted, ${attempts} attempts kept\n`);
  },
);
