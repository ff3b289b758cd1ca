import { hiddenName, inboxName, lockName, transcriptsName } from "../engine/lib/layout.js";
import { markup } from "../engine/lib/markup.js";
import type { Redact } from "../engine/lib/redact.js";
import { contextOf, type PageContext } from "../research/report/page/context.js";
import { contents, shownSections, sectionText } from "../research/report/page/page.js";
import { masthead } from "../research/report/page/first-screen.js";
import { type SteeredWork, currentInstructions } from "../engine/storage/state/from-outside.js";
import { runStatusOf } from "../engine/storage/running-units.js";
import { type WorkCosts, costsOf } from "../research/overview/costs.js";
import { researchStanding } from "../research/overview/project-standing.js";
import { shortened } from "../research/report/papers.js";
import { followAgents } from "./agent-stream.js";
import { type LivePage, type Page, type Part, livePage, part, textPart } from "./live-page.js";
import { costPart } from "./page/costs.js";
import { nowParts, personParts } from "./page/now.js";
import { type QuestionQueue, makeQuestionQueue } from "./asking.js";
import { readingAddress } from "./page/texts.js";
import { workParts } from "./page/work.js";
import { type Records, isUnreadable, openRecords } from "./project-state.js";
import { watchFolder } from "./watch-folder.js";
import type { Steering } from "../engine/generated/memory.js";
import type { Standing } from "../engine/ui/state-text.js";

/** A project or a task that is shown. */
export interface Followed {
  readonly work: ShownWork;
  readonly live: LivePage;
  /** For a project. */
  readonly records?: ReturnType<typeof openRecords>;
  /** For a project whose papers can be asked. */
  readonly ask?: QuestionQueue;
}

interface FollowOptions {
  now(): number;
  readonly redact: Redact;
}

/** Follows a project: its current work, the sections of its report, and its cost. */
export function followedProject(
  work: ShownWork,
  { now, redact }: FollowOptions,
  warn: (error: unknown) => void,
): Followed {
  const { name, folder, steered } = work;
  const records = openRecords(folder, now);
  const agentsOf = followAgents(folder, redact);
  const ask = work.ask === undefined ? undefined : makeQuestionQueue(work.ask, now);
  let cachedReport: { readonly version: string; readonly parts: readonly Part[] } | undefined;
  let lastPage: Page | undefined;
  const make = async (): Promise<Page> => {
    const current = await records();
    if (isUnreadable(current)) {
      const problem = part("now", markup`<p id="now" class="note bad">${current.says}</p>`);
      const head = part("masthead", markup`<header id="masthead"><h1 dir="auto">${name}</h1></header>`);
      const [first = head, ...rest] = lastPage?.parts.filter(({ id }) => !isOfNow(id)) ?? [];
      return { title: lastPage?.title ?? name, parts: [first, problem, ...rest] };
    }
    const { rrd, ledger, model, version } = current;
    if (cachedReport?.version !== version) cachedReport = { version, parts: await reportParts(current, name) };
    const [outside, steering, agents] = await Promise.all([
      runStatusOf(folder),
      currentInstructions(folder, rrd.loop?.steering ?? []),
      agentsOf(ledger),
    ]);
    const standing = researchStanding({ folder, where: steered.where }, current, outside);
    const doing = (unit: string | undefined) => {
      const paper = rrd.papers_pool.find(({ id }) => id === unit);
      return (
        paper && markup`Reads <a href="${readingAddress(name, paper.id)}" dir="auto">${shortened(paper.title)}</a>`
      );
    };
    const currentParts = nowParts({
      name,
      standing,
      agents: outside.running ? agents : [],
      doing,
      steering,
      at: now(),
    });
    const [screening, ...person] = ask === undefined ? [] : personParts(name, rrd, ask.last());
    const parts = [
      ...problemParts(current),
      ...currentParts.slice(0, -1),
      ...(screening === undefined ? [] : [screening]),
      ...currentParts.slice(-1),
      ...person,
    ];
    const [head, ...rest] = cachedReport.parts;
    lastPage = { title: model.title, parts: [...(head === undefined ? [] : [head]), ...parts, ...rest] };
    return lastPage;
  };
  const live = livePage({
    make,
    warn,
    watch: (changed) =>
      watchFolder(folder, { depth: 2, ignored: (path, isFile) => isOfNoUse(folder, path, isFile) }, changed),
  });
  return { work, live, records, ask };
}

