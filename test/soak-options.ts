import fc from "fast-check";

const given = process.env.SOAK_SEED;
// Every property of the run begins there too, so that the printed command repeats a failure.
if (given !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });

/** Where a random test begins: `SOAK_SEED`, which `npm run test:soak` sets and prints, or a number that is always the same. */
export const soakSeed = (usual: number): number => Number(given ?? usual);

/** How often a property is tried: a tenth of the full count, at least five times; all of it in `npm run test:soak`. */
export const propertyRuns = (full: number): number => (given === undefined ? Math.max(5, Math.ceil(full / 10)) : full);

/** How many cases of its own a test goes through: few, and all of them in `npm run test:soak`. */
export const soakRuns = (usual: number, full: number): number => (given === undefined ? usual : full);
