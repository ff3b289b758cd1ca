// A formatter: what an agent changed comes to the critic and the tests without blanks at line ends, with one line feed
// at the end, and with spaces for tabs where the configuration says how many (`config: { tabs: 2 }`).

/** @type {import("research-ralph/plugin").Plugin} */
export default {
  name: "format",
  version: "1.0.0",
  hooks: {
    onAfterGen({ files = [] }, { config }) {
      const tabs = typeof config.tabs === "number" ? " ".repeat(config.tabs) : "\t";
      /** @param {string} text */
      const formatted = (text) => {
        const lines = text.split("\n").map((line) => line.trimEnd());
        return `${lines.join("\n").trimEnd()}\n`.replaceAll("\t", tabs);
      };
      return {
        files: files
          .filter(({ path, text }) => !/(?:^|\/)Makefile$|\.(?:diff|md|patch)$/.test(path) && formatted(text) !== text)
          .map(({ path, text }) => ({ path, text: formatted(text) })),
      };
    },
  },
};
