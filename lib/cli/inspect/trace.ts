import { type Command, InvalidArgumentError, Option } from "commander";
import { parseNodeId } from "../../base/classifier.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { readRegex } from "../../front/tracing/read-regex.ts";
import { type ShapeName, shapes } from "../../snapshot/resource-type.ts";
import type { Decision, Trace } from "../../trace/decision.ts";
import { usualDirection, withDestination } from "../../trace/destination.ts";
import { trace } from "../../trace/trace.ts";
import { claimsOf, type RequestOptions, requestOf, type TracedRequest } from "../../trace/traced-request.ts";
import { examplesText } from "../examples.ts";
import { storeOption } from "../named-store.ts";
import { wholeNumber } from "../numbers.ts";
import { addFrontOptions } from "../snapshots/ask-front.ts";
import { rootNames } from "../snapshots/root-named.ts";
import type { Terminal } from "../terminal.ts";
import { causesIn, type FindCauses } from "./causes.ts";
import { nodeSource, resourcesFor } from "./node-source.ts";
import { podAddress } from "./pod-address.ts";
import { failOnUnread, tellUnread } from "./proxy-resources.ts";
import { refusedByNode } from "./refused-by-node.ts";
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
  readonly principal?: string;
  readonly token?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** `portolan trace NODE URL`: the way of a request through a proxy, and what decided it. */
export function registerTrace(program: Command, terminal: Terminal): void {
  const command = program
    .command("trace <node> <url>")
    .description("Shows the listener, route, cluster and endpoints that a request takes through a proxy, and why.")
    .addOption(storeOption())
    .option("--dir <folder>", "compile this folder instead of reading a store");
  addFrontOptions(
    command,
    "follow it through what this server gives the node; files and lines of objects are known with a store",
  )
    .option("--root <name>", "which root", "SERVED")
    .addOption(new Option("--shape <name>", "which of a class's answers").choices([...shapes]).default("stream"))
    .option("--method <name>", "of the request", "GET")
    .option("--header <name: value...>", "of the request", addHeader, [])
    .addOption(
      new Option(
        "--direction <name>",
        "outbound: sent by the workload; inbound: sent to the workload or the gateway (default: by the type of the proxy)",
      ).choices(["inbound", "outbound"]),
    )
    .option(
      "--address <ip>",
      "address of the connection (default: the address of the URL's host in the proxy's configuration)",
    )
    .option("--port <number>", "the same (default: the URL's)", wholeNumber(1, 65_535))
    .option("--from <ip>", "the client's address, for policies that match it")
    .option("--mutual", "the request arrives over mutual TLS from another proxy of the mesh")
    .option("--principal <identity>", "mutual TLS with this identity: cluster.local/ns/shop/sa/web")
    .option("--token <token>", "a bearer token (JWT); its signature and expiry are not checked")
    .addOption(
      new Option("--claims <json>", 'claims of a valid token, such as \'{"iss":"https://issuer","sub":"jo"}\'')
        .argParser(readClaims)
        .conflicts("token"),
    )
    .option("--all", "list all candidates that did not match, not only the nearest three")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      `\n${rootNames}\n${examplesText([
        "trace storefront-1.bookshop http://reviews:9080/reviews/7 --header 'end-user: jason'",
        "trace istio-ingressgateway-1.bookshop http://shop.example.com/catalog --dir samples/bookshop",
        "trace storefront-1.bookshop tcp://mysql.bookshop:3306",
        "trace storefront-1.bookshop http://reviews:9080/ --server https://front.example.com --token-file token",
        "trace reviews-1.bookshop http://reviews:9080/ --direction inbound --principal cluster.local/ns/bookshop/sa/storefront --json",
        'trace istio-ingressgateway-1.bookshop http://shop.example.com/catalog --from 203.0.113.9 --claims \'{"iss":"https://issuer"}\'',
      ])}`,
    )
    .action(async (node: string, url: string, options: Options) => {
      const source = await nodeSource(options, node, terminal);
      tellUnread(source.unread, terminal);
      const refused = options.server === undefined ? [] : await refusalsAt(options, options.server, node, terminal);
      if (refused.length > 0) {
        for (const line of refused) terminal.err(`${terminal.colours.yellow("warning")} ${line}`);
        terminal.err("  the trace follows what the server serves; the proxy still runs what it has accepted before");
      }
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
      const request = withDestination(resources, asked, host, podAddress(source.objects, host, source.namespace));
      const traced = trace(resources, request, readRegex);
      const causesOf = causesIn(source.resources, source.objects, source.namespace);
      if (options.json === true)
        terminal.out(
          JSON.stringify(
            { ...told(source.title, request, traced, causesOf), service, ...(refused.length > 0 ? { refused } : {}) },
            undefined,
            2,
          ),
        );
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

/** What the node refuses; a trace goes on without, with a warning, where the server does not answer that. */
async function refusalsAt(
  { tokenFile }: Options,
  server: string,
  node: string,
  { err, colours }: Terminal,
): Promise<readonly string[]> {
  try {
    return await refusedByNode(server, tokenFile, node);
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    err(`${colours.yellow("warning")} it is not known whether the node refuses what it is served: ${cause.message}`);
    return [];
  }
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

function readClaims(written: string): Readonly<Record<string, unknown>> {
  try {
    return claimsOf(written);
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    throw new InvalidArgumentError(cause.message);
  }
}

function requestOptions(options: Options, direction: TracedRequest["direction"]): RequestOptions {
  const { method, header, address, port, from, mutual, principal, token, claims } = options;
  return {
    direction,
    method: method.toUpperCase(),
    headers: token === undefined ? header : [...header, ["authorization", `Bearer ${token}`]],
    ...(address === undefined ? {} : { address }),
    ...(port === undefined ? {} : { port }),
    ...(from === undefined ? {} : { source: { address: from } }),
    isMutual: mutual === true || principal !== undefined,
    ...(principal === undefined ? {} : { identity: principal }),
    ...(claims === undefined ? {} : { claims }),
  };
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
