import type { NoAnswer } from "./ask-service.js";
import type { Identifiers, PaperRecord } from "../../papers/paper-record.js";
import { nameOf, sharesIdentifier } from "../../papers/identifiers.js";
import type { Answer } from "./source.js";

/** So many failures of a row are the service's, not a work's. */
const maxFailures = 2;

/**
 * Looks works up one batch after the other. A service that asks to wait or refuses is not asked again; what could not
 * be asked about is named as unchecked, never as unknown.
 */
export async function lookUpIn(
  service: string,
  batches: readonly (readonly Identifiers[])[],
  ask: (batch: readonly Identifiers[]) => Promise<Answer<readonly PaperRecord[]>>,
): Promise<Answer<readonly PaperRecord[]>> {
  const found: PaperRecord[] = [];
  const unknown: Identifiers[] = [];
  const unchecked: Identifiers[] = [];
  let failure: NoAnswer | undefined;
  let failures = 0;
  for (const batch of batches) {
    const answer = failures < maxFailures ? await ask(batch) : undefined;
    if (answer?.status === "ok") {
      failures = 0;
      found.push(...answer.value);
      unchecked.push(...(answer.unchecked ?? []));
      const rest = batch.filter((work) => answer.unchecked?.includes(work) !== true);
      unknown.push(
        ...(answer.unknown ??
          rest.filter((work) => !answer.value.some(({ identifiers }) => sharesIdentifier(identifiers, work)))),
      );
    } else if (answer?.status === "empty") unknown.push(...batch);
    else {
      unchecked.push(...batch);
      failure = answer ?? failure;
      failures += answer?.status === "error" ? 1 : maxFailures;
    }
  }
  if (found.length === 0 && failure === undefined && unchecked.length > 0)
    return { status: "error", reason: `${service} sent nothing readable about ${unchecked.length} works.` };
  if (found.length === 0) return failure ?? { status: "empty", reason: nothingOf(service, batches.flat()) };
  return {
    status: "ok",
    value: found,
    ...(unknown.length === 0 ? {} : { unknown }),
    ...(unchecked.length === 0
      ? {}
      : { unchecked, incomplete: failure?.reason ?? `${unchecked.length} works could not be looked up.` }),
  };
}

function nothingOf(service: string, works: readonly Identifiers[]): string {
  if (works.length > 1) return `${service} knows none of these ${works.length} works.`;
  return works[0] === undefined
    ? `${service} cannot look up these works: they have no identifier that it uses.`
    : `${service} does not know ${nameOf(works[0])}; check it.`;
}

/** A list in pieces of at most `size`. */
export const inBatches = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
