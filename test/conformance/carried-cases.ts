/** The cases that the repository carries, by suite. */
export const carriedCases = new URL("cases/", import.meta.url);
