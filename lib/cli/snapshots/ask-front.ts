import { type Command, Option } from "commander";
import { answerText } from "../../base/answer-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { textOfFile } from "../named-file.ts";
import { problemIn } from "../problem-text.ts";
import { serverUrl } from "../server-url.ts";

/** Which front, and as whom. */
export interface FrontOptions {
  readonly server?: string;
  readonly tokenFile?: string;
}

/** The options that name a front, the same for every command that asks one. */
export function addFrontOptions(command: Command, text: string): Command {
  return command
    .addOption(new Option("--server <url>", text).argParser(serverUrl).conflicts("dir"))
    .option("--token-file <path>", "an operator's token for that front");
}

/** A front that says nothing for so long is none. */
const patienceMs = 60_000;

/** All that a command reads of a front. */
const maxBytes = 512 * 1024 * 1024;

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
  let leftBytes = maxBytes;
  return async (path, absent) => {
    const token = tokenFile === undefined ? undefined : await tokenIn(tokenFile);
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const url = server.replace(/\/$/, "") + path;
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(patienceMs) }).catch((cause: unknown) => {
      throw new PortolanError(`${server} cannot be reached: is the front up, and is this its address?`, [], cause);
    });
    if (response.status === 404 && absent !== undefined) return absent;
    const text = await answerText(response, leftBytes).catch((cause: unknown) => {
      throw new PortolanError(`${server} began to answer and did not end: ask again`, [], cause);
    });
    if (text === undefined)
      throw new PortolanError(`${server} answers with more than ${maxBytes / 1024 / 1024} MiB: is this a front?`);
    leftBytes -= text.length;
    if (response.ok) return text;
    const { detail } = problemIn(text);
    throw new PortolanError(`${server} answers ${response.status}: ${detail}${remedy(response.status, token)}`);
  };
}

/** The token of `--token-file`. @throws PortolanError for a file that has none */
export async function tokenIn(file: string): Promise<string> {
  const text = await textOfFile(file, `--token-file: ${file}`);
  if (!/^[\x21-\x7e]+$/.test(text.trim())) throw new PortolanError(`--token-file: ${file} holds no token on one line`);
  return text.trim();
}

function remedy(status: number, token: string | undefined): string {
  if (status === 401 && token === undefined)
    return "; --token-file names an operator's token, which `portolan token create --operator` makes";
  return status === 401 || status === 403
    ? "; the token has to be an operator's, and of a key that this front trusts"
    : "";
}
