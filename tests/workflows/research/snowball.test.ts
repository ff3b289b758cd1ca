import { describe, expect, test } from "vitest";
import type { Paper, Rrd } from "../../../src/generated/rrd.js";
import type { PaperRecord } from "../../../src/sources/paper-record.js";
import type { Answer, Source } from "../../../src/sources/source.js";
import { offerOf, type Searching } from "../../../src/workflows/research/offer.js";
import { paper, rrdWith, temporaryFolder } from "../../support/research.js";

type Found = Answer<readonly PaperRecord[]>;

const subjects = "amber birch cedar dunes ember fjord grove heath inlet jetty knoll lagoon marsh nook ocean".split(" ");
/** A record like no other. */
const record = (id: string, over: Partial<PaperRecord> = {}): PaperRecord => ({
  id,
  title: `The ${subjects[id.length % subjects.length]} of ${id} and what matters to ${id}`,
  url: `https://example.org/${id}`,
  pdf_url: null,
  authors: [`Ada ${id}`],
  date: "2026-01-01",
  source: "One",
  abstract: `About the matter ${id}.`,
  identifiers: { doi: `10.5555/${id}` },
  ...over,
});
const found = (...ids: string[]): Found => ({ status: "ok", value: ids.map((id) => record(id)) });
const nothing: Found = { status: "empty", reason: "None." };
const busy: Found = { status: "rate_limited", reason: "It asks to wait.", transient: true };

interface Links {
  readonly search?: () => Found;
  /** By the DOI's end. */
  readonly references?: (id: string) => Found;
  readonly citations?: (id: string) => Found;
}

function searching(services: Readonly<Record<string, Links>>, more: Partial<Searching> = {}) {
  const asked: string[] = [];
  const follow = (name: string, way: string, links: ((id: string) => Found) | undefined) =>
    links === undefined
      ? {}
      : {
          [way]: async ({ doi = "" }) => {
            const id = doi.replace("10.5555/", "");
            asked.push(`${name} ${way} ${id}`);
            return links(id);
          },
        };
  const how: Searching = {
    folder: temporaryFolder(),
    now: () => Date.parse("2026-03-01T00:00:00Z"),
    signal: new AbortController().signal,
    open: (name) => {
      const { search = () => nothing, references, citations } = services[name] ?? {};
      const source = { name, aliases: [], endpoint: "", search: async () => search() };
      const links = { ...follow(name, "references", references), ...follow(name, "citations", citations) };
      return { source: { ...source, ...links } as Source, context: { http: { get: () => Promise.reject(new Error("no network")) }, endpoint: "" } };
    },
    ...more,
  };
  return { how, asked };
}

const seed = (id: string): Paper => paper(id, { priority: 5, identifiers: { doi: `10.5555/${id}` } });
const wanting = (papers: readonly Paper[], more: Partial<Rrd["requirements"]> = {}): Rrd => ({
  ...rrdWith(papers),
  phase: "DISCOVERY",
  requirements: { keywords: ["matter alpha"], focus_area: "matter", sources: ["One", "Two"], target_papers: 9, ...more },
});
const idsOf = (offer: Awaited<ReturnType<typeof offerOf>>) => offer.works.map(({ record: { id } }) => id).toSorted();

describe("a round of references and citations in which a source failed", () => {
  const rrd = wanting([seed("p1"), seed("p2")]);
  const first = { search: () => nothing, references: (id: string) => (id === "p1" ? found("r1") : busy), citations: () => nothing };

  test("is asked again by the next run, only for what no source has answered, and not within one run", async () => {
    const before = searching({ One: first });
    expect(idsOf(await offerOf(rrd, ["One"], before.how))).toEqual(["r1"]);
    // A service that asks to wait is asked nothing more in that round.
    expect(before.asked).toEqual(["One references p1", "One citations p1", "One references p2"]);

    const mended = { One: { ...first, references: (id: string) => found(`late-${id}`), citations: (id: string) => found(`c-${id}`) } };
    const same = searching(mended, { folder: before.how.folder, isFirst: () => false });
    await offerOf(rrd, ["One"], same.how);
    expect(same.asked).toEqual([]);
    const next = searching(mended, { folder: before.how.folder, isFirst: () => true });
    const offer = await offerOf(rrd, ["One"], next.how);
    expect(next.asked).toEqual(["One references p2", "One citations p2"]);
    expect(idsOf(offer)).toEqual(["c-p2", "late-p2", "r1"]);
    expect(offer.steps.map(({ kind }) => kind)).toEqual(["search", "snowball"]);
    const third = searching(mended, { folder: before.how.folder, isFirst: () => true });
    await offerOf(rrd, ["One"], third.how);
    expect(third.asked).toEqual([]);
  });

  test("is left as it is where another source answered, or where the one that failed is blocked by now", async () => {
    const answered = searching({
      One: { ...first, references: () => busy, citations: () => busy },
      Two: { references: () => found("t"), citations: () => nothing },
    });
    await offerOf(rrd, ["One", "Two"], answered.how);
    const blocked = { ...rrd, blocked_sources: ["One"] };
    const again = searching({ One: first, Two: {} }, { folder: answered.how.folder, isFirst: () => true });
    await offerOf(blocked, ["One", "Two"], again.how);
    expect(again.asked).toEqual([]);
  });
});
