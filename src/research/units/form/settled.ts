import { isObject } from "../../../engine/lib/json-fields.js";
import type { BesideMessage } from "../../../engine/storage/state/steering-inbox.js";
import type { Settled } from "../../generated/rrd.js";

/** What a person decided for a field of a paper on which two agents differ. */
export interface SettledField {
  /** Id of the paper. */
  readonly paper: string;
  readonly settled: Settled;
}

/** It as a run is told of it that holds the project. */
export const settledMessage = (settle: SettledField): BesideMessage => ({ beside: { settle } });

/** What such a message holds; undefined for another. Whether the field may hold it the state's schema says. */
export function settledIn({ beside: { settle } }: BesideMessage): SettledField | undefined {
  const { paper, settled } = isObject(settle) ? (settle as Partial<SettledField>) : {};
  return typeof paper === "string" && isObject(settled) ? { paper, settled } : undefined;
}
