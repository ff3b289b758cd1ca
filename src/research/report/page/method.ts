import { authorsText } from "../../papers/authors.js";
import { type Markup, isolate, link, markup } from "../../../engine/lib/markup.js";
import { costText, uncountedText, tokensText } from "../../../engine/ui/terminal/tally.js";
import { shortDuration, quantity } from "../../../engine/lib/words.js";
import { checklistOf } from "../sections/checklist.js";
import type { ShownSections } from "../sections/section.js";
import { citationMarks, commonCitation, commonText } from "../citation-status.js";
import { type Method, promptsText } from "../method.js";
import { anchorOf } from "../pictures/picture.js";
import { counted, thousands } from "../pictures/words.js";
import { countCell, outcomeText, type SearchYield } from "../search-yield.js";
import type { PageContext } from "./context.js";
import { table } from "./findings.js";
import { shortened } from "../papers.js";
import { costs } from "./pictures.js";

/** Maximum number of lines of the search log and of failed iterations on the page. The project's files have all. */
const maxLines = 500;
const maxReferences = 300;

/** What was done and what was not, computed from the records. */
export function* method(context: PageContext): Iterable<Markup> {
  const { model } = context;
  const { facts, agents, phases, setbacks, exclusions, retractions, limits } = model.method;
  yield markup`<h3>What was not done</h3><ul>${limits.map((limit) => markup`<li>${limit}</li>`)}</ul>`;
  yield* eligibility(context);
  yield markup`<h3>How it was done</h3>${table("How it was done", markup`${facts.map(({ name, says }) => markup`<tr><th scope="row">${name}</th><td>${says}</td></tr>`)}`)}`;
  if (retractions !== "") yield markup`<p>${retractions}</p>`;
  if (model.search.sources.length > 0) yield markup`<h3>Sources</h3>${sourcesTable(model.search)}`;
  yield* queryLog(context);
  if (exclusions.length > 0)
    yield markup`<h3>Why records were left out</h3>${table("Reasons of exclusion", markup`<tr><th>Reason</th><th class="n">Records</th></tr>${exclusions.map(({ reason, count }) => markup`<tr><td dir="auto">${reason}</td><td class="n">${count}</td></tr>`)}`)}`;
  if (agents.length > 0) yield markup`<h3>Who read</h3>${agentsTable(agents)}`;
  if (phases.length > 0)
    yield markup`<h3>What it took</h3>${phasesTable(phases)}${uncountedNote(model)}${costs(context)}`;
  if (setbacks.length > 0)
    yield markup`<details class="words"><summary>${counted(setbacks.length, "iteration was", "iterations were")} refused or failed</summary>${table(
      "Refused and failed iterations",
      markup`<tr><th class="n">No.</th><th>Of</th><th>Outcome</th><th>Why</th></tr>${setbacks.slice(0, maxLines).map(({ iteration, unit, outcome, reasons }) => markup`<tr><td class="n">${iteration}</td><td>${unit}</td><td>${outcome}</td><td dir="auto">${reasons.slice(0, 5).join(" ")}</td></tr>`)}`,
    )}</details>`;
}

/** The criteria with their numbers, and the exclusions by each. */
function* eligibility({ model }: PageContext): Iterable<Markup> {
  const { criteria, eligibility: stages } = model.method;
  if (criteria.length > 0)
    yield markup`<h3>Eligibility criteria</h3>${table(
      "Eligibility criteria",
      markup`${criteria.map(({ id, kind, text }) => markup`<tr><th scope="row">${id}</th><td class="short">${kind}</td><td dir="auto">${text}</td></tr>`)}`,
    )}`;
  for (const { stage, reasons } of stages)
    yield markup`<h3>Not eligible ${stage}</h3>${table(
      `Not eligible ${stage}`,
      markup`${reasons.map(({ reason, count }) => markup`<tr><td dir="auto">${reason}</td><td class="n">${thousands(count)}</td></tr>`)}`,
    )}`;
}

/** The table of sources. Columns without any number are left out. */
function sourcesTable({ sources }: SearchYield): Markup {
  const counts = (["queries", "identified", "papers", "presented"] as const).filter((name) =>
    sources.some((source) => source[name] !== undefined),
  );
  return table(
    "Sources and their outcome",
    markup`<tr><th>Source</th><th>Outcome</th>${counts.map((name) => markup`<th class="n">${countNames[name]}</th>`)}</tr>${sources.map(
      (source) =>
        markup`<tr><td>${source.name}</td><td>${outcomeText(source)}</td>${counts.map((name) => markup`<td class="n">${countCell(source[name])}</td>`)}</tr>`,
    )}`,
  );
}
const countNames = { queries: "Requests", identified: "Records", papers: "Papers", presented: "Included" } as const;

/** The requests with their times and hits, up to the maximum. */
function* queryLog({ model }: PageContext): Iterable<Markup> {
  const queries = model.queries();
  if (queries.length === 0) return;
  yield markup`<details class="words"><summary>Search log: ${counted(queries.length, "request")}</summary>${table(
    "Search log",
    markup`<tr><th>When</th><th>Source</th><th>Asked</th><th class="n">Hits</th></tr>${queries
      .slice(0, maxLines)
      .map(
        ({ at, source, asked, status, hits, from }) =>
          markup`<tr><td>${at.slice(0, 16).replace("T", " ")}</td><td>${source}</td><td dir="auto">${asked.slice(0, 400)}${status === "ok" ? "" : markup` <span class="meta">${status}</span>`}${from === "network" ? "" : markup` <span class="meta">from ${from}</span>`}</td><td class="n">${hits === undefined ? "–" : String(hits)}</td></tr>`,
      )}`,
  )}${queries.length > maxLines ? markup`<p>The first ${maxLines}; queries.jsonl holds all.</p>` : ""}</details>`;
}

