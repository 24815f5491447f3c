import type { LoadConsole } from "./console-routes.ts";

/** The console as it was built: for fronts that serve it themselves, which at the edge static files do. */
export const loadConsole: LoadConsole = async () => (await import("../../../gen/console.ts")).consoleFiles;
