import { basename } from "node:path";
import { hiddenName, inboxName, lockName, transcriptsName } from "../engine/lib/layout.js";
import { markup } from "../engine/lib/markup.js";
import type { Redact } from "../engine/lib/redact.js";
import { contextOf } from "../research/report/page/context.js";
import { contents, heldSections, sectionText } from "../research/report/page/page.js";
import { masthead } from "../research/report/page/first-screen.js";
import { wordsInForce } from "../engine/storage/state/from-outside.js";
import { followAgents } from "./agent-stream.js";
import { type LivePage, livePage, type Page, type Part, part, textPart } from "./live-page.js";
import { costPart } from "./page/costs.js";
import { nowParts } from "./page/now.js";
import { readingAt } from "./page/texts.js";
import { isUnreadable, openRecords, type Records, workOf } from "./project-state.js";
import { watchFolder } from "./watch-folder.js";

/** A project as it is shown. */
export interface FollowedProject {
  readonly name: string;
  readonly folder: string;
  readonly live: LivePage;
  readonly records: ReturnType<typeof openRecords>;
}

/** A project as its report grows: what goes on now, the report's own sections, what it cost. */
export function followedProject(
  folder: string,
  { now, redact }: { now(): number; readonly redact: Redact },
  warn: (error: unknown) => void,
): FollowedProject {
  const name = basename(folder);
  const records = openRecords(folder, now);
  const agentsOf = followAgents(folder, redact);
  let made: { readonly version: string; readonly parts: readonly Part[] } | undefined;
  let last: Page | undefined;
  const make = async (): Promise<Page> => {
    const read = await records();
    if (isUnreadable(read)) {
      const problem = part("now", markup`<p id="now" class="note bad">${read.says}</p>`);
      const head = part("masthead", markup`<header id="masthead"><h1 dir="auto">${name}</h1></header>`);
      const [first = head, ...rest] = last?.parts.filter(({ id }) => !isOfNow(id)) ?? [];
      return { title: last?.title ?? name, parts: [first, problem, ...rest] };
    }
    const { rrd, ledger, model, version } = read;
    if (made?.version !== version) made = { version, parts: await reportParts(read, name) };
    const [work, steering, agents] = await Promise.all([
      workOf(folder),
      wordsInForce(folder, rrd.loop?.steering ?? []),
      agentsOf(ledger),
    ]);
    const parts = nowParts({ name, records: read, work, agents: work.running ? agents : [], steering, at: now() });
    const [head, ...rest] = made.parts;
    last = { title: model.title, parts: [...(head === undefined ? [] : [head]), ...parts, ...rest] };
    return last;
  };
  const live = livePage({
    make,
    warn,
    watch: (changed) =>
      watchFolder(folder, { depth: 2, ignored: (path, isFile) => isOfNoUse(folder, path, isFile) }, changed),
  });
  return { name, folder, live, records };
}

const isOfNow = (id: string): boolean => /^(?:now|broken|notices|steering|agent-\d+)$/.test(id);

/** The report's own sections, and what the project cost. */
async function reportParts(records: Records, name: string): Promise<Part[]> {
  const context = { ...(await contextOf(records.model)), readingAt: (id: string) => readingAt(name, id) };
  const sections = heldSections(context);
  return [
    part("masthead", markup`<div id="masthead">${masthead(context)}</div>`),
    ...sections.flatMap((section) => {
      const own = textPart(section.name, sectionText(section, context));
      return section.name === "figures"
        ? [own, part("contents", markup`<div id="contents">${contents(context)}</div>`)]
        : [own];
    }),
    ...costPart(records),
  ];
}

/** Whether a file of a project changes nothing on its page: texts, caches and folders of a person's. */
function isOfNoUse(folder: string, path: string, isFile: boolean): boolean {
  const [first, second, third] = path === folder ? [] : path.slice(folder.length + 1).split(/[\\/]/);
  if (first === undefined) return false;
  if (first !== hiddenName) return second !== undefined || first.startsWith(".") || first === "node_modules";
  if (second === undefined) return false;
  return second === lockName
    ? false
    : second === transcriptsName || second === inboxName
      ? !isFile && third !== undefined
      : true;
}
