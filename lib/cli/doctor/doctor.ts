import { InvalidArgumentError } from "commander";
import { load } from "js-yaml";
import { PortolanError } from "../../base/diagnostic.ts";
import { fieldsOf, isFields, textOf } from "../../base/untyped.ts";
import { examplesText } from "../examples.ts";
import { connectKube } from "../kube/kube-connection.ts";
import { textIfThere, textOfFile } from "../named-file.ts";
import { counted, wholeNumber } from "../numbers.ts";
import { webhookSecret } from "../post-signed.ts";
import { systemRoots, urlFor } from "../server-url.ts";
import { tokenIn } from "../snapshots/ask-front.ts";
import type { Register } from "../terminal.ts";
import type { CompileFunction, Deployment, PolledNode } from "./deployment.ts";
import { examine } from "./examine.ts";
import { examineCluster } from "./examine-cluster.ts";
import type { Finding } from "./finding.ts";
import { countsOf, countsText, findingLines } from "./report.ts";

interface Options {
  readonly cluster?: string | true;
  readonly namespace: string;
  readonly revision: string;
  readonly node?: string;
  readonly metadata?: string;
  readonly bootstrap?: string;
  readonly tokenFile?: string;
  readonly ca?: string;
  readonly compileUrl?: string;
  readonly source: string;
  readonly timeout: number;
  readonly json?: boolean;
}

/** `portolan doctor URL`: what is wrong with a deployment, as it is seen from here. */
export const registerDoctor: Register = (program, terminal) => {
  program
    .command("doctor [url]")
    .description(
      "Checks a front from outside, or with --cluster an installation in Kubernetes; each finding has a remedy.",
    )
    .option(
      "--cluster [context]",
      "check what `portolan install` has put into a cluster, of the current context or of --cluster=CONTEXT",
    )
    .option("-n, --namespace <name>", "with --cluster: namespace of the installation", "portolan")
    .option("--revision <name>", "with --cluster: its revision", "default")
    .option("--node <node>", "poll as this node: `pod.namespace`, an address or a node id")
    .option("--metadata <file>", "with --node: its metadata, a JSON object")
    .option("--bootstrap <file>", "poll as the node of this bootstrap, and check the Host that its Envoy sends")
    .option("--token-file <path>", "a token of that node, as its Envoy sends it")
    .option("--ca <file>", `CA certificates that must have issued the server's certificate (default: ${systemRoots})`)
    .option(
      "--compile-url <url>",
      "also check the compile function at this URL, with PORTOLAN_WEBHOOK_SECRET",
      urlFor("--compile-url"),
    )
    .option("--source <name>", "with --compile-url: the source that pushes are for", "main")
    .option("--timeout <seconds>", "how long one request may take", wholeNumber(1, 120), 10)
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `${examplesText([
        "doctor https://portolan-front.example.workers.dev",
        "doctor https://front.example.com --bootstrap envoy/envoy.yaml --token-file token",
        "doctor --cluster=prod -n portolan",
        "doctor http://127.0.0.1:8080 --node istio-ingressgateway-1.bookshop --json",
      ])}\n\nExit code 0: nothing failed; there may be warnings. 1: a check failed.`,
    )
    .action(async (url: string | undefined, options: Options) => {
      const { examined, checks } = await subjectOf(url, options);
      const findings: Finding[] = [];
      for await (const finding of checks) {
        findings.push(finding);
        if (options.json === true) continue;
        for (const line of findingLines(finding, terminal)) terminal.out(line);
      }
      const counts = countsOf(findings);
      if (options.json === true)
        terminal.out(JSON.stringify({ ...examined, ...counts, checks: findings }, undefined, 2));
      else terminal.out(countsText(counts));
      if (counts.failed > 0) throw new PortolanError(`${counted(counts.failed, "check")} failed`);
    });
};

interface Subject {
  /** What is examined, as JSON has it. */
  readonly examined: Readonly<Record<string, string>>;
  readonly checks: AsyncGenerator<Finding>;
}

async function subjectOf(url: string | undefined, options: Options): Promise<Subject> {
  const { cluster, namespace, revision } = options;
  if ((url === undefined) === (cluster === undefined))
    throw new InvalidArgumentError("give one of the URL of a server and --cluster");
  if (url !== undefined) {
    const deployment = await deploymentOf(url, options);
    return { examined: { url: deployment.url.origin }, checks: examine(deployment) };
  }
  const connection = await connectKube(cluster === true ? "" : (cluster ?? ""));
  return { examined: { context: connection.context }, checks: examineCluster(connection, { namespace, revision }) };
}

async function deploymentOf(given: string, options: Options): Promise<Deployment> {
  const { node, metadata, bootstrap: file, tokenFile, ca, timeout } = options;
  const url = serverIn(given);
  if (metadata !== undefined && node === undefined) throw new InvalidArgumentError("--metadata needs --node");
  if (file !== undefined && node !== undefined) throw new InvalidArgumentError("give one of --node and --bootstrap");
  const bootstrap = file === undefined ? undefined : parsed(await textOfFile(file, `--bootstrap: ${file}`));
  const roots = ca === undefined ? await textIfThere(systemRoots) : await textOfFile(ca, `--ca: ${ca}`);
  const polled =
    node !== undefined ? await nodeNamed(node, metadata) : file === undefined ? undefined : nodeIn(bootstrap, file);
  const compile = compileIn(options);
  return {
    url,
    timeoutMs: timeout * 1_000,
    caName: ca ?? (roots === undefined ? "Node" : systemRoots),
    ...(roots === undefined ? {} : { ca: roots }),
    ...(tokenFile === undefined ? {} : { token: await tokenIn(tokenFile) }),
    ...(polled === undefined ? {} : { node: polled }),
    ...(bootstrap === undefined ? {} : { bootstrap }),
    ...(compile === undefined ? {} : { compile }),
  };
}

/** Envoys ask at the root of a server, whatever path a URL has. */
function serverIn(given: string): URL {
  const url = new URL(urlFor("doctor")(given));
  if (url.pathname !== "/" || url.search !== "" || url.username !== "")
    throw new InvalidArgumentError(`doctor takes only the URL of a server: ${url.origin}`);
  return url;
}

function compileIn({ compileUrl, source }: Options): CompileFunction | undefined {
  return compileUrl === undefined ? undefined : { url: new URL(compileUrl), secret: webhookSecret(), source };
}

async function nodeNamed(id: string, file: string | undefined): Promise<PolledNode> {
  if (file === undefined) return { id, cluster: "", metadata: {} };
  const metadata = parsed(await textOfFile(file, `--metadata: ${file}`));
  if (!isFields(metadata)) throw new PortolanError(`--metadata: ${file} is no JSON object`);
  return { id, cluster: "", metadata };
}

/** @throws PortolanError where there is none */
function nodeIn(bootstrap: unknown, file: string): PolledNode {
  const { node } = fieldsOf(bootstrap);
  const { id, cluster, metadata, locality } = fieldsOf(node);
  if (typeof id === "string") {
    const where = isFields(locality) ? { locality } : {};
    return { id, cluster: textOf(cluster), metadata: fieldsOf(metadata), ...where };
  }
  throw new PortolanError(
    `--bootstrap: ${file} has no node.id: give what \`portolan bootstrap\` wrote, in YAML or JSON`,
  );
}

/** YAML, of which JSON is a part. */
function parsed(text: string): unknown {
  try {
    return load(text);
  } catch {
    return undefined;
  }
}
