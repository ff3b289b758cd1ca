import { join } from "node:path";
import { median, mustRun, root } from "../../measure.mjs";

export const row = {
  name: "arxiv-feed",
  what: "reading 30,000 arXiv entries (75 MB in 15 slices) into records: processor time and peak memory; rival: the XML parser alone, unchecked",
  hold: "≤ 3 × the parser alone",
  command: "node bench/feed.mjs ours",
  async run() {
    const [ours, rival] = [[], []];
    for (let round = 0; round < 3; round++) {
      ours.push(await measure("ours"));
      rival.push(await measure("rival"));
    }
    const seconds = (runs) => median(runs.map(({ took }) => took)) / 1000;
    const show = (runs) =>
      `${seconds(runs).toFixed(1)} s, ${Math.round(median(runs.map(({ megabytes }) => megabytes)))} MB`;
    return { rival: show(rival), ours: `${show(ours)} (${(seconds(ours) / seconds(rival)).toFixed(1)} ×)` };
  },
};

async function measure(kind) {
  const { stdout } = await mustRun(process.execPath, [join(root, "bench/feed.mjs"), kind]);
  const result = JSON.parse(stdout);
  if (result.count !== 30_000) throw new Error(`${kind} read ${result.count} of 30,000 entries`);
  return result;
}
