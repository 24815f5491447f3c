import { InvalidArgumentError } from "commander";
import type { ControlPlane } from "../agent/bootstrap.ts";

/**
 * The URL of a front as the command line names it, left as it is written.
 *
 * @throws InvalidArgumentError with what may have been meant: `localhost:8080` reads as a URL with the scheme `localhost`
 */
export function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return text;
  const meant = `http://${text.replace(/^[^/]*:\/\//, "")}`;
  throw new InvalidArgumentError(
    `--server wants a URL of http or https: write ${URL.canParse(meant) ? meant : "http://localhost:8080"}, not ${text}`,
  );
}

/** Where such a URL leads. Over TLS the server's name is checked against the machine's own authorities. */
export function serverAt(
  server: string,
  tls: NonNullable<ControlPlane["tls"]> = { caFile: systemRoots },
): Pick<ControlPlane, "host" | "port" | "tls"> {
  const url = new URL(server);
  const isSecure = url.protocol === "https:";
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || (isSecure ? 443 : 80),
    ...(isSecure ? { tls } : {}),
  };
}

/** Where most systems have the certificates that they trust. */
export const systemRoots = "/etc/ssl/certs/ca-certificates.crt";
