import { describe, expect, it } from "vitest";
import { findQuote, type QuoteMatch } from "../../../src/text/evidence/find-quote.js";
import { buildText } from "../../../src/text/documents/text/document-text.js";

const found = (text: string, quote: string) => findQuote(text, quote).found;
const quotedIn = (match: QuoteMatch) =>
  match.found ? match.quoted.map(([from, to]) => match.passage.slice(from, to)) : [];

describe("formulas of a text in TeX", () => {
  const text =
    "We use $\\alpha \\leq \\frac{1}{2}$ and CO$_2$ at $10^{-5}$ bar, for $5 a piece, where $\\not= 3$ holds for all.";

  it.each([
    "We use α ≤ 1/2 and CO₂ at 10⁻⁵ bar",
    "We use $\\alpha \\leq \\frac{1}{2}$ and CO$_2$ at $10^{-5}$ bar",
    "and CO₂ at 10^-5 bar",
  ])("are found as people write them and as they stand: %s", (quote) => {
    const match = findQuote(text, quote);
    // Offsets are those of the text itself.
    expect(match.found ? text.slice(match.end) : "").toMatch(/^, for \$5/);
  });

  it.each([
    [
      "We noted the price ($) of each hand and its cost ($p < 0.05$) in a table.",
      "We noted the price ($) of each hand",
    ],
    ["We noted the price ($) of each hand and its cost ($p < 0.05$) in a table.", "each hand and its cost (p < 0.05)"],
    ["Each hand costs $5 (in US$) and lasts for a year.", "Each hand costs $5"],
    ["The price of a hand rose from $12 to NZ$ 15 within a year.", "The price of a hand rose from $12"],
    ["We paid $5 = 5 dollars or so in US$ for each hand.", "We paid $5 = 5 dollars"],
    [
      "The rate is $r = 5 \\text{per hour of use}$ for each hand of ours.",
      "The rate is r = 5 per hour of use for each hand",
    ],
  ])("are no money: %s", (prose, quote) => expect(findQuote(prose, quote).found).toBe(true));

  it.each(["We use α ≤ 12 and CO2 at 10⁻⁵ bar", "and CO2 at 105 bar, for $5 a piece", "at 10⁻⁵ bar, for 5 a piece"])(
    "are not found otherwise: %s",
    (quote) => expect(findQuote(text, quote).found).toBe(false),
  );
});

