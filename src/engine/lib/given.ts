/** The same members, optional where they may be undefined, and then absent. */
type Given<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<Members[Name], undefined>;
};

/**
 * Those members that are given: what is undefined is left out, so that it overrides nothing where it is spread and does
 * not stand in a comparison or a file.
 */
export const given = <Members extends object>(members: Members): Given<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<Members>;
