import { describe, expect, it } from "vitest";
import { biorxiv, readVersions } from "../../../../src/research/sources/clients/biorxiv.js";
import { europePmc, readResult } from "../../../../src/research/sources/clients/europe-pmc.js";
import { readWork, unpaywall } from "../../../../src/research/sources/clients/unpaywall.js";
import { biorxivWithdrawn, europePmcResult, unpaywallWork } from "../../../fixtures/services/open-copies.js";
import { answering } from "./answering.js";

describe("answers on open copies", () => {
  it("of Unpaywall name the page where there is no address of a PDF", () => {
    expect(readWork(unpaywallWork)).toMatchObject({
      id: "doi_10.5555_xgen.2026.100814",
      pdf_url: null,
      date: "2026-03-22",
      copies: [
        { url: "https://doi.org/10.5555/xgen.2026.100814", kind: "landing", license: "cc-by" },
        { kind: "landing" },
      ],
    });
  });

  it("of Europe PMC name the full text as XML and only free copies", () => {
    const record = readResult(europePmcResult, "https://www.ebi.ac.uk/europepmc/webservices/rest");
    expect(record).toMatchObject({
      id: "doi_10.5555_vms3.1202",
      title: "Interactions of robot hands with the eggs of laying hens",
      authors: ["Sabine Beispiel", "Mehran Pretend"],
      identifiers: { doi: "10.5555/vms3.1202", pmid: "97466043", pmcid: "PMC90508479" },
      date: "2025-07-19",
      abstract: expect.stringMatching(/^Context The grip of robot hands/),
      kind: "published",
      citations: { count: 2, source: "Europe PMC" },
    });
    expect(record?.copies?.[0]).toEqual({
      url: "https://www.ebi.ac.uk/europepmc/webservices/rest/PMC90508479/fullTextXML",
      kind: "xml",
      license: "cc by-nc",
    });
    expect(record?.copies?.map(({ url }) => url)).not.toContain("https://doi.org/10.5555/vms3.1202");
  });

  it("of Europe PMC to the number of a PMID are another work's, and are not taken for it", async () => {
    // Asked for 90508479 without a field, the service gives the work whose PMC id is PMC90508479.
    const { context, requests } = answering([{ body: { hitCount: 1, resultList: { result: [europePmcResult] } } }]);

    expect(await europePmc.lookup?.([{ pmid: "90508479" }], context)).toMatchObject({ status: "empty" });
    expect(new URL(requests[0]?.url ?? "").searchParams.get("query")).toBe("(EXT_ID:90508479 AND SRC:MED)");
  });

  it("of bioRxiv say that a preprint was withdrawn, and when", async () => {
    const { context } = answering([{ body: { messages: [{ status: "ok" }], collection: [biorxivWithdrawn] } }]);
    expect(await biorxiv.lookup?.([{ doi: "10.1101/2026.01.30.927871" }], context)).toMatchObject({
      status: "ok",
      value: [
        {
          retracted: true,
          updates: [{ type: "withdrawal", date: "2026-02-02", source: "bioRxiv" }],
          kind: "preprint",
          authors: expect.arrayContaining(["Pretend, P."]),
        },
      ],
    });
  });
});

describe("Unpaywall", () => {
  const contact = "someone@example.org";
  const body = {
    doi: "10.1000/A",
    title: "A hand",
    is_oa: true,
    best_oa_location: { url: "https://x.test/page", url_for_pdf: null, url_for_landing_page: "https://x.test/page" },
  };

  it("is asked with a mail address, apart from the address that is logged", async () => {
    const { context, requests } = answering([{ body }], { endpoint: "https://api.unpaywall.org", contact });
    expect(await unpaywall.lookup?.([{ doi: "10.1000/a" }], context)).toMatchObject({
      status: "ok",
      value: [{ copies: [{ kind: "landing" }] }],
    });
    expect(requests[0]).toMatchObject({
      url: "https://api.unpaywall.org/v2/10.1000/a",
      secret: { query: { email: contact } },
    });
  });

  it("that refuses the mail address has said nothing of the work", async () => {
    const { context } = answering(
      [
        {
          status: 422,
          body: { HTTP_status_code: 422, error: true, message: "Please use your own email address in API calls." },
        },
      ],
      { contact },
    );
    expect(await unpaywall.lookup?.([{ doi: "10.1000/a" }], context)).toEqual({
      status: "error",
      reason: "Unpaywall answered with HTTP 422: Please use your own email address in API calls.",
    });
    const unknown = answering(
      [{ status: 404, body: { HTTP_status_code: 404, error: true, message: "'10.1000/a' isn't in Unpaywall." } }],
      { contact },
    );
    expect(await unpaywall.lookup?.([{ doi: "10.1000/a" }], unknown.context)).toMatchObject({ status: "empty" });
  });

  it("calls no copy of a closed work free", () => {
    expect(readWork({ ...body, is_oa: false })).not.toHaveProperty("copies");
    expect(readWork({ ...body, is_oa: null, best_oa_location: null })).not.toHaveProperty("copies");
  });
});