describe("a quote is found in spite of", () => {
  it.each([
    ["the sign of a ratio", "they were randomised 1∶1 to two arms", "they were randomised 1:1 to two arms"],
    ["a power whose level is lost", "we counted 3.2 × 10⁶ cells in it", "we counted 3.2 x 106 cells in it"],
    [
      "white space and line breaks",
      "The policy\n  reaches   94 percent success.",
      "The policy reaches 94 percent success.",
    ],
    [
      "hyphenation at a line's end",
      "an effec-\ntive policy for in-hand rotation",
      "an effective policy for in-hand rotation",
    ],
    [
      "hyphenation at the end of a page",
      "an effec-\n\n[p. 2]\ntive policy for in-hand rotation",
      "an effective policy for in-hand rotation",
    ],
    [
      "a compound broken at its own hyphen",
      "the state-of-the-\nart baseline was weaker",
      "the state-of-the-art baseline was weaker",
    ],
    ["ligatures", "a signiﬁcant and eﬃcient ﬂow", "a significant and efficient flow"],
    ["kinds of quotation marks", "they call it “sim2real” and it’s common", 'they call it "sim2real" and it\'s common'],
    ["kinds of dashes", "values of 10–20 ms — far below the limit", "values of 10-20 ms - far below the limit"],
    ["soft hyphens", "ran\u00addomi\u00adsation of contact friction", "randomisation of contact friction"],
    ["compatibility forms", "Ｆｕｌｌ width ½ and µm sized", "Full width 1⁄2 and μm sized"],
    ["composed and combining accents", "the Erdo\u030bs na\u00efve bound holds", "the Erdős naïve bound holds"],
    ["accents left out", "Müller and Gómez report the same", "Muller and Gomez report the same"],
    ["accents that stand alone", "na ¨ıve baselines fail on Erd ˝os graphs", "naïve baselines fail on Erdős graphs"],
    [
      "accents typed in two ways",
      "the caf\u00e9 and the re\u0301sume\u0301 of Zoe\u0308",
      "the cafe\u0301 and the r\u00e9sum\u00e9 of Zo\u00eb",
    ],
    [
      "a negated sign in two characters",
      "we find x \u2260 y and z \u2209 S here",
      "we find x =\u0338 y and z \u2208\u0338 S here",
    ],
    [
      "a stroke that a PDF sets before its sign",
      "we find that x\u0338= y and x \u0338= z hold",
      "we find that x\u2260 y and x \u2260 z hold",
    ],
    ["Greek and mathematical letters", "with \u03b1 = 𝟎.𝟓 and 𝐱 ∈ ℝ we get ϑ̂", "with α = 0.5 and x ∈ R we get θ"],
    ["kinds of minus signs", "a change of −0.3 points and −5 after", "a change of -0.3 points and –5 after"],
    ["a fraction typed in several ways", "a gain of 1½ points over ¾ of it", "a gain of 1 1/2 points over 3⁄4 of it"],
    ["powers of two digits", "about 10¹² samples of it", "about 10^12 samples of it"],
    ["a PDF's kerning in numbers", "latency fell to 150 .1 ms on average", "latency fell to 150.1 ms on average"],
    [
      "a word that a PDF split",
      "we observe a signi ficant drop in the error over all tasks",
      "we observe a significant drop in the error over all tasks",
    ],
    ["citations left out", "Prior work [12] and others [3, 4], [5–8] fail here", "Prior work and others, fail here"],
    ["page marks", "a sentence that runs\n\n[p. 4]\nover the page end", "a sentence that runs over the page end"],
    ["letter case", "Domain Randomisation Helps Transfer", "domain randomisation helps transfer"],
    [
      "Markdown emphasis and heading marks",
      "## 3 Results\n\nIt was **much better** than `PPO` there",
      "3 Results It was much better than PPO there",
    ],
    ["list marks", "needs three things:\n- a hand\n- a simulator", "needs three things: a hand a simulator"],
    ["line breaks in a script without spaces", "机器人灵巧操作研究的\n最新进展和\n挑战", "操作研究的最新进展和挑战"],
    ["quotation marks around it", "the policy reaches 94 percent", "“the policy reaches 94 percent”"],
  ])("%s", (_, text, quote) => {
    expect(found(`Before it. ${text} After it.`, quote)).toBe(true);
  });
});

it("the special space between thousands is none between two numbers, whatever its form", () => {
  const hands = (space: string) =>
    buildText([{ text: `In the end 12${space}450 hands were screened.` }], { kind: "html", depth: "full" }).text;
  for (const space of ["\u2009", "\u202f", "\u00a0"])
    for (const number of ["12450", "12,450", "12 450"])
      expect(found(hands(space), `In the end ${number} hands were screened.`)).toBe(true);
  for (const space of [" ", "\t", "\u2003"])
    expect(found(hands(space), "In the end 12450 hands were screened.")).toBe(false);
});

