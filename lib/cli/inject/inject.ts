import { basename } from "node:path";
import { Option } from "commander";
import { dump } from "js-yaml";
import { type Diagnostic, errorsOf, fileOrigin, PortolanError } from "../../base/diagnostic.ts";
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../base/untyped.ts";
import { createLocator } from "../../config/documents/locate.ts";
import { readDocument } from "../../config/documents/parse.ts";
import { splitDocuments } from "../../config/documents/split-documents.ts";
import { at, error, type Path } from "../../config/finding.ts";
import { isSettings, meshFile, type SourceFile } from "../../config/folder/directory.ts";
import { defaultMeshConfig, type MeshConfig } from "../../config/kinds/mesh-config.ts";
import { readMeshConfig } from "../../config/read-mesh-config.ts";
import { unheededAnnotations } from "../../injection/annotations.ts";
import { injectPod } from "../../injection/inject-pod.ts";
import { annotationsOf } from "../../injection/pod.ts";
import { whyNotInjected } from "../../injection/selection.ts";
import { uninjectPod } from "../../injection/uninject.ts";
import { type InjectionValues, readInjectionValues } from "../../injection/values.ts";
import { workloadIn } from "../../injection/workloads.ts";
import { addInputArguments, type InputOptions, writtenFiles } from "../config/config-input.ts";
import { examplesText } from "../examples.ts";
import { textOfFile } from "../named-file.ts";
import { counted } from "../numbers.ts";
import { jsonOption } from "../output-option.ts";
import { printDiagnostics, type Register, type Terminal } from "../terminal.ts";

interface Options extends InputOptions {
  readonly uninject?: boolean;
  readonly values?: string;
  readonly meshConfig?: string;
  readonly revision?: string;
  readonly template?: readonly string[];
  readonly nativeSidecars?: boolean;
  readonly output: "yaml" | "json";
}

