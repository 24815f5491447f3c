import { PortolanError } from "../base/diagnostic.ts";
import { hostIn } from "../base/loopback.ts";
import { fieldsOf, jsonIn, listOf } from "../base/untyped.ts";
import type { AskDns, RecordType } from "./ask-dns.ts";
import { type Fetch, fetchText, usualWithinMs } from "./fetch-text.ts";

/** Where a platform has no name servers to ask. */
export const usualDnsEndpoint = "https://cloudflare-dns.com/dns-query";

const numbers: Readonly<Record<RecordType, number>> = { A: 1, AAAA: 28 };

/** RCODEs; every other one is a failure. @see https://www.iana.org/assignments/dns-parameters */
const noError = 0;
const noSuchName = 3;

const maxAnswerBytes = 64 * 1024;

/**
 * Asks over HTTPS, in the JSON that public resolvers answer with.
 *
 * @param fetchTo gives what asks, with the host that it may ask wherever that is
 * @param endpoint URL of the settings
 * @see https://developers.cloudflare.com/1.1.1.1/encryption/dns-over-https/make-api-requests/dns-json/
 */
export function createDnsOverHttps(fetchTo: (allowedHosts: ReadonlySet<string>) => Fetch, endpoint: string): AskDns {
  const allowedHosts = new Set([hostIn(new URL(endpoint))]);
  const fetch = fetchTo(allowedHosts);
  return async (host, type, signal) => {
    const url = new URL(endpoint);
    url.searchParams.set("name", host);
    url.searchParams.set("type", type);
    const request = { url: url.href, maxBytes: maxAnswerBytes, accept: "application/dns-json", signal };
    const fetched = await fetchText(fetch, { allowedHosts, withinMs: usualWithinMs }, request);
    const { Status: status, Answer: answer } = fieldsOf(fetched.kind === "text" ? jsonIn(fetched.text) : undefined);
    if (status === noSuchName) return [];
    if (status !== noError)
      throw new PortolanError(
        typeof status === "number"
          ? `${url.host} has no answer for ${host} (${type}): DNS status ${status}`
          : `${url.host} answers with something else than DNS in JSON`,
      );
    return listOf(answer)
      .map(fieldsOf)
      .filter((record) => record.type === numbers[type])
      .map(({ data, TTL: ttl }) => ({ address: String(data), ttlSeconds: typeof ttl === "number" ? ttl : 0 }));
  };
}
