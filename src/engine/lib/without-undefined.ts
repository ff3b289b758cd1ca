/** The same members, optional where they may be undefined, and then absent. */
type Present<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<Members[Name], undefined>;
};

/**
 * The same object without the members that are undefined: for what is stored, compared or spread over defaults, where
 * an undefined member would override a value or count as a difference.
 */
export const withoutUndefined = <Members extends object>(members: Members): Present<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<Members>;
