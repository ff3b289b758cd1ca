import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import type { Paper } from "../../generated/rrd.js";
import { type Passage, passagesOf } from "./passages.js";
import { countWords, type CountedWords, type Vocabulary } from "./text-index.js";

/** A paper in passages, with the words for its indexes. */
export interface PaperWords {
  readonly passages: readonly Passage[];
  /** Estimated tokens of all passages. */
  readonly tokens: number;
  /** The words of title and abstract. */
  readonly card: CountedWords;
  /** The words of the complete text. */
  readonly body: CountedWords;
  /** The words of other parts of the record. They are known, but not searched. */
  readonly record: CountedWords;
  /** The words of each passage, with the title and its section. */
  readonly passageWords: readonly CountedWords[];
}

/** Splits a paper's text into passages, and numbers its words and those of its record. */
export function paperWords(
  paper: Paper,
  text: Pick<DocumentText, "text" | "marks"> | undefined,
  { idsOf }: Vocabulary,
): PaperWords {
  const title = idsOf(paper.title);
  const passages = text === undefined ? [] : passagesOf(text);
  const body: number[][] = [];
  const passageWords: CountedWords[] = [];
  let tokens = 0;
  let locator: string | undefined;
  let section: number[] = [];
  for (const passage of passages) {
    const content = text?.text.slice(passage.start, passage.end) ?? "";
    if (passage.locator !== locator) section = idsOf(passage.locator ?? "");
    locator = passage.locator;
    const words = idsOf(content);
    passageWords.push(countWords([title, section, words]));
    body.push(words);
    tokens += estimateTokens(content);
  }
  return {
    passages,
    tokens,
    passageWords,
    card: countWords([title, idsOf(paper.abstract ?? "")]),
    body: countWords(body),
    record: countWords([idsOf(recordText(paper))]),
  };
}

/** The text of a record, without title and abstract. */
export const recordText = ({ analysis }: Paper): string =>
  [
    ...[analysis?.summary, analysis?.results].map((part) => (typeof part === "string" ? part : "")),
    ...(analysis?.evidence ?? []).flatMap(({ claim, passage, quote }) => [claim, passage ?? quote ?? ""]),
  ].join("\n");
