import { clip } from "../../engine/lib/tokens.js";
import { type CodeLinks, codeLinks as linksOf } from "../sources/clients/code-links.js";
import type { Answer } from "../sources/shared/source.js";
import { isProblem, parametersOf } from "../../engine/tools/tool.js";
import { idParameter } from "./which-paper.js";
import { workOfCall } from "./which-work.js";
import { type ResearchTool, withTimeout } from "./context.js";

export const codeLinks: ResearchTool = {
  name: "code_links",
  description: "Public code of a paper: repositories, stars, whether official.",
  effects: ["network"],
  parameters: parametersOf({ id: idParameter }),
  async run({ id }, context, signal) {
    if (context.network === undefined) return { problem: "Code can't be looked up from here." };
    const work = await workOfCall(id, context, signal);
    if (isProblem(work)) return work;
    const lookup = linksOf(
      { title: work.title, abstract: work.abstract ?? null, identifiers: work.identifiers ?? {} },
      context.network.contextFor,
    );
    const pending = lookup.then((value): Answer<CodeLinks> => ({ status: "ok", value }));
    const answer = await withTimeout(pending, "The search for code", signal);
    if (answer.status !== "ok") return { problem: answer.reason };
    const { links, unchecked } = answer.value;
    const lines = [
      ...links.map(({ repository, relation, source, stars, archived, pushed, description }) =>
        [
          `${repository} (${relation}, says ${source})`,
          ...(stars === undefined ? [] : [`${stars} stars`]),
          ...(archived === true ? ["archived"] : []),
          ...(pushed === undefined ? [] : [`last push ${pushed}`]),
          ...(description === undefined ? [] : [clip(description, 40)]),
        ].join("; "),
      ),
      ...unchecked.map(({ source, reason }) => `not checked: ${source}: ${clip(reason, 50)}`),
    ];
    const summary = links.length === 0 ? "No code found" : `${links.length} repositories`;
    const head =
      unchecked.length === 0 ? `${summary}.` : `${summary}; not every service answered, so there may be more.`;
    return { head, ...(lines.length === 0 ? {} : { data: lines.join("\n") }) };
  },
};