describe("a quote is not found where", () => {
  it.each([
    ["a number differs", "an error of 0.304 mm was measured", "an error of 0.305 mm was measured"],
    ["a number was cut short", "an error of 0.304 mm was measured", "an error of 0.30"],
    ["a number lost its beginning", "we used 15 subjects in all", "5 subjects in all"],
    ["a number lost its whole part", "a gain of 0.5 points was seen", "5 points was seen"],
    ["a sign was lost", "a change of -0.3 points was seen", "0.3 points was seen"],
    ["a sign was added", "a change of 0.3 points was seen", "a change of -0.3 points was seen"],
    ["a thousand became ten", "about 10 5 samples were used", "about 105 samples were used"],
    ["a plain number became a power", "about 105 samples were used", "about 10⁵ samples were used"],
    ["a power has its last digit on the line", "about 10¹2 samples were used", "about 10¹² samples were used"],
    ["a power was lowered", "about 10² samples were used", "about 10₂ samples were used"],
    ["a footnote mark joined its number", "the score was 4¹ in all of them", "the score was 41 in all of them"],
    ["a power joined its base", "a key of 2³² numbers was used", "a key of 232 numbers was used"],
    ["a power was cut off", "we used about 10⁵", "we used about 10"],
    ["a power that a PDF set apart was cut off", "we used about 10 ⁵", "we used about 10"],
    ["a power lost its base", "about 10⁵ samples were used", "5 samples were used"],
    ["one and a half became eleven halves", "a gain of 1½ points was seen", "a gain of 11⁄2 points was seen"],
    ["eleven halves became one and a half", "a gain of 11⁄2 points was seen", "a gain of 1½ points was seen"],
    ["a half and a digit became one half over more", "a gain of ½5 points was seen", "a gain of 1⁄25 points was seen"],
    ["one and a half lost the one", "a gain of 1½ points was seen", "½ points was seen"],
    ["a half was cut in two", "we saw a share of ½", "we saw a share of 1"],
    ["a fraction lost its numerator", "in 3/4 of all trials it failed", "4 of all trials"],
    ["a fraction lost its denominator", "it won a share of 3/4", "it won a share of 3"],
    ["numbers in circles became one number", "steps ①② of the whole method", "steps 12 of the whole method"],
    [
      "two numbers were joined by what nobody sees",
      "about 10 5 samples were used",
      "about 10\u200b5 samples were used",
    ],
    ["two numbers were joined by a soft hyphen", "about 10 5 samples were used", "about 10\u00ad5 samples were used"],
    ["a negated sign lost its stroke", "We find that A ≠ B holds", "We find that A = B holds"],
    ["a sign was negated", "We find that A = B holds", "We find that A ≠ B holds"],
    ["what is no element became one", "every trial with x ∉ S", "every trial with x ∈ S"],
    ["what does not exist does", "there ∄ x such that it holds", "there ∃ x such that it holds"],
    ["a stroke of its own was dropped", "we saw x\u0338= y in all runs", "we saw x= y in all runs"],
    ["a vertical stroke was dropped", "we saw x =\u20d2 y in all runs", "we saw x = y in all runs"],
    ["a backward stroke was dropped", "we saw x =\u20e5 y in all runs", "we saw x = y in all runs"],
    ["words struck through are plain", "it is n\u0336o\u0336t safe for people", "it is not safe for people"],
    ["it ends before the stroke of its last sign", "so it is that x ⩽\u0338 y", "so it is that x ⩽"],
    ["it ends before the stroke that a PDF sets after a space", "so it is that x = \u0338 y", "so it is that x ="],
    ["two sentences would make one number", "We used 150. 1 subject left early", "We used 150.1 subject left early"],
    ["a negation was dropped", "the method does not generalise to gloves", "the method does generalise to gloves"],
    ["a negation was added", "the method does generalise to gloves", "the method does not generalise to gloves"],
    ["words change places", "the hand beats the gripper on screws", "the gripper beats the hand on screws"],
    ["it begins inside a word", "the robot was unable to grasp it", "able to grasp it"],
    ["it ends inside a word", "this is an effective way out", "this is an effect"],
    ["it ends before an apostrophe", "we saw that they don't hold", "we saw that they don"],
    ["it begins inside a name", "we see that the GPT-4 model works well", "4 model works well"],
    ["it ends inside a compound", "it was of the state-of-the-art kind", "it was of the state"],
    ["it begins inside a compound", "it was of the state-of-the-art kind", "art kind. After it"],
    ["a comparison is turned round", "p < 0.05 in all the trials", "p > 0.05 in all the trials"],
    [
      "an interval in brackets differs",
      "with actions in the range [0, 1] per joint",
      "with actions in the range [0, 5] per joint",
    ],
    ["a citation differs", "as shown before [12] in detail", "as shown before [13] in detail"],
    ["a unit differs", "a latency of 150 ms per step", "a latency of 150 µs per step"],
  ])("%s", (_, text, quote) => {
    expect(found(`Before it. ${text} After it.`, quote)).toBe(false);
  });
});

