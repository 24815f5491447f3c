import { signHeaders } from "../compile/webhook/signature.ts";
import { canonicalJson, sha256 } from "../config/canonical-json.ts";
import { type Config, keyOf } from "../config/config.ts";
import { keyText, PortolanError } from "../config/diagnostic.ts";
import { toObject } from "../config/object-json.ts";

/** A compile function that takes sources over HTTP. */
export interface Endpoint {
  readonly url: string;
  /** Shared with the compile function. */
  readonly secret: string;
  readonly source: string;
}

/** Whether a place is an endpoint and not a store. */
export function isEndpoint(place: string): boolean {
  return /^https?:\/\//.test(place);
}

/**
 * Sends objects as all that a source says from now on, signed; the answer comes when they are compiled.
 *
 * @returns the answer's line for people
 * @throws PortolanError when the endpoint refuses, or cannot be reached
 */
export async function pushSource(
  endpoint: Endpoint,
  configs: readonly Config[],
  nowMs: number,
  send: (request: Request) => Response | Promise<Response> = fetch,
): Promise<string> {
  const { url, secret, source } = endpoint;
  if (secret === "") throw new PortolanError("no secret: set PORTOLAN_WEBHOOK_SECRET to the endpoint's");
  const files = configs.map((config) => ({
    file: `${keyText(keyOf(config))}.yaml`,
    text: canonicalJson(toObject(config, false)),
  }));
  const body = JSON.stringify({ files });
  const headers = await signHeaders(secret, body, sha256(`${nowMs} ${body}`), nowMs);
  const target = `${url.replace(/\/$/, "")}/sources/${encodeURIComponent(source)}`;
  let response: Response;
  try {
    response = await send(
      new Request(target, { method: "POST", body, headers: { ...headers, "content-type": "application/json" } }),
    );
  } catch (cause) {
    throw new PortolanError(`${url} cannot be reached`, [], cause);
  }
  const text = await response.text();
  if (!response.ok) throw new PortolanError(`${url} answers ${response.status}: ${text}`);
  return `Sent ${configs.length} objects as source ${source}: ${text}`;
}
