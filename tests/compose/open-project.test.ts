import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { libraryFor } from "../../src/compose/library.js";
import { withAbortedRequests } from "../../src/compose/open-project.js";
import type { Agent } from "../../src/engine/loop/types.js";
import { systemClock } from "../../src/engine/lib/clock.js";
import { library, paper, paperText, researchFolder, rrdWith, temporaryFolder } from "../support/projects/research.js";

/** A service that takes a request and never answers it. `closed`: the asker has let go. */
async function silent() {
  const server = createServer();
  const asked = new Promise<void>((resolve) => server.on("request", () => resolve()));
  const closed = new Promise<void>((resolve) =>
    server.on("request", (request) => request.socket.on("close", () => resolve())),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, closed };
}

test("a bug ends the request that a preparation beside it waits for, though nobody has asked the run to end", async () => {
  const service = await silent();
  const requests = new AbortController();
  const config = {
    sources: { unpaywall: { endpoint: service.endpoint, interval_ms: 0 } },
    stateDir: temporaryFolder(),
    contact: "someone@example.org",
    patienceMs: 0,
    lookups: true,
  };
  const { text } = libraryFor(temporaryFolder(), "/", config, {}, requests.signal);
  const given = library({ text: async (one) => (one.id === "p1" ? { text: paperText("p1") } : await text(one)) });
  const agent: Agent = {
    name: "buggy",
    confinement: "workspace",
    async *run() {
      yield { type: "text", text: "I begin." };
      await service.asked;
      throw new TypeError("ours");
    },
  };
  const papers = [paper("p1", { priority: 5 }), paper("p2", { url: null, identifiers: { doi: "10.5555/p2" } })];
  const run = researchFolder(rrdWith(papers), given).run(agent, 5, {
    clock: systemClock,
    wrapped: (workflow) => withAbortedRequests(workflow, requests),
  });
  await expect(run).rejects.toThrow("ours");
  await service.closed;
  expect(requests.signal.aborted).toBe(true);
});