describe("Europe PMC", () => {
  const endpoint = "https://epmc.test/rest";
  const result = (fields: object = {}) => ({
    id: "1",
    source: "MED",
    pmid: "1",
    doi: "10.1000/a",
    title: "A hand.",
    ...fields,
  });
  const page = (results: readonly unknown[], more: object = {}) => ({
    body: { hitCount: results.length, resultList: { result: results }, ...more },
  });

  it("is searched for all words within days, page after page", async () => {
    const full = Array.from({ length: 500 }, (_, index) =>
      result({ id: String(index), pmid: String(index), doi: null }),
    );
    const { context, requests } = answering(
      [page(full, { hitCount: 700, nextCursorMark: "A/b+=" }), page(full.slice(0, 200), { nextCursorMark: "A/b+=" })],
      { endpoint },
    );
    const answer = await europePmc.search?.({ terms: 'tactile "robot hand"', from: "2024-01-01", most: 900 }, context);

    expect(answer).toMatchObject({ status: "ok", total: 700 });
    expect(answer?.status === "ok" && answer.value.length).toBe(700);
    expect(requests.map(({ url }) => new URL(url).searchParams.get("cursorMark"))).toEqual(["*", "A/b+="]);
    expect(new URL(requests[0]?.url ?? "").searchParams.get("query")).toBe(
      '(tactile AND "robot hand") AND (FIRST_PDATE:[2024-01-01 TO 2199-12-31])',
    );
  });

  it("is asked for works in fields, twenty a question", async () => {
    const { context, requests } = answering(() => page([result()]));
    const works = [{ pmcid: "PMC7" }, ...Array.from({ length: 24 }, () => ({ doi: "10.1000/a" }))];

    expect(await europePmc.lookup?.(works, context)).toMatchObject({ status: "ok", unknown: [{ pmcid: "PMC7" }] });
    expect(requests).toHaveLength(2);
    expect(new URL(requests[0]?.url ?? "").searchParams.get("query")).toMatch(/^PMCID:PMC7 OR DOI:"10\.1000\/a" OR /);
  });

  it("calls a work retracted by its type or the notice on it, and the notice a notice", () => {
    const notice = {
      id: "27326436",
      source: "MED",
      reference: "Atherosclerosis. 2016 Mar 4;246:385",
      type: "Retraction in",
    };
    expect(
      readResult(
        result({
          commentCorrectionList: { commentCorrection: [notice] },
          pubTypeList: { pubType: ["Retracted Publication", "Journal Article"] },
        }),
        endpoint,
      ),
    ).toMatchObject({
      retracted: true,
      updates: [
        {
          type: "retraction",
          date: "2016-03-04",
          source: "Europe PMC",
          notice: "https://pubmed.ncbi.nlm.nih.gov/27326436/",
        },
      ],
    });
    expect(readResult(result({ pubTypeList: { pubType: "Retracted Publication" } }), endpoint)).toMatchObject({
      retracted: true,
    });

    const own = readResult(
      result({
        commentCorrectionList: { commentCorrection: [{ type: "Retraction of", id: "2" }] },
        pubTypeList: { pubType: ["Retraction of Publication"] },
      }),
      endpoint,
    );
    expect(own?.kind).toBe("notice");
    expect(own).not.toHaveProperty("retracted");
    const corrected = readResult(
      result({ commentCorrectionList: { commentCorrection: [{ type: "Erratum in", reference: "Nature. 2019" }] } }),
      endpoint,
    );
    expect(corrected?.updates).toEqual([{ type: "correction", date: "2019", source: "Europe PMC" }]);
    expect(corrected).not.toHaveProperty("retracted");
  });

  it("has preprints of its own, and those that were withdrawn", () => {
    expect(
      readResult(result({ source: "PPR", id: "PPR1", pmid: null, pubTypeList: { pubType: ["Preprint"] } }), endpoint),
    ).toMatchObject({ kind: "preprint" });
    expect(
      readResult(result({ source: "PPR", pubTypeList: { pubType: ["preprint-withdrawal"] } }), endpoint),
    ).toMatchObject({ retracted: true, updates: [{ type: "withdrawal" }] });
  });

  it("lists no copies for subscribers", () => {
    const fullTextUrlList = {
      fullTextUrl: [
        { availabilityCode: "S", documentStyle: "pdf", url: "https://x.test/closed.pdf" },
        { availabilityCode: "F", documentStyle: "html", url: "https://x.test/free" },
      ],
    };
    expect(readResult(result({ fullTextUrlList, pmcid: "PMC1", isOpenAccess: "N" }), endpoint)?.copies).toEqual([
      { url: "https://x.test/free", kind: "html" },
    ]);
  });

  it("that reports its error under HTTP 200 has found nothing out", async () => {
    const { context } = answering([{ body: { version: "6.9", errCode: 404, errMsg: "Invalid cursor mark" } }]);
    expect(await europePmc.search?.({ terms: "hand", most: 5 }, context)).toMatchObject({
      status: "error",
      reason: expect.stringContaining("Invalid cursor mark"),
    });
    expect(await europePmc.search?.({ terms: "hand", most: 5 }, answering([page([])]).context)).toMatchObject({
      status: "empty",
    });
  });
});

