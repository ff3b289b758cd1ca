import { load } from "cheerio";
import fc from "../../../support/runner/fast-check.js";
import { describe, expect, it } from "vitest";
import { costPicture } from "../../../../src/research/report/pictures/cost.js";
import { datesPicture } from "../../../../src/research/report/pictures/dates.js";
import { flowPicture } from "../../../../src/research/report/pictures/flow.js";
import { mapPicture } from "../../../../src/research/report/pictures/map.js";
import { scoresPicture } from "../../../../src/research/report/pictures/scores.js";
import { saturationPicture, yieldPicture } from "../../../../src/research/report/pictures/search.js";
import {
  boxesAlong,
  placedLabels,
  shortened,
  thousands,
  textWidth,
  wrapText,
} from "../../../../src/research/report/pictures/words.js";

const textOf = (markup: { text: string } | undefined): string => load(markup?.text ?? "").text();
const paper = (index: number, more: object = {}) => ({
  id: `p${index}`,
  title: `Paper ${index} on a long subject of robot hands`,
  status: "presented" as const,
  score: 0.5,
  ...more,
});

describe("the flow", () => {
  const of = (label: string, count: number) => ({ label, count, lines: [] });
  const steps = [
    { stage: "identification" as const, box: of("Identified", 12), sideBox: of("Removed", 2) },
    { stage: "screening" as const, box: of("Screened", 10), sideBox: of("Excluded", 4) },
    { stage: "included" as const, box: of("Included", 6) },
  ];

  it("shows every count in both widths", () => {
    const page = load(flowPicture(steps, "").text);
    for (const kind of ["wide", "narrow"])
      for (const count of [12, 2, 10, 4, 6]) expect(page(`svg.${kind}`).text()).toContain(`(n = ${count})`);
  });
});

describe("a heading of the flow", () => {
  it("fits its box in the bold of a wide font, with its count in one piece", () => {
    const label = "Reports excluded, or not decided";
    const box = { label: "Reports assessed for eligibility", count: 24, lines: [] };
    const steps = [{ stage: "screening" as const, box, sideBox: { label, count: 10, lines: [] } }];
    const page = load(flowPicture(steps, "").text);
    const lines = (kind: string) =>
      page(`svg.${kind} .off text`)
        .toArray()
        .map((line) => page(line).text());
    expect(lines("narrow")).toEqual([label, "(n = 10)"]);
  });
});

describe("the scores", () => {
  const judged = (index: number, execution: number, strategic?: number) =>
    paper(index, { execution, ...(strategic === undefined ? {} : { strategic }) }) as never;

  it("gives papers with equal points places of their own", () => {
    const page = load(
      scoresPicture(
        [1, 2, 3, 4, 5].map((index) => judged(index, 18, 9)),
        { lines: [], maxScore: 50 },
      )?.text ?? "",
    );
    const places = page("svg.wide circle")
      .toArray()
      .map((circle) => [Number(page(circle).attr("cx")), Number(page(circle).attr("cy"))] as const);
    expect(places).toHaveLength(5);
    for (const [index, [x, y]] of places.entries())
      for (const [x2, y2] of places.slice(index + 1)) expect(Math.hypot(x - x2, y - y2)).toBeGreaterThan(5);
  });

  it("draws one sign for all papers of the same points where there are very many", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => judged(index, index % 31, index % 21));
    const { length } = scoresPicture(many, { lines: [], maxScore: 50 })?.text ?? "";
    expect(length).toBeLessThan(300_000);
    expect(length).toBeGreaterThan(10_000);
  });

  it("stays in its frame whatever the points, and draws a line only where it can be crossed", () => {
    const text =
      scoresPicture([judged(1, 99, -5), judged(2, 0, 20)], {
        lines: [
          { at: 0, says: "all" },
          { at: 25, says: "presented" },
        ],
        maxScore: 50,
      })?.text ?? "";
    const page = load(text);
    expect(page("svg.wide .bar")).toHaveLength(1);
    for (const circle of page("svg.wide circle").toArray()) {
      expect(Number(page(circle).attr("cx"))).toBeLessThanOrEqual(720);
      expect(Number(page(circle).attr("cy"))).toBeGreaterThanOrEqual(0);
    }
  });

  it("writes what a decision line stands for where no paper's sign is", () => {
    const lines = [18, 25, 35].map((at) => ({ at, says: "something" }));
    // Where each line comes in, and along it: the number beside it has to give way.
    const papers = [judged(1, 1, 18), judged(2, 6, 19), judged(3, 16, 19), judged(4, 2, 17)];
    const page = load(scoresPicture(papers, { lines, maxScore: 50 })?.text ?? "");
    const signs = page("svg.wide circle")
      .toArray()
      .map((sign) => [Number(page(sign).attr("cx")), Number(page(sign).attr("cy"))] as const);
    const numbers = page("svg.wide text.axis").filter((_, text) => /^\d+$/.test(page(text).text()));
    expect(numbers.text()).toBe("182535");
    for (const text of numbers.toArray()) {
      const [left, base] = [Number(page(text).attr("x")), Number(page(text).attr("y"))];
      for (const [x, y] of signs) {
        const isBeside = x + 5 <= left || x - 5 >= left + 15 || y + 5 <= base - 10 || y - 5 >= base;
        expect(isBeside).toBe(true);
      }
    }
  });

  it("piles papers up where one rubric was used", () => {
    expect(
      textOf(scoresPicture([judged(1, 18), judged(2, 12)], { lines: [{ at: 18, says: "presented" }], maxScore: 30 })),
    ).toContain("points of 30");
  });
});

