/** The reason why a call of the memory failed. The codes are those of the specification. */
export interface MemoryProblem {
  readonly code:
    | "VECTOR_DB_ERROR_INVALID_PARAM"
    | "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND"
    | "VECTOR_DB_ERROR_INDEX_NOT_FOUND"
    | "VECTOR_DB_ERROR_FULL";
  readonly problem: string;
}

export const isMemoryProblem = (value: object): value is MemoryProblem => "problem" in value;

export const invalidParameterProblem = (problem: string): MemoryProblem => ({
  code: "VECTOR_DB_ERROR_INVALID_PARAM",
  problem,
});

export const missingIndexProblem = (name: string): MemoryProblem => ({
  code: "VECTOR_DB_ERROR_INDEX_NOT_FOUND",
  problem: `There is no index ${name}.`,
});

export const missingChunkProblem = (id: number): MemoryProblem => ({
  code: "VECTOR_DB_ERROR_ELEMENT_NOT_FOUND",
  problem: `There is no chunk ${id}.`,
});
