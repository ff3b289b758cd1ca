import { hiddenName, inboxName, lockName, transcriptsName } from "../engine/lib/layout.js";
import { markup } from "../engine/lib/markup.js";
import type { Redact } from "../engine/lib/redact.js";
import { contextOf, type PageContext } from "../research/report/page/context.js";
import { contents, shownSections, sectionText } from "../research/report/page/page.js";
import { reportHeader } from "../research/report/page/first-screen.js";
import { type SteeredWork, currentInstructions } from "../engine/storage/state/from-outside.js";
import { runStatusOf } from "../engine/storage/running-units.js";
import { type WorkCosts, costsOf } from "../research/overview/costs.js";
import { researchStanding } from "../research/overview/project-standing.js";
import { shortened } from "../research/report/papers.js";
import { followAgents } from "./agent-stream.js";
import { type LivePage, type Page, type Part, createLivePage, part, textPart } from "./live-page.js";
import { nowParts, personParts } from "./page/now.js";
import { type QuestionQueue, createQuestionQueue } from "./asking.js";
import { readingAddress } from "./page/texts.js";
import { costPart, workParts } from "./page/work.js";
import { type Records, isUnreadable, openRecords } from "./project-state.js";
import { watchFolder } from "./watch-folder.js";
import type { Steering } from "../engine/generated/memory.js";
import type { Standing } from "../engine/ui/state-text.js";

/** A project or a task that is shown. */
export interface FollowedWork {
  readonly work: ShownWork;
  readonly live: LivePage;
  /** For a project: returns its records. */
  readonly records?: ReturnType<typeof openRecords>;
  /** For a project whose papers can be asked. */
  readonly ask?: QuestionQueue;
}

interface FollowOptions {
  now(): number;
  readonly redact: Redact;
}

