import { InvalidArgumentError } from "commander";
import { type ConfigKey, keyText, PortolanError } from "../../base/diagnostic.ts";
import { keyOf } from "../../config/config.ts";
import { tellIfPinned } from "../dev/recompiled-text.ts";
import { kubeOption, takenHint } from "../kube/kube-connection.ts";
import { deleteFromCluster } from "../kube/kube-read.ts";
import { keysInFiles } from "../kube/kube-write.ts";
import type { Register } from "../terminal.ts";
import { objectsOf, whereElse } from "./config-find.ts";
import { addInputOptions, configInput, type InputOptions } from "./config-input.ts";
import { namedObjects, needConfig } from "./config-kind.ts";
import type { ShownObject } from "./config-print.ts";
import { addTargetOptions, type ConfigTarget, openTarget, type TargetOptions } from "./config-target.ts";
import { refusalText } from "./config-write.ts";

interface DeleteOptions extends InputOptions, TargetOptions {
  readonly json?: boolean;
  readonly kube?: string;
}

/** `portolan delete <type> <name>…` or `-f …`: all that is there in one commit, and fails for what is not. */
export const registerDelete: Register = (program, terminal) => {
  const command = program
    .command("delete")
    .description("Deletes objects by name, or those of files, in one commit.")
    .argument("[type]", "such as virtualservice, vs or vs/reviews")
    .argument("[names...]")
    .option("--json", "what was deleted as JSON")
    .addOption(kubeOption("from a live Kubernetes cluster, one by one; Kubernetes' own kinds of files too"))
    .addHelpText(
      "after",
      "\nExamples:\n  portolan delete vs reviews -n bookshop\n  portolan delete vs/reviews dr/reviews -n bookshop\n  portolan delete -f mesh/\n  portolan delete vs/reviews -n bookshop --kube=prod",
    );
  addTargetOptions(addInputOptions(command)).action(
    async (type: string | undefined, names: readonly string[], options: DeleteOptions) => {
      if ((type === undefined) === (options.filename === undefined)) {
        throw new InvalidArgumentError(
          `name a type and objects, or files with -f, and not both${takenHint(options.kube)}`,
        );
      }
      const { kube } = options;
      const keysIn = async () =>
        kube === undefined
          ? (await configInput(options, terminal, "delete")).map(keyOf)
          : keysInFiles(options, terminal);
      const keys = type === undefined ? await keysIn() : keysNamed([type, ...names], options.namespace);
      if (kube !== undefined) {
        const deleted: ConfigKey[] = [];
        const tell = (key: ConfigKey) => {
          deleted.push(key);
          if (options.json !== true) terminal.out(`Deleted: ${key.kind} ${key.name}`);
        };
        await deleteFromCluster(kube, keys, tell);
        if (options.json === true) terminal.out(JSON.stringify({ deleted }));
        return;
      }
      const place = await openTarget({ ...options, warn: terminal.err });
      const { there, missing } = await sorted(place, keys);
      if (there.length > 0) {
        const message = there.length === 1 ? `delete ${there.map(keyText).join()}` : `delete ${there.length} objects`;
        const changes = there.map((key) => ({ kind: "delete", key }) as const);
        const result = await place.configs.writeAll(changes, message);
        if (result.kind === "refused") throw new PortolanError(`${result.key}: ${refusalText(result.result)}`);
        if (options.json === true) terminal.out(JSON.stringify({ deleted: there, revision: result.revision }));
        else for (const { kind, name } of there) terminal.out(`Deleted config: ${kind} ${name}`);
        tellIfPinned(terminal, await place.publish());
      }
      if (missing.length > 0) throw new PortolanError((await missingTexts(place, missing)).join("; "));
    },
  );
};

function keysNamed(words: readonly string[], namespace = "default"): readonly ConfigKey[] {
  return namedObjects(words).map(({ kind, name }) => {
    const { group, clusterScoped } = needConfig(kind);
    if (name === undefined) throw new InvalidArgumentError(`name the objects of type ${kind.kind} to delete`);
    return { group, kind: kind.kind, name, namespace: clusterScoped ? "" : namespace };
  });
}

/** Why each of them is not deleted, and what to do. */
async function missingTexts(place: ConfigTarget, missing: readonly ConfigKey[]): Promise<readonly string[]> {
  const all = await objectsOf(place, undefined);
  return missing.map((key) => {
    const { group, kind, namespace, name } = key;
    const named = `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
    const isIt = (one: ShownObject) =>
      one.kind === kind &&
      one.group === group &&
      one.name === name &&
      (one.namespace || "default") === (namespace || "default");
    const source = all.find(isIt)?.source;
    return source === undefined
      ? `${named} does not exist; ${whereElse(all, key)}`
      : `${named} was not applied; it comes from the folder of source ${source}: remove it there, and \`portolan push\` the folder`;
  });
}

async function sorted(place: ConfigTarget, keys: readonly ConfigKey[]) {
  const { ledger } = place.configs;
  const known = new Map(await ledger.list((await ledger.head()).root));
  const isThere = (key: ConfigKey) => known.has(keyText(key));
  return { there: keys.filter(isThere), missing: keys.filter((key) => !isThere(key)) };
}