const agentsTable = (agents: Method["agents"]): Markup =>
  table(
    "Agents",
    markup`<tr><th>Agent</th><th>Model</th><th>Version</th><th>Prompts</th><th class="n">Iterations</th></tr>${agents.map(
      ({ agent, model, version, prompts, iterations, confinement }) =>
        markup`<tr><td>${agent}${confinement === undefined ? "" : ` (${confinement})`}</td><td>${model ?? "–"}</td><td>${version ?? "none reported"}</td><td class="hashes">${promptsText(prompts) || "–"}</td><td class="n">${iterations}</td></tr>`,
    )}`,
  );

/** The table of phases. Columns for refused and failed iterations are left out if there were none. */
function phasesTable(phases: Method["phases"]): Markup {
  const outcomes = (["accepted", "refused", "failed"] as const).filter(
    (outcome) => outcome === "accepted" || phases.some((phase) => phase[outcome] > 0),
  );
  return table(
    "Tokens, time and cost by phase",
    markup`<tr><th>Phase</th><th class="n">Iterations</th>${outcomes.map((outcome) => markup`<th class="n">${outcomeNames[outcome]}</th>`)}<th class="n">Time</th><th class="n">Tokens in</th><th class="n">Tokens out</th><th class="n">Cost</th></tr>${phases.map(
      (phase) =>
        markup`<tr><td>${phase.phase.toLowerCase()}</td><td class="n">${phase.iterations}</td>${outcomes.map((outcome) => markup`<td class="n">${phase[outcome]}</td>`)}<td class="n">${shortDuration(phase.seconds * 1000)}</td><td class="n">${tokensText(phase, phase.input, thousands)}</td><td class="n">${tokensText(phase, phase.output, thousands)}</td><td class="n">${costText(phase)}</td></tr>`,
    )}`,
  );
}
/** A note on the iterations that the table does not count; empty if it counts all. */
const uncountedNote = ({ total }: PageContext["model"]): Markup =>
  total.not_counted === undefined
    ? markup``
    : markup`<p>${quantity(total.iterations, "iteration")}${uncountedText(total.not_counted)}.</p>`;

const outcomeNames = { accepted: "Accepted", refused: "Refused", failed: "Failed" } as const;

export function* checklist({ model }: PageContext, shownSections: ShownSections): Iterable<Markup> {
  const items = checklistOf(model, shownSections);
  yield markup`<details class="words"><summary>Where each of the ${items.length} items stands, and what was not done</summary>${table(
    "PRISMA 2020 checklist",
    markup`<tr><th>Item</th><th>Topic</th><th>Where it stands</th></tr>${items.map(
      ({ item, topic, section, says }) =>
        markup`<tr><td>${item}</td><td>${topic}</td><td>${section === undefined ? says : markup`<a href="#${section}">${shownSections.get(section)}</a>: ${says}`}</td></tr>`,
    )}`,
  )}</details>`;
}

export function* references({ model }: PageContext): Iterable<Markup> {
  const all = model.references();
  const shown = all.slice(0, maxReferences).map(({ paper, citation }) => ({ paper, citation }));
  // The result of the citation check that most references share is said once, above the list.
  const common = commonCitation(shown.map(({ citation }) => citation));
  if (common !== undefined) yield markup`<p class="quiet">${commonText(common, shown.length)}</p>`;
  yield markup`<ol class="refs">`;
  for (const { paper, citation } of shown) {
    const { authors, year, doi, url, title, id, isRetracted, file } = paper;
    const venue = paper.venue === paper.source ? "" : paper.venue;
    const address = doi === undefined ? url : `https://doi.org/${doi}`;
    const { sign, words } = citationMarks[citation.status];
    const isCommon = citation.status === common?.status && citation.says === common.says;
    const authorsPart = authors.length === 0 ? "No author known" : isolate(shortened(authorsText(authors, 6)));
    const yearPart = year === undefined ? "no date" : String(year);
    const addressText = doi === undefined ? (address ?? "") : `doi:${doi}`;
    const parts = [
      markup`<a href="#${anchorOf(id)}">${isolate(shortened(title))}</a>.`,
      venue === "" ? "" : ` ${venue}.`,
      file === undefined ? "" : ` ${file}.`,
      address === undefined ? "" : markup` ${link(address, shortened(addressText))}`,
      isRetracted ? markup` <span class="chip bad">Retracted</span>` : "",
    ];
    const citationPart = isCommon
      ? markup`<span class="src">${sign} ${words}</span>`
      : markup`<span class="meta">${sign} ${words}: ${citation.says}</span>`;
    yield markup`<li>${authorsPart} (${yearPart}). ${parts} ${citationPart}</li>
`;
  }
  yield markup`</ol>`;
  if (all.length > maxReferences)
    yield markup`<p class="quiet">The first ${maxReferences} of ${thousands(all.length)}; references.bib holds all.</p>`;
}