describe("bioRxiv", () => {
  const version = (number: number, fields: object = {}) => ({
    doi: "10.1101/2024.01.01.1",
    title: "A hand",
    version: String(number),
    date: `2024-01-0${number}`,
    type: "new results",
    server: "medRxiv",
    published: "NA",
    ...fields,
  });

  it("is asked for its own DOIs alone, and medRxiv for what bioRxiv does not know", async () => {
    const { context, requests } = answering(
      ({ url }) => ({
        body: { messages: [{ status: "no posts found" }], collection: url.includes("/medrxiv/") ? [version(1)] : [] },
      }),
      { endpoint: "https://api.biorxiv.org" },
    );
    const answer = await biorxiv.lookup?.(
      [{ doi: "10.1101/2024.01.01.1" }, { doi: "10.1000/a" }, { arxiv: "2401.00010" }],
      context,
    );

    expect(answer).toMatchObject({
      status: "ok",
      value: [{ venue: "medRxiv", pdf_url: "https://www.medrxiv.org/content/10.1101/2024.01.01.1v1.full.pdf" }],
    });
    expect(answer).not.toHaveProperty("unknown");
    expect(requests.map(({ url }) => url)).toEqual([
      "https://api.biorxiv.org/details/biorxiv/10.1101/2024.01.01.1/na/json",
      "https://api.biorxiv.org/details/medrxiv/10.1101/2024.01.01.1/na/json",
    ]);
  });

  it("has versions in any order: the first gives the date, the last the rest", () => {
    const versions = [version(3, { title: "A better hand", published: "10.1000/B" }), version(1), version(2)];
    expect(readVersions(versions)).toMatchObject({
      title: "A better hand",
      date: "2024-01-01",
      otherVersions: [{ relation: "published", doi: "10.1000/b" }],
      updates: [
        { type: "version", date: "2024-01-02" },
        { type: "version", date: "2024-01-03" },
      ],
    });
    expect(readVersions(versions)).not.toHaveProperty("retracted");
    expect(readVersions([version(1)])).not.toHaveProperty("otherVersions");
  });

  it("that knows none of them says so, and that fails does not", async () => {
    const none = answering(() => ({ body: { messages: [{ status: "no posts found" }], collection: [] } }));
    expect(await biorxiv.lookup?.([{ doi: "10.1101/x1" }], none.context)).toMatchObject({ status: "empty" });
    const broken = answering(() => ({ body: "Error: (2002) Connection refused", type: "text/html" }));
    expect(await biorxiv.lookup?.([{ doi: "10.1101/x1" }], broken.context)).toMatchObject({ status: "error" });
  });
});
