import dns from "node:dns";
import http from "node:http";
import https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { rootCertificates } from "node:tls";
import ipaddr from "ipaddr.js";
import { PortolanError } from "../base/diagnostic.ts";
import { hostIn } from "../base/loopback.ts";
import { allow, type Fetch, NotAllowed } from "./fetch-text.ts";

export interface NodeFetchOptions {
  /** Hosts that may be in a private network. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Certificates in PEM that are trusted besides those that Node brings; absent: none. */
  readonly caBundle?: string | undefined;
  /** Resolves names; the system's when absent. */
  readonly lookup?: LookupFunction;
}

/**
 * Asks over Node's own HTTP. The address is looked at when the connection is made, so that a name cannot show one address to a check and
 * another one to the connection.
 */
export function createNodeFetch({ allowedHosts, caBundle, lookup = dns.lookup }: NodeFetchOptions): Fetch {
  const ca = caBundle === undefined ? {} : { ca: [...rootCertificates, caBundle] };
  return (href, { headers, signal }) =>
    new Promise((resolve, reject) => {
      const url = new URL(href);
      const host = hostIn(url);
      const isAllowed = allowedHosts.has(host);
      if (!isAllowed && isIP(host) !== 0 && !isPublic(host)) return reject(privateHost(host, host));
      const { request } = url.protocol === "http:" ? http : https;
      const asked = request(
        url,
        {
          headers,
          signal,
          agent: false,
          maxHeaderSize: 16_384,
          lookup: isAllowed ? lookup : publicOnly(lookup),
          ...ca,
        },
        (answer) => {
          const { statusCode = 0 } = answer;
          if (statusCode >= 200 && statusCode <= 599) return resolve(responseOf(answer));
          // No Response can have it.
          answer.destroy();
          reject(new PortolanError(`${host} answers ${statusCode}, which is no status of an answer`));
        },
      );
      asked.on("error", reject);
      asked.end();
    });
}

const readHeaders = ["content-type", "etag", "location", "www-authenticate"];

/** What is read of an answer. */
function responseOf(answer: http.IncomingMessage): Response {
  const { statusCode: status = 500 } = answer;
  const headers = new Headers();
  for (const name of readHeaders) {
    const value = answer.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  if (withoutBody.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  // Node's own type of a web stream is not the one of the DOM, though it is the same class.
  return new Response(Readable.toWeb(answer) as ReadableStream, { status, headers });
}

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** Gives the addresses of a name if all of them are public ones. */
const publicOnly =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (cause, address, family) => {
      if (cause !== null) return callback(cause, address, family);
      const addresses = typeof address === "string" ? [address] : address.map((one) => one.address);
      const found = addresses.find((one) => !isPublic(one));
      if (found !== undefined) return callback(privateHost(hostname, found), address, family);
      callback(null, address, family);
    });

const privateHost = (host: string, address: string): NotAllowed =>
  new NotAllowed(
    `${host} is at ${address}, in a private network, which is not asked unless it is allowed; ${allow(host)}`,
  );

/** Addresses of a cloud's own services that look public. */
const ofClouds: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** Whether an address can be reached over the internet: none of a private network, this machine, or a cloud's metadata. */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  // Of IPv6 only what is given out at all: 2000::/3.
  const isGiven = !(address instanceof ipaddr.IPv6) || address.match(ipaddr.IPv6.parse("2000::"), 3);
  return isGiven && address.range() === "unicast" && !ofClouds.has(address.toString());
}
