/**
 * Forged and true quotes of papers that nobody wrote: for each class a sentence with its quote, drawn from a few words.
 * What a class forges or disguises is said by its name; `text` is the stretch of the paper, which the test sets among
 * others.
 */
export interface QuoteCase {
  readonly text: string;
  readonly quote: string;
}
export interface QuoteClass {
  readonly name: string;
  readonly make: (draw: Draw) => QuoteCase;
}

/** Draws from lists and ranges, the same for the same seed. */
export class Draw {
  #state: number;
  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761 + 12_345) >>> 0;
  }
  whole(from: number, to: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return from + ((this.#state >>> 8) % (to - from + 1));
  }
  one<Item>(of: readonly Item[]): Item {
    return of[this.whole(0, of.length - 1)] as Item;
  }
  decimal(): string {
    return `${this.whole(1, 89)}.${this.whole(1, 9)}`;
  }
  subject = () =>
    this.one([
      "the tactile gripper",
      "the learned policy",
      "the compliant finger",
      "the slow controller",
      "the patched valve",
    ]);
  /** A plural that can follow a number. */
  things = () => this.one(["trials", "subjects", "episodes", "grasps", "valves"]);
  verb = () => this.one(["improved", "stabilised", "shortened", "disturbed", "reproduced"]);
  object = () =>
    this.one([
      "the rotation of glass spheres",
      "the healing of torn tendons",
      "the drift of the encoder",
      "contact estimation",
    ]);
  place = () =>
    this.one([
      "in simulation",
      "on the bench",
      "at room temperature",
      "after the second session",
      "during calibration",
    ]);
  tail = () =>
    this.one(["with worn skins", "under bright light", "in both laboratories", "as the logs show", "for nine hours"]);
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
const clause = (draw: Draw) => `${draw.subject()} ${draw.verb()} ${draw.object()} ${draw.place()}`;
const sentence = (draw: Draw) => `${capital(clause(draw))} ${draw.tail()}.`;
const broken = (word: string, draw: Draw) => {
  const at = draw.whole(3, word.length - 3);
  return `${word.slice(0, at)}-\n${word.slice(at)}`;
};

/** Other words, numbers, signs or an order that the text does not have: never found. */
export const refused: readonly QuoteClass[] = [
  {
    name: "fragments out of order",
    make: (draw) => {
      const [first, second] = [clause(draw), clause(draw)];
      return { text: `${capital(first)}, and ${second} ${draw.tail()}.`, quote: `${second} … ${first}` };
    },
  },
  {
    name: "whole sentences too far apart",
    make: (draw) => {
      const [first, second] = [sentence(draw), sentence(draw)];
      const between = Array.from(
        { length: draw.whole(30, 60) },
        (_, index) => `Entry ${index} of the log was filed and kept.`,
      );
      return { text: `${first} ${between.join(" ")} Finally, it ended. ${second}`, quote: `${first} … ${second}` };
    },
  },
  {
    name: "more than four fragments",
    make: (draw) => {
      const parts = Array.from({ length: 5 }, () => draw.subject());
      return {
        text: `We compare ${parts.join(", sold here, ")} at once.`,
        quote: parts.map((part) => `${part}, sold`).join(" … "),
      };
    },
  },
  {
    name: "another table's number, or the relation of a P taken for a page",
    make: (draw) => {
      const [said, n] = [`${capital(clause(draw))} ${draw.tail()}`, draw.whole(1, 8)];
      const [inText, inQuote] = draw.one([
        [`(Table ${n})`, `(Table ${n + 1})`],
        [`(see Figure ${n})`, `(see Figure ${n}0)`],
        [`[Fig. ${n}]`, `[Fig. ${n + 1}]`],
        [`(P < 0.0${n})`, `(P 0.0${n})`],
        [`(p = 0.${n})`, `(p 0.${n})`],
      ] as const);
      return { text: `${said} ${inText}.`, quote: `${said} ${inQuote}.` };
    },
  },
  {
    name: "two cells of a row made one number",
    make: (draw) => {
      const [name, one, other] = [`${draw.object()} ${draw.place()}`, draw.whole(1, 99), draw.whole(100, 999)];
      const between = draw.one([",", ".", "", "'", "’", "\u2009", "\u202f", "/", "–", " to ", " ± "]);
      return {
        text: `Measure | One | Two | p\n${name} | ${one} | ${other} | 0.04\n\nIt ended.`,
        quote: `${name} ${one}${between}${other}`,
      };
    },
  },
  {
    name: "markup, a source or a number in a list that hides another number or word",
    make: (draw) => {
      const [start, n, end] = [capital(clause(draw)), draw.decimal(), draw.tail()];
      const quote = draw.one([
        `${start} by ${n}<sup>2</sup> % (P < 0.01) ${end}`,
        `${start} by ${n} % (P &gt; 0.01) ${end}`,
        `${start} by ${n} % (P < .1) ${end}`,
        `${start} by $1${n}$ % (P < 0.01) ${end}`,
        `${start} by ${n} % (P < 0.01) ${end} (all of 20 sites)`,
        `${start} by ${n} % (P < 0.01) ${end} — in men`,
        `7. times ${start} by ${n} % (P < 0.01) ${end}`,
        `${start} <b>never</b> by ${n} % (P < 0.01) ${end}`,
        `${start} by == ${n} == % (P < 0.01) ${end}`,
      ]);
      return { text: `${start} by ${n} % (P < 0.01) ${end}.`, quote };
    },
  },
  {
    name: "begun inside a word broken at a line's end",
    make: (draw) => {
      const [prefix, word] = draw.one([
        ["in", "effective"],
        ["un", "stable"],
        ["non", "significant"],
        ["ir", "regular"],
        ["dis", "advantageous"],
        ["counter", "productive"],
      ]);
      const rest = `${word} ${draw.place()} ${draw.tail()}`;
      return { text: `${capital(draw.subject())} was ${prefix}-\n${rest}.`, quote: rest };
    },
  },
  {
    name: "begun inside a compound",
    make: (draw) => {
      const rest = `${draw.one(["significant", "linear", "invasive", "optimal"])} ${draw.place()} ${draw.tail()}`;
      return { text: `The effect was ${draw.one(["non", "sub", "anti", "pre"])}-${rest}.`, quote: rest };
    },
  },
  {
    name: "ended inside a compound or a word broken at a line's end",
    make: (draw) => {
      const end = draw.one(["error-free", "pain-\nless", "risk-averse", "hope-\nless", "noise-free"]);
      const start = `${draw.subject()} ${draw.place()} stayed`;
      return { text: `${capital(start)} ${end} ${draw.tail()}.`, quote: `${start} ${end.split("-")[0]}` };
    },
  },
  {
    name: "an ellipsis that leaves out which way another thing went",
    make: (draw) => {
      const [one, other] = draw.one([
        ["faster", "slower"],
        ["safer", "harder"],
        ["shorter", "longer"],
      ] as const);
      return {
        text: `${capital(draw.subject())} was ${one} ${draw.place()} and ${other} on the real bench of ours.`,
        quote: `was ${one} … on the real bench of ours`,
      };
    },
  },
  {
    name: "a power where the text cites a work",
    make: (draw) => {
      const [start, n, end] = [capital(clause(draw)), draw.whole(2, 3), draw.tail()];
      const raised = "⁰¹²³"[n];
      return {
        text: `${start} within 5 m [${n}] ${end}.`,
        quote: `${start} within 5 m${draw.one([raised as string, `^{${n}}`])} ${end}`,
      };
    },
  },
  {
    name: "a space that makes another word",
    make: (draw) => {
      const [joined, parted] = draw.one([
        ["insignificant", "in significant"],
        ["asymmetric", "a symmetric"],
        ["notable", "not able"],
        ["inactive", "in active"],
        ["unable", "un able"],
        ["atypical", "a typical"],
        ["nowhere", "now here"],
        ["maybe", "may be"],
        ["sometimes", "some times"],
        ["nobody", "no body"],
        ["together", "to get her"],
        ["therapist", "the rapist"],
        ["cannot", "can not"],
      ]);
      const [inText, inQuote] = draw.one([
        [joined, parted],
        [parted, joined],
      ]);
      const rest = `${draw.place()} ${draw.tail()} ${draw.place()}`;
      return {
        text: `${capital(draw.subject())} was ${inText} load ${rest}.`,
        quote: `${draw.one(["was", "was"])} ${inQuote} load ${rest}`,
      };
    },
  },
  {
    name: "a space that makes two words which the text knows as well",
    make: (draw) => {
      const [joined, first, second] = draw.one([
        ["assigned", "as", "signed"],
        ["factor", "fact", "or"],
        ["order", "or", "der"],
        ["islands", "is", "lands"],
        ["together", "to", "gether"],
        ["format", "for", "mat"],
        ["themes", "the", "mes"],
        ["offence", "of", "fence"],
        ["withdrawn", "with", "drawn"],
        ["manner", "man", "ner"],
        ["notice", "not", "ice"],
        ["allocation", "al", "location"],
        ["helped", "help", "ed"],
        ["nutritional", "nutrition", "al"],
        ["areas", "are", "as"],
        ["passage", "pass", "age"],
      ] as const);
      const rest = `${draw.place()} ${draw.tail()} ${draw.place()}`;
      return {
        text: `${capital(draw.subject())} was ${joined} load ${rest}. Lee et al. say ${first} here, ${second} there.`,
        quote: `was ${first}${draw.one([" ", "\n", "\u00a0"])}${second} load ${rest}`,
      };
    },
  },
  {
    name: "begun or ended within a number in groups or a range",
    make: (draw) => {
      const number = draw.one([
        "12 500",
        "10–20",
        "7 000 000",
        "3\u202f250",
        "15 – 30",
        "4-6",
        "12'500",
        "3:1",
        "10 to 20",
        "3/4",
      ]);
      const cut = number.search(/[\s–'/:-]/);
      const [start, rest] = [`${draw.subject()} ${draw.place()} needed`, `${draw.things()} ${draw.tail()}`];
      const [head, tail] = [number.slice(0, cut), number.slice(cut).replace(/^(?: to |[\s–'/:-]+)/, "")];
      return { text: `${capital(start)} ${number} ${rest}.`, quote: draw.one([`${start} ${head}`, `${tail} ${rest}`]) };
    },
  },
  {
    name: "a sign, relation or unit dropped within the quote",
    make: (draw) => {
      const number = draw.decimal();
      const [inText, inQuote] = draw.one([
        [`− ${number}`, number],
        [`<\n${number}`, number],
        [`± ${number}`, number],
        [`${number} %`, number],
        [`${number} million`, number],
        [`≤ ${number}`, `< ${number}`],
        [`< ${number}`, `≤ ${number}`],
        [`${number}\n%`, number],
      ]);
      const [start, end] = [`${draw.subject()} moved by`, `${draw.place()} ${draw.tail()}`];
      return { text: `${capital(start)} ${inText} ${end}.`, quote: `${start} ${inQuote} ${end}` };
    },
  },
  {
    name: "a unit in another case",
    make: (draw) => {
      const [one, other] = draw.one([
        ["mW", "MW"],
        ["Gb", "GB"],
        ["mm", "mM"],
        ["Mb", "MB"],
        ["mPa", "MPa"],
        ["nm", "nM"],
        ["pS", "ps"],
        ["kB", "kb"],
        ["meV", "MeV"],
        ["peV", "PeV"],
        ["mBq", "MBq"],
        ["mK", "MK"],
        ["mΩ", "MΩ"],
        ["Gbps", "GBps"],
        ["mHz", "MHz"],
      ]);
      const before = draw.one([`${draw.whole(2, 89)}`, "five", "its rate in", "(in", `${draw.whole(2, 89)} J/`, "10⁵"]);
      const [start, end] = [`${draw.subject()} used ${before}`, `${draw.place()} ${draw.tail()}`];
      const gap = /\d$/.test(before) ? draw.one([" ", "", "\n"]) : before.endsWith("/") ? "" : " ";
      return { text: `${capital(start)}${gap}${one} ${end}.`, quote: `${start}${gap}${other} ${end}` };
    },
  },
  {
    name: "a number parted so that it is another, or an interval closed",
    make: (draw) => {
      const [inText, inQuote] = draw.one([
        ["4,500", "45,00"],
        ["4,500", "4.500"],
        ["4500", "4.5"],
        ["1,234 of 0,05", "1234 of 0,05"],
        ["12,500", "2,500"],
        ["12 500", "2500"],
        ["0.05", "05"],
        ["10–20", "1 to 20"],
        ["10 to 200", "10–20"],
        ["(0, 1)", "[0, 1]"],
        ["1.05", ".05"],
        ["5%", "5 percentile"],
      ]);
      const [start, end] = [`${draw.subject()} had`, `${draw.place()} ${draw.tail()}`];
      return { text: `${capital(start)} ${inText} ${end}.`, quote: `${start} ${inQuote} ${end}` };
    },
  },
  {
    name: "a page mark that is not the text's",
    make: (draw) => {
      const [start, end] = [`${draw.subject()} ${draw.verb()}`, `${draw.object()} ${draw.tail()}`];
      return { text: `${capital(start)} ${end}.`, quote: `${start} [p. ${draw.whole(90, 99)}] ${end}` };
    },
  },
  {
    name: "a title of the list of references",
    make: (draw) => {
      const title = `${capital(clause(draw))} ${draw.tail()}`;
      const head = draw.one([
        ...["## References", "References", "7. References", "REFERENCES", "Bibliography", "R E F E R E N C E S"],
        ...["Quellen", "Referências", "Литература", "Further reading", "Literature references"],
      ]);
      const works = [
        `[1] A. Lee. On valves and hands. 2019.`,
        `[2] B. Roe. ${title}. Journal of Valves${draw.one([", 2020", "2020;7:1–9"])}.`,
        `[3] C. Dow. Encoders. 2021.`,
      ];
      const plain = works.map((work, index) => work.replace(/^\[\d\]/, draw.one(["", `${index + 1}.`])).trim());
      const between = draw.one(["\n\n", "\n"]);
      return { text: `It was done.\n\n${head}\n\n${draw.one([works, plain]).join(between)}`, quote: title };
    },
  },
  {
    name: "a last 0 read as a degree where nothing turns",
    make: (draw) => {
      const [n, noun] = [draw.one([36, 9, 18, 27]), draw.one(["images", "seconds", "volunteers", "grasps"])];
      const [start, end] = [`${draw.subject()} needed`, `${noun} of the set for the second paper`];
      return { text: `${capital(start)} ${n}0 ${end}.`, quote: `${start} ${n}° ${end}` };
    },
  },
];

/**
 * Words of the text cut or joined so that they say something else, or set in by somebody: where they are found, the
 * passage has the whole sentence.
 */
export const shown: readonly QuoteClass[] = [
  {
    name: "a piece of one sentence joined to a piece of the next",
    make: (draw) => {
      const [first, second] = [
        `in the first lab ${clause(draw)}`,
        `${clause(draw)} of its ${draw.one(["own kind", "second kind", "two makers"])}`,
      ];
      return {
        text: `${capital(first)} ${draw.tail()}. ${capital(second)} ${draw.tail()}.`,
        quote: `${first.split(" ").slice(0, 6).join(" ")} … ${second.split(" ").slice(-5).join(" ")}`,
      };
    },
  },
  {
    name: "a number joined to the number of another verb",
    make: (draw) => {
      const [from, to, later, end] = [draw.whole(10, 40), draw.whole(50, 90), draw.whole(50, 90), draw.whole(10, 40)];
      const [first, second] = [draw.subject(), draw.subject()];
      const [kept, left] = draw.one([
        [`rose from ${from} % to`, `${end} % for ${second}`],
        [`rose from ${from} % to ${to} %`, `to ${end} % for ${second}`],
        [`rose from ${from} %`, `from ${later} % to ${end} % for ${second}`],
      ]);
      return {
        text: `Success rose from ${from} % to ${to} % for ${first}, and fell from ${later} % to ${end} % for ${second}.`,
        quote: `Success ${kept} … ${left}`,
      };
    },
  },
  ...(
    [
      [
        "a negation",
        [
          ..."does not,can no longer,never,hardly,fails to,did not in any way,was unable to,rarely,seldom,did neither heat nor".split(
            ",",
          ),
          ..."is incapable and did not,stopped and would,is ineffective and would,far from perfect would,by no means,too weak would".split(
            ",",
          ),
          ..."neglected to,forgot to,was powerless to,resisted attempts to,missed the chance to,abandoned plans to,in vain".split(
            ",",
          ),
        ],
      ],
      [
        "a quantifier",
        [
          ..."in some cases,sometimes,in a few runs,partly,almost,may,could,should,can,allegedly,slightly,marginally,reportedly".split(
            ",",
          ),
          ..."in 3 of 9 runs,in up to half of the runs,approximately twice,in 12 % of runs,in two of ten runs,is expected to".split(
            ",",
          ),
          ..."on rare occasions did,in isolated cases,in a handful of runs,to a small degree,now and then,at best,in principle,as a rule".split(
            ",",
          ),
        ],
      ],
      [
        "a condition",
        [
          ..."if heated,unless it is cooled,only,whenever it is wet,provided it is dry,as long as it is dry,until cooled".split(
            ",",
          ),
          ..."except at night,in case of frost,where it is wet,on condition of rest,so long as it rests".split(","),
          ..."given prior cooling,in the event of frost,contingent on rest,depending on the dose,to the extent that it rests,had it rained".split(
            ",",
          ),
        ],
      ],
      [
        "how sure it is, or of whom it holds",
        "significantly,relatively,tended to,seemed to,in vitro,in mice,in rats,in a subset,in unadjusted models,in a post hoc subgroup,suggests it can".split(
          ",",
        ),
      ],
      [
        "a comparison",
        (
          "rather than the old one,instead of the old one,versus the old one,compared with the old one,unlike the old one," +
          "a tenth of,in excess of,just shy of,as good as,in contrast to the old,against the old one,similar to the old,in lieu of the old"
        ).split(","),
      ],
    ] as const
  ).map(([what, words]) => ({
    name: `an ellipsis that leaves out ${what}`,
    make: (draw: Draw) => {
      const [first, second] = [`${draw.subject()} ${draw.tail()}`, `improve ${draw.object()} ${draw.place()}`];
      return { text: `${capital(first)} ${draw.one(words)} ${second}.`, quote: `${first} … ${second}` };
    },
  })),
  {
    name: "an ellipsis for the sake of a word or two",
    make: (draw) => {
      const word = draw.one(
        "transiently,incompletely,soltanto,angeblich,kaum je,à peine,вряд ли,hiç,conditionally,in mice,after hours,this once".split(
          ",",
        ),
      );
      const [start, end] = [`${draw.subject()} with its skin`, `${draw.verb()} ${draw.object()} ${draw.tail()}`];
      return {
        text: `${capital(start)} ${word} ${end}.`,
        quote: `${start} ${draw.one(["…", "[...]", ". . ."])} ${end}`,
      };
    },
  },
  {
    name: "begun behind what somebody else says, in several languages",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      const frame = draw.one(
        (
          "Critics maintain that|The sponsor insists that|The press release said that|We abandoned the idea that|" +
          "The old theory held that|There is scant evidence that|It is improbable that|We asked if|Es ist nicht erwiesen, dass|" +
          "Der Hersteller behauptet, dass|Il n’est pas prouvé que|Rien ne montre que|No se demostró que|Es falso que|" +
          "Non è dimostrato che|Não está provado que|Het is niet bewezen dat|Det er ikke vist at|Nie wykazano, że|Не доказано, что"
        ).split("|"),
      );
      return { text: `${frame} ${said}.`, quote: draw.one([`${capital(said)}.`, said]) };
    },
  },
  {
    name: "begun some words behind a frame that denies, asks, hopes or reports",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      const frame = draw.one(
        (
          "It is not true that|Critics say that|The maker claims that|It is doubtful that|We hypothesised that|It was once believed that|" +
          "It would be wrong to conclude that|None of the trials found that|It may be that|Doctors hoped that|If the oil is warm,|" +
          "Allegedly,|Perhaps|In theory,|According to its maker,|Few believe that|We retracted the statement that"
        ).split("|"),
      );
      return { text: `${frame} ${said}.`, quote: said.split(" ").slice(draw.whole(1, 3)).join(" ") };
    },
  },
  {
    name: "begun far within the clause that a frame denies, doubts or gives to others",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      const [frame, after] = draw.one([
        ...(
          "It is not the case that|It is far from clear that|It is anything but settled that|It is wholly untrue that|" +
          "It would be premature to say that|It was wrongly reported that|Lobbyists told the panel that|The defendant swore that|" +
          "The leaflet promises that|Legend has it that|Conventional wisdom holds that|We failed to find evidence that|" +
          "We found nothing to suggest that|We have no data to show that|We set out to show that|No court has ever ruled that|" +
          "Nobody has yet proved that|Hardly anyone believes that|The data speak against the view that|The results rule out that|" +
          "The appeal court overturned the finding that|Unless it can be shown that|In the absence of proof that|Despite claims that|" +
          "Does it follow that|How likely is it that|It is tempting to conclude that|It was erroneously concluded that|" +
          "It could well be that|Critics say that the data show that|It is not true that, in winter,|We tested whether|Does|On paper,|" +
          "The sponsor claims the trial showed that|Proponents argue that the logs demonstrated that|They claim to have shown that|" +
          "The trial is believed to show that|Sceptics think that the study proves that|Our hypothesis implies that|" +
          "At best,|As critics would have it,|In the opinion of the dissent,|If the oil is warm,|Suppose"
        )
          .split("|")
          .map((each) => [each, ""] as const),
        ["The hypothesis that", " was rejected"],
        ["The idea that", " did not survive a second test"],
        ["The suggestion that", " is a myth"],
      ]);
      return { text: `${frame} ${said}${after}.`, quote: said.split(" ").slice(draw.whole(1, 7)).join(" ") };
    },
  },
  {
    name: "begun behind the condition or the world that opens its sentence",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      const opening = draw.one(
        (
          "If true,|If the oil is warm,|Unless it was cooled,|Had it rained,|Contrary to popular belief,|In an ideal world,|" +
          "Under the null hypothesis,|As a counterfactual,|According to its maker,|As long as|So long as"
        ).split("|"),
      );
      return { text: `${opening} ${said}.`, quote: said };
    },
  },
  {
    name: "begun behind a verb that takes it back",
    make: (draw) => {
      const rest = `${draw.one(["improve", "repair", "alter"])} ${draw.object()} ${draw.place()}`;
      const verb = draw.one(
        (
          "declined to,neglected to,forgot to,has yet to,ought not to,was said to,was meant to,purports to,lacked the means to," +
          "did not at any time,did in no way,was anything but able to,instead of helping to,stopped short of trying to,never once"
        ).split(","),
      );
      return { text: `${capital(draw.subject())} ${verb} ${rest}.`, quote: rest };
    },
  },
  {
    name: "begun inside a word broken at a page's end or set apart",
    make: (draw) => {
      const [prefix, word] = draw.one([
        ["in", "effective"],
        ["un", "stable"],
        ["non", "linear"],
        ["dis", "similar"],
        ["im", "mobile"],
      ]);
      const between = draw.one(["- ", "‐ ", "¬\n", "-\u200b\n", "-\n\nA. Lee et al.\n\n[p. 5]\n", "-\n\n[p. 5]\n"]);
      const rest = `${word} ${draw.place()} ${draw.tail()}`;
      return { text: `${capital(draw.subject())} was ${prefix}${between}${rest}.`, quote: rest };
    },
  },
  {
    name: "an ellipsis that leaves out a relation",
    make: (draw) => {
      const relation = draw.one(
        "less than,fewer than,at least,<,≥,no more than,at most,up to,approximately,nearly,under,almost".split(","),
      );
      const [start, end] = [`${clause(draw)} in`, `${draw.whole(12, 96)} ${draw.things()} of the set`];
      return { text: `${capital(start)} ${relation} ${end}.`, quote: `${start} … ${end}` };
    },
  },
  {
    name: "no significant difference made no difference",
    make: (draw) => {
      const [start, end] = [`For ${draw.subject()} no`, `difference was found in ${draw.object()} ${draw.place()}`];
      const degree = draw.one(["significant", "statistically significant", "clinically significant"]);
      return { text: `${start} ${degree} ${end}.`, quote: `${start} ${draw.one(["…", "[…]", "..."])} ${end}` };
    },
  },
  {
    name: "numbers in turn made numbers of one",
    make: (draw) => {
      const start = `Success was ${draw.decimal()} % and ${draw.decimal()} %`;
      const end = `for ${draw.subject()} and for ${draw.subject()} ${draw.place()}`;
      return { text: `${start}, respectively, ${end}.`, quote: `${start} … ${end}` };
    },
  },
  {
    name: "an ellipsis that leaves out a sentence to the contrary",
    make: (draw) => {
      const [first, second] = [sentence(draw), sentence(draw)];
      return {
        text: `${first} ${draw.one(["This was not so in the end.", "However, the effect was gone later.", "It never worked again."])} ${second}`,
        quote: `${first} … ${second}`,
      };
    },
  },
  {
    name: "a negation, condition or quantifier of another language left out or behind",
    make: (draw) => {
      const [start, words, end] = draw.one([
        [
          "Das neue Ventil dichtet",
          "nicht,kaum,selten,niemals,bei keinem Druck,nur,vielleicht,weniger,ohne Öl",
          "gegen Wasser unter hohem Druck",
        ],
        [
          "La nouvelle vanne",
          "ne tient pas,ne tient guère,rarement,n’a jamais,peut-être,moins souvent,sans huile",
          "contre de l’eau sous pression",
        ],
        [
          "La nueva válvula",
          "no,nunca,jamás,tampoco,apenas,quizás,casi,menos,sin aceite",
          "resiste el agua bajo presión",
        ],
        ["A nova válvula", "não,nunca,nem,sem óleo", "resiste à água sob pressão"],
        ["La nuova valvola", "non,mai,senza olio,meno", "resiste all’acqua sotto pressione"],
        ["De nieuwe klep", "niet,nooit,geen,zelden,zonder olie", "bestand tegen water onder druk"],
        ["Den nya ventilen", "inte,aldrig,utan olja", "tål vatten under högt tryck"],
        ["Nowy zawór tutaj", "nie,nigdy,bez oleju", "wytrzymuje wodę pod ciśnieniem"],
        ["Новый клапан здесь", "не,никогда не,без масла,едва", "держит воду под давлением"],
      ] as const);
      const left = draw.one(words.split(","));
      const isBehind = draw.whole(0, 3) === 0 && !/ |peut|vielleicht|quiz|casi|bei /.test(left);
      return { text: `${start} ${left} ${end}.`, quote: isBehind ? end : `${start} … ${end}` };
    },
  },
  {
    name: "a whole sentence joined to what goes on behind a bracket or a name's initials",
    make: (draw) => {
      const [first, rest] = [sentence(draw), `${clause(draw)} ${draw.tail()}.`];
      const [start, goesOn] = draw.one([
        [`${capital(draw.subject())} (${draw.decimal()} mg, i.v.)`, `and ${rest}`],
        [`${capital(clause(draw))} (P < 0.05)`, `and ${rest}`],
        [`${capital(clause(draw))} (P = 0.${draw.whole(10, 20)})`, `where ${rest}`],
        ["S. M.", `Lee of ${rest}`],
      ] as const);
      return { text: `${first} ${start} ${goesOn}`, quote: `${first}${draw.one([" … ", " [...] "])}${goesOn}` };
    },
  },
  {
    name: "a condition, quantifier or relation of another language left out",
    make: (draw) => {
      const [start, words, end] = draw.one([
        [
          "Das neue Ventil dichtet",
          "in jeder Lage, sobald es trocken ist,,bei mehr als der Hälfte,meistens",
          "gegen Öl",
        ],
        [
          "La nouvelle vanne tient",
          "lorsqu’elle est sèche,dans chaque essai,pour plusieurs essais,mieux que l’autre",
          "contre de l’eau",
        ],
        [
          "La nueva válvula resiste",
          "cuando está seca,en cada prueba,en la mitad de ellas,mejor que otra",
          "el agua bajo presión",
        ],
        [
          "La nuova valvola resiste",
          "quando è secca,in alcuni casi,più di tutte,in ogni prova",
          "all’acqua sotto pressione",
        ],
        [
          "A nova válvula resiste",
          "quando está seca,em cada teste,mais do que todas,em alguns testes",
          "à água sob pressão",
        ],
        [
          "De nieuwe klep houdt",
          "wanneer hij droog is,in elke proef,bij sommige proeven,meer dan andere",
          "water onder druk tegen",
        ],
        [
          "Nowy zawór tutaj",
          "gdy jest suchy,w każdej próbie,w niektórych próbach,lepiej niż inne",
          "wytrzymuje wodę pod ciśnieniem",
        ],
        [
          "Новый клапан здесь",
          "когда он сухой,в каждом опыте и более,иногда и почти,лучше чем все",
          "держит воду под давлением",
        ],
        [
          "Den nya ventilen här",
          "om den är torr,i varje försök,i några försök,bättre än andra",
          "tål vatten under högt tryck",
        ],
        ["新しい弁は水を止めることが", "乾いた場合は,ほとんどの試験で,一部の試験で", "高い圧力の下でも長い間できた"],
        ["新的阀门在试验中", "如果是干的,在大多数情况下,只有在低温时", "在高压下长时间挡住了水流没漏"],
      ] as const);
      const between = draw.one(words.split(","));
      return { text: `${start} ${between} ${end}.`, quote: `${start} … ${end}` };
    },
  },
  {
    name: "begun right behind a negation or condition",
    make: (draw) => {
      const rest = `${draw.one(["improve", "repair", "alter"])} ${draw.object()} ${draw.place()}`;
      const word = draw.one([
        "does not",
        "did never",
        "cannot",
        "doesn’t",
        "asks whether it can",
        "failed to",
        "if you",
        ..."was unable to,can no longer,was too weak to,was thought to,aimed to,rarely did,never did,was insufficient to".split(
          ",",
        ),
        ..."was unlikely to,won't,was not shown to".split(","),
      ]);
      const isClause = /whether|if/.test(word);
      return {
        text: isClause
          ? `We ask ${word.startsWith("if") ? "if" : "whether"} ${clause(draw)} ${draw.tail()}.`
          : `${capital(draw.subject())} ${word} ${rest}.`,
        quote: rest,
      };
    },
  },
  {
    name: "begun right behind another's claim",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      const who = draw.one([
        "The vendor claims that",
        "It is assumed that",
        "Earlier work hypothesized that",
        "There is no evidence that",
        "Few believe that",
        ..."No study shows that,It remains to be shown that,The hypothesis was that,Provided that,Assuming,It is disputed that".split(
          ",",
        ),
        ..."We did not find that,They assumed,It has yet to be proven that,Only if,Contrary to the belief that,Rather than".split(
          ",",
        ),
      ]);
      return { text: `${who} ${said}.`, quote: said };
    },
  },
  {
    name: "begun behind a frame that makes it a guess, an error or impossible",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      const frame = draw.one(
        (
          "We cannot conclude that|One might think that|It was a common misconception that|It would be wrong to say that|" +
          "Except where|Rather than saying that|It is far from clear that|Imagine that|We predicted that|We disprove that|" +
          "The data contradict the view that|Our logs are inconsistent with the idea that|We were unable to confirm that|" +
          "In case|Lest|It is impossible that|In theory,|Allegedly,|We had hoped that|It may be that|Myth:|H2a:|Hypothesis 3:|" +
          "The following was not observed:|We refute that"
        ).split("|"),
      );
      return { text: `${frame} ${said}.`, quote: draw.one([`${capital(said)}.`, said]) };
    },
  },
  {
    name: "a question or an inverted condition made a statement",
    make: (draw) => {
      const said = `${draw.subject()} ${draw.verb().slice(0, -1)} ${draw.object()} ${draw.place()}`;
      const begun = draw.one([
        "Had",
        "Did",
        "Why did",
        "Can",
        "Could",
        "Should",
        "How does",
        "Is it true that",
        "But does",
      ]);
      return { text: `${begun} ${said}${begun === "Had" ? ", we could not say" : "?"}`, quote: said };
    },
  },
  {
    name: "a point of a list of what is not so",
    make: (draw) => {
      const [first, second] = [clause(draw), clause(draw)];
      const mark = draw.one(["•", "-", "(a)", "1."]);
      return {
        text: `${draw.one(["None of these was seen", "The following did not occur", "We never found"])}:\n${mark} ${first}\n${mark} ${second}\n\nThen it ended.`,
        quote: draw.one([first, second]),
      };
    },
  },
  {
    name: "begun some words behind a denial, a question or a claim, within its phrase",
    make: (draw) => {
      const rest = `${draw.one(["differences", "gains", "benefits", "losses"])} in ${draw.object()} ${draw.place()} ${draw.tail()}`;
      const opened = draw.one([
        "There were no significant",
        "There was no clinically meaningful or lasting",
        "The arms did not show any",
        "The device is not associated with",
        "The old skin failed to bring any lasting",
        "The trial ended without any visible",
        "We asked whether the use of a second skin brought",
        "Its maker claims that the",
        "It is a myth that the well-known",
        "The logs cannot show larger",
        "Es gab keine deutlichen",
        "La vanne n’apporte pas de vraies",
        "No hubo nuevas ni grandes",
      ]);
      return { text: `${opened} ${rest}.`, quote: rest };
    },
  },
  {
    name: "a sentence cut with its stop behind the ellipsis, joined to the next",
    make: (draw) => {
      const [first, second] = [`${capital(clause(draw))} of nine kinds ${draw.tail()}`, sentence(draw)];
      const cut = first.split(" ").slice(0, -4).join(" ");
      return { text: `${first}. ${second}`, quote: `${cut} ${draw.one(["[…].", "[...].", "…."])} ${second}` };
    },
  },
  {
    name: "an ellipsis that leaves out that nothing changed, or how sure it is",
    make: (draw) => {
      const [start, end] = [`The response of ${draw.subject()}`, `for ${draw.object()} ${draw.place()}`];
      const left = draw.one([
        "remained unchanged in the end",
        "was similar in both arms",
        "had known and marked negative effects",
        "is still uncertain at present",
        "was identical in both rooms",
        "stayed inconclusive by the end",
      ]);
      return { text: `${start} ${left} ${end}.`, quote: `${start} … ${end}` };
    },
  },
  {
    name: "begun behind the count of its subject",
    make: (draw) => {
      const of = `of the ${draw.things()} ${draw.verb()} ${draw.object()} ${draw.place()}`;
      const count = draw.one("None,Few,Hardly any,Neither,Half,Most,Some,A third,A minority".split(","));
      return { text: `${count} ${of}.`, quote: draw.one([of, of.slice(3)]) };
    },
  },
  {
    name: "a year or a time of the day in groups",
    make: (draw) => {
      const [inText, year] = draw.one([
        ["since", "2006"],
        ["between 1995 and", "1999"],
        ["in August", "2003"],
        ["by the end of", "1987"],
        ["of the edition of", "2010"],
        ["in the year", "2000"],
        ["each day at", "0800"],
        ["in", "2014"],
        ["since the late", "1990s"],
      ] as const);
      const after = draw.one(["as the logs show", "in both laboratories", "for the first time", "was the last"]);
      const grouped = `${year[0]}${draw.one([" ", ",", "\u2009", "\u202f", "'", "’", "\u00a0"])}${year.slice(1)}`;
      const start = `${clause(draw)} ${inText}`;
      return { text: `${capital(start)} ${year} ${after}.`, quote: `${start} ${grouped} ${after}` };
    },
  },
  {
    name: "an ellipsis that leaves out a cell of a table with a number",
    make: (draw) => {
      const name = draw.one(["Incidence of renal impairment", "Time to the first slip", "Drift of the encoder"]);
      const values = [1, 2, 3].map((group) => `${group}/1${draw.whole(2, 9)} (${draw.decimal()}%)`);
      const [kept, left] = draw.one([
        [[name], values.slice(1)],
        [[name], values.slice(2)],
        [[name, values[0]], values.slice(2)],
        [["Outcome of all", "Placebo (n = 14)"], ["Gripper (n = 18)"]],
      ] as const);
      const between = draw.one([" ", " | "]);
      return {
        text: `Outcome of all | Placebo (n = 14) | Patch (n = 17) | Gripper (n = 18)\n${name} | ${values.join(" | ")}\nTorque of it | 3 | 4 | 5`,
        quote: [...kept, draw.one(["…", "...", "[...]"]), ...left].join(between),
      };
    },
  },
  {
    name: "begun behind the sign or relation of its number",
    make: (draw) => {
      const sign = draw.one([
        "− ",
        "-",
        "–",
        "< ",
        "<",
        "> ",
        "≤ ",
        "± ",
        "≥\n",
        "−\n",
        "<\n",
        "less than ",
        "up to ",
        ..."at least ,at most ,about ,approximately ,roughly ,fewer than ,no more than ,~,≈ ,∼ ,≪ ,minus ,within ,nearly ".split(
          ",",
        ),
        ..."c. ,close to ,as many as ,as little as ,in excess of ,shy of ,beyond ,down to ,a maximum of ,∓,≧ ,＜,более ,rund ".split(
          ",",
        ),
      ]);
      const rest = `${draw.decimal()} points ${draw.place()} ${draw.tail()}`;
      return { text: `${capital(draw.subject())} moved by ${sign}${rest}.`, quote: rest };
    },
  },
  {
    name: "ended before the unit or power of its number",
    make: (draw) => {
      const start = `${draw.subject()} ${draw.place()} took ${draw.whole(2, 89)}`;
      const unit = draw.one([
        " %",
        "%",
        " million",
        " billion",
        " points",
        "\nms",
        " kg",
        "-fold",
        "²",
        "°",
        "″",
        " ± 2",
        "–95",
        " × 10",
        "\n000",
        ..." bn, percent, per cent, Mio., (± 2),'500, to 95,/95,:1, +/- 2, dozen,k, meV,…95".split(","),
        ..." kDa, U/L, bp, beats/min, psi, miles, ft, inches, ha, tonnes, crore,℃,‱, pct, σ, SD, yrs, mo,½, 1/2, per 1000,€".split(
          ",",
        ),
      ]);
      return { text: `${capital(start)}${unit} ${draw.tail()}.`, quote: start };
    },
  },
  {
    name: "Å, ″, ² or a subscript as plain letters",
    make: (draw) => {
      const n = draw.whole(2, 89);
      const [inText, inQuote] = draw.one([
        [`${n} Å`, `${n} A`],
        [`${n}″`, `${n}`],
        [`${n}″`, `${n}′`],
        [`${n} m²`, `${n} m2`],
        [`x² of ${n}`, `x2 of ${n}`],
        [`x₁ of ${n}`, `x1 of ${n}`],
        [`H₂ of ${n}`, `H2 of ${n}`],
        [`log₂ of ${n}`, `log2 of ${n}`],
        [`10⁵ of ${n}`, `105 of ${n}`],
        [`vₘ of ${n}`, `vm of ${n}`],
      ]);
      const [start, end] = [`${draw.subject()} had`, `${draw.place()} ${draw.tail()}`];
      return { text: `${capital(start)} ${inText} ${end}.`, quote: `${start} ${inQuote} ${end}` };
    },
  },
  {
    name: "words of weight inserted in brackets",
    make: (draw) => {
      const inserted = draw.one([
        "[not]",
        "[never]",
        "[all]",
        "[more than 90]",
        "[of 12]",
        "[< 5]",
        "[at least twice]",
        "[only]",
        "[if cooled]",
        ..."[no longer],[twelve],[half of],[significantly],[twofold],[two days],[compared with placebo],[versus water]".split(
          ",",
        ),
        ..."[and others],[95 %],[n = 9],[most],[fails and],[page 99],[pp. 9–12],[ten-fold],[does not; it],[12]".split(
          ",",
        ),
      ]);
      const [start, end] = [`${draw.subject()} with its skin`, `${draw.verb()} ${draw.object()} ${draw.tail()}`];
      return { text: `${capital(start)} ${end}.`, quote: `${start} ${inserted} ${end}` };
    },
  },
  {
    name: "another symbol, or a word parted from a letter that makes it another",
    make: (draw) => {
      const [inText, inQuote] = draw.one([
        ["β sub", "α sub"],
        ["β sub", "β_{sup}"],
        ["C max", "C_{min}"],
        ["C max", "Cmin"],
        ["x i", "x_j"],
        ["x₂", "x2"],
        ["x_2", "x 3"],
        ["a never", "an ever"],
        ["an ever", "a never"],
        ["Fig. 3: Drift", "Fig. 4Drift"],
        ["Figure 3: Drift", "Figure 33.Drift"],
      ] as const);
      const [start, rest] = [capital(clause(draw)), `of ${draw.decimal()} ${draw.place()}`];
      return { text: `${start} at ${inText} ${rest}.`, quote: `${start} at ${inQuote} ${rest}.` };
    },
  },
  {
    name: "words inserted in brackets that bound what is said",
    make: (draw) => {
      const inserted = draw.one([
        ..."[on active drug],[in the treated arm],[with diabetes],[of the treated arm],[treated],[severe],[elderly],[female]".split(
          ",",
        ),
        ..."[after surgery],[at follow-up],[receiving placebo],[who smoked],[on placebo],[for adults],[under load],[by night]".split(
          ",",
        ),
        ..."[from Group A],[the treated arm],[the women],[Group A],[diabetic patients],[long-term],[chronic],[wet]".split(
          ",",
        ),
        ..."[the placebo group],[during sleep],[without drugs],[per protocol],[while awake],[the older women]".split(
          ",",
        ),
      ]);
      const [start, end] = [
        draw.one([`the ${draw.one(["patients", "women", "adults", "gripper"])} with its skin`, "the logs show that"]),
        `${draw.verb()} ${draw.object()} ${draw.tail()}`,
      ];
      // All of the words are named near it.
      const named =
        "The treated arm was on active drug, and Group A on placebo. Diabetic patients and older women who smoked, had severe or chronic " +
        "diabetes and were elderly or female got it at follow-up, during sleep, by night, under load, awake or after wet surgery per protocol.";
      return { text: `${named} ${capital(start)} ${end}.`, quote: `${start} ${inserted} ${end}` };
    },
  },
  {
    name: "words inserted in brackets that nothing near names",
    make: (draw) => {
      const inserted = draw.one(
        "[the drug],[aspirin],[ImageNet],[the robot],[a Barrett Hand],[its camera],[i.e. the vaccine],[our drone]".split(
          ",",
        ),
      );
      const [start, end] = [`${draw.subject()} with its skin`, `${draw.verb()} ${draw.object()} ${draw.tail()}`];
      const quote = draw.one([`${start} ${inserted} ${end}`, `${inserted} with its skin ${end}`]);
      return { text: `${capital(start)} ${end}.`, quote };
    },
  },
  {
    name: "another subject set in brackets before the rest of a sentence",
    make: (draw) => {
      const rest = `${draw.verb()} ${draw.object()} ${draw.place()} ${draw.tail()}`;
      return {
        text: `The camera was new. ${capital(draw.subject())} ${rest}.`,
        quote: `${draw.one(["[The camera]", "[The authors]", "[Their camera]"])} ${rest}`,
      };
    },
  },
  {
    name: "another year or author of the work that is cited",
    make: (draw) => {
      const said = `${capital(clause(draw))} ${draw.tail()}`;
      const year = draw.whole(1980, 2020);
      const source = draw.one([`(Jay ${year + 1})`, `(Kay ${year})`, `(Jay et al., ${year + 2})`]);
      return { text: `${said} (Jay ${year}).`, quote: `${said} ${source}.` };
    },
  },
];

const words = (draw: Draw) => [draw.subject(), draw.verb(), draw.object(), draw.place(), draw.tail()];

export const disguised: readonly QuoteClass[] = [
  {
    name: "powers, indices and thousands as a plain keyboard writes them",
    make: (draw) => {
      const [inText, inQuote] = draw.one([
        ["10⁻⁵", "10-5"],
        ["10⁻⁵", "10−5"],
        ["x²", "x2"],
        ["η_p²", "ηp2"],
        ["CO₂", "CO2"],
        ["12,345", "12345"],
        ["12345", "12,345"],
        ["1\u202f234\u202f567", "1,234,567"],
      ] as const);
      const said = (sign: string) =>
        `${draw.one(["the hand", "the valve"])} had ${sign} of 0.4 ${draw.one(["at night"])}`;
      const hand = said(inText);
      return { text: `It is noted that ${hand} in all.`, quote: hand.replace(inText, inQuote) };
    },
  },
  {
    name: "a footnote's number glued to a word",
    make: (draw) => {
      const [subject, number] = [draw.subject(), draw.whole(1, 60)];
      return {
        text: `We saw that ${subject}${number} ${draw.verb()} in both laboratories.`,
        quote: `We saw that ${subject}`,
      };
    },
  },
  {
    name: "a short clause in a script without spaces",
    make: (draw) => {
      const clause = draw.one(["药物显著降低了死亡率", "本研究采用随机设计", "患者的疼痛明显减轻"]);
      return { text: `在为期两年的试验中，${clause}，但未见其他变化。`, quote: clause };
    },
  },
  {
    name: "a table's row with empty cells, its name set apart by a colon or its cells by tags",
    make: (draw) => {
      const [name, one, other] = [draw.one(["Range", "Drift of A", "OA"]), draw.decimal(), draw.decimal()];
      const last = draw.one(["NS", "–", "0.04*"]);
      const quote = draw.one([
        `${name} (n = 9): ${one}, ${other}, ${last}`,
        `${name} (n = 9); ${one}; ${other}; ${last}`,
        `${name} (n = 9) & & ${one} & ${other} & ${last}`,
        `<td>${name} (n = 9)</td><td>${one}</td><td>${other}</td><td>${last}</td>`,
      ]);
      return {
        text: `Measure | | One | Two | p\n${name} (n = 9) | | ${one} | ${other} | ${last} |\n\nIt ended.`,
        quote,
      };
    },
  },
  {
    name: "the page behind it written short, or the work in square brackets",
    make: (draw) => {
      const said = sentence(draw).slice(0, -1);
      return {
        text: `${said}.`,
        quote: `${said} ${draw.one(["(p3)", "(p. 12)", "[Roe 2012]", "[Roe et al., 2012]"])}`,
      };
    },
  },
  {
    name: "cells of a table joined by spaces or line ends",
    make: (draw) => {
      const cells = [
        draw.one(["Grip force", "Drift", "Slip rate"]),
        `${draw.decimal()} ± ${draw.whole(1, 9)}`,
        draw.decimal(),
        "0.03",
      ];
      const row = (name: string) => [name, draw.decimal(), "–", "0.4"].join(" | ");
      return {
        text: `Table 2: Outcomes\n\nMeasure | Before | After | p\n${row("Torque")}\n${cells.join(" | ")}\n${row("Noise")}`,
        quote: draw.one([
          ...[" ", "\n", "\n\n", "  ", " | ", "|", "\t"].map((between) => cells.join(between)),
          `| ${cells.join(" | ")} |`,
        ]),
      };
    },
  },
  {
    name: "cells of a table joined by commas, semicolons or the signs of LaTeX",
    make: (draw) => {
      const cells = [
        draw.one(["Grip force, mean (SD)", "Drift of it", "Slip rate (n, %)"]),
        `${draw.decimal()} (${draw.whole(1, 9)})`,
        draw.decimal(),
        "0.03",
      ];
      const row = (name: string) => [name, draw.decimal(), "–", "0.4"].join(" | ");
      const [between, end] = draw.one([
        [", ", ""],
        ["; ", ""],
        [" & ", ""],
        [" & ", " \\\\"],
        ["&", " \\\\ \\hline"],
        ["\t", ""],
        [" || ", ""],
      ] as const);
      return {
        text: `Measure | Before | After | p\n${row("Torque")}\n${cells.join(" | ")}\n${row("Noise")}\n\nIt ended.`,
        quote: `${cells.join(between)}${end}`,
      };
    },
  },
  {
    name: "other scripts in other forms",
    make: (draw) => {
      const [inText, inQuote] = draw.one([
        ["הַמַּחְקָר הֶרְאָה שֶׁהַטִּפּוּל שִׁפֵּר", "המחקר הראה שהטפול שפר"],
        ["בית־חולים גדול קיבל את כולם", "בית-חולים גדול קיבל את כולם"],
        ["أَظْهَرَتِ الدِّرَاسَةُ تَحَسُّنًا كَبِيرًا", "أظهرت الدراسة تحسنا كبيرا"],
        ["وجدت الدراسة أن ٤٢ مريضا", "وجدت الدراسة أن 42 مريضا"],
        ["این دارو می‌تواند درد را کم کند", "اين دارو مي‌تواند درد را كم كند"],
        ["この薬がプラセボよりも痛みをやわらげた", "この薬がプラセボよりも痛みをやわらげた".normalize("NFD")],
        ["この薬がプラセボよりも痛みをやわらげた", "この薬がﾌﾟﾗｾﾎﾞよりも痛みをやわらげた"],
        ["새로운 약이 통증을 빠르게 줄인다", "새로운 약이 통증을 빠르게 줄인다".normalize("NFD")],
        ["Η μελέτη έδειξε ταχεία μείωση", "Η ΜΕΛΈΤΗ ΈΔΕΙΞΕ ΤΑΧΕΊΑ ΜΕΊΩΣΗ"],
        ["Η μελέτη έδειξε ταχεία μείωση", "Η μελέτη έδειξε ταχεία μείωση".normalize("NFD")],
      ] as const);
      const [said, quote] = draw.one([
        [inText, inQuote],
        [inQuote, inText],
      ]);
      return { text: `${said} ${draw.tail()}.`, quote: `${quote}` };
    },
  },
  {
    name: "what notes set before and behind it",
    make: (draw) => {
      const text = draw.one([sentence(draw), `A. R. Lee saw that ${sentence(draw)}`, `L’autre: ${sentence(draw)}`]);
      const [open, close] = draw.one([
        ["- “", "”"],
        ["1) ", ""],
        ["(a) ", ""],
        ["p. 3: ", ""],
        ["[p. 3] ", ""],
        ["(", ")"],
        ["「", "」"],
        ["‹", "›"],
        ["", " (see p. 3)"],
        ["", " (Results)"],
        ["", " (Smith 2019: 34)"],
        ["", " – p. 3"],
        ["", " (lines 3–4)"],
        ["", " —"],
        ["", " (page 3 of 12)"],
      ]);
      return { text, quote: `${open}${text.slice(0, -1)}${close}` };
    },
  },
  {
    name: "a footnote mark behind a short word, of several notes",
    make: (draw) => {
      const word = draw.one("it,of,by,us,to,or,is".split(","));
      const mark = draw.one(["¹", "¹–³", "²,³", "¹⁻³", "¹, ²", "†", "*", "¹·²", "⁽¹²⁾", "^[12]"]);
      const [first, rest] = [
        `${capital(draw.subject())} ${draw.verb()} more because ${word}`,
        `${draw.place()} ${draw.tail()}`,
      ];
      return { text: `${first}${mark} ${rest}.`, quote: `${first} ${rest}.` };
    },
  },
  {
    name: "a list on one line, its marks left out",
    make: (draw) => {
      const mark = draw.one([..."•◦▪‣–·●∙➔➢■\uf0b7*+o-"]);
      const points = [draw.subject(), draw.object(), draw.subject()];
      return {
        text: `Three things are needed: ${points.map((point) => `${mark} ${point}`).join("; ")}.`,
        quote: `Three things are needed: ${points.join("; ")}`,
      };
    },
  },
  {
    name: "a list whose marks the quote writes otherwise",
    make: (draw) => {
      const points = [draw.subject(), draw.object(), draw.subject()];
      const [inText, inQuote] = [
        draw.one(["\n• ", "\n- ", " • ", " ▪ ", "\n"]),
        draw.one([" • ", "\n• ", "\n- ", " ● ", " "]),
      ];
      return {
        text: `Three things are needed:${points.map((point) => `${inText}${point}`).join(";")}.`,
        quote: `Three things are needed:${points.map((point) => `${inQuote}${point}`).join(";")}`,
      };
    },
  },
  {
    name: "a list over several lines, its numbers left out",
    make: (draw) => {
      const mark = draw.one([
        (n: number) => `${n}.`,
        (n: number) => `(${n})`,
        (n: number) => `${n})`,
        (n: number) => `(${"abc"[n - 1]})`,
      ]);
      const points = [draw.subject(), draw.object(), draw.subject()];
      const between = draw.one([" ", "\n"]);
      return {
        text: `Three things are needed:${between}${points.map((point, index) => `${mark(index + 1)} ${point};`).join(between)} and time.`,
        quote: `Three things are needed: ${points.join("; ")}`,
      };
    },
  },
  {
    name: "words of explanation inserted in brackets",
    make: (draw) => {
      const parts = words(draw);
      const [named, inserted] = draw.one([
        ["", "[sic]"],
        ["", "[of the authors]"],
        ["", "[our emphasis]"],
        ["", "[emphasis added]"],
        ["", "[italics mine]"],
        ["", "[namely this]"],
        ["", "[is]"],
        ["", "[that]"],
        ["", "[the]"],
        ["", "[had been]"],
        ["", "[the researchers]"],
        ["It moves the hand. ", "[the hand]"],
        ["Its hands are new. ", "[its hand]"],
        ["We train it with PPO. ", "[PPO]"],
        ["We took a Shadow Hand. ", "[a Shadow Hand]"],
        ["We took a Shadow Hand. ", "[i.e. the Shadow Hand]"],
        ["One sensor was new. ", "[that sensor]"],
      ]);
      const at = draw.whole(1, 4);
      return {
        text: `${named}${capital(parts.join(" "))}.`,
        quote: [...parts.slice(0, at), inserted, ...parts.slice(at)].join(" "),
      };
    },
  },
  {
    name: "its first letter changed in brackets",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      return { text: `As before, ${said}.`, quote: `[${said.slice(0, 1).toUpperCase()}]${said.slice(1)}` };
    },
  },
  {
    name: "cut short and closed with a full stop or a page",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      return {
        text: `${capital(said)}, ${draw.one(["and so on", "as Fig. 3 shows", "which we expected"])} for the rest of it.`,
        quote: `${capital(said)}${draw.one([
          ...[".", " (p. 3)", " (p. 3).", ". (p. 12)", ";", " [p. 3]", ",", " (pp. 3–4)", "…", " ...", "!", " [...]"],
          ...[", p. 3", " (page 3)", " (§ 3.1)", " (Section 4)", " (Lee, p. 3)", ".” (p. 3)", "” (p. 3)."],
        ])}`,
      };
    },
  },
  {
    name: "formulas as TeX writes them",
    make: (draw) => {
      const [number, power] = [draw.decimal(), draw.whole(2, 9)];
      const [inText, inQuote] = draw.one([
        [`p < 0.0${power}`, `$p < 0.0${power}$`],
        [`α = ${number}`, `$\\alpha = ${number}$`],
        [`${power} × 3`, `$${power} \\times 3$`],
        [`x ≤ ${number}`, `$x \\leq ${number}$`],
        [`10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[power]}`, `$10^{-${power}}$`],
        [`${number} ± 0.${power}`, `$${number} \\pm 0.${power}$`],
      ] as const);
      const rest = `was found when ${clause(draw)}`;
      return { text: `A value of ${inText} ${rest}.`, quote: `A value of ${inQuote} ${rest}.` };
    },
  },
  {
    name: "formulas of which one is no sign, or which a line's end breaks",
    make: (draw) => {
      const [number, power] = [draw.decimal(), draw.whole(2, 9)];
      const start = `for all $\\mathfrak{F}_${power}$ of ${draw.subject()}`;
      const formula = draw.one([`$p < 0.0${power}$`, `$\\alpha = ${number}$`, `$x \\leq ${number}$`]);
      const rest = `was found when ${clause(draw)}`;
      const said = `${start} a value of ${formula} ${rest}`;
      return { text: `${capital(said)}.`, quote: draw.one([said, said.replaceAll(" ", "\n"), `“${said}”`]) };
    },
  },
  {
    name: "a footnote left out next to the number of a point",
    make: (draw) => {
      const [first, word, second] = [sentence(draw), draw.one(["hands", "rooms"]), clause(draw)];
      const mark = draw.one(["¹²", "†", "³"]);
      return {
        text: `5. It began. ${first} 6. In the${mark} old ${word}${mark} ${second}. 7. It ended.`,
        quote: `${first} 6. In the old ${word} ${second}.`,
      };
    },
  },
  {
    name: "its first letter in brackets and its source behind it",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      const work = draw.one(["(Lee et al. 2011)", "(Lee and Roe 2011)", "(Lee, 2011)"]);
      return { text: `${capital(said)} ${work}.`, quote: `[${said.slice(0, 1)}]${said.slice(1)} ${work}.` };
    },
  },
  {
    name: "accents set apart before a hyphen",
    make: (draw) => {
      const [start, end] = draw.one([
        ["Você é livre para alterá-lo e redistribuí-lo", "sem custo nenhum"],
        ["Le prêt-à-porter et le café-bar de la salle", "sont fermés en été"],
        ["The naïveté-driven and cliché-laden rooms", "were shut in summer"],
      ] as const);
      const said = `${start} ${draw.whole(11, 99)} ${end}`;
      const [text, quote] = [said.normalize("NFC"), said.normalize("NFD")];
      return draw.one([
        { text: `${text}.`, quote },
        { text: `${quote}.`, quote: text },
      ]);
    },
  },
  {
    name: "spaces where one script meets another",
    make: (draw) => {
      const n = draw.whole(11, 99);
      const [spaced, close] = draw.one([
        [`この C 言語 の部分は GNU の ${n} 個の値を使う`, `このC言語の部分はGNUの${n}個の値を使う`],
        [`我们 用 Python 语言 在 GPU 上 训练 了 ${n} 个模型`, `我们用Python语言在GPU上训练了${n}个模型`],
      ] as const);
      return draw.one([
        { text: `${spaced}。`, quote: close },
        { text: `${close}。`, quote: spaced },
      ]);
    },
  },
  {
    name: "cut between quotation marks made of backticks",
    make: (draw) => {
      const [start, end] = [`${draw.subject()} takes a short name (\`-') and ${clause(draw)}`, `a long one (\`--')`];
      return { text: `${capital(start)} ${draw.tail()} and ${end}.`, quote: `${start}.` };
    },
  },
  {
    name: "citations by keys and several marks left out",
    make: (draw) => {
      const mark = draw.one([" [Roe19, LRW+20]", " [Roe19]", "†,‡", "†, §", " [ABC21; Dee07a]"]);
      const [first, rest] = [`${capital(draw.subject())} ${draw.verb()} ${draw.object()}`, draw.place()];
      return { text: `${first}${mark} ${rest}.`, quote: `${first} ${rest}.` };
    },
  },
  {
    name: "behind a frame that vouches for it",
    make: (draw) => {
      const said = `${clause(draw)} ${draw.tail()}`;
      const frame = draw.one(
        (
          "We show that|These logs suggest that|We conclude that|It is known that|As expected, we found that|In practice,|" +
          "Roe et al. found that|Our second finding is that|Result:|In short,|The logs confirm the view that|We can see that|" +
          "It follows that|We note that|It is important that|It turned out that|Keep in mind that|It is striking that|" +
          "The court held that|The statute provides that|Lemma 3 guarantees that|There is no doubt that|Nobody disputes that|" +
          "It cannot be denied that|It is no accident that|The fact is that|The upshot is that|What matters is that|The audit uncovered that|" +
          "Despite good evidence that it is old, we saw that|Not surprisingly,|Last but not least,|In the real world,|If necessary,|" +
          "The proposed model shows that|Both trials confirmed the hypothesis that|Our theory was confirmed: we saw that|Promising results show that|" +
          "Doubts remain, but we found that|In the oven that was cold,|A few sites report that|The films with NO groups show that"
        ).split("|"),
      );
      return { text: `${frame} ${said}.`, quote: said.split(" ").slice(draw.whole(0, 7)).join(" ") };
    },
  },
  {
    name: "a footnote mark or citation number left out",
    make: (draw) => {
      const parts = words(draw);
      const at = draw.whole(2, 3);
      const mark = draw.one([
        ...["¹²", "†", "*", "¹", " [12]", "³,⁴", "[3, 4]", " [5–8]", " †", " ‡", " ¹²", "^12", "^a", "ᵃ"],
        ...[
          " [12], [13]",
          " [1]–[4]",
          "[78910]",
          " (Lee 2019a,b)",
          " (Lee et al. 2019a, b; Roe 2020)",
          " (Lee et al., 2019)",
          " (Lee and Roe 2019; Dow, 2020)",
          " [Lee et al., 2019]",
        ],
      ]);
      return {
        text: `${capital([...parts.slice(0, at), `${parts[at]}${mark}`, ...parts.slice(at + 1)].join(" "))}.`,
        quote: parts.join(" "),
      };
    },
  },
  {
    name: "a citation number set on the line left out",
    make: (draw) => {
      const [first, second] = [sentence(draw), sentence(draw)];
      return { text: `${first}${draw.whole(1, 60)} ${second}`, quote: `${first} ${second}` };
    },
  },
  {
    name: "a running head inside a word or sentence",
    make: (draw) => {
      const [word, before, after] = [
        draw.one(["instrumentation", "estimation", "randomisation"]),
        clause(draw),
        draw.tail(),
      ];
      const head = draw.one(["Valves and Hands 12 (2020)", "A. Lee et al.", "Preprint, under review"]);
      const page = draw.whole(2, 9);
      const [inText, inWord] = draw.one([
        [broken(word, draw), true],
        [`${word}\n`, false],
      ] as const);
      const mark = `\n\n${draw.one([`${head}\n\n`, `${page - 1}\n\n`, ""])}[p. ${page}]\n${head}\n`;
      const split = inText.indexOf("\n");
      const broke = inWord ? `${inText.slice(0, split)}${mark}${inText.slice(split + 1)}` : `${word}${mark}`;
      // The head stands on the other pages too.
      return {
        text: `[p. ${page - 1}]\n${head}\nIt begins. ${capital(before)} with ${broke}${inWord ? " " : ""}${after}.\n\n[p. ${page + 1}]\n${head}\nMore.`,
        quote: `${before} with ${word} ${after}`,
      };
    },
  },
  {
    name: "spaces that a PDF lost or gained",
    make: (draw) => {
      const n = draw.decimal();
      const [inText, inQuote] = draw.one([
        [n.replace(".", " ."), n],
        ["signi ficant", "significant"],
        ["coeffi cient", "coefficient"],
        ["thepolicy", "the policy"],
        ["policyof", "policy of"],
        ["ofthe", "of the"],
        ["contactpolicy", "contact policy"],
      ]);
      const rest = `${draw.place()} ${draw.tail()} ${draw.place()}`;
      return {
        text: `${capital(draw.subject())} had a value ${inText} ${rest}. The policy of a contact.`,
        quote: `had a value ${inQuote} ${rest}`,
      };
    },
  },
  {
    name: "invisible and direction marks",
    make: (draw) => {
      const said = draw.one([`${clause(draw)} ${draw.tail()}`, `${clause(draw)} – a test – ${draw.tail()}`]);
      const at = draw.one([draw.whole(3, said.length - 3), Math.max(3, said.indexOf("–"))]);
      const mark = draw.one(["\u200b", "\u200e", "\u202a", "\u2060", "\ufeff", "\u00ad", "\u2066", "\u061c"]);
      return { text: `${capital(said)}.`, quote: `\u202a${said.slice(0, at)}${mark}${said.slice(at)}\u202c` };
    },
  },
  {
    name: "a word broken at a line's end",
    make: (draw) => {
      const word = draw.one(["instrumentation", "randomisation", "manipulation", "generalisation"]);
      const rest = `${draw.place()} ${draw.tail()}`;
      return {
        text: `${capital(draw.subject())} needs ${broken(word, draw)} ${rest}.`,
        quote: `needs ${word} ${rest}`,
      };
    },
  },
  {
    name: "words left out of a sentence that do not turn it",
    make: (draw) => {
      const [first, second] = [`${draw.subject()} ${draw.verb()} ${draw.object()}`, `${draw.place()} ${draw.tail()}`];
      const between = draw.one(["of the third kind", ", shown in Fig. 2,", "made by the same lab"]);
      return {
        text: `${capital(first)} ${between} ${second}.`,
        quote: `${first}${draw.one([" … ", " [...] ", "...", " [⋯] "])}${second}`,
      };
    },
  },
  {
    name: "an ellipsis in a row of a table that leaves out no number",
    make: (draw) => {
      const [value, other] = [`${draw.decimal()} of all 14 of them`, draw.decimal()];
      const name = "Drift of the encoder, seen in the rooms of the new lab,";
      const quote = draw.one([
        `Drift of the encoder … of the new lab, | wet spheres of glass | ${value}`,
        `Drift of the encoder, seen in the rooms … wet spheres of glass ${value} ${other}`,
        `${name} … ${value} ${other}`,
        `${name} wet spheres of glass ${value} …`,
      ]);
      const row = `${name} | wet spheres of glass | ${value} | ${other}`;
      return { text: `Name | Of | Before | After\n${row}`, quote };
    },
  },
  {
    name: "whole sentences near each other",
    make: (draw) => {
      const [first, second] = [sentence(draw), sentence(draw)];
      return { text: `${first} The log was kept. ${second}`, quote: `${first} … ${second}` };
    },
  },
  {
    name: "marks of the source that it was copied from",
    make: (draw) => {
      const [start, n, end] = [capital(clause(draw)), draw.decimal(), draw.tail()];
      const quote = draw.one([
        `${start} by ${n}&nbsp;% (P &lt; 0.01) ${end}`,
        `${start} by <b>${n} %</b> (P < 0.01) ${end}`,
        `${start}<br>by ${n} % (P < 0.01) ${end}`,
        `${start} by ${n} \\% (P < 0.01) ${end}`,
        `${start} by $${n}$ % (P < 0.01) ${end}`,
        `${start} by ${n} % (P < .01) ${end}`,
      ]);
      return { text: `${start} by ${n} % (P < 0.01) ${end}.`, quote };
    },
  },
  {
    name: "its number in a list, its source, and who stressed it",
    make: (draw) => {
      const text = sentence(draw);
      const [open, close] = draw.one([
        [`${draw.whole(1, 20)}. `, ""],
        ["(2) ", ""],
        ["", " (Smith et al., 2019)."],
        ["", " — Smith and Lee (2020)"],
        ["", " - Smith et al."],
        ["", " (emphasis added)."],
        ["", " [emphasis added]"],
      ]);
      return { text, quote: `${open}${text.slice(0, -1)}${close === "" ? "." : close}` };
    },
  },
];
