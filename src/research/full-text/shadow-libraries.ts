/** First labels of hosts that pass on papers without their publishers' leave, whatever domain they have moved to. */
const names = [
  "sci-hub",
  "scihub",
  "libgen",
  "gen.lib.rus.ec",
  "library.lol",
  "z-lib",
  "zlibrary",
  "z-library",
  "b-ok",
  "booksc",
  "1lib",
  "annas-archive",
  "singlelogin",
  "bookfi",
  "libstc",
  "nexusstc",
];

/** Why nothing is fetched from this address, as one sentence, or undefined where it is not a known pirate host. */
export function pirateRefusal(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { hostname, pathname } = new URL(address);
  const host = hostname.toLowerCase();
  // Mirrors are numbered; proxies and gateways name the host in a label or in the path: sci-hub.example.org,
  // /ipns/libgen.fun/.
  const isPirate = names.some((name) => new RegExp(`(?:^|\\.)${escaped(name)}\\d*(?:\\.|$)`).test(host));
  const isGateway = /^\/ip[fn]s\/(?:[\w-]+\.)*(?:sci-hub|libgen|library\.lol|annas-archive|libstc)\b/i.test(pathname);
  return isPirate || isGateway
    ? `${host} is a shadow library and is never used; set pdf_url in rrd.json to the paper's own address or to a local file.`
    : undefined;
}

const escaped = (text: string): string => text.replace(/[.-]/g, (character) => `\\${character}`);
