import { valueIfCommand, configKeys } from "../../engine/config/keys.js";
import { fieldsOf } from "../../engine/lib/json-fields.js";

/** The configuration keys of teams. Values of several configuration files are not merged; the nearest file counts. */
export const codeKeys = configKeys({
  wholeValues: ["code", "models"],
  needsTrust: {
    code(value, folder) {
      const { roles } = fieldsOf(value);
      const agents = Object.entries(fieldsOf(roles)).filter(
        ([, role]) => valueIfCommand(fieldsOf(role)["agent"], folder) !== undefined,
      );
      return agents.length === 0 ? undefined : { roles: Object.fromEntries(agents) };
    },
  },
});
