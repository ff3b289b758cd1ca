import type { AboutPaper } from "../../paper-services/about-paper.js";
import type { PaperText } from "../../../engine/documents/text/paper-text.js";
import type { UpdateCheck } from "../../paper-services/kept-retraction-checks.js";
import type { RetractionCheck } from "../report/warn-of-retractions.js";
import type { Batch } from "../discovery/screening-batch.js";

/** What a brief is made from beside the state: what a preparation brought. It is wanted again when the result is judged. */
export interface Material {
  readonly text?: PaperText;
  /** Why there is no text. */
  readonly unavailable?: string;
  readonly batch?: Batch;
  /** Sentences of the text that give orders to its readers' models. */
  readonly instructions?: readonly string[];
  /** Code and citations of the paper. */
  readonly about?: AboutPaper;
  /** What happened to the paper since it was published. */
  readonly check?: UpdateCheck;
  /** Whether the papers that a report rests on still stand. */
  readonly retraction?: RetractionCheck;
}
