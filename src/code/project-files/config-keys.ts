import { valueIfCommand, configKeys } from "../../engine/config/keys.js";
import { isObject } from "../../engine/lib/json-fields.js";

/** The configuration keys of teams. Values of several configuration files are not merged; the nearest file counts. */
export const codeKeys = configKeys({
  wholeValues: ["code", "models"],
  needsTrust: {
    code(value, folder) {
      const { roles } = isObject(value) ? value : {};
      const agents = Object.entries(isObject(roles) ? roles : {}).filter(
        ([, role]) => valueIfCommand(isObject(role) ? role["agent"] : undefined, folder) !== undefined,
      );
      return agents.length === 0 ? undefined : { roles: Object.fromEntries(agents) };
    },
  },
});
