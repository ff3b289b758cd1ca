import { fileURLToPath } from "node:url";
import type { HouseOptions } from "./house.js";

/**
 * A config under which the agent `protocol` (claude, codex or amp) is agents/streams.mjs, misbehaving as `mode` says.
 */
export const fakeCli = (protocol: string, mode: string): HouseOptions => ({
  agents: {
    [protocol]: {
      command: fileURLToPath(new URL("../agents/streams.mjs", import.meta.url)),
      env: { AMP_API_KEY: "dummy", FAKE_PROTOCOL: protocol, FAKE_MODE: mode },
    },
  },
});
