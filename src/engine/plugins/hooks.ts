import type { Point } from "../points/points.js";
import type { PluginAnswer } from "../generated/plugin.js";

/** A hook of a plugin: the point that it waits for, and what it may answer. */
export interface PluginHook {
  readonly point: Point;
  /** The field of the answer that is listened to; absent: none. */
  readonly answers?: "added" | "changed" | "vetoed";
  /** It is called only if somebody has more to say of the point, by the hook's name. */
  readonly isOfWork?: true;
}

/** Every hook that a plugin may have. Shell hooks wait for the same points. */
export const pluginHooks: Readonly<Record<string, PluginHook>> = {
  onBeforeGen: { point: "before-iteration", answers: "added" },
  onAfterGen: { point: "after-iteration", answers: "changed" },
  onTestFail: { point: "tests-failed" },
  onBeforeSuccess: { point: "complete", answers: "vetoed" },
  onSuccess: { point: "complete" },
  onReading: { point: "accepted", isOfWork: true },
  onReport: { point: "accepted", isOfWork: true },
} satisfies Record<string, PluginHook & { readonly answers?: keyof PluginAnswer }>;
