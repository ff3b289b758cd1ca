import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import { ExpectedError } from "../engine/lib/errors.js";
import { pauseName, stopName } from "../engine/lib/layout.js";
import { markup } from "../engine/lib/markup.js";
import type { Redact } from "../engine/lib/redact.js";
import { client } from "../research/report/page/client.js";
import { hold, resume, steer } from "../engine/storage/state/from-outside.js";
import { settleField } from "../research/overview/screen/settle-field.js";
import { renderProject } from "../research/report/documents/render-project.js";
import { followedList } from "./followed-list.js";
import { type Followed, type ShownWork, followedProject, followedWork } from "./followed-project.js";
import { type Guard, guarded } from "./guard.js";
import type { LivePage, Page } from "./live-page.js";
import { readingPage } from "./page/reading.js";
import { script } from "./page/script.js";
import { screenScript } from "./page/screen.js";
import { settleAt, settlePage } from "./page/settle.js";
import { assets, saying, shell } from "./page/shell.js";
import { style } from "./page/style.js";
import { projectAt } from "./page/texts.js";
import { isUnreadable } from "./project-state.js";
import { webScreening } from "./screening.js";

/** What the pages are made from, and what they may do. */
export interface Web extends Guard {
  /** The projects and tasks that are shown, looked up anew at each request. */
  works(): Promise<readonly ShownWork[]>;
  /** The name of the only one, where one was named: the list leads to it. */
  readonly only?: string;
  /** The folder that is watched for projects; undefined: none appears. */
  readonly root?: string;
  readonly stateDir: string;
  /** Whether decisions are committed. */
  readonly git: boolean;
  readonly redact: Redact;
  now(): number;
  warn(message: string): void;
}

export interface App {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Ends all streams and watchers. */
  close(): Promise<void>;
}

/** Longest body of a form: the words for the agents, as an address writes them. */
const maxForm = 64 * 1024;
/** A stream that says nothing for so long may be taken for dead on the way. */
const beatMs = 15_000;

/** The local page: the list of projects and tasks, each project as its report grows, each paper next to its text. */
export function webApp(web: Web): App {
  const app = new Hono();
  const ending = new AbortController();
  const followed = new Map<string, Followed>();
  const warn = (error: unknown) => web.warn(error instanceof Error ? error.message : String(error));
  const list = followedList(web, warn);
  const screening = webScreening(web);
  /** What came of the last form about a field, by folder, until a page has said it. */
  const settling = new Map<string, string>();

  /** A project or task by its name in an address: looked up among those that are shown, never joined to a path. */
  const find = async (name: string): Promise<Followed | undefined> => {
    const work = (await web.works()).find((each) => each.name === name);
    const known = followed.get(name);
    // What was open when its folder was deleted still says so.
    if (work === undefined || known?.work.folder === work.folder) return known;
    await known?.live.close();
    const follow = work.isProject ? followedProject : followedWork;
    const fresh = follow(work, web, warn);
    followed.set(name, fresh);
    return fresh;
  };

  app.use(guarded(web));
  app.onError((error, context) => {
    if (error instanceof ExpectedError) return answer(context, error.message, 409);
    warn(error);
    return context.text("The page could not be made; the terminal says why.\n", 500);
  });
  app.notFound((context) => context.html(saying("Not found", markup`There is nothing at this address.`), 404));

  app.get(assets.style, (context) => asset(context, "text/css", style));
  app.get(assets.reader, (context) => asset(context, "text/javascript", client));
  app.get(assets.live, (context) => asset(context, "text/javascript", script));
  app.get(assets.screen, (context) => asset(context, "text/javascript", screenScript));

  app.get("/", async (context) =>
    web.only === undefined
      ? context.html(shell(await list.page(), { at: "/", home: false }))
      : context.redirect(projectAt(web.only), 303),
  );
  app.get("/events", (context) => events(context, list, ending.signal));
  app.get("/parts/:id", async (context) => onePart(context, await list.page()));

  app.get("/p/:name/", async (context) => {
    const project = await find(context.req.param("name"));
    if (project === undefined) return context.notFound();
    return context.html(
      shell(await project.live.page(), { at: projectAt(project.work.name), home: web.only === undefined }),
    );
  });
  app.get("/p/:name/events", async (context) => {
    const project = await find(context.req.param("name"));
    return project === undefined ? context.notFound() : events(context, project.live, ending.signal);
  });
  app.get("/p/:name/parts/:id", async (context) => {
    const project = await find(context.req.param("name"));
    return project === undefined ? context.notFound() : onePart(context, await project.live.page());
  });
  app.get("/p/:name/paper/:id", async (context) => {
    const project = await find(context.req.param("name"));
    const records = await project?.records?.();
    if (project === undefined || records === undefined || isUnreadable(records)) return context.notFound();
    const id = context.req.param("id");
    const paper = records.rrd.papers_pool.find((each) => each.id === id);
    const row = records.model.row(id);
    if (paper === undefined || row === undefined) return context.notFound();
    const checkers = records.rrd.meaning?.checkers;
    const entry = records.model.entry(row);
    const page = await readingPage(project.work.folder, project.work.name, { paper, entry, checkers });
    return context.html(shell(page, { home: false, wide: true }));
  });

  app.get("/p/:name/screen", async (context) => {
    const project = await find(context.req.param("name"));
    if (project?.records === undefined) return context.notFound();
    const page = await screening.page(project.work, context.req.query("which"), context.req.query("at"));
    return context.html(shell(page, { home: false, script: assets.screen }));
  });

  app.use(
    "/p/:name/:act",
    bodyLimit({ maxSize: maxForm, onError: (context) => answer(context, "The text is too long.", 413) }),
  );
  app.post("/p/:name/:act{pause|stop|resume|steer|clear}", async (context) => {
    const project = await find(context.req.param("name"));
    if (project === undefined) return context.notFound();
    const { steered } = project.work;
    const act = context.req.param("act");
    if (act === "pause" || act === "stop")
      return answer(context, (await hold(steered, act === "pause" ? pauseName : stopName)).says);
    if (act === "resume") return answer(context, (await resume(steered)).says);
    const { text } = act === "steer" ? await context.req.parseBody() : {};
    const wish = act === "clear" ? { clear: true } : { text: typeof text === "string" ? text : "" };
    return answer(context, await steer(steered, wish, { now: web.now(), stateDir: web.stateDir }));
  });

  app.post("/p/:name/screen", async (context) => {
    const project = await find(context.req.param("name"));
    if (project?.records === undefined) return context.notFound();
    return context.redirect(await screening.act(project.work, await context.req.parseBody()), 303);
  });
  app.get("/p/:name/settle", async (context) => {
    const project = await find(context.req.param("name"));
    const records = await project?.records?.();
    if (project === undefined || records === undefined || isUnreadable(records)) return context.notFound();
    const says = settling.get(project.work.folder) ?? "";
    settling.delete(project.work.folder);
    return context.html(shell(settlePage(project.work.name, records.rrd, says), { home: false }));
  });
  app.post("/p/:name/settle", async (context) => {
    const project = await find(context.req.param("name"));
    if (project?.records === undefined) return context.notFound();
    const { folder, name, steered } = project.work;
    settling.set(folder, await settleByForm(folder, steered.where, await context.req.parseBody(), web));
    return context.redirect(settleAt(name), 303);
  });
  app.post("/p/:name/:act{ask|add}", async (context) => {
    const project = await find(context.req.param("name"));
    const { text } = await context.req.parseBody();
    const words = typeof text === "string" ? text : "";
    const { ask, work } = project ?? {};
    if (ask === undefined || work?.add === undefined) return context.notFound();
    return answer(context, context.req.param("act") === "ask" ? ask.put(words) : await work.add(words));
  });

  return {
    fetch: (request) => app.fetch(request),
    async close() {
      ending.abort();
      await screening.close();
      await Promise.all([list, ...[...followed.values()].map(({ live }) => live)].map((live) => live.close()));
    },
  };
}