describe("fragments", () => {
  const trained = "The policy was trained in simulation for nine hours on a single machine.";
  const reached = "On the real hand it reached 94 percent success.";
  const text = `${trained} ${"It then rested. ".repeat(20)}${reached} ${"Something else happened. ".repeat(150)}The end of the paper came at last.`;

  it.each(["…", "...", " … ", " [...] ", " (…) "])("stand for words left out of a sentence, written '%s'", (dots) => {
    const match = findQuote(text, `The policy was trained${dots}on a single machine.`);
    expect(match).toMatchObject({ found: true, start: 0, end: trained.length });
  });

  it("are shown from the sentence of the first to that of the last, each of them quoted", () => {
    const near = `${trained} It then rested. ${reached}`;
    const match = findQuote(
      `Before it. ${near} After it.`,
      "in simulation for nine hours … it reached 94 percent success",
    );
    expect(match).toMatchObject({ found: true, passage: near });
    expect(quotedIn(match)).toEqual(["in simulation for nine hours", "it reached 94 percent success"]);
  });

  it.each([
    ["more than three sentences", `${trained} … ${reached}`],
    ["more than 700 characters", `${reached} … The end of the paper came at last.`],
  ])("are refused where they stand %s apart, and two quotes are asked for", (_, quote) => {
    expect(findQuote(text, quote)).toMatchObject({
      found: false,
      why: 'its parts around "…" are too far apart; give two quotes',
    });
  });

  it("are refused in another order than that of the text", () => {
    expect(findQuote(text, `${reached} … ${trained}`)).toMatchObject({
      found: false,
      why: 'the fragments around "…" are in another order in the text',
    });
  });

  it("must each be of three words or twelve characters", () => {
    const deep = "We use reinforcement learning in a simulator of the hand to train the policy.";
    expect(found(deep, "in a simulator … to train the policy")).toBe(true);
    expect(
      found("We put it by the red cube of wood, foil and wax from the table.", "by the red … wax from the table"),
    ).toBe(true);
    expect(found(deep, "reinforcement learning … to train the policy")).toBe(true);
    expect(found("the method was not good", "the method was … good")).toBe(false);
    expect(found(text, "The policy was … hours")).toBe(false);
    expect(found(text, "The policy was trained in simulation … ≠")).toBe(false);
  });

  it("are looked for at later places where the first leads nowhere", () => {
    const twice = `We measure success here. ${"Filler goes on. ".repeat(200)}We measure success here with care, and then it was 94 percent.`;
    expect(findQuote(twice, "We measure success … it was 94 percent")).toMatchObject({
      found: true,
      start: twice.lastIndexOf("We measure"),
    });
  });

  it("leave three dots of the text itself alone", () => {
    expect(found("for joints 1, 2, ..., n of the hand", "joints 1, 2, ..., n of the hand")).toBe(true);
  });
});

describe("words that a PDF joined or tore", () => {
  const known = "The policy and the gripper of the robot are known.";
  const long = "In thepolicy of thegripper we work all day and night";

  it.each([
    ["In thepolicy of it we work.", "In the policy of it we work"],
    [`${long} with it.`, "In the policy of the gripper we work all day and night"],
    ["It was signi ficant in all of them.", "It was significant in all of them"],
    ["The Cmax of C is the max of C. C max was high in all of them.", "Cmax was high in all of them"],
    ["We saw 5kg of 7km and 8mm with 9ms at 4V in all.", "We saw 5 kg of 7 km and 8 mm with 9 ms at 4 V in all"],
    ["We saw ( a ) and ( b ) and ( c ) in all of it.", "We saw (a) and (b) and (c) in all"],
    ["We saw this.5 of them were lost.", "We saw this. 5 of them were lost"],
    ["We saw this.5 of them were lost.", "5 of them were lost"],
    ["Let w and i be held, w and i. The w i of them was high.", "The wi of them was high"],
  ])("are what they say, once and once more for every eight words: of %j a quote is %j", (text, quote) => {
    expect(findQuote(`${known} ${text}`, quote)).toMatchObject({ found: true });
  });

  it.each([
    ["In thepolicy of thegripper we work.", "In the policy of the gripper we", undefined],
    [`${long} ofthe policy.`, "In the policy of the gripper we work all day and night of the policy", undefined],
    ["Robotsgripper in the lab was of use.", "robots gripper … was of use", undefined],
    ["It was un able to hold them.", "It was unable to hold them", '"unable" is not "un able"'],
    [
      "It was insignificant in all of them.",
      "It was in significant in all of them",
      '"insignificant" is not "in significant"',
    ],
    [
      "It was in significant parts of them.",
      "It was insignificant parts of them",
      '"insignificant" is not "in significant"',
    ],
    ["It was nowhere to be seen.", "It was now here to be seen", '"nowhere" is not "now here"'],
    ["They were assigned to two groups.", "They were as signed to two groups", '"assigned" is not "as signed"'],
    ["It is a fact or two of them.", "It is a factor two of them", '"factor" is not "fact or"'],
    ["They signed as one. They were assigned to it.", "They were as signed to it", '"assigned" is not "as signed"'],
    ["By hand it was held. The handheld was good.", "The hand held was good", '"handheld" is not "hand held"'],
    [
      "The ground, the truth. The groundtruth is a groundtruth.",
      "The ground truth is a",
      '"groundtruth" is not "ground truth"',
    ],
  ])("make no other words: of %j no quote is %j", (text, quote, why) => {
    expect(findQuote(`${known} ${text}`, quote)).toMatchObject({ found: false, ...(why === undefined ? {} : { why }) });
  });
});

