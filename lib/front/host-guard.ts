import { isLoopback } from "../base/loopback.ts";
import { hostName } from "./auth/open-to.ts";
import { shown } from "./excess.ts";
import type { RequestGuard } from "./node-server.ts";
import { type Answer, problem } from "./requests/answer.ts";

/** The name that Envoys with a generated bootstrap ask for: over REST they send the name of the cluster that they poll. */
export const bootstrapHost = "portolan";

export interface HostGuardOptions {
  /** Whether nobody has to prove who asks. */
  readonly servesAnyone: boolean;
  /** Where the server listens. */
  readonly host: string;
  /** Names that requests may ask for besides. */
  readonly hosts: readonly string[];
}

/**
 * Refuses what a browser may send on behalf of a page of another site, to a server on loopback that serves anyone on this machine.
 *
 * A page can have its own name resolve to 127.0.0.1 (DNS rebinding) and then read every answer, so `Host` has to be a name of this server.
 * A page can also send a POST to another site without asking, if its content type is one that forms have, or absent; such a POST is
 * refused. A server that asks for a proof of identity needs neither: a page has none to give.
 *
 * @returns what refuses such requests; `undefined` where nothing is to be refused
 */
export function hostGuard({ servesAnyone, host, hosts }: HostGuardOptions): RequestGuard | undefined {
  if (!servesAnyone || !isLoopback(host)) return undefined;
  const names = new Set([bootstrapHost, host, ...hosts].map((name) => name.toLowerCase()));
  return ({ headers, method }) => {
    // No browser sends a request without it.
    const name = headers.host === undefined ? undefined : hostName(headers.host);
    if (name !== undefined && !names.has(name) && !isLoopbackName(name))
      return refuse(421, wrongHost(headers.host ?? ""));
    return method === "POST" && isOfForms(headers["content-type"])
      ? refuse(415, "a POST needs a content-type that no form has, such as application/json")
      : undefined;
  };
}

/** Browsers resolve `localhost` and names below it to loopback themselves. */
const isLoopbackName = (name: string): boolean => isLoopback(name) || name.endsWith(".localhost");

/** What a page may send to any site without asking it first. @see https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
const formTypes: ReadonlySet<string> = new Set([
  "",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "text/plain",
]);

const isOfForms = (contentType = ""): boolean =>
  formTypes.has((contentType.split(";", 1)[0] ?? "").trim().toLowerCase());

const wrongHost = (host: string): string =>
  `${JSON.stringify(shown(host))} is no name of this server, which serves anyone on this machine: a page of another site may have sent the ` +
  "request. Ask for 127.0.0.1 or localhost, add the name to front.hosts (PORTOLAN_HOSTS), or set front.authentication (docs/security.md)";

/** The rest of the request is not read. */
const refuse = (status: number, detail: string): Answer => problem(status, detail, { connection: "close" });
