import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { times } from "../../src/fleet/keys.js";
import type { Brief } from "../../src/engine/loop/types.js";

/** A folder of its own. */
export const fresh = (): string => realpathSync(mkdtempSync(join(tmpdir(), "rr-job-")));
/** Which job it is. */
export const name = {
  run: "0123456789abcdef",
  id: "0123456789abcdef-7",
  queue: "agent-claude",
  expires: times.maxJobWait,
};
export const nothing = { replacedPaths: new Map<string, string>(), redact: (text: string) => text };
export const briefOf = (workspace: string, more: Partial<Brief> = {}): Brief => ({
  iteration: 7,
  text: `Write ${workspace}/result.json, not ${workspace}/other. The folder is /home/me/researches/x, hush.`,
  tokens: 10,
  workspace,
  access: { web: true, read: true, everything: false },
  ...more,
});
