// Writes a report, or answers a question, with two errors in it, checks it as one who knows, and mends it; each of it takes a while.
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const right = "Grip strength was higher in adults with a soft glove.";
const overstated = "Daily stretching lengthens the reach of everybody's fingers for good.";
const corrected = "Finger reach was higher in adults who stretched daily for two weeks.";
const madeUp = "Warm milk is cheaper than every other means.";

const { kind, unit, sentences = [] } = JSON.parse(/<unit>\n([\s\S]*?)\n<\/unit>/.exec(readFileSync(0, "utf8"))[1]);
const said = (text, handle) => ({ text, rests_on: [handle] });
const isSaid = ({ sentence, passages }) =>
  passages.some(({ passage }) => passage.replace(/[“”]/g, "").includes(sentence));
const holds = (each) => [right, corrected].includes(each.sentence) || isSaid(each);
const three = [said(right, "other_0#1"), said(overstated, "other_3#1"), said(madeUp, "other_2#1")];
const results = {
  question: { unit, quotes: [], statements: three, not_found: null },
  report: {
    ...{ unit, question: "What helps weak hands?", answer: [said(right, "other_0#1")] },
    findings: three,
    ...{ agreed: [], disputed: [], gaps: [], themes: [], comparison: null, recommendations: [] },
  },
  check: {
    unit,
    answers: sentences.map((each) =>
      holds(each)
        ? { number: each.number, verdict: "supported" }
        : { number: each.number, verdict: "not-supported", why: "Its passages do not say so." },
    ),
  },
  mend: {
    unit,
    sentences: sentences.map(({ number, sentence }) => ({ number, text: sentence === overstated ? corrected : null })),
  },
};
await sleep(150);
writeFileSync("result.json", JSON.stringify(results[kind]));
