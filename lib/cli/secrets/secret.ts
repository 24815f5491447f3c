import { type Command, InvalidArgumentError } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { parseStream } from "../../config/documents/parse.ts";
import { isSecret } from "../../config/secrets/secret-objects.ts";
import { makeWrappingKey } from "../../secrets/environment-key.ts";
import { rewrap } from "../../secrets/rewrap.ts";
import type { SecretKey } from "../../secrets/secret-name.ts";
import { type SecretStore, secretStore } from "../../secrets/secret-store.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { writtenFiles } from "../config/config-input.ts";
import { examplesText } from "../examples.ts";
import { openThere, openToWrite, storeOption } from "../named-store.ts";
import { counted } from "../numbers.ts";
import { printDiagnostics, type Register, type Terminal } from "../terminal.ts";
import { isEmptySecret, nothingToStore, readSecret, refuseErrors } from "./secret-input.ts";
import { secretKeys } from "./secret-keys.ts";

interface Options {
  readonly store?: string;
  readonly namespace: string;
  readonly filename?: readonly string[];
  readonly serviceAccount?: readonly string[];
  readonly cluster?: readonly string[];
  readonly json?: boolean;
}

/** `portolan secret`: certificates and keys for gateways, encrypted, apart from sources and snapshots. */
export const registerSecret: Register = (program, terminal) => {
  const secret = program
    .command("secret")
    .description(
      "Keeps certificates and keys of gateways, and credentials for registries of Wasm images, encrypted with PORTOLAN_SECRETS_KEY, apart from everything else.",
    );
  const inStore = (command: Command) => command.addOption(storeOption());
  const inNamespace = (command: Command) => inStore(command).option("-n, --namespace <name>", "namespace", "default");

  const tell = ({ namespace, name }: SecretKey, json = false) =>
    terminal.out(json ? JSON.stringify({ namespace, name }) : `${namespace}/${name}`);

  secret
    .command("key")
    .description("Prints a new key for PORTOLAN_SECRETS_KEY.")
    .option("--json", "as JSON")
    .addHelpText("after", examplesText(["secret key"]))
    .action(({ json = false }: Pick<Options, "json">) => {
      const key = makeWrappingKey();
      terminal.out(json ? JSON.stringify({ key }) : key);
    });

  inNamespace(secret.command("apply").description("Encrypts and stores the Kubernetes Secrets of files."))
    .option("-f, --filename <path...>", "a file, a folder, or - for standard input")
    .option("--service-account <names...>", "only proxies with one of these service accounts may get them")
    .option("--cluster <ids...>", "only proxies that prove to run in one of these clusters may get them")
    .option("--json", "what was stored, one JSON object a line")
    .addHelpText(
      "after",
      examplesText([
        "secret apply -f shop-cert.yaml -n shop --service-account gateway",
        "secret apply -f registry.yaml -n shop   # for imagePullSecret: kubernetes.io/dockerconfigjson",
      ]),
    )
    .action(async (options: Options) => {
      const files = await writtenFiles(options.filename);
      const found = files.flatMap(({ file, text, under = "" }) =>
        parseStream(text, { file: under + file }).value.filter(isSecret),
      );
      if (found.length === 0)
        throw new PortolanError("there is no Secret to store: -f names files with Kubernetes Secrets in them");
      // Controllers fill some Secrets later: one without any value stores nothing, and costs its neighbours nothing.
      printDiagnostics(terminal, found.filter(isEmptySecret).map(nothingToStore));
      const filled = found.filter((object) => !isEmptySecret(object));
      const read = filled.map((object) => readSecret(object, options.namespace, Date.now()));
      refuseErrors(read);
      printDiagnostics(
        terminal,
        read.flatMap(({ diagnostics }) => diagnostics),
      );
      const secrets = secretsIn(await openToWrite(options.store), terminal);
      for (const { namespace, name, secret: value } of read) {
        const { serviceAccount: serviceAccounts, cluster: clusters } = options;
        const narrowed = {
          ...(serviceAccounts === undefined ? {} : { serviceAccounts }),
          ...(clusters === undefined ? {} : { clusters }),
        };
        await secrets.put({ namespace, name }, { ...value, ...narrowed });
        tell({ namespace, name }, options.json);
      }
    });

  inStore(secret.command("list").description("Lists names."))
    .option("--json", "one JSON object a line")
    .addHelpText("after", examplesText(["secret list"]))
    .action(async ({ store, json }: Options) => {
      let count = 0;
      for await (const key of secretsIn(await openThere(store), terminal).list()) {
        count += 1;
        tell(key, json);
      }
      if (count === 0) terminal.err("the store holds no secret: `portolan secret apply -f secret.yaml` puts one there");
    });

  inStore(
    secret
      .command("delete <name>")
      .description("Deletes a secret, named as `list` prints it. Proxies that have it keep it until they restart."),
  )
    .option("-n, --namespace <name>", "namespace of a name that has none (default: default)")
    .option("--json", "what was deleted, as JSON")
    .addHelpText("after", examplesText(["secret delete shop/shop-cert", "secret delete shop-cert -n shop"]))
    .action(async (text: string, { store, namespace, json }: Partial<Options>) => {
      const key = secretNamed(text, namespace);
      const secrets = secretsIn(await openThere(store), terminal);
      await needSecret(secrets, key);
      await secrets.delete(key);
      tell(key, json);
    });

  inStore(
    secret
      .command("rewrap")
      .description("Encrypts all secrets with the first of two keys, so that the second can be removed."),
  )
    .option("--json", "how many, as JSON")
    .addHelpText(
      "after",
      examplesText([
        'secret rewrap   # with PORTOLAN_SECRETS_KEY="new old"',
        'secret rewrap   # with PORTOLAN_SECRETS_KEY="aws-kms:alias/portolan old", to move to AWS KMS',
      ]),
    )
    .action(async ({ store, json }: Options) => {
      const { sealedAnew, leftAlone } = await rewrap(await openThere(store), secretKeys(terminal));
      terminal.out(
        json === true
          ? JSON.stringify({ sealedAnew, leftAlone })
          : `${counted(sealedAnew, "secret")} encrypted again, ${leftAlone} unchanged`,
      );
    });
};