/** Follows a project: its current work, the sections of its report, and its cost. */
export function followProject(
  work: ShownWork,
  { now, redact }: FollowOptions,
  warn: (error: unknown) => void,
): FollowedWork {
  const { name, folder, steered } = work;
  const records = openRecords(folder, now);
  const agentsOf = followAgents(folder, redact);
  const ask = work.ask === undefined ? undefined : createQuestionQueue(work.ask, now);
  let cachedReport: { readonly version: string; readonly parts: readonly Part[] } | undefined;
  let lastPage: Page | undefined;
  const make = async (): Promise<Page> => {
    const current = await records();
    if (isUnreadable(current)) {
      const problem = part("now", markup`<p id="now" class="note bad">${current.says}</p>`);
      const head = part("masthead", markup`<header id="masthead"><h1 dir="auto">${name}</h1></header>`);
      const [first = head, ...otherParts] = lastPage?.parts.filter(({ id }) => !isCurrentPart(id)) ?? [];
      return { title: lastPage?.title ?? name, parts: [first, problem, ...otherParts] };
    }
    const { rrd, ledger, model, version } = current;
    if (cachedReport?.version !== version) cachedReport = { version, parts: await reportParts(current, name) };
    const [runStatus, steering, agents] = await Promise.all([
      runStatusOf(folder),
      currentInstructions(folder, rrd.loop?.steering ?? []),
      agentsOf(ledger),
    ]);
    const standing = researchStanding({ folder, where: steered.typedFolder }, current, runStatus);
    const activityOf = (unit: string | undefined) => {
      const paper = rrd.papers_pool.find(({ id }) => id === unit);
      return (
        paper && markup`Reads <a href="${readingAddress(name, paper.id)}" dir="auto">${shortened(paper.title)}</a>`
      );
    };
    const currentParts = nowParts({
      name,
      standing,
      agents: runStatus.running ? agents : [],
      activityOf,
      steering,
      at: now(),
    });
    const [screening, ...person] = ask === undefined ? [] : personParts(name, rrd, ask.lastQuestion());
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
  const live = createLivePage({
    make,
    warn,
    watch: (changed) =>
      watchFolder(folder, { depth: 2, isIgnored: (path, isFile) => isIrrelevantFile(folder, path, isFile) }, changed),
  });
  return { work, live, records, ask };
}

/** Follows a task: its current work and its iterations. */
export function followTask(
  work: ShownWork,
  { now, redact }: FollowOptions,
  warn: (error: unknown) => void,
): FollowedWork {
  const { name, folder } = work;
  const agentsOf = followAgents(folder, redact);
  const make = async (): Promise<Page> => {
    const standing = await work.readStanding();
    const problem = standing === undefined ? `${folder} is gone: it was deleted or moved.` : standing.problem;
    if (standing === undefined || problem !== undefined) {
      const head = markup`<header id="masthead"><h1 dir="auto">${work.steered.typedFolder}</h1></header>`;
      const says = markup`<p id="now" class="note bad">${problem ?? ""}</p>`;
      return { title: name, parts: [part("masthead", head), part("now", says)] };
    }
    const [steering, agents, costs] = await Promise.all([
      work.readInstructions().then((heard) => currentInstructions(folder, heard)),
      agentsOf(standing.ledger),
      work.readCosts(),
    ]);
    const parts = nowParts({ name, standing, agents: standing.running ? agents : [], steering, at: now() });
    const [head, ...otherParts] = workParts(work.steered.typedFolder, standing, now());
    return {
      title: standing.title ?? name,
      parts: [...(head ? [head] : []), ...parts, ...otherParts, ...costPart(costs)],
    };
  };
  const ignored = (path: string, isFile: boolean) => isIrrelevantFile(folder, path, isFile);
  const live = createLivePage({
    make,
    warn,
    watch: (changed) => watchFolder(folder, { depth: 2, isIgnored: ignored }, changed),
  });
  return { work, live };
}

/** Parts that name the files of a project that can't be read. */
const problemParts = ({ problem, notices }: Records): Part[] => [
  ...(problem === undefined
    ? []
    : [
        part(
          "broken",
          markup`<p id="broken" class="note bad">rrd.json can’t be read: ${problem} This page shows its last good version.</p>`,
        ),
      ]),
  ...(notices.length === 0
    ? []
    : [
        part(
          "notices",
          markup`<div id="notices" class="note bad">${notices.map((notice) => markup`<p>${notice}</p>`)}</div>`,
        ),
      ]),
];

const isCurrentPart = (id: string): boolean =>
  /^(?:now|broken|notices|steering|to-(?:screen|ask|add)|agent-\d+)$/.test(id);

/** The sections of the report, and the cost of the project. */
async function reportParts(records: Records, name: string): Promise<Part[]> {
  const context: PageContext = {
    ...(await contextOf(records.model)),
    readingAddress: (id) => readingAddress(name, id),
  };
  const sections = shownSections(context);
  return [
    part("masthead", markup`<div id="masthead">${reportHeader(context)}</div>`),
    ...sections.flatMap((section) => {
      const sectionPart = textPart(section.name, sectionText(section, context));
      return section.name === "figures"
        ? [sectionPart, part("contents", markup`<div id="contents">${contents(context)}</div>`)]
        : [sectionPart];
    }),
    ...costPart(costsOf(records.rrd, records.ledger)),
  ];
}

/** Whether a file of a project does not affect its page, such as a stored text, a cache or a file of the user. */
function isIrrelevantFile(folder: string, path: string, isFile: boolean): boolean {
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

/** A project or a task, with the functions by which the pages show and control it. The command creates it. */
export interface ShownWork {
  /** The name in addresses. Each shown project or task has another name. */
  readonly name: string;
  readonly folder: string;
  readonly isProject: boolean;
  /** Paths of files that change if the state changes. */
  readonly files: readonly string[];
  /** Reads the state; undefined if the folder no longer exists. */
  readStanding(): Promise<Standing | undefined>;
  readonly steered: SteeredWork;
  /** The user's instructions that its agents have received. */
  readInstructions(): Promise<readonly Steering[]>;
  readCosts(): Promise<WorkCosts>;
  /** For a project: asks its papers a question, with the configured agent. Returns the result as text. */
  ask?(question: string): Promise<string>;
  /** For a project: adds a paper that the user names. Returns the result as text. */
  add?(reference: string): Promise<string>;
}
