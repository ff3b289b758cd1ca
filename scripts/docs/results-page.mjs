// The tables of docs/how-well-it-works.md, from what `npm run bench -- <row> --record` left in bench/results.json.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What stands for a row that nobody may have measured: it takes an agent with a model. */
const unmeasured = { judges: "**No model's figure was measured yet.**" };

/**
 * The table of one row's results; `source` is "bench/results.json: <row>", or "bench/results.json: <row>, <start>" for
 * those parts of the row whose name begins so. A part "found 98/100" is shown with its share.
 */
export function resultsTable(root, source) {
  const [path, wanted = ""] = source.split(": ");
  const [name, start = ""] = wanted.split(", ");
  const result = JSON.parse(readFileSync(join(root, path), "utf8"))[name];
  if (result === undefined && unmeasured[name] !== undefined) return unmeasured[name];
  if (result === undefined)
    throw new Error(`${path} has no results of ${name}: run 'npm run bench -- ${name} --record'.`);
  const { date, node, command, ours, rival } = result;
  const measured = `Measured on ${date} with Node ${node} by \`${command}\``;
  // A result without shares and without lines is a sentence.
  if (!ours.includes("<br>") && !/\d\/\d|below/.test(ours)) return `${measured}: ${ours}.`;
  // A row of several lines has one thing a line.
  const parts = joined(ours.split(ours.includes("<br>") ? "<br>" : "; ").filter((part) => part.startsWith(start)));
  return [
    `${measured}.`,
    ["| what | result | share |", "| --- | --- | --- |", ...parts.map((part) => rowOf(part.slice(start.length)))].join(
      "\n",
    ),
    ...(rival === undefined ? [] : [`For comparison: ${rival}.`]),
  ].join("\n\n");
}

/** "x, refused 1/5" and "x, accepted and shown 4/4" as one row, which says that none is left out: 5 of 5. */
function joined(parts) {
  return parts.flatMap((part) => {
    const [, name] = /^(.*), accepted and shown /.exec(part) ?? [];
    const of = (what) => parts.find((each) => each.startsWith(`${what}, refused `));
    if (name !== undefined && of(name) !== undefined) return [];
    const [, what, refused, all] = /^(.*), refused ([\d,]+)\/([\d,]+)$/.exec(part) ?? [];
    if (what === undefined) return [part];
    const other = parts.find((each) => each.startsWith(`${what}, accepted and shown `));
    if (other === undefined) return [part];
    const number = (text) => Number(text.replaceAll(",", ""));
    const seen = number(/ shown ([\d,]+)\//.exec(other)[1]);
    const sum = (number(refused) + seen).toLocaleString("en");
    return [`${what}, refused (${refused}) or shown ${sum}/${all}`];
  });
}

function rowOf(part) {
  const [, name, figures] = /^(.*?)(?:: (?=P |WSS@95 )| (?=\d+ of \d+$))(.*)$/.exec(part) ?? [];
  if (figures !== undefined) return `| ${name} | ${figures} | |`;
  const [, what = part, result = ""] =
    /^(.*?)\s((?:[\d,.]+\/[\d,.]+|below \d+ ms|[\d.]+(?: \(.*\))?))$/.exec(part) ?? [];
  const [found, of] = result.split("/").map((number) => Number(number.replaceAll(",", "")));
  const share = of > 0 ? `${(Math.floor((found / of) * 1000) / 10).toFixed(1)} %` : "";
  return `| ${[what.trim(), of > 0 ? result.replace("/", " of ") : result, share].map((cell) => cell.replaceAll("|", "\\|").replaceAll("<", "&lt;")).join(" | ")} |`;
}
