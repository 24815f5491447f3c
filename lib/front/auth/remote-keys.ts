import { createRemoteJWKSet, customFetch, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { answerText } from "../../base/answer-text.ts";
import { isRecord } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { forwardClock } from "../../base/forward-clock.ts";

/** Asks for keys. A redirect is an answer, which is not followed. */
export type FetchKeys = (
  url: string,
  init: { readonly signal: AbortSignal; readonly redirect: "manual" },
) => Promise<Response>;

/** How long keys are believed when their issuer cannot be reached: its outage is not to be the mesh's. */
const staleMs = 24 * 3600 * 1000;

/** How long an issuer may take to send its keys, and how long they may be: a few KiB as a rule. */
const patienceMs = 5_000;
const maxBytes = 256 * 1024;

/** A clock that goes back by so much has been set. */
const stepMs = 1_000;

/**
 * Keys of an issuer, read when one is asked for that is not known, at most twice a minute, and every ten minutes. They are read from the
 * URL itself: where a redirect leads, whoever answers there would say who is let in, over clear text too. What is no set of keys leaves those
 * of before.
 *
 * @param onStale hears why keys could not be read where those of before are believed
 */
export function remoteKeys(
  url: string,
  fetchKeys: FetchKeys,
  now: () => number,
  onStale: (cause: unknown) => void,
): JWTVerifyGetKey {
  const agedMs = forwardClock(now);
  let last: { readonly body: string; readonly atMs: number } | undefined;
  const read = async (_url: string, { signal }: { readonly signal: AbortSignal }): Promise<Response> => {
    try {
      last = { body: await keysAt(url, fetchKeys, signal), atMs: agedMs() };
    } catch (cause) {
      if (last === undefined || agedMs() - last.atMs > staleMs) throw cause;
      onStale(cause);
    }
    return new Response(last.body);
  };
  const setOfKeys = () =>
    createRemoteJWKSet(new URL(url), { timeoutDuration: patienceMs, cooldownDuration: 30_000, [customFetch]: read });
  let keys = setOfKeys();
  let seenMs = now();
  return (header, token) => {
    // The library goes by the wall clock: what it has read would be new for as long as that was set back.
    if (now() < seenMs - stepMs) keys = setOfKeys();
    seenMs = now();
    return keys(header, token);
  };
}

/** @throws PortolanError for an answer that is no set of keys, or too long */
async function keysAt(url: string, fetchKeys: FetchKeys, signal: AbortSignal): Promise<string> {
  const response = await fetchKeys(url, { signal, redirect: "manual" });
  // A browser's fetch shows nothing of a redirect but its type.
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    await response.body?.cancel();
    throw new PortolanError(
      `${url} answers with a redirect, which is not followed: write the address of the keys itself`,
    );
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new PortolanError(`${url} answers ${response.status}`);
  }
  const body = await answerText(response, maxBytes);
  if (body === undefined) throw new PortolanError(`${url} answers with more than ${maxBytes / 1024} KiB`);
  if (!holdsKeys(body))
    throw new PortolanError(`${url} answers with something that is no set of keys: {"keys": [...]}`);
  return body;
}

function holdsKeys(text: string): boolean {
  try {
    return isKeySet(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Keys that come in clear text could be anybody's, but on the machine itself. */
export const isSafeKeysUrl = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname));

/** With a key that is no object none of the set could be used. */
export function isKeySet(value: unknown): value is JSONWebKeySet {
  return isRecord(value) && Array.isArray(value.keys) && value.keys.every(isRecord);
}
