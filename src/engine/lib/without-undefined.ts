/** The same members, but each member that may be undefined is optional, and absent instead of undefined. */
type Present<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<Members[Name], undefined>;
};

/**
 * The same object without the members that are undefined. It is used for objects that are stored, compared or spread
 * over defaults: there, an undefined member would override a value or count as a difference.
 */
export const withoutUndefined = <Members extends object>(members: Members): Present<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<Members>;
