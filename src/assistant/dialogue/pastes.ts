import { sanitise } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";

/** A longer pasted text is replaced by its label. */
const maxShownChars = 200;

/** Pasted texts that are shown in the line as a label, such as "[12 lines]". */
export class Pastes {
  readonly #texts = new Map<string, string>();

  /** The text for the line: a short pasted text itself, else its label. */
  shown(pasted: string): string {
    const text = sanitise(pasted.replaceAll(/\r\n?/g, "\n")).trimEnd();
    if (!text.includes("\n") && text.length <= maxShownChars) return text.replaceAll("\t", "  ");
    return this.label(text);
  }

  /** The label of a text. Different texts have different labels. */
  label(text: string): string {
    const lines = text.split("\n").length;
    const lengthText = lines > 1 ? quantity(lines, "line") : `${text.length.toLocaleString("en")} characters`;
    for (let number = 1; ; number += 1) {
      const label = number === 1 ? `[${lengthText}]` : `[${lengthText}, no. ${number}]`;
      const knownText = this.#texts.get(label);
      if (knownText !== undefined && knownText !== text) continue;
      this.#texts.set(label, text);
      return label;
    }
  }

  /** The line with its labels replaced by the texts. */
  expanded(line: string): string {
    return line.replace(labels, (label) => this.#texts.get(label) ?? label);
  }

  /** The labels in a line and their texts. */
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
