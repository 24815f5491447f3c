import { problem } from "../requests/answer.ts";
import { plain, type Route } from "../requests/routes.ts";
import { shellHeaders } from "./shell-headers.ts";

/** A file of the console, as its build has made it: it holds nothing of any mesh. */
export interface ConsoleFile {
  /** `/`, `/console/app-1f0c2a9b.js`. */
  readonly path: string;
  readonly type: string;
  /** Its path names its content. */
  readonly isFixed: boolean;
  readonly text: string;
}

/** Loads the console's files, when somebody first asks for one. */
export type LoadConsole = () => Promise<readonly ConsoleFile[]>;

/** The console's own files, for anybody: what they show they ask the API for. */
export const consoleRoutes = (load: LoadConsole): readonly Route[] =>
  ["/", "/console/:file", "/api/openapi.json"].map((path) => ({
    method: "GET",
    path,
    to: plain(async (asked) => {
      const file = (await load()).find((one) => one.path === asked.path);
      if (file === undefined) return problem(404, "the console has no such file: reload the page");
      const headers = {
        ...shellHeaders,
        "content-type": file.type,
        "cache-control": file.isFixed ? "public, max-age=31536000, immutable" : "no-cache",
      };
      return { status: 200, headers, body: file.text };
    }),
  }));
