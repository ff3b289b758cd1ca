/** What a key looks like: short enough to be typed, and taken by BibTeX and by every shell as it stands. */
export const isKey = (text: string): boolean => /^[A-Za-z][A-Za-z0-9_:.-]{1,39}$/.test(text);

/** The name of an entry in its own file, as rrd.json keeps it: as a key where it can be one, else beside it. */
export const ownKey = (name: string | undefined): { readonly key?: string; readonly source_key?: string } =>
  name === undefined ? {} : isKey(name) ? { key: name } : { source_key: name };
