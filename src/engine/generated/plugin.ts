// Generated from schemas/plugin.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What one call of a plugin may answer: one of these fields, by what was called.
 */
export interface PluginAnswer {
  /**
   * Why the plugin could not be loaded, or what it threw.
   */
  error?: string;
  /**
   * It has returned nothing.
   */
  nothing?: true;
  described?: Described;
  /**
   * onBeforeGen: what is added to the brief.
   */
  added?: string;
  changed?: Changed;
  /**
   * onBeforeSuccess: why the work is not done; false: it is not done, and the plugin gives no reason.
   */
  vetoed?: boolean | string;
}
/**
 * What a plugin exports.
 */
export interface Described {
  /**
   * Its name.
   */
  name: string;
  /**
   * Its version.
   */
  version: string;
  /**
   * Names of its hooks.
   *
   * @maxItems 20
   */
  hooks: string[];
}
/**
 * onAfterGen: what an agent made, as the plugin wants it.
 */
export interface Changed {
  /**
   * Files with another text than before.
   *
   * @maxItems 200
   */
  files?: ChangedFile[];
  /**
   * Fields that are kept beside a result.
   */
  fields?: {
    [k: string]: unknown;
  };
}
export interface ChangedFile {
  /**
   * One of those that the plugin was given.
   */
  path: string;
  /**
   * Its whole new text.
   */
  text: string;
}
