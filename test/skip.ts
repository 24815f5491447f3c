const reported = new Set<string>();

/**
 * Tells whether something that a test needs is missing on this machine, and prints it once. Every `skipIf` goes through it, so no test
 * is skipped without a printed reason; test/tiers.test.ts checks that.
 *
 * @param what is needed, and how to get it, as the end of "skipped: needs …"
 */
export function lacks(isThere: boolean, what: string): boolean {
  if (!isThere && !reported.has(what)) console.warn(`skipped: needs ${what}`);
  if (!isThere) reported.add(what);
  return !isThere;
}
