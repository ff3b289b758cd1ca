import type { Markup } from "../../../engine/lib/markup.js";
import type { ReportModel } from "../model.js";
import type { PageContext } from "../page/context.js";

/** The titles of the sections with content, by section name. */
export type ShownSections = ReadonlyMap<string, string>;

/** A section of the report: its name, whether it is shown, and how it is rendered in both documents. */
export interface Section {
  /** The id of its element on the page. */
  readonly name: string;
  readonly title: string;
  /** Set if it is at the top of the page, without a heading and without an entry in the contents. */
  readonly isAtTop?: true;
  /** Set if it is shown even without content, with the reason. */
  readonly isAlways?: true;
  /** Whether it has content; otherwise it is left out. */
  hasContent(model: ReportModel): boolean;
  /** Absent if the Markdown shows its content in another section. */
  markdown?(model: ReportModel, shownSections: ShownSections): string;
  /**
   * Renders it in pieces, because the list of papers may be long. A live page replaces the section when its content has
   * changed.
   */
  page(context: PageContext, shownSections: ShownSections): Iterable<Markup>;
}
