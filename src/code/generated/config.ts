// Generated from schemas/config.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * Keys of ralph.config.* that the wing 'code' reads.
 */
export interface CodeConfig {
  /**
   * Who does what in a team (research-ralph code).
   */
  code?: {
    /**
     * By role: librarian, artisan, critic, adversary. A role that is not named is done by 'agent'.
     */
    roles?: {
      /**
       * The role; false, of the adversary: it is left out.
       */
      [k: string]:
        | false
        | {
            /**
             * Agent, a name as for 'agent'; of several the first that can work. 'built-in' for the librarian: code does it, without a model.
             */
            agent?: string | string[];
            /**
             * For agents that take one; command agents get it as RALPH_TEMPERATURE. Default: librarian 0.3, artisan 0.7, critic 0.2, adversary 0.9.
             */
            temperature?: number;
          };
    };
  };
  /**
   * The model of a role of a team, by role: the same as an agent of its own under code.roles.
   */
  models?: {
    /**
     * The model, or an object.
     */
    [k: string]:
      | string
      | {
          /**
           * Model of the run's agent in this role.
           */
          model?: string;
          /**
           * As under code.roles.
           */
          temperature?: number;
          /**
           * Its key, if the environment holds none.
           */
          api_key?: string;
        };
  };
}