describe("what stands between two numbers", () => {
  it.each([
    ["Count | 12 | 500 | of it all", "Count 12 500 of it all"],
    ["We used 10[3] 5 samples of it.", "We used 10 5 samples of it"],
    ["We did as shown before [1]–[3] in detail.", "as shown before [1–3] in detail"],
    ["We did as shown before [1–3] in detail.", "as shown before [1]–[3] in detail"],
  ])("may be the border of a cell or a citation: of %j a quote is %j", (text, quote) => {
    expect(found(text, quote)).toBe(true);
  });

  it.each([
    ["Count | 12 | 500 | of it all", "Count 12\u00a0500 of it all"],
    ["We did as shown before [12] in detail.", "as shown before [2] in detail"],
  ])("makes no other number: of %j no quote is %j", (text, quote) => {
    expect(found(text, quote)).toBe(false);
  });
});

describe("units", () => {
  const why = "a unit is in another case, which makes it another unit";

  it.each([
    ["It gave 5 mW of power in all.", "It gave 5 MW of power in all"],
    ["It gave a power (mW) in all of them.", "It gave a power (MW) in all of them"],
    ["It had 5 mΩ of it in all.", "It had 5 MΩ of it in all"],
    ["It was a 5-mW lamp of theirs.", "It was a 5-MW lamp of theirs"],
    ["It used the Mg of the sea there.", "It used the mg of the sea there"],
  ])("are others in another case: of %j no quote is %j", (text, quote) => {
    expect(findQuote(text, quote)).toMatchObject({ found: false, why });
  });

  it.each([
    ["It gave 5 MW of power in all.", "IT GAVE 5 MW OF POWER IN ALL"],
    ["IT GAVE 5 MW OF POWER IN ALL", "It gave 5 mW of power in all"],
    ["The value of HbA1c was high.", "The value of HbA1C was high"],
  ])("are not told by their case where all is in capitals, or no unit is meant: of %j a quote is %j", (text, quote) => {
    expect(found(text, quote)).toBe(true);
  });
});

describe("a number keeps its sign", () => {
  const why = expect.stringMatching(/^it (?:begins|ends) inside a word or number of the text$/);

  it.each([
    ["In total we used 12'500 samples in all the runs.", "500 samples in all the runs"],
    ["In total we used 12'500 samples in all the runs.", "In total we used 12"],
    ["In all it took 10–15 days to close.", "In all it took 10"],
    ["It fell to <5 % of them in all.", "5 % of them in all"],
    ["It fell to < 5 of them in all.", "5 of them in all"],
    ["It had a share of 5\n% for nine hours.", "It had a share of 5"],
    ["It was turned by 90 ° in nine hours.", "It was turned by 90"],
  ])("of %j no quote is %j", (text, quote) => {
    expect(findQuote(text, quote)).toMatchObject({ found: false, why });
  });

  it.each([
    ["It took 10 to 15 days in all.", "15 days in all", "It took 10 to 15 days in all."],
    ["It held at least 30 percent of them.", "least 30 percent of them", "It held at least 30 percent of them."],
    ["It had a load of 5 kg for nine hours.", "It had a load of 5", "It had a load of 5 kg for nine hours."],
    [
      "The count of all was 5\n\n% is a sign of parts.",
      "The count of all was 5",
      "The count of all was 5 % is a sign of parts.",
    ],
  ])("of %j a quote is %j, and its passage shows the rest", (text, quote, passage) => {
    expect(findQuote(text, quote)).toMatchObject({ found: true, passage });
  });
});

