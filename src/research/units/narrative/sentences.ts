import type { ReportFile } from "../../generated/report.js";
import type { ReportResult } from "../../generated/result-report.js";
import type { Checked } from "../../generated/rrd.js";

/** A sentence of a narrative, and what it rests on. */
interface Sentence {
  readonly text: string;
  readonly rests_on?: readonly string[];
  /** What another reader says of it. */
  readonly check?: Checked;
}

/** Every sentence of a narrative with the JSON pointer to it. */
export const sentences = (
  said: Pick<ReportResult | ReportFile, "answer" | "findings" | "agreed" | "gaps" | "recommendations"> & {
    readonly disputed: readonly { readonly sides: readonly Sentence[] }[];
    readonly comparison?: { readonly rows: readonly { readonly cells: readonly Sentence[] }[] } | null;
    readonly themes: readonly Sentence[];
  },
): (readonly [string, Sentence])[] => [
  ...(["answer", "findings", "agreed"] as const).flatMap((name) => at(`/${name}`, said[name])),
  ...said.disputed.flatMap(({ sides }, index) => at(`/disputed/${index}/sides`, sides)),
  ...at("/gaps", said.gaps),
  ...at("/themes", said.themes),
  ...(said.comparison?.rows ?? []).flatMap(({ cells }, index) => at(`/comparison/rows/${index}/cells`, cells)),
  ...at("/recommendations", said.recommendations),
];

const at = (pointer: string, list: readonly Sentence[]): (readonly [string, Sentence])[] =>
  list.map((sentence, index) => [`${pointer}/${index}`, sentence] as const);
