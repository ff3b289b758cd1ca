import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import { ExpectedError } from "../engine/lib/errors.js";
import { pauseName, stopName } from "../engine/lib/layout.js";
import { markup } from "../engine/lib/markup.js";
import type { Redact } from "../engine/lib/redact.js";
import { reportScript } from "../research/report/page/client.js";
import { hold, resume, steer } from "../engine/storage/state/from-outside.js";
import { settleField } from "../research/overview/screen/settle-field.js";
import { updateReport } from "../research/report/documents/show-in-report.js";
import { createLiveList } from "./followed-list.js";
import { type FollowedWork, type ShownWork, followProject, followTask } from "./followed-project.js";
import { type Guard, guardRequests } from "./guard.js";
import type { LivePage, Page } from "./live-page.js";
import { readingPage } from "./page/reading.js";
import { script } from "./page/script.js";
import { screenScript } from "./page/screen.js";
import { settleAddress, settlePage } from "./page/settle.js";
import { assets, messagePage, pageHtml } from "./page/shell.js";
import { style } from "./page/style.js";
import { projectAddress } from "./page/texts.js";
import { isUnreadable } from "./project-state.js";
import { createWebScreening } from "./screening.js";

/** The content of the pages, and the actions that they offer. */
export interface WebOptions extends Guard {
  /** The projects and tasks to show. They are looked up for each request. */
  works(): Promise<readonly ShownWork[]>;
  /** The name of the only project or task, if the user named one: then the list redirects to it. */
  readonly onlyName?: string;
  /** The folder that is watched for projects; undefined: new projects are not noticed. */
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

/** Maximum bytes of a form, which contains a text for the agents in URL encoding. */
const maxFormBytes = 64 * 1024;
/** Interval of messages on a stream without events, in milliseconds, so that no proxy closes the connection. */
const heartbeatMs = 15_000;

/** The local pages: the list of projects and tasks, each project's growing report, and each paper beside its text. */
export function createWebApp(options: WebOptions): App {
  const app = new Hono();
  const endController = new AbortController();
  const followedByName = new Map<string, FollowedWork>();
  const warn = (error: unknown) => options.warn(error instanceof Error ? error.message : String(error));
  const list = createLiveList(options, warn);
  const screening = createWebScreening(options);
  /** The result of the last form about a field, by folder, until a page has shown it. */
  const settleMessages = new Map<string, string>();

  /**
   * The project or task with a name from an address. The name is only compared with the names of shown projects and
   * tasks, and never used as a path.
   */
  const findWork = async (name: string): Promise<FollowedWork | undefined> => {
    const work = (await options.works()).find((shownWork) => shownWork.name === name);
    const knownWork = followedByName.get(name);
    // If the folder of an open page was deleted, the page still says so.
    if (work === undefined || knownWork?.work.folder === work.folder) return knownWork;
    await knownWork?.live.close();
    const follow = work.isProject ? followProject : followTask;
    const newFollowed = follow(work, options, warn);
    followedByName.set(name, newFollowed);
    return newFollowed;
  };

  app.use(guardRequests(options));
  app.onError((error, context) => {
    if (error instanceof ExpectedError) return respond(context, error.message, 409);
    warn(error);
    return context.text("The page could not be made; the terminal says why.\n", 500);
  });
  app.notFound((context) => context.html(messagePage("Not found", markup`There is nothing at this address.`), 404));

  app.get(assets.style, (context) => respondWithAsset(context, "text/css", style));
  app.get(assets.reader, (context) => respondWithAsset(context, "text/javascript", reportScript));
  app.get(assets.live, (context) => respondWithAsset(context, "text/javascript", script));
  app.get(assets.screen, (context) => respondWithAsset(context, "text/javascript", screenScript));

  app.get("/", async (context) =>
    options.onlyName === undefined
      ? context.html(pageHtml(await list.page(), { address: "/", hasHomeLink: false }))
      : context.redirect(projectAddress(options.onlyName), 303),
  );
  app.get("/events", (context) => streamEvents(context, list, endController.signal));
  app.get("/parts/:id", async (context) => respondWithPart(context, await list.page()));

  app.get("/p/:name/", async (context) => {
    const project = await findWork(context.req.param("name"));
    if (project === undefined) return context.notFound();
    return context.html(
      pageHtml(await project.live.page(), {
        address: projectAddress(project.work.name),
        hasHomeLink: options.onlyName === undefined,
      }),
    );
  });
  app.get("/p/:name/events", async (context) => {
    const project = await findWork(context.req.param("name"));
    return project === undefined ? context.notFound() : streamEvents(context, project.live, endController.signal);
  });
  app.get("/p/:name/parts/:id", async (context) => {
    const project = await findWork(context.req.param("name"));
    return project === undefined ? context.notFound() : respondWithPart(context, await project.live.page());
  });
  app.get("/p/:name/paper/:id", async (context) => {
    const project = await findWork(context.req.param("name"));
    const records = await project?.records?.();
    if (project === undefined || records === undefined || isUnreadable(records)) return context.notFound();
    const id = context.req.param("id");
    const paper = records.rrd.papers_pool.find((paper) => paper.id === id);
    const row = records.model.row(id);
    if (paper === undefined || row === undefined) return context.notFound();
    const checkers = records.rrd.meaning?.checkers;
    const entry = records.model.entry(row);
    const page = await readingPage(project.work.folder, project.work.name, { paper, entry, checkers });
    return context.html(pageHtml(page, { hasHomeLink: false, isWide: true }));
  });

  app.get("/p/:name/screen", async (context) => {
    const project = await findWork(context.req.param("name"));
    if (project?.records === undefined) return context.notFound();
    const page = await screening.page(project.work, context.req.query("which"), context.req.query("at"));
    return context.html(pageHtml(page, { hasHomeLink: false, script: assets.screen }));
  });

  app.use(
    "/p/:name/:act",
    bodyLimit({ maxSize: maxFormBytes, onError: (context) => respond(context, "The text is too long.", 413) }),
  );
  app.post("/p/:name/:act{pause|stop|resume|steer|clear}", async (context) => {
    const project = await findWork(context.req.param("name"));
    if (project === undefined) return context.notFound();
    const { steered } = project.work;
    const act = context.req.param("act");
    if (act === "pause" || act === "stop")
      return respond(context, (await hold(steered, act === "pause" ? pauseName : stopName)).says);
    if (act === "resume") return respond(context, (await resume(steered)).says);
    const { text } = act === "steer" ? await context.req.parseBody() : {};
    const request = act === "clear" ? { clear: true } : { text: typeof text === "string" ? text : "" };
    return respond(context, await steer(steered, request, { now: options.now(), stateDir: options.stateDir }));
  });

  app.post("/p/:name/screen", async (context) => {
    const project = await findWork(context.req.param("name"));
    if (project?.records === undefined) return context.notFound();
    return context.redirect(await screening.act(project.work, await context.req.parseBody()), 303);
  });
  app.get("/p/:name/settle", async (context) => {
    const project = await findWork(context.req.param("name"));
    const records = await project?.records?.();
    if (project === undefined || records === undefined || isUnreadable(records)) return context.notFound();
    const message = settleMessages.get(project.work.folder) ?? "";
    settleMessages.delete(project.work.folder);
    return context.html(pageHtml(settlePage(project.work.name, records.rrd, message), { hasHomeLink: false }));
  });
  app.post("/p/:name/settle", async (context) => {
    const project = await findWork(context.req.param("name"));
    if (project?.records === undefined) return context.notFound();
    const { folder, name, steered } = project.work;
    settleMessages.set(folder, await settleByForm(folder, steered.typedFolder, await context.req.parseBody(), options));
    return context.redirect(settleAddress(name), 303);
  });
  app.post("/p/:name/:act{ask|add}", async (context) => {
    const project = await findWork(context.req.param("name"));
    const { text } = await context.req.parseBody();
    const question = typeof text === "string" ? text : "";
    const { ask, work } = project ?? {};
    if (ask === undefined || work?.add === undefined) return context.notFound();
    return respond(context, context.req.param("act") === "ask" ? ask.start(question) : await work.add(question));
  });

  return {
    fetch: (request) => app.fetch(request),
    async close() {
      endController.abort();
      await screening.close();
      await Promise.all([list, ...[...followedByName.values()].map(({ live }) => live)].map((live) => live.close()));
    },
  };
}

/** Settles a field on which two agents differ, with the decision in a form. Returns the result as text. */
async function settleByForm(
  folder: string,
  where: string,
  form: Readonly<Record<string, unknown>>,
  { stateDir, git, now, warn }: WebOptions,
): Promise<string> {
  const fieldText = (name: string): string => (typeof form[name] === "string" ? form[name].trim() : "");
  const take = fieldText("take");
  const ownValue = { value: fieldText("value"), ...(fieldText("quote") === "" ? {} : { quote: fieldText("quote") }) };
  const settlement = {
    paper: fieldText("paper"),
    field: fieldText("field"),
    take,
    why: fieldText("why"),
    ...(take === "own" ? ownValue : {}),
  };
  const options = { where, stateDir, git, now: now(), notify: (_: string, message: string) => warn(message) };
  const show = () => updateReport(folder, { git, stateDir, now, notify: warn });
  try {
    return (await settleField(folder, settlement, { ...options, show })).says;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return error.message;
  }
}

/** Answers a form: with JSON for the page's script, or with a redirect to the page if the browser runs no script. */
function respond(context: Context, message: string, status: 200 | 409 | 413 = 200): Response {
  if (context.req.header("accept")?.includes("application/json") === true)
    return context.json({ says: message }, status);
  const page = /^\/p\/[^/]+\//.exec(context.req.path)?.[0];
  return status === 200 && page !== undefined ? context.redirect(page, 303) : context.text(`${message}\n`, status);
}

const respondWithAsset = (context: Context, type: string, text: string): Response =>
  context.body(text, 200, { "Content-Type": `${type}; charset=utf-8` });

function respondWithPart(context: Context, { parts }: Page): Response | Promise<Response> {
  const foundPart = parts.find(({ id }) => id === context.req.param("id"));
  return foundPart === undefined
    ? context.body(null, 204)
    : context.html(foundPart.text, 200, { "X-Part": foundPart.hash });
}

/** Sends the ids and hashes of a page's parts, now and whenever one changes. */
const streamEvents = (context: Context, live: LivePage, endSignal: AbortSignal): Response =>
  streamSSE(context, async (stream) => {
    let nextPage: Page | undefined;
    let wakeUp = () => {};
    const unfollow = live.follow((page) => {
      nextPage = page;
      wakeUp();
    });
    const onEnd = () => wakeUp();
    stream.onAbort(onEnd);
    endSignal.addEventListener("abort", onEnd);
    try {
      while (!stream.aborted && !endSignal.aborted) {
        if (nextPage === undefined) {
          let timer: NodeJS.Timeout | undefined;
          await new Promise<void>((done) => {
            wakeUp = done;
            timer = setTimeout(done, heartbeatMs);
          });
          clearTimeout(timer);
        }
        const page: Page | undefined = nextPage;
        nextPage = undefined;
        if (stream.aborted || endSignal.aborted) break;
        if (page === undefined) await stream.write(": still here\n\n");
        else
          await stream.writeSSE({
            event: "parts",
            retry: 1000,
            data: JSON.stringify(page.parts.map(({ id, hash }) => [id, hash])),
          });
      }
    } finally {
      endSignal.removeEventListener("abort", onEnd);
      unfollow();
    }
  });