/** `shop/shop-cert`, or a name and its namespace apart. @throws InvalidArgumentError, which is exit code 2 */
function secretNamed(text: string, namespace: string | undefined): SecretKey {
  const [first = "", name, ...more] = text.split("/");
  if (name === undefined) return { namespace: namespace ?? "default", name: first };
  if (first === "" || name === "" || more.length > 0)
    throw new InvalidArgumentError(`a secret is named NAME or NAMESPACE/NAME, not ${text}`);
  if (namespace !== undefined && namespace !== first)
    throw new InvalidArgumentError(`${text} is of the namespace ${first}, and -n is ${namespace}`);
  return { namespace: first, name };
}

/** @throws PortolanError when it is not there, with the namespaces that have one of its name */
async function needSecret(secrets: SecretStore, { namespace, name }: SecretKey): Promise<void> {
  const having: string[] = [];
  for await (const found of secrets.list()) {
    if (found.name !== name) continue;
    if (found.namespace === namespace) return;
    if (having.length < maxNamed) having.push(found.namespace);
  }
  const [first] = having;
  const hint =
    first === undefined
      ? "`portolan secret list` lists those that are"
      : `there is one in ${having.join(", ")}: -n ${first}`;
  throw new PortolanError(`there is no secret ${namespace}/${name}; ${hint}`);
}

/** Namespaces that a message names, of however many. */
const maxNamed = 5;

const secretsIn = (store: ObjectStore, terminal: Terminal): SecretStore => secretStore(store, secretKeys(terminal));
