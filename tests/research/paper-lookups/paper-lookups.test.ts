import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import type { HttpDocument } from "../../../src/net/http.js";
import type { HttpFailure } from "../../../src/net/http-failure.js";
import { paperLookups } from "../../../src/research/paper-lookups/paper-lookups.js";
import { contextsWith, type SourcesConfig } from "../../../src/research/sources/source-settings.js";
import { fakeClock } from "../../support/clock.js";
import type { Clock } from "../../../src/engine/lib/clock.js";
import { updatesFile } from "../../../src/research/project-files/layout.js";

const title = "Walking after stroke";
const body = "The cohort was followed for two years and seen every month by the same two nurses. ".repeat(12);
const html = {
  body: `<html><body><article class="ltx_document"><h1 class="ltx_title_document">${title}</h1><h2>1 Method</h2><p>${body}</p></article></body></html>`,
};

/** A clock on which no wait ever ends by itself. */
const patient: Clock = {
  now: () => Date.parse("2026-11-22T10:00:00Z"),
  sleep: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
};

/** Services whose every request is answered by `answer`, and what was asked. */
function servicesWith(
  answer: (url: string) => HttpDocument | HttpFailure | Promise<HttpDocument>,
  config: SourcesConfig = {},
  clock: Clock = patient,
  lookups = true,
) {
  const asked: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), "services-"));
  const http = { get: async ({ url }: { url: string }) => (asked.push(url), answer(url)) };
  const contextFor = contextsWith({ sources: config, contact: "mail@example.org" }, {}, http);
  return {
    asked,
    folder,
    services: paperLookups({ folder, http, contextFor, clock, lookups, signal: new AbortController().signal }),
  };
}
const away = (): HttpFailure => ({ status: "error", reason: "There is no network.", transient: true });
const json = (value: unknown, url: string): HttpDocument => ({
  status: "ok",
  bytes: Buffer.from(JSON.stringify(value)),
  url,
  type: "application/json",
});
const page = (url: string): HttpDocument => ({ status: "ok", bytes: Buffer.from(html.body), url, type: "text/html" });
const missing = (): HttpFailure => ({ status: "not-found", reason: "There is no such document.", code: 404 });

describe("the text of a paper", () => {
  it("is read from where the configuration says that a site is, and not from one that is turned off", async () => {
    const config = { "arXiv pages": { endpoint: "https://mirror.example.org/arxiv" }, ar5iv: { off: true } };
    const { asked, services } = servicesWith((url) => (url.includes("/pdf/") ? page(url) : missing()), config);
    expect(await services.text({ id: "arxiv_2401.12345", title })).toMatchObject({ text: { depth: "full" } });
    expect(asked).toEqual(
      ["html", "e-print", "pdf"].map((kind) => `https://mirror.example.org/arxiv/${kind}/2401.12345`),
    );
  });

  it("that can't be had is told with every way that was tried, and with no way where it may come later", async () => {
    const gone = await servicesWith(missing).services.text({ id: "arxiv_2401.12345", title });
    expect(gone).toEqual({
      unavailable: expect.stringMatching(
        /Tried: arXiv HTML \(.*\); ar5iv \(.*\); LaTeX source \(.*\); arXiv PDF \(.*\)\.$/,
      ),
    });
    expect(await servicesWith(away).services.text({ id: "arxiv_2401.12345", title })).toEqual({
      unavailable: "There is no network.",
      transient: true,
    });
  });
});

