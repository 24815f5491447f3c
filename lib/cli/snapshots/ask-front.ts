import { readFile } from "node:fs/promises";
import { PortolanError } from "../../config/diagnostic.ts";

/**
 * Asks a front as an operator does.
 *
 * @param tokenFile holds an operator's token
 * @returns a function from a path to its text, or to `absent` where the front has no such path; it throws PortolanError where nobody
 * answers, or with what the front says
 */
export function askFront(
  server: string,
  tokenFile: string | undefined,
): (path: string, absent?: string) => Promise<string> {
  return async (path, absent) => {
    const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, "utf8")).trim();
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const url = server.replace(/\/$/, "") + path;
    const response = await fetch(url, { headers }).catch((cause: unknown) => {
      throw new PortolanError(`${url} cannot be reached: is the front up, and is this its address?`, [], cause);
    });
    if (response.status === 404 && absent !== undefined) return absent;
    if (!response.ok)
      throw new PortolanError(`${url} answers ${response.status}: ${(await response.text()).slice(0, 500)}`);
    return response.text();
  };
}
