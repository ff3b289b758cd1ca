import { expect, test } from "vitest";
import { agentsIn } from "../../../src/engine/config/gather.js";

test.each([
  ["fleet:cmd:sh agent.sh,baseline", ["fleet:cmd:sh agent.sh", "baseline"]],
  ["claude,codex", ["claude", "codex"]],
  ["claude, cmd:./r.py a,b", ["claude", "cmd:./r.py a,b"]],
  ["cmd:./r.py a,cmd:./r.py b", ["cmd:./r.py a", "cmd:./r.py b"]],
  ["cmd:./r.py a, cmd:./r.py a", ["cmd:./r.py a"]],
  ["acp:gemini, acp:opencode,claude", ["acp:gemini", "acp:opencode", "claude"]],
  ["acp:gemini,acp:mine --tools a,b,cmd:./r.py", ["acp:gemini", "acp:mine --tools a,b", "cmd:./r.py"]],
])("the agents of %s are %j", (list, agents) => {
  expect(agentsIn(list)).toEqual(agents);
});
