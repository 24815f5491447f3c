import { PortolanError } from "../../base/diagnostic.ts";
import { fieldsOf, textOf } from "../../base/untyped.ts";
import type { ConnectedCluster } from "../../registry/kubernetes/access/connect.ts";
import type { ApiClient } from "../../registry/kubernetes/api/client.ts";

/** A server that has not begun to answer a question by then is not going to. */
const readMs = 10_000;
/** Before a write is answered webhooks may be asked; the server itself ends a request after so long. */
const writeMs = 60_000;

/** No answer can be had: what was to be asked next has none either. */
export class UnreachableCluster extends PortolanError {}

/**
 * The client of a cluster, for a command that asks once and goes: a server that cannot be reached, or does not begin to answer in
 * time, is told as one line with context, address, reason and what to do. What has begun to be answered may take its time.
 *
 * @param waitMs how long a read is waited for; 10 seconds when absent
 */
export function oneShotClient({ client, context }: ConnectedCluster, waitMs = readMs): ApiClient {
  const fetchInTime: ApiClient["fetch"] = async (url, init) => {
    const { method = "GET", signal } = init;
    const late = new AbortController();
    const ms = method === "GET" ? waitMs : Math.max(waitMs, writeMs);
    const timer = setTimeout(() => late.abort(), ms);
    const until = signal === undefined || signal === null ? late.signal : AbortSignal.any([signal, late.signal]);
    try {
      return await client.fetch(url, { ...init, signal: until });
    } catch (cause) {
      if (cause instanceof PortolanError || signal?.aborted === true) throw cause;
      const { reason, hint } = late.signal.aborted
        ? { reason: `no answer to ${method} ${new URL(url).pathname} within ${ms / 1000} s`, hint: unreachedHint }
        : troubleOf(cause);
      throw new UnreachableCluster(
        `cannot reach the cluster of context ${context} at ${client.baseUrl}: ${reason}; ${hint}`,
        [],
        cause,
      );
    } finally {
      clearTimeout(timer);
    }
  };
  return { ...client, fetch: fetchInTime };
}

const unreachedHint =
  "see that the cluster runs and that this address in the kubeconfig is its own, or name another context";

const trustHint =
  "see that the context's certificate-authority is that of this server, and its address one that the certificate names";

/** What Node and OpenSSL call a server that is not trusted. @see https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const isUntrusted = (code: string): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO_|^CRL_|^HOSTNAME_MISMATCH$|^INVALID_(CA|PURPOSE)$/.test(code);

/** A reason and what to do, of an error of Node's; one of several addresses has no words but its code. */
function troubleOf(cause: unknown): { readonly reason: string; readonly hint: string } {
  const code = textOf(fieldsOf(cause).code);
  const words = cause instanceof Error && cause.message !== "" ? cause.message : code;
  const reason = words.includes(code) ? words : `${words} (${code})`;
  return { reason, hint: isUntrusted(code) ? trustHint : unreachedHint };
}