describe("a quote with words of somebody else", () => {
  const trial = "In trials soft hands hold them for nine hours (Lee, 2019), and no longer.";

  it("may stop before the source that the text names, and may not give it another year", () => {
    expect(found(trial, "soft hands hold them for nine hours")).toBe(true);
    expect(found(trial, "soft hands hold them for nine hours (Lee, 2019)")).toBe(true);
    expect(found(trial, "soft hands hold them for nine hours (Lee, 2020)")).toBe(false);
  });

  it("is found without what stands in square brackets, which no passage shows", () => {
    const text = "The hand held it for nine hours. The ball was wet.";
    const match = findQuote(text, "The hand [of the authors] held it [the cube, not the ball] for nine hours");
    expect(match).toMatchObject({ found: true, passage: "The hand held it for nine hours." });
    expect(found(text, "[T]he hand held it for nine hours")).toBe(true);
  });

  it("has no number in brackets that the text does not have there", () => {
    const text = "The share was higher with gloves [54% against 27%] in all of them.";
    expect(found(text, "The share was higher with gloves [54% against 27%]")).toBe(true);
    expect(found(text, "The share was higher with gloves [55% against 27%]")).toBe(false);
    expect(found(text, "The share [of 12] was higher with gloves")).toBe(false);
  });
});

describe("the title of a cited work", () => {
  const title = "Soft hands keep their grip for nine hours";
  const works = (...titles: string[]) =>
    titles.map((each, index) => `[${index + 1}] A. Lee and B. Roe. ${each}. Journal of Hands, 20${index + 10}.`);
  const list = works("Valves of small machines", title, "Encoders that last").join("\n");
  const before = "We build on soft hands and measure how long they hold.";

  const placed = (start: number) => ({ start, end: start + title.length, quoted: [[0, title.length]] });

  it("is no evidence, wherever a reader of the document set the heading of the list", () => {
    expect(findQuote(`${before}\n\n## References\n\n${list}`, title)).toMatchObject({
      found: false,
      why: "it is in the list of references, which is not evidence",
    });
  });

  it("is found as cited where the heading is only guessed", () => {
    const text = `${before}\n\nReferences\n\n${list}`;
    expect(findQuote(text, title)).toMatchObject({ found: true, isCited: true, start: text.indexOf(title) });
    expect(findQuote(text, before)).not.toHaveProperty("isCited");
  });

  it("counts where the paper says the same behind the list, or before it", () => {
    const said = `${title}, as our own trials show.`;
    for (const heading of ["## References", "References"]) {
      const behind = `${before}\n\n${heading}\n\n${list}\n\n## Appendix\n\n${said}`;
      const counts = { found: true, passage: said };
      expect(findQuote(behind, title)).toEqual({ ...placed(behind.indexOf(said)), ...counts });
      const ahead = `${said}\n\n${heading}\n\n${list}`;
      expect(findQuote(ahead, title)).toEqual({ ...placed(0), ...counts });
    }
  });

  it("is the first of the list where two works have it", () => {
    const text = `${before}\n\nReferences\n\n${works(title, title, title).join("\n")}`;
    expect(findQuote(text, title)).toMatchObject({ found: true, isCited: true, start: text.indexOf(title) });
  });
});

describe("a short quote", () => {
  const text =
    "In 5 of the 12 runs the Shadow Hand reached 94.2% success, a state-of-the-art result. 机器人灵巧操作研究的最新进展和挑战。";

  it.each([
    "of the",
    "5",
    "in 5",
    "94.2%",
    "Shadow Hand",
    "a state-of-the-art result",
    "reached",
    "",
    "...",
    "the … runs",
    "Shadow – Hand – ±",
    "| Shadow | Hand |",
    "Shadow&nbsp;Hand",
    "<td>Shadow</td><td>Hand</td>",
    "机器人灵巧操作",
  ])("is no evidence although it stands in the text: '%s'", (quote) => {
    expect(findQuote(text, quote)).toMatchObject({ found: false, tooShort: true });
  });

  it.each(["the 12 runs", "reached 94.2% success", "the Shadow Hand reached", "机器人灵巧操作研究的最新进展"])(
    "says enough: '%s'",
    (quote) => {
      expect(found(text, quote)).toBe(true);
    },
  );

  it("that is not short is looked for, and is not called so where it is missing", () => {
    expect(findQuote(text, "the Shadow Hand failed")).not.toHaveProperty("tooShort");
  });
});

