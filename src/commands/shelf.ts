import { join } from "node:path";
import { keptText } from "../sources/text-cache.js";
import { readResearch } from "../store/research.js";
import type { Shelf } from "../toolbox/tool.js";

/** What the tools reach of a research: its records and the texts kept in it. Reads at each call, so a run under way is seen; writes nothing. */
export const shelfOf = (folder: string, paper: string | undefined): Shelf => ({
  ...(paper === undefined ? {} : { paper }),
  papers: async () => (await readResearch(folder)).rrd.papers_pool,
  text: (id) => keptText(join(folder, ".ralph", "texts"), id),
});
