import type { SnowballStep, Step } from "../generated/rrd.js";
import { isFailed, type Listing, type Open, type Told } from "./result-list.js";
import { queryText, runStep } from "./run-round.js";
import { asksFor, directions, followed, snowball } from "./snowballing.js";
import type { Answer, Query } from "../sources/shared/source.js";
import type { Identifiers, PaperRecord } from "../papers/paper-record.js";
import { withoutUndefined } from "../../engine/lib/without-undefined.js";

/** Begins a round again and answers with who observes it. */
type Watching = (index: number, step: Step) => { readonly told: Told; end(): void };

/**
 * Makes the rounds again in which a source failed: what was answered stands, only what was not is asked. Sources that
 * are `left` alone are not asked, and rounds that are not `wanted` stay as they are.
 */
export async function retryFailed(
  steps: readonly Step[],
  kept: readonly Listing[],
  open: Open,
  isLeft: (source: string) => boolean,
  watching: Watching,
  wanted: (step: number) => boolean,
): Promise<Listing[]> {
  const listings: Listing[] = [];
  for (const [index, step] of steps.entries()) {
    const its = kept.filter((listing) => listing.step === index);
    if (!wanted(index)) {
      listings.push(...its);
      continue;
    }
    if (step.kind === "snowball") {
      const again = isWorthIt(step, its, open, isLeft);
      listings.push(...(again ? await watched(watching, index, step, rememberingLinks(step, open, its, isLeft)) : its));
      continue;
    }
    for (const name of new Set([...step.sources, ...its.map(({ source }) => source)])) {
      const old = its.filter(({ source }) => source === name);
      const stays = isLeft(name) || !old.some(isFailed) || "unavailable" in open(name);
      listings.push(
        ...(stays ? old : await watched(watching, index, { ...step, sources: [name] }, remembering(open, old))),
      );
    }
  }
  return listings;
}

async function watched(watching: Watching, index: number, step: Step, open: Open): Promise<Listing[]> {
  const { told, end } = watching(index, step);
  const listings =
    step.kind === "snowball" ? await snowball(index, step, open, told) : await runStep(index, step, open, told);
  end();
  return listings;
}

/**
 * Whether a question about a seed has no answer that a source could give by now. One that gave up on a source asked it
 * nothing more.
 */
function isWorthIt(
  step: SnowballStep,
  its: readonly Listing[],
  open: Open,
  isLeft: (name: string) => boolean,
): boolean {
  return step.seeds.some(({ id }) =>
    directions.some((direction) => {
      const answers = its.filter(({ asked }) => asked === followed(direction, id));
      if (answers.some(({ status }) => status === "ok")) return false;
      const able = step.sources.filter((name) => !isLeft(name) && asksFor(direction, open(name)));
      return able.some((name) => !answers.some((listing) => listing.source === name && !isFailed(listing)));
    }),
  );
}

const answerOf = ({ status, records, reason }: Listing): Answer<readonly PaperRecord[]> =>
  status === "ok"
    ? { status, value: records, ...withoutUndefined({ incomplete: reason }) }
    : { status, reason: reason ?? "" };

/** Sources that give the answers they gave, and are asked for the rest. */
const remembering =
  (open: Open, kept: readonly Listing[]): Open =>
  (name) => {
    const opened = open(name);
    if ("unavailable" in opened) return opened;
    const search = async (query: Query) => {
      const old = kept.find((listing) => listing.asked === queryText(query) && !isFailed(listing));
      return old === undefined
        ? ((await opened.source.search?.(query, opened.context)) ?? {
            status: "error" as const,
            reason: `${name} can't be searched.`,
          })
        : answerOf(old);
    };
    return { ...opened, source: { ...opened.source, search } };
  };

/**
 * The same for references and citations. A source that is left alone says what it said, also that it failed.
 */
const rememberingLinks =
  (step: SnowballStep, open: Open, kept: readonly Listing[], isLeft: (name: string) => boolean): Open =>
  (name) => {
    const opened = open(name);
    if ("unavailable" in opened) return opened;
    const { references: _, citations: __, ...source } = opened.source;
    const links = directions.flatMap((direction) => {
      const ask = opened.source[direction];
      if (ask === undefined) return [];
      const follow = async (
        work: Identifiers,
        most: number,
        _: unknown,
        from?: string,
      ): Promise<Answer<readonly PaperRecord[]>> => {
        const seed = step.seeds.find(({ identifiers }) => identifiers === work);
        const old = kept.find(
          (listing) => listing.source === name && listing.asked === followed(direction, seed?.id ?? ""),
        );
        if (old !== undefined && (isLeft(name) || !isFailed(old))) return answerOf(old);
        return isLeft(name)
          ? { status: "blocked", reason: `${name} is left alone.` }
          : await ask(work, most, opened.context, from);
      };
      return [[direction, follow] as const];
    });
    return { ...opened, source: { ...source, ...Object.fromEntries(links) } };
  };
