import { parametersOf } from "../../engine/tools/tool.js";
import type { AssistantTool, Todo } from "./context.js";

const text = { type: "string", minLength: 1, maxLength: 1000 };

export const todoWrite: AssistantTool<{ readonly todos: readonly Todo[] }> = {
  name: "TodoWrite",
  description: "Keep your list of tasks for work of several steps; give the whole list each time.",
  effects: [],
  parameters: parametersOf(
    {
      todos: {
        type: "array",
        maxItems: 100,
        items: {
          type: "object",
          properties: { content: text, status: { enum: ["pending", "in_progress", "completed"] }, activeForm: text },
          required: ["content", "status", "activeForm"],
          additionalProperties: false,
        },
      },
    },
    ["todos"],
  ),
  async run({ todos }, context) {
    context.todos = todos;
    const count = (status: Todo["status"]) => todos.filter((todo) => todo.status === status).length;
    return {
      success: true,
      pending: count("pending"),
      in_progress: count("in_progress"),
      completed: count("completed"),
    };
  },
};
