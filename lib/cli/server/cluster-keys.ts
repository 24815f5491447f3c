import type { ClusterApi } from "../../front/auth/token-review.ts";
import type { ConnectedCluster } from "../../registry/kubernetes/access/connect.ts";

/**
 * API servers of the contexts of KUBECONFIG, or of this pod's cluster, as its service account. To read the keys of tokens any account may
 * that is bound to `system:service-account-issuer-discovery`; Kubernetes binds all. To review tokens it needs `system:auth-delegator`.
 * Absent outside of a cluster.
 */
export function clusterApis(
  env: NodeJS.ProcessEnv = process.env,
): ((context: string | undefined) => ClusterApi) | undefined {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBECONFIG: kubeconfig = "" } = env;
  if (host === "" && kubeconfig === "") return undefined;
  return (context) => clusterApi(context, kubeconfig === "" ? undefined : kubeconfig);
}

function clusterApi(context: string | undefined, kubeconfig: string | undefined): ClusterApi {
  let connected: Promise<ConnectedCluster> | undefined;
  const client = async () => {
    // Loaded by those who use it: most fronts ask no API server.
    connected ??= import("../../registry/kubernetes/access/connect.ts").then(({ connectCluster }) =>
      connectCluster(context, kubeconfig),
    );
    const cluster = await connected.catch((cause: unknown) => {
      connected = undefined;
      throw cause;
    });
    return cluster.client;
  };
  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    const { baseUrl, fetch, token: tokenOf } = await client();
    const once = async (isRefused: boolean) => {
      const token = await tokenOf?.(isRefused);
      const headers = { ...init.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
      return fetch(baseUrl + path, { ...init, headers });
    };
    const answer = await once(false);
    if (answer.status !== 401) return answer;
    await answer.body?.cancel();
    return once(true);
  };
  return {
    fetchKeys: (url, { signal }) => ask(new URL(url).pathname, { signal }),
    post: (path, body, signal) =>
      ask(path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
        signal,
      }),
  };
}
