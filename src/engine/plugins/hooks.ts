import type { Point } from "../points/points.js";
import type { PluginAnswer } from "../generated/plugin.js";

/** A hook of a plugin: the point at which it is called, and the kind of its answer. */
export interface PluginHook {
  readonly point: Point;
  /** The field of the answer that is used; absent: none. */
  readonly answers?: "added" | "changed" | "vetoed";
  /** True: called only if a wing has additional input for this hook. */
  readonly isOfWork?: true;
}

/** All hooks of plugins. Shell hooks use the same points. */
export const pluginHooks: Readonly<Record<string, PluginHook>> = {
  onBeforeGen: { point: "before-iteration", answers: "added" },
  onAfterGen: { point: "after-iteration", answers: "changed" },
  onTestFail: { point: "tests-failed" },
  onBeforeSuccess: { point: "complete", answers: "vetoed" },
  onSuccess: { point: "complete" },
  onReading: { point: "accepted", isOfWork: true },
  onReport: { point: "accepted", isOfWork: true },
} satisfies Record<string, PluginHook & { readonly answers?: keyof PluginAnswer }>;
