import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import { fileTrouble } from "../../base/cause-text.ts";
import { byCodePoint, type Diagnostic, errorsOf, keyText, PortolanError } from "../../base/diagnostic.ts";
import type { Config } from "../../config/config.ts";
import { parseStream } from "../../config/documents/parse.ts";
import { type LoadedDirectory, readFiles, type SourceFile } from "../../config/folder/directory.ts";
import { readFolder } from "../../config/folder/folder.ts";
import { withoutSecrets } from "../../config/secrets/without-secrets.ts";
import { printDiagnostics, type Terminal } from "../terminal.ts";

export interface InputOptions {
  readonly filename?: readonly string[];
  readonly namespace?: string;
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** The same, and files and folders as arguments, which are named as with `-f`. */
export function addInputArguments(command: Command, namespace?: string): Command {
  return addInputOptions(command.argument("[paths...]", "files and folders, as with -f"), namespace);
}

/** `-f` as often as needed, and `-n`. @param namespace what `-n` does, for the help */
export function addInputOptions(command: Command, namespace = "namespace of objects that name none"): Command {
  return command
    .option("-f, --filename <path>", "a file, a folder, or - for standard input; may be repeated", collect)
    .option("-n, --namespace <name>", namespace);
}

/**
 * The files that `-f` names, without the secrets in them, as of any source.
 *
 * @param inlineSymmetricKeys `refuse`: whatever the `portolan.yaml` among them says
 * @throws PortolanError when one cannot be read, and InvalidArgumentError when none is named
 */
export const inputFiles = async (
  names: readonly string[] | undefined,
  inlineSymmetricKeys?: "refuse",
): Promise<readonly SourceFile[]> => withoutSecrets(await writtenFiles(names), inlineSymmetricKeys);

/**
 * The files that `-f` names, as they are written: folders are searched, in the order of their paths.
 *
 * @throws PortolanError when one cannot be read, and InvalidArgumentError when none is named
 */
export async function writtenFiles(names: readonly string[] | undefined): Promise<readonly SourceFile[]> {
  if (names === undefined || names.length === 0)
    throw new InvalidArgumentError(
      "no input: name files or folders, with -f or as arguments where a command takes them",
    );
  const files: SourceFile[] = [];
  for (const name of names) {
    if (name === "") throw new InvalidArgumentError("no input: -f names no file");
    if (name === "-") files.push({ file: "(standard input)", text: await readAll(process.stdin) });
    else files.push(...(await filesAt(name)));
  }
  return files;
}

async function filesAt(name: string): Promise<readonly SourceFile[]> {
  try {
    // What is named itself is read, whatever it is: `-f <(helm template shop chart)` is a pipe.
    if (!(await stat(name)).isDirectory()) return [{ file: name, text: await readFile(name, "utf8") }];
    const under = join(name, "/");
    return (await readFolder(name)).map((file) => ({ ...file, under }));
  } catch (cause) {
    if (cause instanceof PortolanError) throw cause;
    throw new PortolanError(`cannot read ${name}: ${fileTrouble(cause)}`, [], cause);
  }
}

/** More objects than this are worth a line about what is going on. */
const manyObjects = 1000;

/**
 * Reads the configuration to be written: an input with any error is refused whole, so that nothing is half applied.
 *
 * @throws PortolanError with the diagnostics, or when there is nothing to do
 */
export async function configInput(options: InputOptions, terminal: Terminal, verb: string): Promise<readonly Config[]> {
  const loaded = await validInput(options, terminal, verb);
  tellLeftOut(loaded, terminal, verb);
  if (loaded.configs.length === 0) throw new PortolanError(`nothing to ${verb}`);
  return [...loaded.configs].sort((a, b) => byCodePoint(keyText(a.origin.key), keyText(b.origin.key)));
}

/** The same with Kubernetes' own kinds, and those that nothing here knows. */
export async function wholeInput(options: InputOptions, terminal: Terminal, verb: string): Promise<LoadedDirectory> {
  const loaded = await validInput(options, terminal, verb);
  const { configs, objects, others } = loaded;
  if (configs.length + objects.length + others.length === 0) throw new PortolanError(`nothing to ${verb}`);
  return loaded;
}

async function validInput(options: InputOptions, terminal: Terminal, verb: string): Promise<LoadedDirectory> {
  // What is applied has no settings of a folder beside it.
  const files = await inputFiles(options.filename, "refuse");
  checkNamespaces(files, options.namespace);
  const loaded = read(files, options.namespace, true);
  if (loaded.configs.length > manyObjects) terminal.err(`read ${loaded.configs.length} objects`);
  const errors = errorsOf(loaded.diagnostics);
  if (errors.length > 0) throw new PortolanError(`configuration is invalid: nothing to ${verb}`, loaded.diagnostics);
  printDiagnostics(
    terminal,
    loaded.diagnostics.filter(({ severity }) => severity === "warning"),
  );
  return loaded;
}

/** More of what is left out is counted. */
const maxLeftOut = 10;

/** What is no configuration of Istio's is in no source that `apply` writes, and is named: it may be what somebody meant. */
function tellLeftOut({ objects, others }: LoadedDirectory, terminal: Terminal, verb: string): void {
  const left = [...objects, ...others].map(({ kind, metadata, origin }) => {
    const name = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
    return `${kind} ${name} (${origin.file}:${origin.line})`;
  });
  if (left.length === 0) return;
  const more = left.length > maxLeftOut ? ` and ${left.length - maxLeftOut} more` : "";
  terminal.err(`left out: ${left.slice(0, maxLeftOut).join(", ")}${more}`);
  terminal.err(`  ${verb} takes Istio's kinds; \`portolan push FOLDER\` takes Kubernetes' own kinds too`);
}

/**
 * Everything in files that `inputFiles` gave, valid or not: what may not be in them was left out.
 *
 * @param acceptUnknownTypes as `ReadOptions` has it; absent: as the `portolan.yaml` among them says
 */
export function read(files: readonly SourceFile[], namespace?: string, acceptUnknownTypes?: true): LoadedDirectory {
  return readFiles(files, {
    inlineSymmetricKeys: "allow",
    ...(namespace === undefined ? {} : { namespace }),
    ...(acceptUnknownTypes === undefined ? {} : { acceptUnknownTypes }),
  });
}

/** An object that names another namespace than `-n` is a mistake of one or the other. */
function checkNamespaces(files: readonly SourceFile[], namespace: string | undefined): void {
  if (namespace === undefined) return;
  const wrong: Diagnostic[] = files.flatMap(({ file, text, under = "" }) =>
    parseStream(text, { file: under + file }).value.flatMap(({ origin, metadata }): readonly Diagnostic[] => {
      if (metadata.namespace === undefined || metadata.namespace === namespace) return [];
      const message = `is ${metadata.namespace}, and -n is ${namespace}`;
      return [
        { code: "other-namespace", severity: "error", origin, path: ["metadata", "namespace"], message, hint: "" },
      ];
    }),
  );
  if (wrong.length > 0) throw new PortolanError("objects name another namespace than -n", wrong);
}
