/**
 * Names in the hosts of sites that distribute papers without permission: a label or a domain. The sites often change
 * their domain, but keep this name.
 */
const shadowNames = [
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

/** The reason why this address is never used, as one sentence; undefined if it is not a known shadow library. */
export function shadowLibraryRefusal(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { hostname, pathname } = new URL(address);
  const host = hostname.toLowerCase();
  // Mirrors have numbers. Proxies and gateways contain the name in a label or in the path: sci-hub.example.org,
  // /ipns/libgen.fun/.
  const isShadowHost = shadowNames.some((name) => new RegExp(`(?:^|\\.)${escapeRegExp(name)}\\d*(?:\\.|$)`).test(host));
  const hasShadowPath = /^\/ip[fn]s\/(?:[\w-]+\.)*(?:sci-hub|libgen|library\.lol|annas-archive|libstc)\b/i.test(
    pathname,
  );
  return isShadowHost || hasShadowPath
    ? `${host} leads to a shadow library and is never used; set pdf_url in rrd.json to the paper's own address or to a local file.`
    : undefined;
}

const escapeRegExp = (text: string): string => text.replace(/[.-]/g, (character) => `\\${character}`);
