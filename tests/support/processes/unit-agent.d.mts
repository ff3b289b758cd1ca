/** Does the unit of `brief` in the folder `workspace`, and yields the lines it prints. */
export function work(brief: string, workspace: string, env: NodeJS.ProcessEnv): AsyncGenerator<string>;
