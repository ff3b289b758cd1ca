import type { Markup } from "../../../engine/lib/markup.js";
import type { ReportModel } from "../model.js";
import type { PageContext } from "../page/context.js";

/** Titles of the sections that hold something, by their names. */
export type Held = ReadonlyMap<string, string>;

/** A section of the report: what it is called, when it stands there, and how both documents show it. */
export interface Section {
  /** The id of its element on the page. */
  readonly name: string;
  readonly title: string;
  /** It stands at the top of the page, without a heading and an entry in the contents. */
  readonly isAtTop?: true;
  /** It is shown also where it holds nothing, and says why. */
  readonly isAlways?: true;
  /** Whether it holds something; one that does not is left out. */
  holds(model: ReportModel): boolean;
  /** Absent: the Markdown shows it within another. */
  markdown?(model: ReportModel, held: Held): string;
  /** In pieces, as the list of papers may be long. A live page replaces it when what it shows has changed. */
  page(context: PageContext, held: Held): Iterable<Markup>;
}
