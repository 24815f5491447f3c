import { InvalidArgumentError, Option } from "commander";
import { dump } from "js-yaml";
import type { Fields } from "../../base/untyped.ts";
import { version } from "../../config/values/version.ts";
import { readStoreLocation } from "../../storage/store-location.ts";
import { examplesText } from "../examples.ts";
import { connectKube, type KubeConnection } from "../kube/kube-connection.ts";
import { storeInstead } from "../named-store.ts";
import type { Register, Terminal } from "../terminal.ts";
import { type Change, installInto, uninstallFrom } from "./apply-installation.ts";
import { labelled, nameText } from "./cluster-objects.ts";
import { installObjects } from "./install-objects.ts";
import { type Feature, features, type Installation, nameOf } from "./install-options.ts";
import { otherInjectors, otherInjectorsHint } from "./other-injectors.ts";

interface Options {
  readonly apply?: boolean;
  readonly dryRun?: boolean;
  readonly uninstall?: boolean;
  readonly context?: string;
  readonly namespace: string;
  readonly istioNamespace: string;
  readonly revision: string;
  readonly tags?: readonly string[];
  readonly store?: string;
  readonly image: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly clusterDomain: string;
  readonly without?: readonly Feature[];
  readonly secretNames?: boolean;
  readonly workloadEntries?: boolean;
  readonly takeIstiod?: boolean;
  readonly output?: "yaml" | "json";
  readonly json?: boolean;
}

/** `portolan install`: Portolan in a cluster, in istiod's place. */
export const registerInstall: Register = (program, terminal) => {
  program
    .command("install")
    .description(
      "Installs Portolan in a cluster in istiod's place, or removes it; only prints without --apply or --uninstall.",
    )
    .option("--apply", "write the objects")
    .option("--uninstall", "delete the objects of this installation, and nothing else")
    .option("--dry-run", "ask the API server, write nothing; also with --apply and --uninstall")
    .option("--context <name>", "a context of the kubeconfig; the current one when absent")
    .addOption(dnsName("-n, --namespace <name>", "namespace of the installation", "portolan"))
    .addOption(
      dnsName("--istio-namespace <name>", "namespace of Istio's settings and of the Service istiod", "istio-system"),
    )
    .addOption(
      dnsName("--revision <name>", "value of istio.io/rev; installations of one cluster differ in it", "default"),
    )
    .option("--tags <names...>", "other values of istio.io/rev that choose this revision", dnsNames)
    .addOption(storeInstead("the store: s3://BUCKET, gs://BUCKET or az://ACCOUNT/CONTAINER"))
    .option("--image <name>", "the image, built by the Dockerfile", `portolan:${version}`)
    .option("--env <name=value...>", "variables of all pods, such as AWS_REGION=eu-central-1", variables)
    .addOption(dnsName("--cluster-domain <name>", "domain of the cluster's names", "cluster.local"))
    .addOption(new Option("--without <parts...>", "leave these out").choices(features))
    .option("--secret-names", "let the collector list Secrets for their names; this right covers their values")
    .option("--workload-entries", "let the collector write WorkloadEntries of machines that register themselves")
    .option("--take-istiod", "replace a Service istiod of others; --uninstall restores it")
    .addOption(
      new Option("-o, --output <format>", "print the objects, ask no cluster and write nothing")
        .choices(["yaml", "json"])
        .conflicts(["apply", "uninstall"]),
    )
    .option("--json", "print what was done, or would be, as JSON")
    .addHelpText(
      "after",
      examplesText([
        "install --store s3://mesh/prod --env AWS_REGION=eu-central-1",
        "install --store s3://mesh/prod --image registry.example.com/portolan:0.2.0 --apply",
        "install --store s3://mesh/prod --revision canary --tags next --apply",
        "install --store s3://mesh/prod --without injection istiod -o yaml > portolan.yaml",
        "install --uninstall --context prod",
      ]),
    )
    .action(async (options: Options) => {
      const of = installationOf(options);
      if (options.output !== undefined)
        print(
          terminal,
          options.output,
          installObjects(of).map((object) => labelled(object, nameOf(of))),
        );
      else await run(of, options, terminal);
    });
};

