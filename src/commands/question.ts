/** Minimum number of words of a question. One word is a command, a project, a file, or a mistake. */
export const minQuestionWords = 3;

/** Whether one argument is a question, by the number of its words. */
export const isQuestion = (argument: string): boolean => argument.trim().split(/\s+/).length >= minQuestionWords;
