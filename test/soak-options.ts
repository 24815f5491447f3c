/** Where a random test begins: `SOAK_SEED`, which `npm run test:soak` sets and prints, or a number that is always the same. */
export const soakSeed = (usual: number): number => Number(process.env.SOAK_SEED ?? usual);

/** How often a property is tried: a tenth of the full count, at least five times; all of it in `npm run test:soak`. */
export const propertyRuns = (full: number): number =>
  process.env.SOAK_SEED === undefined ? Math.max(5, Math.ceil(full / 10)) : full;