async function run(of: Installation, options: Options, terminal: Terminal): Promise<void> {
  const connection = await connectKube(options.context ?? "");
  const dryRun = options.dryRun === true || (options.apply !== true && options.uninstall !== true);
  const changes: Change[] = [];
  const onChange = (change: Change) => {
    changes.push(change);
    if (options.json !== true)
      terminal.out(`${change.action.padEnd(9)} ${nameText(change.object)}${dryRun ? " (dry run)" : ""}`);
  };
  const writing = { connection, dryRun, onChange };
  if (options.uninstall === true) await uninstallFrom(of, writing);
  else {
    const secretsKey = process.env.PORTOLAN_SECRETS_KEY;
    await installInto(of, { ...writing, secretsKey, takesIstiod: options.takeIstiod === true });
    await warnOfKinds(connection, terminal);
    const others = await otherInjectors(connection, of);
    if (others.length > 0)
      warn(
        terminal,
        `${others.join(" and ")} of Istio injects the same pods, which get two proxies: ${otherInjectorsHint}`,
      );
  }
  if (options.json === true)
    terminal.out(JSON.stringify({ installation: nameOf(of), context: connection.context, dryRun, changes }));
  for (const line of nextSteps(of, options, dryRun)) terminal.err(line);
}

/** Their definitions are Istio's to install: a chart may own them, and other programs need them. */
async function warnOfKinds({ find, context }: KubeConnection, terminal: Terminal): Promise<void> {
  if ((await find("networking.istio.io", "VirtualService")) !== undefined) return;
  warn(terminal, `${context} has no definitions of Istio's kinds: install the chart istio/base (docs/install.md)`);
}

function warn({ err, colours }: Terminal, text: string): void {
  err(`${colours.yellow("warning:")} ${text}`);
}

function nextSteps(of: Installation, options: Options, dryRun: boolean): readonly string[] {
  if (options.uninstall === true)
    return [`left: namespaces, and the Secrets of ${nameOf(of)} in ${of.namespace}: the key to the CA is in them`];
  if (dryRun) return ["nothing was written: --apply writes it"];
  return [
    ...(of.features.has("ca")
      ? [`next: portolan ca show --store ${of.store}; where there is none, portolan ca import or portolan ca init`]
      : []),
    `then: portolan doctor --cluster${options.context === undefined ? "" : `=${options.context}`} -n ${of.namespace}`,
  ];
}

function installationOf(options: Options): Installation {
  const left = new Set(options.without ?? []);
  const chosen = new Set(features.filter((feature) => !left.has(feature)));
  if (chosen.has("admission") && !chosen.has("ca"))
    throw new InvalidArgumentError("--without ca needs --without admission: the CA makes the webhooks' certificate");
  if (chosen.has("injection") && !chosen.has("admission")) chosen.delete("injection");
  if (chosen.has("istiod") && !chosen.has("ca"))
    throw new InvalidArgumentError("--without ca needs --without istiod: agents expect TLS there");
  const { namespace, istioNamespace, revision, tags = [], image, env = {}, clusterDomain } = options;
  return {
    namespace,
    istioNamespace,
    revision,
    tags,
    features: chosen,
    store: storeOf(options),
    image,
    env,
    clusterDomain,
    secretNames: options.secretNames === true,
    workloadEntries: options.workloadEntries === true,
  };
}

/** @throws InvalidArgumentError for none, and for a folder: pods on several nodes share none */
function storeOf({ store = "", uninstall }: Options): string {
  if (uninstall === true) return store;
  if (!/^(?:s3|gs|az):\/\//.test(store))
    throw new InvalidArgumentError(
      `${store === "" ? "name the store" : `pods cannot share the store ${store}: name a bucket`} with --store: ` +
        "s3://BUCKET/PREFIX, gs://… or az://… (docs/stores.md)",
    );
  readStoreLocation(store);
  return store;
}

function print(terminal: Terminal, output: "yaml" | "json", objects: readonly Fields[]): void {
  if (output === "json") terminal.out(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  else
    terminal.out(
      objects
        .map((object) => dump(object, { noRefs: true, lineWidth: -1 }))
        .join("---\n")
        .trimEnd(),
    );
}

const nameForm = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;

function dnsName(flags: string, about: string, usual: string): Option {
  return new Option(flags, about).default(usual).argParser((text: string) => {
    if (nameForm.test(text)) return text;
    throw new InvalidArgumentError("must be a DNS name of at most 63 characters");
  });
}

function dnsNames(text: string, before: readonly string[] = []): readonly string[] {
  if (!nameForm.test(text)) throw new InvalidArgumentError("must be DNS names of at most 63 characters");
  return [...before, text];
}

function variables(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value] = /^([A-Z_][A-Z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("must be NAME=VALUE");
  return { ...before, [name]: value };
}