describe("the check for retractions", () => {
  it("says of every paper that it could not be checked where there is no network", async () => {
    const { services } = servicesWith(away);
    const checks = await services.updates([{ id: "p1", identifiers: { doi: "10.1000/x" } }]);
    expect(checks.get("p1")).toMatchObject({
      updates: [],
      checked_by: [],
      unchecked: expect.arrayContaining([expect.stringMatching(/^Crossref: /)]),
    });
  });

  it("asks nobody about a paper without identifiers, and says why", async () => {
    const { asked, services } = servicesWith(away);
    const checks = await services.updates([{ id: "file_1", url: "file:///home/me/draft.pdf" }]);
    expect(checks.get("file_1")?.unchecked).toEqual([expect.stringMatching(/no DOI, arXiv id or PMID/)]);
    expect(asked).toEqual([]);
  });

  it("finds a retraction that Crossref dates, and asks only once a day", async () => {
    const work = {
      DOI: "10.1000/x",
      title: [title],
      "updated-by": [
        { type: "retraction", source: "retraction-watch", DOI: "10.1000/n", updated: { "date-parts": [[2026, 3, 1]] } },
      ],
    };
    const { asked, folder, services } = servicesWith((url) => {
      if (url.includes("europepmc")) return json({ hitCount: 0, resultList: { result: [] } }, url);
      return url.includes("crossref") ? json({ message: work }, url) : missing();
    });
    const checks = await services.updates([{ id: "p1", identifiers: { doi: "10.1000/x" } }]);
    expect(checks.get("p1")).toMatchObject({
      updates: [{ type: "retraction", date: "2026-03-01" }],
      checked_by: expect.arrayContaining(["Crossref"]),
    });
    expect(existsSync(updatesFile(folder))).toBe(true);
    const before = asked.length;
    await services.updates([{ id: "p1", identifiers: { doi: "10.1000/x" } }]);
    expect(asked).toHaveLength(before);
  });
});

test("with lookups off no service hears of a file that prints a DOI, and all of the others", async () => {
  const { asked, services } = servicesWith(missing, {}, patient, false);
  const own = { id: "file_1", title, url: "file:///home/me/draft.pdf", identifiers: { doi: "10.1000/x" } };
  expect([...(await services.updates([own]))]).toEqual([]);
  expect(await services.about(own)).toEqual({ code: [], unchecked: [] });
  const record = { ...own, source: "folder", authors: [], abstract: "", date: "" };
  expect([...(await services.ownRecords([record as never]))]).toEqual([]);
  expect(asked).toEqual([]);
  await services.updates([{ id: "p1", identifiers: { doi: "10.1000/x" } }]);
  expect(asked).not.toEqual([]);
});

describe("code and citations", () => {
  it("fail softly, and name who could not be asked", async () => {
    const about = await servicesWith(away).services.about({
      id: "arxiv_2401.12345",
      title,
      abstract: "See https://github.com/a/b.",
    });
    expect(about).toMatchObject({
      code: [{ repository: "https://github.com/a/b", relation: "official" }],
      unchecked: expect.arrayContaining(["GitHub", "OpenAlex"]),
    });
    expect(about.citations).toBeUndefined();
  });

  it("are waited for no longer than a moment", async () => {
    const about = await servicesWith(() => new Promise(() => undefined), {}, fakeClock()).services.about({
      id: "arxiv_2401.12345",
      title,
    });
    expect(about).toMatchObject({ code: [], unchecked: expect.arrayContaining(["code", "OpenAlex"]) });
  });

  it("of a packaged sample are looked up nowhere, whatever identifiers it carries: a demo needs no network", async () => {
    const sample = {
      id: "sample_01",
      title,
      url: "sample:sample_01.md",
      identifiers: { doi: "10.1000/sample", arxiv: "2401.12345" },
    };
    const { asked, services } = servicesWith(away);
    expect(await services.about(sample)).toEqual({ code: [], unchecked: [] });
    expect([...(await services.updates([sample]))]).toEqual([]);
    expect(asked).toEqual([]);
  });

  it("of a paper of this machine are looked up nowhere", async () => {
    const { asked, services } = servicesWith(away);
    expect(await services.about({ id: "file_1", title, url: "file:///home/me/draft.pdf" })).toEqual({
      code: [],
      unchecked: [],
    });
    expect(asked).toEqual([]);
  });
});
