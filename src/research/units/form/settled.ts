import { isObject } from "../../../engine/lib/json-fields.js";
import type { OutsideWorkMessage } from "../../../engine/storage/state/steering-inbox.js";
import type { Settled } from "../../generated/rrd.js";

/** The user's decision on a field for which two agents gave different values. */
export interface FieldDecision {
  /** Id of the paper. */
  readonly paper: string;
  readonly settled: Settled;
}

/** The message that tells a running process about the decision. */
export const decisionMessage = (settle: FieldDecision): OutsideWorkMessage => ({ beside: { settle } });

/** The decision in such a message; undefined for other messages. The schema of the state checks the field. */
export function decisionIn({ beside: { settle } }: OutsideWorkMessage): FieldDecision | undefined {
  const { paper, settled } = isObject(settle) ? (settle as Partial<FieldDecision>) : {};
  return typeof paper === "string" && isObject(settled) ? { paper, settled } : undefined;
}
