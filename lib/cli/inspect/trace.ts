import { type Command, InvalidArgumentError, Option } from "commander";
import { RE2JS } from "re2js";
import { parseNodeId } from "../../snapshot/classifier.ts";
import { type ShapeName, shapes } from "../../snapshot/resource-type.ts";
import type { Decision, Trace } from "../../trace/decision.ts";
import { usualDirection, withDestination } from "../../trace/destination.ts";
import { trace } from "../../trace/trace.ts";
import { type RequestOptions, requestOf, type TracedRequest } from "../../trace/traced-request.ts";
import { examplesText } from "../examples.ts";
import { storeOption } from "../named-store.ts";
import { wholeNumber } from "../numbers.ts";
import { addFrontOptions } from "../snapshots/ask-front.ts";
import { rootNames } from "../snapshots/root-named.ts";
import type { Terminal } from "../terminal.ts";
import { causesIn, type FindCauses } from "./causes.ts";
import { nodeSource, resourcesFor } from "./node-source.ts";
import { failOnUnread, tellUnread } from "./proxy-resources.ts";
import { type ServicePort, servicePort } from "./service-port.ts";
import { decisionLines, type TraceTextOptions, wayLines } from "./trace-text.ts";

interface Options {
  readonly store?: string;
  readonly dir?: string;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly root: string;
  readonly shape: ShapeName;
  readonly method: string;
  readonly header: readonly (readonly [string, string])[];
  readonly direction?: TracedRequest["direction"];
  readonly address?: string;
  readonly port?: number;
  readonly from?: string;
  readonly mutual?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** `portolan trace NODE URL`: the way of a request through a proxy, and what decided it. */
export function registerTrace(program: Command, terminal: Terminal): void {
  const command = program
    .command("trace <node> <url>")
    .description(
      "Says which listener, route, cluster and endpoints a request takes through a proxy, and what decided it.",
    )
    .addOption(storeOption())
    .option("--dir <folder>", "compile this folder instead of reading a store");
  addFrontOptions(command, "follow it through what this front serves the node; where objects stand, a store knows")
    .option("--root <name>", "which root", "SERVED")
    .addOption(new Option("--shape <name>", "which of a class's answers").choices([...shapes]).default("stream"))
    .option("--method <name>", "of the request", "GET")
    .option("--header <name: value...>", "of the request", addHeader, [])
    .addOption(
      new Option(
        "--direction <name>",
        "outbound: the workload asks; inbound: somebody asks the workload, or the gateway (default: what the proxy is for)",
      ).choices(["inbound", "outbound"]),
    )
    .option("--address <ip>", "where the connection goes (default: what the proxy knows of the URL's host)")
    .option("--port <number>", "the same (default: the URL's)", wholeNumber(1, 65_535))
    .option("--from <ip>", "where it comes from")
    .option("--mutual", "within the mutual TLS of another proxy of the mesh")
    .option("--all", "everything that was passed over, not the nearest three")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `\n${rootNames}\n${examplesText([
        "trace storefront-1.bookshop http://reviews:9080/reviews/7 --header 'end-user: jason'",
        "trace istio-ingressgateway-1.bookshop http://shop.example.com/catalog --dir samples/bookshop",
        "trace storefront-1.bookshop tcp://mysql.bookshop:3306",
        "trace storefront-1.bookshop http://reviews:9080/ --server https://front.example.com --token-file token",
        "trace reviews-1.bookshop http://reviews:9080/ --direction inbound --mutual --json",
      ])}`,
    )
    .action(async (node: string, url: string, options: Options) => {
      const source = await nodeSource(options, node, terminal);
      tellUnread(source.unread, terminal);
      const resources = resourcesFor(source.resources);
      const direction = options.direction ?? usualDirection(resources);
      const written = requestOf(url, requestOptions(options, direction));
      const host = new URL(url.replace(/^[^:]+/, "http")).hostname;
      const { port } = written.destination;
      const name = parseNodeId(node)?.name ?? node;
      const service =
        direction === "inbound" && options.port === undefined
          ? servicePort(source.objects, resources, name, { host, port })
          : undefined;
      const asked =
        service === undefined
          ? written
          : { ...written, destination: { ...written.destination, port: service.targetPort } };
      const request = withDestination(resources, asked, host);
      const traced = trace(resources, request, readRegex);
      const causesOf = causesIn(source.resources, source.objects, source.namespace);
      if (options.json === true)
        terminal.out(JSON.stringify({ ...told(source.title, request, traced, causesOf), service }, undefined, 2));
      else
        printTrace(terminal, traced, service, {
          title: source.title,
          colours: terminal.colours,
          causesOf,
          maxPassedOver: options.all === true ? Number.POSITIVE_INFINITY : 3,
        });
      failOnUnread(source.unread, options.server);
    });
}

function printTrace(
  terminal: Terminal,
  { decisions, httpFilters, ways }: Trace,
  service: ServicePort | undefined,
  text: TraceTextOptions & { readonly title: string },
): void {
  const { cyan, bold, green, dim } = terminal.colours;
  terminal.out(dim(text.title));
  if (service !== undefined)
    terminal.out(
      `${cyan("service")} ${bold(service.service)}: its port ${service.port} leads to ${service.targetPort} of the workload\n  ${green(service.at)}`,
    );
  for (const decision of decisions) for (const line of decisionLines(decision, text)) terminal.out(line);
  if (httpFilters.length > 0) terminal.out(`through ${httpFilters.map(shortName).join(", ")}`);
  for (const way of ways) for (const line of wayLines(way, ways.length === 1, text)) terminal.out(line);
}

const shortName = (filter: string): string => filter.replace(/^envoy\.filters\.http\./, "");

function addHeader(written: string, before: Options["header"]): Options["header"] {
  const [, name, value] = /^([^:\s]+):(.*)$/s.exec(written) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError(`write it as 'name: value'`);
  return [...before, [name, value.trimStart()]];
}

function requestOptions(options: Options, direction: TracedRequest["direction"]): RequestOptions {
  const { method, header, address, port, from, mutual } = options;
  return {
    direction,
    method: method.toUpperCase(),
    headers: header,
    ...(address === undefined ? {} : { address }),
    ...(port === undefined ? {} : { port }),
    ...(from === undefined ? {} : { source: { address: from } }),
    isMutual: mutual === true,
  };
}

/** Envoy's own dialect, in linear time. */
function readRegex(pattern: string): ((text: string) => boolean) | undefined {
  try {
    const compiled = RE2JS.compile(pattern);
    return (text) => compiled.matches(text);
  } catch {
    return undefined;
  }
}

function told(title: string, request: TracedRequest, traced: Trace, causesOf: FindCauses) {
  const explained = (decision: Decision) => ({
    ...decision,
    causes: decision.place === undefined ? [] : causesOf(decision.place),
  });
  const { http } = request;
  return {
    of: title,
    request: {
      ...request,
      ...(http === undefined ? {} : { http: { ...http, headers: Object.fromEntries(http.headers) } }),
    },
    decisions: traced.decisions.map(explained),
    httpFilters: traced.httpFilters,
    ways: traced.ways.map((way) => ({ ...way, decisions: way.decisions.map(explained) })),
  };
}
