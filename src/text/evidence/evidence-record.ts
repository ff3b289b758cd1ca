/**
 * The stored data of a claim: the claim, and the place of its quote in the text if code found it. The records of a
 * project have the same form (`schemas/rrd.schema.json`, `Evidence`).
 */
export type Evidence = {
  claim: string;
  /** If the quote was found: the sentence of the text. */
  passage?: string;
  /** The ranges of the quoted words in the passage: "21-37, 40-61". */
  quoted?: string;
  /** The quote as given by the agent, if it was not found; in records of earlier versions also if it was found. */
  quote?: string;
  /** Numbers of the claim that are not in the quoted words. */
  numbers?: ClaimedNumber[];
  /** near: the text has the words with a number in another unit or rounding. could-not-check: there was no text. */
  status: "verified" | "near" | "not-in-text" | "could-not-check";
  /** The difference if it is near; the reason if it is not in the text. */
  reason?: string | null;
  /** The place of the quote, such as "p. 4" or "§ 3 Method". */
  locator?: string | null;
  /** Hash of the text that was searched. */
  text_sha256?: string | null;
  about?: Outcome;
};

/** The outcome that a claim reports, if it compares two things. Stored unchanged, because code can't check it. */
export type Outcome = {
  outcome: string;
  /** What is compared with what: "A against B". */
  compared: string;
  /** The change of the outcome with A; none: no significant difference. */
  direction: "up" | "down" | "none";
};

/**
 * A number as written in the claim. `in-passage`: in the sentence, outside the quoted words; `nowhere`: not in the
 * passage.
 */
type ClaimedNumber = { number: string; stands: "in-passage" | "nowhere" };

/** A number of a reading with its unit. `in-text`: it is in the paper, but in no quote that was found: only a hint. */
export type CheckedNumber = {
  number: string;
  status: "verified" | "near" | "in-text" | "not-in-text" | "could-not-check";
  /** The difference, or the place of the number. */
  reason?: string | null;
};
