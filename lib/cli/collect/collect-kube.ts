import { connectCluster } from "../../registry/kubernetes/access/connect.ts";
import { kubernetesOrigin } from "../../registry/kubernetes/api/kubernetes-origin.ts";
import { examplesText } from "../examples.ts";
import { oneShotClient } from "../kube/one-shot-client.ts";
import type { Register } from "../terminal.ts";
import { addLiveOptions, type LiveOptions } from "./collect-options.ts";
import { runCollector } from "./run-collector.ts";

interface Options extends LiveOptions {
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly cluster: string;
  readonly secretNames?: boolean;
}

/** `portolan collect kube`: a Kubernetes cluster. */
export const registerCollectKube: Register = (program, terminal) => {
  const command = program
    .command("kube")
    .description("Mirrors what the mesh reads of a Kubernetes cluster: services, slices, pods, nodes, Istio's kinds.")
    .option("--context <name>", "context of the kubeconfig (default: the current one; in a pod its own cluster)")
    .option("--kubeconfig <file>", "instead of KUBECONFIG and ~/.kube/config")
    .option("--cluster <id>", "id of the cluster, as its proxies know it", "Kubernetes")
    .option("--secret-names", "collect the names of TLS secrets, for the analysers; never their values")
    .addHelpText(
      "after",
      examplesText([
        "collect kube --context prod --store s3://mesh/prod",
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
    await runCollector(origin, what, options, terminal);
  });
};
