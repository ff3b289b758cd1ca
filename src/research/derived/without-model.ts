/**
 * Whether an agent uses no model: the built-in agent selects sentences by counting words, here or on another machine.
 */
export const isWithoutModel = (agent: string): boolean => /^(?:fleet:)?baseline$/.test(agent);
