import { sanitise } from "../../engine/lib/sanitise.js";
import { many } from "../../engine/lib/words.js";

/** A longer text of one line is shown by its length. */
const longestShown = 200;

/** Texts that stand in a line as their label, such as "[12 lines]". */
export class Pastes {
  readonly #texts = new Map<string, string>();

  /** What the line shows for a pasted text: a short one itself, else its label. */
  shown(pasted: string): string {
    const text = sanitise(pasted.replaceAll(/\r\n?/g, "\n")).trimEnd();
    if (!text.includes("\n") && text.length <= longestShown) return text.replaceAll("\t", "  ");
    return this.label(text);
  }

  /** The label of a text; another text never has the same one. */
  label(text: string): string {
    const lines = text.split("\n").length;
    const what = lines > 1 ? many(lines, "line") : `${text.length.toLocaleString("en")} characters`;
    for (let number = 1; ; number += 1) {
      const label = number === 1 ? `[${what}]` : `[${what}, no. ${number}]`;
      const there = this.#texts.get(label);
      if (there !== undefined && there !== text) continue;
      this.#texts.set(label, text);
      return label;
    }
  }

  /** A line with the texts in place of their labels. */
  expanded(line: string): string {
    return line.replace(labels, (label) => this.#texts.get(label) ?? label);
  }

  /** The labels in a line, with their texts. */
  within(line: string): (readonly [label: string, text: string])[] {
    return [...new Set(line.match(labels))].flatMap((label) => {
      const text = this.#texts.get(label);
      return text === undefined ? [] : [[label, text] as const];
    });
  }

  labelAtEnd(line: string): string | undefined {
    const label = /\[[^[\]]*\]$/.exec(line)?.[0];
    return label !== undefined && this.#texts.has(label) ? label : undefined;
  }
}

const labels = /\[[\d,]+ (?:lines?|characters)(?:, no\. \d+)?\]/g;
