// Generated from schemas/config.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * Keys of ralph.config.* that the wing 'task' reads.
 */
export interface TaskConfig {
  /**
   * Folder in which a task's agents work and its criteria are checked, relative to the folder of its ralph.json.
   */
  task_workspace?: string;
  /**
   * Name of a task's plan in its workspace: criteria and the agent's own steps.
   */
  task_plan_file?: string;
  /**
   * Name of the record of a whole task in its workspace.
   */
  task_record_file?: string;
  /**
   * Name of the file that says where a task stands, in its workspace.
   */
  task_current_file?: string;
}