describe("the dates", () => {
  const dated = (...dates: string[]) => dates.map((date) => ({ status: "presented" as const, date }));

  it("are months where papers lie close together, years where not", () => {
    expect(textOf(datesPicture(dated("2025-11-03", "2026-02"), "2026-11-22"))).toContain("by month");
    expect(textOf(datesPicture(dated("2015-11-03", "2026-02-01"), "2026-11-22"))).toContain("by year");
    expect(textOf(datesPicture(dated("2025", "2026-02-01"), "2026-11-22"))).toContain("by year");
  });

  it("says what has no date and what bears one in the future", () => {
    const text = textOf(datesPicture(dated("2024-01-01", "2025-01-01", "", "soon", "2031-01-01"), "2026-11-22"));
    expect(text).toContain("2 papers have no date");
    expect(text).toContain("1 paper has a date in the future");
  });

  it("is not drawn of less than two", () => {
    expect(datesPicture(dated("2024-01-01", "2031"), "2026-11-22")).toBeUndefined();
  });
});

describe("the search", () => {
  it("ranks sources by what they brought", () => {
    const text = textOf(
      yieldPicture([
        { name: "B", papers: 1 },
        { name: "A", papers: 3, identified: 40 },
      ]),
    );
    expect(text.indexOf("A3 of 40")).toBeLessThan(text.indexOf("B1"));
    expect(yieldPicture([{ name: "A", papers: 3 }])).toBeUndefined();
  });

  it("adds up batches, with the recall where screening has one", () => {
    const batches = [
      { screened: 40, kept: 20, recallAtLeast: 0.4 },
      { screened: 80, kept: 22, recallAtLeast: 0.93 },
    ];
    const text = textOf(saturationPicture(batches, 0.95));
    expect(text).toContain("22 of 80 screened records kept; the last batch kept 2 of 40");
    expect(text).toContain("93 %; 95 % was asked for");
    expect(textOf(saturationPicture(batches.map(({ screened, kept }) => ({ screened, kept }))))).not.toContain(
      "recall",
    );
    expect(saturationPicture(batches.slice(1))).toBeUndefined();
  });
});

describe("the cost", () => {
  it("shows the dearest, with the median of all", () => {
    const text = textOf(costPicture(Array.from({ length: 30 }, (_, index) => ({ ...paper(index), usd: index / 100 }))));
    expect(text).toContain("the 15 most expensive of 29. Median $0.15, together $4.35");
  });

  it("is not drawn where nothing is known to have cost anything", () => {
    expect(costPicture([paper(1), paper(2)].map((one) => ({ ...one, usd: 0 })))).toBeUndefined();
  });
});

