import { InvalidArgumentError } from "commander";
import type { ControlPlane } from "../agent/bootstrap.ts";
import { hostIn } from "../base/loopback.ts";

/**
 * Reads the URL that an option of the command line names, and leaves it as it is written.
 *
 * @returns a function that throws InvalidArgumentError with what may have been meant: `localhost:8080` reads as a URL with the scheme
 * `localhost`
 */
export const urlFor =
  (option: string) =>
  (text: string): string => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url !== undefined && /^https?:$/.test(url.protocol)) return text;
    const meant = `http://${text.replace(/^[^/]*:\/\//, "")}`;
    throw new InvalidArgumentError(
      `${option} needs a URL of http or https: write ${URL.canParse(meant) ? meant : "http://localhost:8080"}, not ${text}`,
    );
  };

/** That of a front. */
export const serverUrl = urlFor("--server");

/** Where such a URL leads. Over TLS the server's name is checked against the machine's own authorities. */
export function serverAt(
  server: string,
  tls: NonNullable<ControlPlane["tls"]> = { caFile: systemRoots },
): Pick<ControlPlane, "host" | "port" | "tls"> {
  const url = new URL(server);
  return { host: hostIn(url), port: portIn(url), ...(isSecure(url) ? { tls } : {}) };
}

export const portIn = (url: URL): number => Number(url.port) || (isSecure(url) ? 443 : 80);

export const isSecure = ({ protocol }: URL): boolean => protocol === "https:";

/** Where most systems have the certificates that they trust. */
export const systemRoots = "/etc/ssl/certs/ca-certificates.crt";
