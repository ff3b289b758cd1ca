import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "../../../scripts/bundle.mjs";
import { bornOut, comparison, judgedPairs } from "../../judged-pairs.mjs";
import { judgedBy } from "../../judges.mjs";
import { Absent, inFolder, size, thousands } from "../../measure.mjs";

const most = size(400, 24);

export const row = {
  name: "judges",
  what: `claims with their passages that an agent judges as it checks a report: those of a CSV file (claim, passage, label), or ${most} pairs made here, sentences of papers and twins by rule`,
  hold: "no model was measured yet",
  command: "npm run bench -- judges --agent <name> --data <file>",
  async run({ agent, data, rehearse, unconfined }) {
    if (agent === undefined && rehearse !== true) throw new Absent("it takes --agent <name>");
    const modules = await load({
      twins: "src/research/units/check/twins.ts",
      jats: "src/text/documents/jats/read-jats.ts",
      quotes: "src/text/evidence/find-quote.ts",
    });
    const { readJats } = modules.jats;
    const { pairs } = await judgedPairs(
      data,
      { ...modules.twins, readJats, findQuote: modules.quotes.findQuote },
      most,
    );
    return await inFolder(async (cwd) => {
      const found = await judgedBy(agent ?? scripted(cwd, pairs), pairs, cwd, { unconfined });
      if (found.judged.length === 0) throw new Error(`no claim was judged: ${reasonOf(found)}`);
      return { ours: `${agent ?? "a rehearsal"}: ${told(found, pairs)}` };
    });
  },
};

const reasonOf = ({ lines, why }) =>
  lines.findLast(({ reasons }) => reasons !== undefined)?.reasons[0] ?? why ?? "no iteration was run";
const share = (value) => (Number.isNaN(value) ? "–" : value.toFixed(3));

/** The figures on one line, the matrix first: a label with how often each verdict was given to it. */
function told({ judged, rates, lines }, pairs) {
  const labels = [...new Set(pairs.map(({ label }) => label))];
  const matrix = labels.map((label) => {
    const own = judged.filter((each) => each.label === label);
    const verdicts = [...new Set(own.map(({ verdict }) => verdict))].toSorted();
    return `${label}: ${verdicts.map((name) => `${own.filter(({ verdict }) => verdict === name).length} ${name}`).join(", ")}`;
  });
  const { caught, missed, falseAlarms, passed, precision, recall, f1, kappa, cannotTell } = comparison(judged);
  const sum = (of) => lines.reduce((total, line) => total + (of(line) ?? 0), 0);
  const { borne_out: held, not_borne_out: fell } = rates ?? { borne_out: {}, not_borne_out: {} };
  return [
    matrix.join("; "),
    `wrong ones caught ${caught}, missed ${missed}; right ones doubted ${falseAlarms}, passed ${passed}; ${cannotTell} can't tell`,
    `P ${share(precision)}, R ${share(recall)}, F1 ${share(f1)}, kappa ${share(kappa)}`,
    `controls ${held.right} of ${held.asked} true and ${fell.right} of ${fell.asked} false`,
    `${judged.length} of ${pairs.length} judged in ${lines.length} iterations, ${thousands(sum(({ tokens }) => (tokens?.input ?? 0) + (tokens?.output ?? 0)))} tokens, ${sum(({ cost_usd }) => cost_usd).toFixed(2)} USD`,
  ].join(". ");
}

/** A program that knows the labels, for a rehearsal. */
function scripted(cwd, pairs) {
  const path = join(cwd, "knows.mjs");
  const labels = Object.fromEntries(pairs.map(({ claim, label }) => [claim, label]));
  writeFileSync(
    path,
    `import { readFileSync, writeFileSync } from "node:fs";
const labels = ${JSON.stringify(labels)};
const { unit, sentences } = JSON.parse(/<unit>\\n([\\s\\S]*?)\\n<\\/unit>/.exec(readFileSync(0, "utf8"))[1]);
const isSaid = ({ sentence, passages }) => passages.some(({ passage }) => passage.replace(/[“”]/g, "").includes(sentence));
const holds = (each) => (labels[each.sentence] === undefined ? isSaid(each) : labels[each.sentence] === ${JSON.stringify(bornOut)});
const answers = sentences.map((each) => ({ number: each.number, verdict: holds(each) ? "supported" : "not-supported" }));
writeFileSync("result.json", JSON.stringify({ unit, answers }));
`,
  );
  return `cmd:${process.execPath} ${path}`;
}