/** Follows a task: its current work and its iterations. */
export function followedWork(
  work: ShownWork,
  { now, redact }: FollowOptions,
  warn: (error: unknown) => void,
): Followed {
  const { name, folder } = work;
  const agentsOf = followAgents(folder, redact);
  const make = async (): Promise<Page> => {
    const standing = await work.look();
    const problem = standing === undefined ? `${folder} is gone: it was deleted or moved.` : standing.problem;
    if (standing === undefined || problem !== undefined) {
      const head = markup`<header id="masthead"><h1 dir="auto">${work.steered.where}</h1></header>`;
      const says = markup`<p id="now" class="note bad">${problem ?? ""}</p>`;
      return { title: name, parts: [part("masthead", head), part("now", says)] };
    }
    const [steering, agents, costs] = await Promise.all([
      work.heard().then((heard) => currentInstructions(folder, heard)),
      agentsOf(standing.ledger),
      work.costs(),
    ]);
    const parts = nowParts({ name, standing, agents: standing.running ? agents : [], steering, at: now() });
    const [head, ...rest] = workParts(work.steered.where, standing, now());
    return { title: standing.title ?? name, parts: [...(head ? [head] : []), ...parts, ...rest, ...costPart(costs)] };
  };
  const ignored = (path: string, isFile: boolean) => isOfNoUse(folder, path, isFile);
  const live = livePage({ make, warn, watch: (changed) => watchFolder(folder, { depth: 2, ignored }, changed) });
  return { work, live };
}

/** What can't be read of a project, where it shows on its page. */
const problemParts = ({ broken, notices }: Records): Part[] => [
  ...(broken === undefined
    ? []
    : [
        part(
          "broken",
          markup`<p id="broken" class="note bad">rrd.json can’t be read: ${broken} What stands here is its last good version.</p>`,
        ),
      ]),
  ...(notices.length === 0
    ? []
    : [
        part(
          "notices",
          markup`<div id="notices" class="note bad">${notices.map((each) => markup`<p>${each}</p>`)}</div>`,
        ),
      ]),
];

const isOfNow = (id: string): boolean => /^(?:now|broken|notices|steering|to-(?:screen|ask|add)|agent-\d+)$/.test(id);

/** The report's own sections, and what the project cost. */
async function reportParts(records: Records, name: string): Promise<Part[]> {
  const context: PageContext = {
    ...(await contextOf(records.model)),
    readingAddress: (id) => readingAddress(name, id),
  };
  const sections = shownSections(context);
  return [
    part("masthead", markup`<div id="masthead">${masthead(context)}</div>`),
    ...sections.flatMap((section) => {
      const own = textPart(section.name, sectionText(section, context));
      return section.name === "figures"
        ? [own, part("contents", markup`<div id="contents">${contents(context)}</div>`)]
        : [own];
    }),
    ...costPart(costsOf(records.rrd, records.ledger)),
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

/** A project or a task as the pages show it and a person leads it; handed to them by the command. */
export interface ShownWork {
  /** Stands in addresses; those of all that is shown are different. */
  readonly name: string;
  readonly folder: string;
  readonly isProject: boolean;
  /** Files whose change tells of its state. */
  readonly files: readonly string[];
  /** How it stands; undefined where it is gone. */
  look(): Promise<Standing | undefined>;
  readonly steered: SteeredWork;
  /** What its agents were told and have heard. */
  heard(): Promise<readonly Steering[]>;
  costs(): Promise<WorkCosts>;
  /** Of a project: puts a question to its papers with the agent of the settings; what came of it. */
  ask?(question: string): Promise<string>;
  /** Of a project: adds what a person names to its papers; what became of it. */
  add?(reference: string): Promise<string>;
}
