import { causeText } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { fieldsOf, listOf, textOf } from "../base/untyped.ts";
import type { Log } from "../compile/telemetry/log.ts";
import { type ApiClient, apiError, jsonOf, send } from "../registry/kubernetes/api/client.ts";

export interface AuthorityFollower {
  readonly client: ApiClient;
  /** `validating/NAME` or `mutating/NAME`. */
  readonly webhooks: readonly string[];
  /** The roots that vouch for the webhooks' certificate, PEM each. */
  readonly roots: () => Promise<readonly string[]>;
  readonly log: Log;
}

/** A root is trusted for hours before its key signs, so this is early enough. */
const lookMs = 60_000;
const retryMs = 5_000;

/**
 * Keeps `caBundle` of webhook configurations equal to the CA's roots while the process runs. What fails is logged and tried again: the
 * API server then calls the webhooks with the authorities that it has.
 */
export function followAuthority(of: AuthorityFollower): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const look = async (): Promise<void> => {
    const againMs = await writeAuthority(of).then(
      () => lookMs,
      (cause: unknown) => {
        of.log.error({ cause: causeText(cause) }, "the webhook configurations keep the authorities that they have");
        return retryMs;
      },
    );
    if (!isClosed) timer = setTimeout(look, againMs).unref();
  };
  void look();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/**
 * Writes the roots into every configuration that has others. Nothing but `caBundle` changes.
 *
 * @throws PortolanError for a configuration that cannot be read or written, the others being done
 */
export async function writeAuthority({ client, webhooks, roots, log }: AuthorityFollower): Promise<void> {
  const caBundle = Buffer.from((await roots()).join("")).toString("base64");
  const failures: string[] = [];
  for (const webhook of webhooks) {
    const path = pathOf(webhook);
    const found = await send(client, path, {});
    if ("failure" in found) {
      failures.push(apiError(path, found.failure).message);
      continue;
    }
    const entries = listOf(fieldsOf(await jsonOf(path, found.response)).webhooks).map(fieldsOf);
    const others = entries.filter(({ clientConfig }) => fieldsOf(clientConfig).caBundle !== caBundle);
    if (others.length === 0) continue;
    // The list is merged by its elements' names.
    const body = { webhooks: others.map(({ name }) => ({ name: textOf(name), clientConfig: { caBundle } })) };
    const contentType = "application/strategic-merge-patch+json";
    const written = await send(client, `${path}?fieldManager=portolan-admission`, {
      method: "PATCH",
      body,
      contentType,
    });
    if ("failure" in written) failures.push(apiError(path, written.failure).message);
    else log.info({ webhook }, "wrote the CA's roots into a webhook configuration");
  }
  if (failures.length > 0) throw new PortolanError(failures.join("; "));
}

function pathOf(webhook: string): string {
  const [kind, name = ""] = webhook.split("/");
  return `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/${name}`;
}
