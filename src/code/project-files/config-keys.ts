import { commandAmong, configKeys, leavesMachine, only } from "../../engine/config/keys.js";
import { isObject } from "../../engine/lib/json-fields.js";

const memoryAt = leavesMachine("embedding_url", "key_variable");

/** What the wing of code reads: both keys are taken whole from the nearest file. */
export const codeKeys = configKeys({
  whole: ["code", "models"],
  needsTrust: {
    code(value, folder) {
      const { roles, memory } = isObject(value) ? value : {};
      const agents = Object.entries(isObject(roles) ? roles : {}).filter(
        ([, role]) => commandAmong(isObject(role) ? role["agent"] : undefined, folder) !== undefined,
      );
      const parts = {
        ...(agents.length === 0 ? {} : { roles: Object.fromEntries(agents) }),
        ...(memoryAt(memory, folder) === undefined ? {} : { memory: memoryAt(memory, folder) }),
      };
      return only("roles", "memory")(parts, folder);
    },
  },
});
