import type { NoAnswer } from "./ask-service.js";
import type { Identifiers, PaperRecord } from "../../papers/paper-record.js";
import { nameOf, sharesIdentifier } from "../../papers/identifiers.js";
import type { Answer } from "./source.js";

/** After this many failures in a row, the service is at fault and not a single work. */
const maxFailures = 2;

/**
 * Looks works up in batches of at most `batchSize`. After a service refuses or asks to wait, it gets no more requests,
 * and the remaining works are reported as unchecked, never as unknown.
 */
export async function lookUpIn(
  service: string,
  works: readonly Identifiers[],
  batchSize: number,
  ask: (batch: readonly Identifiers[]) => Promise<Answer<readonly PaperRecord[]>>,
): Promise<Answer<readonly PaperRecord[]>> {
  const records: PaperRecord[] = [];
  const unknown: Identifiers[] = [];
  const unchecked: Identifiers[] = [];
  let failure: NoAnswer | undefined;
  let failures = 0;
  for (let start = 0; start < works.length; start += batchSize) {
    const batch = works.slice(start, start + batchSize);
    const answer = failures < maxFailures ? await ask(batch) : undefined;
    if (answer?.status === "ok") {
      failures = 0;
      records.push(...answer.value);
      unchecked.push(...(answer.unchecked ?? []));
      const checked = batch.filter((work) => answer.unchecked?.includes(work) !== true);
      unknown.push(
        ...(answer.unknown ??
          checked.filter((work) => !answer.value.some(({ identifiers }) => sharesIdentifier(identifiers, work)))),
      );
    } else if (answer?.status === "empty") unknown.push(...batch);
    else {
      unchecked.push(...batch);
      failure = answer ?? failure;
      failures += answer?.status === "error" ? 1 : maxFailures;
    }
  }
  if (records.length === 0 && failure === undefined && unchecked.length > 0)
    return { status: "error", reason: `${service} sent nothing readable about ${unchecked.length} works.` };
  if (records.length === 0) return failure ?? { status: "empty", reason: emptyReason(service, works) };
  return {
    status: "ok",
    value: records,
    ...(unknown.length === 0 ? {} : { unknown }),
    ...(unchecked.length === 0
      ? {}
      : { unchecked, incomplete: failure?.reason ?? `${unchecked.length} works could not be looked up.` }),
  };
}

function emptyReason(service: string, works: readonly Identifiers[]): string {
  if (works.length > 1) return `${service} knows none of these ${works.length} works.`;
  return works[0] === undefined
    ? `${service} cannot look up these works: they have no identifier that it uses.`
    : `${service} does not know ${nameOf(works[0])}; check it.`;
}
