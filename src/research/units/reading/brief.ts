import { withoutUndefined } from "../../../engine/lib/without-undefined.js";
import { clip } from "../../../engine/lib/tokens.js";
import { paperOf } from "../../derived/status.js";
import type { Paper, Rrd } from "../../generated/rrd.js";
import type { AboutPaper } from "../../paper-lookups/code-and-citations.js";
import type { UpdateCheck } from "../../paper-lookups/kept-retraction-checks.js";
import { authorsOf } from "../../papers/authors.js";
import { rubricSection } from "../../papers/rubric/own-rubric.js";
import { ownRubricOf, usesBothRubrics, usesScores } from "../../papers/rubric/rubric.js";
import { criteriaSection } from "../../screening/eligibility/criteria-section.js";
import { criteriaToAnswer } from "../../screening/eligibility/eligibility.js";
import { formOf } from "../../project-files/form.js";
import { formInstructions } from "../form/section.js";
import { clipped, takeFitting } from "../brief-text.js";
import { type BriefRequest, hasOnlineSource, type UnitBrief, type UnitData } from "../unit-kind.js";
import { excerptOf } from "../paper-text/long-text.js";
import { showText } from "../paper-text/shown-text.js";
import type { ReadingMaterial } from "./prepare.js";
import { relatedLines } from "./related.js";

/** Maximum tokens for code links and citations. */
const aboutTokens = 260;

/** The brief of a reader: the paper's record, its text or the files with the text, and what services say about it. */
export async function paperBrief({
  state: { rrd },
  unit,
  material,
  workspace,
  contextOverflows,
  isRepair,
  tools,
}: BriefRequest<ReadingMaterial>): Promise<UnitBrief<ReadingMaterial>> {
  const paper = paperOf(rrd, unit.id);
  if (paper === undefined) throw new Error(`the paper ${unit.id} is no longer in the pool`);
  const { text, check, about } = material;
  const excerpt = excerptOf(text, contextOverflows);
  const commonParts = (files: readonly string[] = []) => ({
    data: {
      ...paperData(rrd, paper, excerpt?.depth ?? "abstract", files),
      ...(check === undefined ? {} : updatesData(check)),
      ...(about === undefined || isRepair ? {} : aboutData(about)),
    },
    related: (tokens: number) => relatedLines(rrd, paper, tokens),
    web: hasOnlineSource(rrd.requirements.sources),
    // Quotes are searched in the complete text, but the depth is that of the part that was shown.
    material:
      text === undefined || excerpt === undefined ? material : { ...material, text: { ...text, depth: excerpt.depth } },
    ...(isRepair
      ? {}
      : {
          criteria: criteriaSection("full_text", criteriaToAnswer(rrd, paper)),
          form: formInstructions(formOf(rrd)),
          rubric: rubricSection(ownRubricOf(rrd)),
        }),
  });
  if (isRepair) return commonParts();
  const { files, ...shown } = await showText(
    paper,
    material,
    excerpt,
    { workspace, ...withoutUndefined({ tools }) },
    advice,
  );
  return { ...commonParts(files), ...shown };
}

const advice = {
  forAbstract: "Judge from the abstract, and say in `limitations` that only it was read. Quote from the abstract.",
  forPage: "Say in `limitations` that only its abstract was read.",
  forPart: "Name in `limitations` that the text was read in part.",
  forInstructions: "say in `notes` that they are there.",
};

export const paperData = (rrd: Rrd, paper: Paper, depth: string, files: readonly string[]): UnitData => ({
  kind: "paper",
  unit: paper.id,
  title: clip(paper.title, 60),
  authors: clipped(authorsOf(paper.authors), 12, 60),
  date: paper.date == null ? null : clip(paper.date, 10),
  url: paper.url == null ? null : clip(paper.url, 60),
  abstract: clip(paper.abstract ?? "", 300),
  ...(usesScores(rrd) && ownRubricOf(rrd) === undefined
    ? { rubrics: usesBothRubrics(rrd) ? ["execution", "blue_ocean"] : ["execution"] }
    : {}),
  read_depth: depth,
  ...(files.length > 0 ? { text_files: files } : {}),
});

const maxShownUpdates = 8;

/** The corrections, retractions and other updates of a paper, for a brief. */
const updatesData = ({ updates }: UpdateCheck): Record<string, unknown> =>
  updates.length === 0
    ? {}
    : {
        since_published: updates
          .slice(-maxShownUpdates)
          .map(({ type, date, source }) => ({
            type,
            ...(date === undefined ? {} : { date: clip(date, 10) }),
            source: clip(source, 20),
          })),
      };

/**
 * Code repositories and citations of a paper, for a brief: only addresses and numbers, no text from the repositories.
 */
function aboutData({ code, citations, unchecked }: AboutPaper): Record<string, unknown> {
  const links = takeFitting(code, aboutTokens, ({ repository, relation, source, stars, archived, pushed }) => ({
    repository: clip(repository, 40),
    relation,
    source,
    ...withoutUndefined({ stars }),
    ...(archived === true ? { archived } : {}),
    ...(pushed === undefined ? {} : { pushed: clip(pushed, 10) }),
  }));
  return {
    ...(code.length === 0 ? {} : { code_links: links.shown }),
    ...withoutUndefined({ citations }),
    ...(unchecked.length === 0 ? {} : { code_and_citations_unchecked: clipped(unchecked, 12, 40) }),
  };
}
