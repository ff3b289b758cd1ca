/** Takes one step of what `prompt` asks for in the folder it names, and yields the lines it prints. */
export function work(prompt: string, workspace: string, env: NodeJS.ProcessEnv): AsyncGenerator<string>;
