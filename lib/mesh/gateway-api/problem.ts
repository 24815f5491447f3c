/** Why something is not as it was meant, in the words of a condition. */
export interface Problem {
  /** CamelCase, of a condition: `BackendNotFound`. */
  readonly reason: string;
  readonly message: string;
}

export const problem = (reason: string, message: string): Problem => ({ reason, message });

/** Two problems of one thing; the first gives the reason. */
export function both(first: Problem | undefined, second: Problem | undefined): Problem | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return { reason: first.reason, message: `${first.message}; ${second.message}` };
}
