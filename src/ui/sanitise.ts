export { oneLine, sanitise } from "../lib/sanitise.js";
