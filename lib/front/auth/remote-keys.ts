import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from "jose";
import { PortolanError } from "../../config/diagnostic.ts";

export type FetchKeys = (url: string, init: { readonly signal: AbortSignal }) => Promise<Response>;

/** How long keys are believed when their issuer cannot be reached: its outage is not to be the mesh's. */
const staleMs = 24 * 3600 * 1000;

/** Keys of an issuer, read when one is asked for that is not known, at most twice a minute, and every ten minutes. */
export function remoteKeys(url: string, fetchKeys: FetchKeys, now: () => number): JWTVerifyGetKey {
  let last: { readonly body: string; readonly atMs: number } | undefined;
  const read = async (_url: string, { signal }: { readonly signal: AbortSignal }): Promise<Response> => {
    try {
      const response = await fetchKeys(url, { signal });
      if (response.status !== 200) throw new PortolanError(`${url} answers ${response.status}`);
      last = { body: await response.text(), atMs: now() };
    } catch (cause) {
      if (last === undefined || now() - last.atMs > staleMs) throw cause;
    }
    return new Response(last.body);
  };
  return createRemoteJWKSet(new URL(url), { timeoutDuration: 5_000, cooldownDuration: 30_000, [customFetch]: read });
}