describe("the map", () => {
  const papers = Array.from({ length: 60 }, (_, index) => paper(index, { score: index % 50 }));
  const links = Array.from({ length: 90 }, (_, index) => ({
    from: `p${index % 60}`,
    to: `p${(index * 7 + 1) % 60}`,
    weight: 1 + (index % 5),
    because: [`tag ${index % 9}`],
  }));

  it("is the same for the same records", () => {
    const one = mapPicture(papers, links, 50)?.text;
    expect(mapPicture(papers, links, 50)?.text).toBe(one);
    expect(one).not.toMatch(/NaN|Infinity/);
  });

  it("lays no paper upon another and none outside", () => {
    const page = load(mapPicture(papers, links, 50)?.text ?? "");
    const places = page("svg.wide a circle")
      .toArray()
      .map((circle) => [Number(page(circle).attr("cx")), Number(page(circle).attr("cy"))] as const);
    expect(places).toHaveLength(60);
    const [, , width, height] = (page("svg.wide").attr("viewBox") ?? "").split(" ").map(Number) as [
      number,
      number,
      number,
      number,
    ];
    for (const [index, [x, y]] of places.entries()) {
      expect(x > 0 && x < width && y > 0 && y < height).toBe(true);
      for (const [x2, y2] of places.slice(index + 1)) expect(Math.hypot(x - x2, y - y2)).toBeGreaterThan(8);
    }
  });

  it("speaks of points where papers have some, and has every decision in its legend", () => {
    expect(textOf(mapPicture(papers, links, 50))).toContain("A larger sign has more points.");
    const unscored = papers.map(({ id, title, status }) => ({ id, title, status }));
    const bare = textOf(mapPicture([...unscored, { id: "m", title: "M", status: "missing" }], links, 0));
    expect(bare).not.toContain("points");
    expect(bare).toContain("Not retrieved");
  });

  it("holds with links to nothing and papers at one place, and is not drawn of three", () => {
    const odd = mapPicture(papers.slice(0, 5), [{ from: "p1", to: "gone", weight: 1, because: [] }], 0)?.text;
    expect(odd).not.toMatch(/NaN|Infinity/);
    expect(mapPicture(papers.slice(0, 3), links, 50)).toBeUndefined();
  });
});

describe("words in pictures", () => {
  it("never lets a label stand over another or over a sign", () => {
    const labels = fc.array(
      fc.record({
        text: fc.string({ minLength: 1, maxLength: 30 }),
        x: fc.integer({ min: 0, max: 700 }),
        y: fc.integer({ min: 0, max: 300 }),
        radius: fc.constant(5),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(labels, (given) => {
        const signs = given.map(({ x, y }) => [x - 5, y - 5, x + 5, y + 5] as const);
        const page = load(
          `<svg>${placedLabels(given, signs, [0, 0, 720, 320])
            .map(({ text }) => text)
            .join("")}</svg>`,
        );
        const boxes = page("text")
          .toArray()
          .map((label) => {
            const [at, base] = [Number(page(label).attr("x")), Number(page(label).attr("y"))];
            const width = textWidth(page(label).text(), 12);
            const left =
              { start: at, end: at - width, middle: at - width / 2 }[page(label).attr("text-anchor") ?? ""] ?? 0;
            return [left, base - 9, left + width, base + 2] as const;
          });
        const overlaps = (a: readonly number[], b: readonly number[]) =>
          a[0]! < b[2]! && b[0]! < a[2]! && a[1]! < b[3]! && b[1]! < a[3]!;
        for (const [index, box] of boxes.entries()) {
          expect(boxes.slice(index + 1).some((other) => overlaps(box, other))).toBe(false);
          expect(signs.some((sign) => overlaps(box, sign))).toBe(false);
        }
      }),
    );
  });

  it("lets a label cross a line only where every place beside its mark does", () => {
    const mark = { text: "calibrated", x: 100, y: 100, radius: 5 };
    const anchorOf = (lines: Parameters<typeof placedLabels>[3]) =>
      placedLabels([mark], [], [0, 0, 400, 400], lines).map(({ text }) => /text-anchor="(\w+)"/.exec(text)?.[1]);
    const right = boxesAlong([150, 0], [150, 400]);
    expect(anchorOf({})).toEqual(["start"]);
    expect(anchorOf({ lines: right })).toEqual(["end"]);
    expect(anchorOf({ lines: [[0, 0, 400, 400]] })).toEqual(["start"]);
  });

  it("sets whole numbers apart by thousands, as the language does", () => {
    fc.assert(fc.property(fc.maxSafeNat(), (count) => thousands(count) === count.toLocaleString("en")));
  });

  it("keeps as much of a text as its room holds, and not a letter more", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 80 }), fc.integer({ min: 20, max: 300 }), (text, room) => {
        const shown = shortened(text.replaceAll(" ", ""), room, 12);
        expect(textWidth(shown, 12)).toBeLessThanOrEqual(room + 1e-9);
      }),
    );
  });

  it("cuts a text without a space to its room", () => {
    const long = "W".repeat(3000);
    expect(textWidth(shortened(long, 100, 12), 12)).toBeLessThanOrEqual(100);
    for (const line of wrapText(`${long} and ${long}`, 120, 12, 3))
      expect(textWidth(line, 12)).toBeLessThanOrEqual(120);
    expect(wrapText("one two three", 400, 12, 3)).toEqual(["one two three"]);
  });
});