/** `portolan inject -f …`: workloads with a proxy in their pods, for `kubectl apply`. */
export const registerInject: Register = (program, terminal) => {
  const command = program
    .command("inject")
    .description("Puts a proxy into the pods of workloads and prints everything, as `istioctl kube-inject` does.");
  addInputArguments(command)
    .option("--uninject", "remove the proxy")
    .option("--values <file>", "values as Istio's charts have them (docs/injection.md), YAML or JSON")
    .option("--mesh-config <file>", "the mesh configuration (default: mesh.yaml of a named folder)")
    .option("--revision <name>", "the revision; overrides that of --values")
    .addOption(
      new Option(
        "--template <names...>",
        "templates for pods without an inject.istio.io/templates annotation: sidecar, portolan",
      ),
    )
    .addOption(new Option("-o, --output <format>", "how to print").choices(["yaml", "json"]).default("yaml"))
    .addOption(jsonOption())
    .option(
      "--native-sidecars",
      "inject proxies as native sidecars: init containers with restartPolicy Always (Kubernetes 1.33 and later)",
    )
    .addHelpText(
      "after",
      examplesText([
        "inject -f deployment.yaml | kubectl apply -f -",
        "inject -f k8s/ --values values.yaml --native-sidecars",
        "inject -f deployment.yaml --template portolan",
        "inject -f injected.yaml --uninject",
      ]),
    )
    .action(async (paths: readonly string[], options: Options) => {
      const files = await writtenFiles([...paths, ...(options.filename ?? [])]);
      const values = await valuesOf(options);
      const meshConfig = await meshConfigOf(files, options);
      const problems: Diagnostic[] = [];
      const act = { values, meshConfig, options, terminal, problems };
      const documents = files
        .filter(({ file }) => !isSettings(basename(file)))
        .flatMap((file) => documentsOf(file, act));
      const errors = errorsOf(problems);
      if (errors.length > 0)
        throw new PortolanError(
          `nothing is printed: ${counted(errors.length, "error")} in what was to be injected`,
          problems,
        );
      printDiagnostics(terminal, problems);
      if (documents.length === 0) throw new PortolanError("no input: the files hold no documents");
      if (options.output === "json") {
        const items = documents.flatMap(({ value }) => value ?? []);
        terminal.out(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
        return;
      }
      const texts = documents.map(({ text }) => `${text().trimEnd()}\n`);
      terminal.out(texts.join("---\n").trimEnd());
    });
};

async function valuesOf({ values: file, revision, template, nativeSidecars }: Options): Promise<InjectionValues> {
  const written = file === undefined ? {} : await documentIn(file);
  const values = readInjectionValues(written, file ?? "the values");
  const { sidecarInjectorWebhook: webhook, pilot } = values;
  return {
    ...values,
    ...(revision === undefined ? {} : { revision }),
    sidecarInjectorWebhook: template === undefined ? webhook : { ...webhook, defaultTemplates: [...template] },
    pilot: nativeSidecars === true ? { ...pilot, env: { ...pilot.env, ENABLE_NATIVE_SIDECARS: true } } : pilot,
  };
}

/** @throws PortolanError for a file that holds no object */
async function documentIn(file: string): Promise<Fields> {
  const reading = readDocument({ text: await textOfFile(file), line: 1 });
  if (reading.kind === "value" && isFields(reading.value)) return reading.value;
  throw new PortolanError(`${file} cannot be used: it holds no values, in YAML or JSON`);
}

/** Those that are named, else those of the folder that holds the workloads. @throws PortolanError for settings with an error */
async function meshConfigOf(files: readonly SourceFile[], { meshConfig: file }: Options): Promise<MeshConfig> {
  const found = files.find(({ file: name }) => name === meshFile);
  const text = file === undefined ? found?.text : await textOfFile(file);
  if (text === undefined) return defaultMeshConfig;
  const { value, diagnostics } = readMeshConfig(text, file ?? meshFile);
  if (errorsOf(diagnostics).length > 0) throw new PortolanError("the mesh's settings have errors", diagnostics);
  return value;
}

interface Act {
  readonly values: InjectionValues;
  readonly meshConfig: MeshConfig;
  readonly options: Options;
  readonly terminal: Terminal;
  /** Is given what is found in all files. */
  readonly problems: Diagnostic[];
}

/** An object, and where it stands in its document. */
interface Place {
  readonly path: Path;
  readonly found: Diagnostic[];
}

interface PrintedDocument {
  /** Undefined for one that holds no object. */
  readonly value: Fields | undefined;
  readonly text: () => string;
}

/** The documents of a file; those that hold no workload stay as they were written. @throws PortolanError for a file that cannot be read */
function documentsOf({ file, text, problem, under = "" }: SourceFile, act: Act): readonly PrintedDocument[] {
  const name = under + file;
  if (problem !== undefined) throw new PortolanError(`${name} cannot be read: ${problem}`);
  return splitDocuments(text).map((document) => {
    const reading = readDocument(document);
    const asWritten = () => document.text;
    if (reading.kind === "unreadable")
      act.problems.push(at(fileOrigin(name, reading.line), error([], reading.message, "", "unreadable-document")));
    if (reading.kind !== "value" || !isFields(reading.value)) return { value: undefined, text: asWritten };
    const found: Diagnostic[] = [];
    const next = injected(reading.value, act, { path: [], found });
    const places = createLocator(document).locateAll(found.map(({ path }) => path));
    for (const [index, { origin, ...one }] of found.entries())
      act.problems.push({ ...one, origin: { ...origin, file: name, line: places[index]?.line ?? document.line } });
    const changed = () => dump(next, { noRefs: true, lineWidth: -1 });
    return { value: next, text: next === reading.value ? asWritten : changed };
  });
}

/** The same object where it makes no pods, and where its pods get no proxy. */
function injected(object: Fields, act: Act, { path, found }: Place): Fields {
  const { values, meshConfig, options, terminal } = act;
  if (Array.isArray(object.items) && String(object.kind).endsWith("List")) {
    const items = listOf(object.items).map((item, index) =>
      isFields(item) ? injected(item, act, { path: [...path, "items", index], found }) : item,
    );
    return items.every((item, at) => item === listOf(object.items)[at]) ? object : { ...object, items };
  }
  const workload = workloadIn(object, options.namespace ?? "default");
  if (workload === undefined) return object;
  const { pod, owner, namespace, title, withPod } = workload;
  if (options.uninject === true) {
    const bare = uninjectPod(pod, owner.name);
    return bare === pod ? object : withPod(bare);
  }
  const why = whyNotInjected(pod, namespace, values);
  if (why !== undefined) {
    terminal.err(`no proxy for ${title}: it ${why}`);
    return object;
  }
  const [kind = "", name = ""] = [object.kind, fieldsOf(object.metadata).name].map(textOf);
  const origin = { key: { group: "", kind, name, namespace }, file: "", line: 0 };
  const tell = (some: readonly Diagnostic[]) =>
    found.push(...some.map((one) => ({ ...one, origin, path: [...path, ...workload.path, ...one.path] })));
  tell(unheededAnnotations(annotationsOf(pod)));
  try {
    return withPod(injectPod(pod, { values, meshConfig, layers: noLayers, owner, namespace }));
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    const { diagnostics, message } = cause;
    tell(diagnostics.length > 0 ? diagnostics : [at(origin, error([], message, "", "pod-annotation-invalid"))]);
    return object;
  }
}

const noLayers = { mesh: undefined, namespace: undefined, workload: undefined };
