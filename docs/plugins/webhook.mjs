// Posts to a webhook once the work is complete: `config: { url: "http://127.0.0.1:8080/done" }`, and the same host and
// port among `allow.hosts`.
import { basename } from "node:path";

/** @type {import("research-ralph/plugin").Plugin} */
export default {
  name: "webhook",
  version: "1.0.0",
  hooks: {
    async onSuccess({ verdict }, { config, folder }) {
      const answer = await fetch(String(config.url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ project: basename(folder ?? ""), reason: verdict.reason }),
      });
      if (!answer.ok) throw new Error(`the webhook answered with HTTP ${answer.status}`);
    },
  },
};
