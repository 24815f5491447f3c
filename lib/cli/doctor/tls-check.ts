import { isIP } from "node:net";
import { checkServerIdentity, connect, type PeerCertificate } from "node:tls";
import { codeOf } from "../../base/cause-text.ts";
import { hostIn } from "../../base/loopback.ts";
import { counted } from "../numbers.ts";
import { isSecure, portIn } from "../server-url.ts";
import { type Deployment, isHere } from "./deployment.ts";
import { shownText, troubleIn } from "./exchange.ts";
import { type Finding, failed, passed, skipped, warned } from "./finding.ts";

export const tlsNames = ["tls", "certificate chain", "certificate name", "certificate dates"] as const;

/** Authorities renew certificates of 90 days 30 days before their end. */
const warnedDays = 14;
const dayMs = 86_400_000;

/** Checks the certificate as a proxy's Envoy does: its chain, its names and its dates. @param nowMs by this machine's clock */
export async function tlsCheck(deployment: Deployment, nowMs = Date.now()): Promise<readonly Finding[]> {
  const { url, caName } = deployment;
  if (!isSecure(url)) {
    const others = tlsNames.slice(1).map((name) => skipped(name, "the URL has the scheme http"));
    const remedy = "use https, unless the network between proxies and front keeps others out";
    const clear = "no TLS: tokens and configuration travel in clear text";
    return [isHere(url) ? skipped("tls", "the URL has the scheme http") : warned("tls", clear, remedy), ...others];
  }
  const shown = await handshake(deployment);
  if ("trouble" in shown) {
    const remedy = "check that this port speaks TLS 1.2 or newer, and has a certificate for this name";
    return [failed("tls", shown.trouble, remedy)];
  }
  const { certificate, chainError, protocol, alpn } = shown;
  const dates = datesFinding(certificate, nowMs);
  const http = alpn === "h2" ? "HTTP/2 and HTTP/1.1" : "HTTP/1.1";
  return [
    passed("tls", `${protocol}, with ${http}`),
    chainFinding(chainError, dates.status === "failed", caName),
    nameFinding(hostIn(url), certificate),
    dates,
  ];
}

interface Shown {
  readonly certificate: PeerCertificate;
  /** OpenSSL's code; undefined for a chain that is trusted. */
  readonly chainError: string | undefined;
  readonly protocol: string;
  readonly alpn: string | false | null;
}

/** Nothing is sent over this connection: what is untrusted is looked at here, and used nowhere. */
function handshake({ url, ca, timeoutMs }: Deployment): Promise<Shown | { readonly trouble: string }> {
  const host = hostIn(url);
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: portIn(url),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(ca === undefined ? {} : { ca }),
      ALPNProtocols: ["h2", "http/1.1"],
      rejectUnauthorized: false,
      // Told apart from the chain, by `nameFinding`.
      checkServerIdentity: () => undefined,
    });
    const end = (shown: Shown | { readonly trouble: string }) => {
      socket.destroy();
      resolve(shown);
    };
    socket.setTimeout(timeoutMs, () => end({ trouble: `no TLS handshake within ${timeoutMs / 1_000} s` }));
    socket.once("error", (cause) => end({ trouble: `no TLS handshake: ${troubleIn(cause, false, timeoutMs)}` }));
    socket.once("secureConnect", () => {
      const { authorized, authorizationError: error, alpnProtocol: alpn } = socket;
      const chainError = authorized ? undefined : String(codeOf(error) ?? error);
      const certificate = socket.getPeerCertificate();
      end({ certificate, chainError, protocol: socket.getProtocol() ?? "TLS", alpn });
    });
  });
}

const untrusted: Readonly<Record<string, readonly [string, string]>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: ["the certificate is self-signed", "name it with --ca, as the bootstrap does"],
  SELF_SIGNED_CERT_IN_CHAIN: [
    "the chain ends in an authority that is not trusted",
    "name that authority's certificate with --ca, for `portolan bootstrap` too",
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    "an authority between the certificate and a trusted one is missing, or none is trusted",
    "have the server send its intermediate certificates, or name its own authority with --ca, for `portolan bootstrap` too",
  ],
};
const otherwise = untrusted.UNABLE_TO_VERIFY_LEAF_SIGNATURE ?? ["", ""];

function chainFinding(error: string | undefined, isOutOfDate: boolean, caName: string): Finding {
  const check = "certificate chain";
  if (error === undefined || (isOutOfDate && /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/.test(error)))
    return passed(check, `leads to an authority of ${caName}`);
  const [text, remedy] = untrusted[error] ?? otherwise;
  return failed(check, `${text} (${error}; trusted: ${caName})`, remedy);
}

/** Envoy reads the alternative names alone; Node would take a common name for one where there are none. */
function nameFinding(host: string, certificate: PeerCertificate): Finding {
  const check = "certificate name";
  const names = shownText(certificate.subjectaltname ?? "none");
  const wrong = certificate.subjectaltname === undefined ? "none" : checkServerIdentity(host, certificate);
  if (wrong === undefined && isIP(host) !== 0) {
    const remedy = "use a name: the bootstrap has Envoy look for the server among the certificate's DNS names";
    return warned(check, `is for the address ${host}, which Envoys do not look for`, remedy);
  }
  if (wrong === undefined) return passed(check, `is for ${host}`);
  const remedy = `get a certificate with ${host} among its alternative names, or use a name that it has`;
  return failed(check, `the certificate is not for ${host}; its alternative names: ${names}`, remedy);
}

function datesFinding({ valid_from, valid_to }: PeerCertificate, nowMs: number): Finding {
  const check = "certificate dates";
  const [fromMs, toMs] = [Date.parse(valid_from), Date.parse(valid_to)];
  if (Number.isNaN(fromMs + toMs))
    return failed(check, "the certificate has no dates", "have the certificate issued again");
  const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
  const renew = "renew it, and check its automatic renewal";
  if (nowMs > toMs)
    return failed(check, `the certificate expired on ${to}`, `${renew}; if it is new, check this clock`);
  if (nowMs < fromMs) return failed(check, `the certificate is valid from ${from} on`, "check this machine's clock");
  const days = Math.floor((toMs - nowMs) / dayMs);
  const text = `${counted(days, "day")} left, until ${to}`;
  return days < warnedDays ? warned(check, text, renew) : passed(check, text);
}
