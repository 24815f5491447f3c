import { Option } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { fieldsOf, flagOf, listOf, textOf } from "../../base/untyped.ts";
import { groupVersion } from "../../config/values/group-version.ts";
import { connectCluster } from "../../registry/kubernetes/access/connect.ts";
import { NoSuchContext } from "../../registry/kubernetes/access/kubeconfig.ts";
import { type ApiClient, apiError, send } from "../../registry/kubernetes/api/client.ts";
import { oneShotClient } from "./one-shot-client.ts";

/** Sends a command to a live cluster: a context of kubectl, "" for the current one. */
export const kubeOption = (about: string): Option =>
  new Option(
    "--kube [context]",
    `${about}: of the current context, or of --kube=CONTEXT; without \`=\` the next word is taken for one, so put it last`,
  ).preset("");

/** What to do about a word that `--kube` took and that was meant for the command; "" where it took none. */
export const takenHint = (kube = ""): string =>
  kube === "" ? "" : `; --kube took "${kube}" for a context: write --kube=CONTEXT, or --kube last`;

/** Where a server has a kind. */
export interface KindPlace {
  readonly apiVersion: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** Of the collection, in a namespace or, for "", in all. */
  path(namespace: string): string;
}

/** A cluster that commands talk to. */
export interface KubeConnection {
  readonly client: ApiClient;
  /** Name of the context. */
  readonly context: string;
  /** Namespace of the context. */
  readonly namespace: string;
  /**
   * Where the server has a kind, in the wanted version where it serves that, else in the one that it prefers.
   *
   * @returns undefined where it has none such
   */
  find(group: string, kind: string, version?: string): Promise<KindPlace | undefined>;
}

/** @param option what `--kube` says */
export async function connectKube(option: string): Promise<KubeConnection> {
  const connected = await connectCluster(option === "" ? undefined : option).catch((cause: unknown) => {
    if (!(cause instanceof NoSuchContext)) throw cause;
    throw new PortolanError(cause.message + takenHint(option), [], cause);
  });
  const { context, namespace } = connected;
  const client = oneShotClient(connected);
  const read = async (path: string) => {
    const answer = await send(client, path, {});
    if ("response" in answer) return fieldsOf(await answer.response.json());
    if (answer.failure.status === 404) return undefined;
    throw apiError(path, answer.failure);
  };
  const known = new Map<string, ReturnType<typeof read>>();
  const remembered = (path: string) => {
    const reading = known.get(path) ?? read(path);
    known.set(path, reading);
    return reading;
  };
  const placeIn = async (apiVersion: string, kind: string): Promise<KindPlace | undefined> => {
    const base = `${apiVersion.includes("/") ? "/apis" : "/api"}/${apiVersion}`;
    const resources = listOf((await remembered(base))?.resources).map(fieldsOf);
    const found = resources.find((resource) => resource.kind === kind && !textOf(resource.name).includes("/"));
    if (found === undefined) return undefined;
    const isNamespaced = flagOf(found.namespaced) === true;
    const plural = textOf(found.name);
    return {
      apiVersion,
      kind,
      isNamespaced,
      path: (space) => `${base}${isNamespaced && space !== "" ? `/namespaces/${space}` : ""}/${plural}`,
    };
  };
  return {
    client,
    context,
    namespace,
    async find(group, kind, version) {
      if (group === "") return placeIn(version ?? "v1", kind);
      const { versions, preferredVersion } = (await remembered(`/apis/${group}`)) ?? {};
      const served = [preferredVersion, ...listOf(versions)].map((one) => textOf(fieldsOf(one).groupVersion));
      const wanted = served.filter((one) => groupVersion(one).version === version);
      for (const apiVersion of [...wanted, ...served]) {
        const place = apiVersion === "" ? undefined : await placeIn(apiVersion, kind);
        if (place !== undefined) return place;
      }
      return undefined;
    },
  };
}
