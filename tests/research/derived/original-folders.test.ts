import { describe, expect, test } from "vitest";
import { completeFolders } from "../../fixtures/original-folders.js";
import type { Rrd } from "../../../src/research/generated/rrd.js";
import { statusOf } from "../../../src/research/workflow/next-unit.js";
import { derive } from "../../../src/research/workflow/derive.js";

describe("complete folders of the original tool", () => {
  test.each(Object.entries(completeFolders))("%s is complete, and deriving keeps what it has", (_, written) => {
    const rrd = written as unknown as Rrd;
    expect(statusOf(rrd, []).phase).toBe("COMPLETE");
    expect(derive(rrd, [])).toMatchObject({ papers_pool: rrd.papers_pool, insights: rrd.insights, phase: "COMPLETE" });
  });
});
