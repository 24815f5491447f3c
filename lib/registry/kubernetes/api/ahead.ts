import { type ApiClient, send } from "./client.ts";
import { type ApiResource, resourcePath } from "./resource.ts";

/** A name that nothing has: a list of it costs nothing. */
const nobody = "portolan-asks-for-a-version";

/** A server waits three seconds for a version that may be under way. */
const answerMs = 15_000;

/**
 * Whether a server has not come as far as a position: it was restored from an older backup, or another has taken its place. A watch from
 * there is accepted and says nothing, be it for days, which only a list "not older than" tells from a quiet one.
 *
 * @throws whatever `fetch` throws
 * @see docs/how-istio-does-it/kubernetes.md#list-and-watch
 */
export async function isAhead(
  client: ApiClient,
  resource: ApiResource,
  version: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { fieldSelector = "" } = resource;
  // Who may read one object only must name it.
  const named = fieldSelector.startsWith("metadata.name=") ? fieldSelector : `metadata.name=${nobody}`;
  const query = { resourceVersion: version, resourceVersionMatch: "NotOlderThan", limit: "1" };
  const until = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  const answer = await send(client, resourcePath({ ...resource, fieldSelector: named }, query), { signal: until });
  // Any other refusal the watch will meet, and tell.
  if ("failure" in answer) return /too large resource version/i.test(answer.failure.message);
  await answer.response.body?.cancel();
  return false;
}