describe("what findQuote answers", () => {
  const text = buildText(
    [
      { label: "p. 1", text: "[p. 1]\nWe study dexterous hands of all kinds." },
      { label: "p. 2", text: "[p. 2]\nThe policy reaches an error of 0.304 mm on the real hand after nine hours." },
    ],
    { kind: "pdf", depth: "full" },
  );

  it("names where the quote begins, with offsets into the text", () => {
    const match = findQuote(text, "an error of 0.304 mm");
    expect(match).toMatchObject({ found: true, locator: "p. 2" });
    expect(match.found && text.text.slice(match.start, match.end)).toBe("an error of 0.304 mm");
  });

  it.each(["so it is that x\u0338=", "so it is that x ∉", "so it is that x ⩽\u0338", "so it is that 𝐱"])(
    "ends with its last sign: '%s'",
    (quote) => {
      const match = findQuote(`${quote} and so on`, quote);
      expect(match).toMatchObject({ found: true, start: 0, end: quote.length });
    },
  );

  it("gives the nearest passage of at most 300 characters where it is not found, and that passage can be quoted", () => {
    const match = findQuote(text, "The policy reaches an error of 0.305 mm on the real hand");
    const nearest = match.found ? "" : match.nearest;
    expect(nearest).toContain("an error of 0.304 mm");
    expect(nearest.length).toBeLessThanOrEqual(300);
    expect(found(text.text, nearest)).toBe(true);
  });

  it("gives no passage where nothing is shared", () => {
    expect(findQuote(text, "completely unrelated cooking recipe")).toEqual({ found: false, nearest: "" });
  });
});

it.each([
  [
    "a head and a page's number within a word",
    "The calibra-\nA short title\n12\ntion of the hand takes long.\n\nA short title\n13\nIt ends.",
    "The calibration of the hand takes long",
  ],
  [
    "a soft hyphen at a line's end",
    "The calibra\u00ad\ntion of the hand takes long.",
    "The calibration of the hand takes long",
  ],
  ["a break in HTML", "It works on hands. It is quick to do.", "It works on hands.<br/>It is quick to do."],
  ["a paragraph with a class", "It works on hands of every size.", '<p class="x">It works on hands of every size.</p>'],
  ["a cell and its end", "It works on hands of every size.", "<td>It works on hands</td><td>of every size.</td>"],
  ["the page behind it", "It works on hands of every size.", "It works on hands of every size (p. 3)."],
  ["a citation that was cut", "It works on hands of every size [3, 4].", "It works on hands of every size [3."],
  ["a tilde for about", "It takes \u223c 14 minutes on every hand.", "It takes ~ 14 minutes on every hand."],
  ["seconds of arc", "It turns by 5\u2032\u2032 at most on every hand.", "It turns by 5\u2033 at most on every hand."],
  ["borders of cells", "It works on | hands of every | size and shape.", "It works on hands of every size and shape."],
  ["quotation marks of TeX", "It \u201cworks\u201d on hands of every size.", "It ``works'' on hands of every size."],
])("a quote is found whatever differs: %s", (_, text, quote) => {
  expect(findQuote(text, quote).found).toBe(true);
});

it.each([
  ["a sentence of another page", "The calibra-\n12\nThe hand is old.", "The calibra The hand is old"],
  ["a formula's bar", "We find P(a|b) to be small on every hand.", "We find P(a b) to be small on every hand."],
  ["other numbers before a page", "It works on 14 hands of every size.", "It works on 15 hands of every size (p. 3)."],
])("and is not found where it says something else: %s", (_, text, quote) => {
  expect(findQuote(text, quote).found).toBe(false);
});
