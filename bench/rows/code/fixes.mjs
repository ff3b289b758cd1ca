import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyTo, madeOnce, mutantsOf, randomFrom, repositories } from "../../fault-projects.mjs";
import { Absent, cli, inFolder, run, size } from "../../measure.mjs";

/** Histories of each repository, and mutants that they are drawn from. */
const histories = [14, 13, 13];
const mutants = 18;

export const row = {
  name: "fixes",
  what: `memory of fixes over ${histories.reduce((sum, each) => sum + each)} histories of six faults (mutants a, b, c, a, b, d, each mended by a run; before a returns, the text around it has changed): how often a recommended fix had helped the same fault, how often the fix of a fault that returned was recommended, and new faults with any recommendation; tuned on the first repository`,
  hold: "≥ 90 %; 0 of the new faults",
  command: "research-ralph code, with a scripted agent that reads what it is recommended",
  async run() {
    const told = [];
    const counted = { right: 0, wrong: 0, returned: 0, found: 0, fresh: 0, misled: 0 };
    for (const [at, repository] of repositories.slice(0, size(3, 1)).entries()) {
      const sums = await ofRepository(repository, size(histories[at], 1), randomFrom(at + 1));
      if (at > 0) for (const key of Object.keys(counted)) counted[key] += sums[key];
      told.push(`${repository.name}: ${inWords(sums)}`);
    }
    return { ours: `${told.join("; ")}. The two that are counted: ${inWords(counted)}` };
  },
};

const inWords = ({ right, wrong, returned, found, fresh, misled }) =>
  `${right} of ${right + wrong} recommended had helped the same fault (${right + wrong === 0 ? "–" : Math.round((100 * right) / (right + wrong))} %), ${found} of ${returned} returns found, ${misled} of ${fresh} new faults with a recommendation`;

async function ofRepository(repository, wanted, random) {
  const made = madeOnce(repository);
  const sums = { right: 0, wrong: 0, returned: 0, found: 0, fresh: 0, misled: 0 };
  try {
    const all = mutantsOf(repository, made.folder, size(mutants, 4), random);
    if (all.length < 4) throw new Absent(`${repository.name}: only ${all.length} mutants were noticed by its tests`);
    for (let at = 0; at < wanted; at += 1)
      await inFolder((folder) => history(made.folder, folder, drawn(all, 4, random), sums));
  } finally {
    made.remove();
  }
  return sums;
}

const drawn = (all, count, random) => {
  const rest = [...all];
  return Array.from({ length: count }, () => rest.splice(Math.floor(random() * rest.length), 1)[0]);
};

/** One project in which faults come and are mended; what was recommended at each is counted. */
async function history(made, folder, [a, b, c, d], sums) {
  const project = join(folder, "project");
  copyTo(made, project);
  const agent = writeAgent(folder, project);
  const seen = new Set();
  for (const fault of [a, b, c, a, b, d]) {
    const isBack = seen.has(fault.id);
    const [text, whole] = isBack && fault === a ? movedOn(fault) : [fault.text, fault.whole];
    writeFileSync(join(project, fault.file), text);
    writeFileSync(join(folder, "whole"), whole);
    writeFileSync(
      join(folder, "fault"),
      `${fault.file}\n${fault.id}\n${isBack || fault !== a ? "right" : "wrong first"}\n`,
    );
    for (const name of ["brief", "tried"]) rmSync(join(folder, name), { force: true });
    const args = [
      cli,
      "code",
      "--agent",
      `cmd:${agent}`,
      "--unconfined",
      "--sandbox",
      "host",
      "--rounds",
      "3",
      "--quiet",
    ];
    const env = { ...process.env, HOME: join(folder, "home"), XDG_STATE_HOME: join(folder, "state"), VITEST: "" };
    const { code, stdout, stderr } = await run(process.execPath, args, { cwd: project, env });
    if (code !== 0 || !existsSync(join(folder, "brief")))
      throw new Error(`${fault.id}: exit ${code}: ${(stdout + stderr).slice(-500)}`);
    const recommended = [...readFileSync(join(folder, "brief"), "utf8").matchAll(/Helped: (.*)$/gm)].map(
      ([, did]) => did,
    );
    const right = recommended.filter((did) => did === `mended ${fault.id}`).length;
    sums.right += right;
    sums.wrong += recommended.length - right;
    if (isBack) [sums.returned, sums.found] = [sums.returned + 1, sums.found + (right > 0 ? 1 : 0)];
    else [sums.fresh, sums.misled] = [sums.fresh + 1, sums.misled + (recommended.length > 0 ? 1 : 0)];
    seen.add(fault.id);
  }
}

/** The fault and its mend, each with a comment above the line and one at the top of the file. */
function movedOn({ file, at, text, whole }) {
  const mark = file.endsWith(".py") ? "#" : "//";
  return [text, whole].map((each) => {
    const lines = each.split("\n");
    const indent = /^\s*/.exec(lines[at])[0];
    return [`${mark} Another line.`, ...lines.slice(0, at), `${indent}${mark} As before.`, ...lines.slice(at)].join(
      "\n",
    );
  });
}

/**
 * The agent of all roles. It keeps the first brief of the librarian. The first fault it mends in
 * a wrong way, and then in the right one.
 */
function writeAgent(folder, project) {
  const file = join(folder, "agent.sh");
  mkdirSync(join(folder, "home"));
  writeFileSync(
    file,
    `#!/bin/sh
cat > ${folder}/stdin
{ read -r PLACE; read -r ID; read -r HOW; } < ${folder}/fault
case $(sed -n 's/^# Your role: //p' ${folder}/stdin | head -1) in
librarian)
  [ -e ${folder}/brief ] || cp ${folder}/stdin ${folder}/brief
  printf '{"cause": "a mutant", "files": [{"path": "%s"}], "plan": ["mend it"]}\\n' "$PLACE" ;;
artisan)
  if [ "$HOW" = "wrong first" ] && [ ! -e ${folder}/tried ]; then
    touch ${folder}/tried ${project}/note.txt
    printf '{"hypothesis": "no idea", "action_taken": "noted %s"}\\n' "$ID"
  else
    cp ${folder}/whole ${project}/"$PLACE"
    printf '{"hypothesis": "a mutant", "action_taken": "mended %s"}\\n' "$ID"
  fi ;;
critic) echo '{"decision": "approve", "findings": []}' ;;
adversary) echo '{"tests": [], "findings": []}' ;;
esac
`,
  );
  chmodSync(file, 0o755);
  return file;
}
