import type { DocumentText } from "../../../text/documents/text/document-text.js";
import { estimateTokens } from "../../../engine/lib/tokens.js";
import type { Paper } from "../../generated/rrd.js";
import { type Passage, passagesOf } from "./passages.js";
import { counted, type CountedWords, type Vocabulary } from "./text-index.js";

/** A paper cut into passages, with all words that its indexes are made of. */
export interface PaperWords {
  readonly passages: readonly Passage[];
  /** Estimated tokens of all passages. */
  readonly tokens: number;
  /** Title and abstract. */
  readonly card: CountedWords;
  /** The whole text. */
  readonly body: CountedWords;
  /** What its record says besides title and abstract: its words are known, and searched by nothing. */
  readonly record: CountedWords;
  /** Each passage, with the title and its section. */
  readonly ofPassages: readonly CountedWords[];
}

/** Cuts a paper's text, and numbers its words and those of its record. */
export function wordsOfPaper(
  paper: Paper,
  text: Pick<DocumentText, "text" | "marks"> | undefined,
  { idsOf }: Vocabulary,
): PaperWords {
  const title = idsOf(paper.title);
  const passages = text === undefined ? [] : passagesOf(text);
  const body: number[][] = [];
  const ofPassages: CountedWords[] = [];
  let tokens = 0;
  let locator: string | undefined;
  let section: number[] = [];
  for (const passage of passages) {
    const said = text?.text.slice(passage.start, passage.end) ?? "";
    if (passage.locator !== locator) section = idsOf(passage.locator ?? "");
    locator = passage.locator;
    const words = idsOf(said);
    ofPassages.push(counted([title, section, words]));
    body.push(words);
    tokens += estimateTokens(said);
  }
  return {
    passages,
    tokens,
    ofPassages,
    card: counted([title, idsOf(paper.abstract ?? "")]),
    body: counted(body),
    record: counted([idsOf(recordText(paper))]),
  };
}

/** What a record says besides title and abstract. */
export const recordText = ({ analysis }: Paper): string =>
  [
    ...[analysis?.summary, analysis?.results].map((part) => (typeof part === "string" ? part : "")),
    ...(analysis?.evidence ?? []).flatMap(({ claim, passage, quote }) => [claim, passage ?? quote ?? ""]),
  ].join("\n");
