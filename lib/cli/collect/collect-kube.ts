import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { InvalidArgumentError } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { rootsOf } from "../../ca/authority.ts";
import { authorityStore, noAuthority, type StoredAuthority } from "../../ca/authority-store.ts";
import { createLease } from "../../collect/status/lease.ts";
import { connectCluster } from "../../registry/kubernetes/access/connect.ts";
import { kubernetesOrigin } from "../../registry/kubernetes/api/kubernetes-origin.ts";
import { examplesText } from "../examples.ts";
import { oneShotClient } from "../kube/one-shot-client.ts";
import { openThere } from "../named-store.ts";
import { secretKeys } from "../secrets/secret-keys.ts";
import type { Register, Terminal } from "../terminal.ts";
import { addLiveOptions, type LiveOptions } from "./collect-options.ts";
import { runCollector } from "./run-collector.ts";

interface Options extends LiveOptions {
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly cluster: string;
  readonly secretNames?: boolean;
  readonly writeStatus?: boolean;
  readonly rootCert?: boolean;
  readonly workloadEntries?: boolean;
  readonly lease?: ObjectName;
}

interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** `portolan collect kube`: a Kubernetes cluster. */
export const registerCollectKube: Register = (program, terminal) => {
  const command = program
    .command("kube")
    .description("Mirrors a Kubernetes cluster: Services, EndpointSlices, Pods, Nodes and Istio's kinds.")
    .option("--context <name>", "context of the kubeconfig (default: the current one; in a pod its own cluster)")
    .option("--kubeconfig <file>", "instead of KUBECONFIG and ~/.kube/config")
    .option("--cluster <id>", "id of the cluster, as its proxies know it", "Kubernetes")
    .option("--secret-names", "collect the names of TLS Secrets, for the analyzers; never their values")
    .option(
      "--write-status",
      "write statuses of the Gateway API's objects and addresses of ServiceEntries back to the cluster",
    )
    .option(
      "--lease <namespace/name>",
      "the Lease that elects one writer (default: portolan-status, in the context's or the pod's namespace)",
      leaseName,
    )
    .option("--root-cert", "write the roots of the CA into every namespace, as ConfigMap istio-ca-root-cert")
    .option("--workload-entries", "write WorkloadEntries into the cluster for VMs that register themselves")
    .addHelpText(
      "after",
      examplesText([
        "collect kube --context prod --store s3://mesh/prod",
        "collect kube --context prod --store s3://mesh/prod --write-status",
        "collect kube --context prod --store s3://mesh/prod --root-cert",
        "collect kube --context prod --store s3://mesh/prod --workload-entries",
        "collect kube --context west --cluster west --source west --store s3://mesh/prod",
        "collect kube --once --store mesh-store",
      ]),
    );
  addLiveOptions(command, "kubernetes").action(async (options: Options) => {
    const { context, kubeconfig, cluster, secretNames = false } = options;
    const connected = await connectCluster(context, kubeconfig);
    const client = options.once === true ? oneShotClient(connected) : connected.client;
    const origin = kubernetesOrigin(client, { cluster, secretNames });
    const what = `cluster ${cluster}: context ${connected.context}, ${connected.client.baseUrl}`;
    const { namespace, name } = options.lease ?? { namespace: connected.namespace, name: "portolan-status" };
    const holder = `${hostname()}_${randomUUID()}`;
    const statusesTo = { client, lease: createLease({ client, namespace, name, holder }) };
    const rootCert = options.rootCert === true ? { client, roots: await rootsOfStore(options, terminal) } : undefined;
    const statuses = options.writeStatus === true ? statusesTo : undefined;
    const registrations =
      options.workloadEntries === true ? { client, store: await openThere(options.store) } : undefined;
    await runCollector(origin, what, options, terminal, { statuses, rootCert, registrations });
  });
};

/** Reads the roots of the CA in the store. @throws PortolanError without a key, and later while there is no CA */
async function rootsOfStore({ store }: Options, terminal: Terminal): Promise<() => Promise<readonly string[]>> {
  const authorities = authorityStore(await openThere(store), secretKeys(terminal));
  let known: StoredAuthority | undefined;
  return async () => {
    known = await authorities.read(known);
    if (known === undefined) throw new PortolanError(noAuthority);
    return rootsOf(known.authority);
  };
}

/** @throws InvalidArgumentError, which is exit code 2 */
function leaseName(text: string): ObjectName {
  const [namespace = "", name = "", ...more] = text.split("/");
  if (namespace === "" || name === "" || more.length > 0) throw new InvalidArgumentError("a lease is namespace/name");
  return { namespace, name };
}
