import { sanitise } from "../../engine/lib/sanitise.js";
import { quantity } from "../../engine/lib/words.js";

/** If a pasted text has more characters, it is replaced by its label. */
const maxShownChars = 200;

/** The pasted texts of a session. In the input line, a label such as "[12 lines]" stands for a long one. */
export class Pastes {
  readonly #texts = new Map<string, string>();

  /** The text for the input line: a short pasted text itself, or the label of a long one. */
  lineTextFor(pastedText: string): string {
    const text = sanitise(pastedText.replaceAll(/\r\n?/g, "\n")).trimEnd();
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
  expand(line: string): string {
    return line.replace(labels, (label) => this.#texts.get(label) ?? label);
  }

  /** The labels in a line and their texts. */
  pastedTextsIn(line: string): (readonly [label: string, text: string])[] {
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
