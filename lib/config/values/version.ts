import manifest from "../../../package.json" with { type: "json" };

/** Of the program, as package.json says it, and nothing else does. */
export const version: string = manifest.version;