/** Does what a form about a field on which two agents differ says; what came of it. */
async function settleByForm(
  folder: string,
  where: string,
  form: Readonly<Record<string, unknown>>,
  { stateDir, git, now, warn }: Web,
): Promise<string> {
  const word = (name: string): string => (typeof form[name] === "string" ? form[name].trim() : "");
  const take = word("take");
  const own = { value: word("value"), ...(word("quote") === "" ? {} : { quote: word("quote") }) };
  const said = { paper: word("paper"), field: word("field"), take, why: word("why"), ...(take === "own" ? own : {}) };
  const options = { where, stateDir, git, now: now(), notify: (_: string, message: string) => warn(message) };
  const render = () => renderProject(folder, { git, now, notify: warn });
  try {
    return (await settleField(folder, said, { ...options, render })).says;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return error.message;
  }
}

/** To the script as JSON; to a browser without it as the page that the form stands on, which shows the change. */
function answer(context: Context, says: string, status: 200 | 409 | 413 = 200): Response {
  if (context.req.header("accept")?.includes("application/json") === true) return context.json({ says }, status);
  const page = /^\/p\/[^/]+\//.exec(context.req.path)?.[0];
  return status === 200 && page !== undefined ? context.redirect(page, 303) : context.text(`${says}\n`, status);
}

const asset = (context: Context, type: string, text: string): Response =>
  context.body(text, 200, { "Content-Type": `${type}; charset=utf-8` });

function onePart(context: Context, { parts }: Page): Response | Promise<Response> {
  const found = parts.find(({ id }) => id === context.req.param("id"));
  return found === undefined ? context.body(null, 204) : context.html(found.text, 200, { "X-Part": found.hash });
}

/** Tells a browser of the parts of a page, now and whenever one has changed. */
const events = (context: Context, live: LivePage, ending: AbortSignal): Response =>
  streamSSE(context, async (stream) => {
    let waiting: Page | undefined;
    let wake = () => {};
    const end = live.follow((page) => {
      waiting = page;
      wake();
    });
    const leave = () => wake();
    stream.onAbort(leave);
    ending.addEventListener("abort", leave);
    try {
      while (!stream.aborted && !ending.aborted) {
        if (waiting === undefined) {
          let timer: NodeJS.Timeout | undefined;
          await new Promise<void>((done) => {
            wake = done;
            timer = setTimeout(done, beatMs);
          });
          clearTimeout(timer);
        }
        const page: Page | undefined = waiting;
        waiting = undefined;
        if (stream.aborted || ending.aborted) break;
        if (page === undefined) await stream.write(": still here\n\n");
        else
          await stream.writeSSE({
            event: "parts",
            retry: 1000,
            data: JSON.stringify(page.parts.map(({ id, hash }) => [id, hash])),
          });
      }
    } finally {
      ending.removeEventListener("abort", leave);
      end();
    }
  });
