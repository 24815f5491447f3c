import { X509Certificate } from "node:crypto";
import { InvalidArgumentError, Option } from "commander";
import { dump } from "js-yaml";
import { admissionPolicies } from "../../admission/manifests/policies.ts";
import {
  mutatingConfiguration,
  validatingConfiguration,
  type WebhookAddress,
} from "../../admission/manifests/webhooks.ts";
import { causeText } from "../../base/cause-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { examplesText } from "../examples.ts";
import { textOfFile } from "../named-file.ts";
import { jsonOption } from "../output-option.ts";
import type { Register } from "../terminal.ts";

interface Options {
  readonly service?: WebhookAddress;
  readonly url?: WebhookAddress;
  readonly ca?: string;
  readonly token?: string;
  readonly failurePolicy: "Fail" | "Ignore";
  readonly exceptNamespaces: readonly string[];
  readonly revision: string;
  readonly deletes?: boolean;
  readonly injection?: boolean;
  readonly injectByDefault?: boolean;
  readonly policies?: boolean;
  readonly warn?: boolean;
  readonly guardWorkloads?: boolean;
  readonly output: "yaml" | "json";
}

/** `portolan admission …`: what makes an API server ask Portolan about objects. */
export const registerAdmission: Register = (program, terminal) => {
  program
    .command("admission")
    .description(
      "Prints webhook configurations and policies for an API server: validation of configuration and injection of proxies.",
    )
    .command("manifests")
    .description("Prints the webhook configuration, or with --policies rules that an API server checks by itself.")
    .addOption(
      new Option("--service <address>", "the Service of the webhooks, NAMESPACE/NAME[:PORT]").argParser(serviceAddress),
    )
    .addOption(
      new Option("--url <url>", "an address outside of the cluster, https://HOST[:PORT]")
        .argParser(urlAddress)
        .conflicts("service"),
    )
    .option("--ca <file>", "CA certificates of the webhook's certificate, PEM, for caBundle")
    .option("--token <token>", "the token of the settings, as the last segment of the path")
    .addOption(
      new Option(
        "--failure-policy <policy>",
        "failurePolicy: what the API server does while the webhook does not respond",
      )
        .choices(["Fail", "Ignore"])
        .default("Fail"),
    )
    .addOption(new Option("--except-namespaces <names...>", "namespaces that are not checked").default(["kube-system"]))
    .option("--revision <name>", "the revision of the mesh, istio.io/rev", "default")
    .option("--deletes", "ask about deletions too, for warnings and for workloads: refuse")
    .option("--injection", "print the configuration that injects proxies, instead")
    .option("--inject-by-default", "with --injection: pods without any label too")
    .option("--policies", "print ValidatingAdmissionPolicy objects, which need no webhook, instead")
    .option("--warn", "with --policies: warn instead of refusing")
    .option("--guard-workloads", "with --policies: refuse an AuthorizationPolicy that denies all requests")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["yaml", "json"]).default("yaml"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      examplesText([
        "admission manifests --service portolan/portolan-admission:8443 --ca ca.crt | kubectl apply -f -",
        "admission manifests --url https://compile.example.com --token SECRET --failure-policy Ignore",
        "admission manifests --injection --service portolan/portolan-admission:8443 --ca ca.crt",
        "admission manifests --policies --guard-workloads | kubectl apply -f -",
      ]),
    )
    .action(async (options: Options) => {
      const objects = await objectsOf(options);
      if (options.output === "json") {
        const list = { apiVersion: "v1", kind: "List", items: objects };
        terminal.out(JSON.stringify(objects.length === 1 ? objects[0] : list));
      } else for (const object of objects) terminal.out(`${dump(object, { noRefs: true, lineWidth: -1 })}---`);
    });
};

async function objectsOf(options: Options): Promise<readonly object[]> {
  const { failurePolicy, exceptNamespaces, revision, token } = options;
  if (options.policies === true && options.injection === true)
    throw new InvalidArgumentError("--policies and --injection print different objects: run the command once for each");
  if (options.policies !== true && (options.guardWorkloads === true || options.warn === true))
    throw new InvalidArgumentError(
      "--guard-workloads and --warn need --policies; of the webhook, set admission.workloads to refuse in its settings",
    );
  if (options.policies === true) {
    const action = options.warn === true ? "Warn" : "Deny";
    const guardsWorkloads = options.guardWorkloads === true;
    return admissionPolicies({ failurePolicy, action, guardsWorkloads, exceptNamespaces });
  }
  const address = options.service ?? options.url;
  if (address === undefined)
    throw new InvalidArgumentError("name the webhook with --service or --url, or print --policies, which need none");
  const authority = options.ca === undefined ? undefined : await authorityIn(options.ca);
  const webhook = {
    address,
    failurePolicy,
    // Pods of the webhook's own namespace start without it. Policies there count in the whole mesh where it is the root namespace.
    exceptNamespaces:
      options.injection === true && address.kind === "service"
        ? [...new Set([...exceptNamespaces, address.namespace])]
        : exceptNamespaces,
    revision,
    ...(authority === undefined ? {} : { authority }),
    ...(token === undefined ? {} : { token }),
  };
  return options.injection === true
    ? [mutatingConfiguration({ ...webhook, enableNamespacesByDefault: options.injectByDefault === true })]
    : [validatingConfiguration(webhook, options.deletes === true)];
}

/** @throws PortolanError for a file that holds no certificate */
async function authorityIn(file: string): Promise<string> {
  const text = await textOfFile(file);
  try {
    new X509Certificate(text);
    return text;
  } catch (cause) {
    throw new PortolanError(`${file} holds no certificate in PEM: ${causeText(cause)}`, [], cause);
  }
}

const usualPort = 443;
const maxPort = 65_535;

function serviceAddress(text: string): WebhookAddress {
  const [, namespace = "", name = "", port] = /^([a-z0-9-]+)\/([a-z0-9-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = Number(port ?? usualPort);
  if (name === "" || number < 1 || number > maxPort)
    throw new InvalidArgumentError("a Service is NAMESPACE/NAME or NAMESPACE/NAME:PORT");
  return { kind: "service", namespace, name, port: number };
}

function urlAddress(text: string): WebhookAddress {
  const url = URL.parse(text);
  // API servers take no other form.
  if (url?.protocol !== "https:" || url.search !== "" || url.hash !== "" || url.username !== "")
    throw new InvalidArgumentError("an address is https://HOST or https://HOST:PORT");
  return { kind: "url", url: text };
}
