import { PortolanError } from "../../base/diagnostic.ts";
import { hostIn, isLoopback } from "../../base/loopback.ts";
import { type Authentication, noAuthentication } from "./authentication.ts";
import { type AuthenticationOptions, readAuthentication } from "./settings.ts";

/**
 * Authentication for a server on an address: what is set, else none on loopback.
 *
 * @throws PortolanError when nothing is set and others than this machine can connect: nobody is served by mistake
 */
export function authenticationFor(
  setting: string | undefined,
  host: string,
  options: AuthenticationOptions = {},
): Authentication {
  if (setting !== undefined && setting !== "") return readAuthentication(setting, options);
  if (isLoopback(host)) return noAuthentication;
  throw new PortolanError(
    `${host} is open to other machines without authentication: set PORTOLAN_AUTHENTICATION (docs/security.md), or set it to off to serve every client that can connect`,
  );
}

/** The name in a `Host` without its port, lower-case; what is no name and port as it is. */
export function hostName(host: string): string {
  const url = /^[\w.:[\]-]*$/.test(host) ? URL.parse(`http://${host}`) : null;
  return url === null ? host : hostIn(url);
}
