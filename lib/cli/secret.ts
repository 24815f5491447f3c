import type { Command } from "commander";
import { PortolanError } from "../config/diagnostic.ts";
import { parseStream } from "../config/parse.ts";
import { isSecret } from "../config/secret-objects.ts";
import { makeWrappingKey } from "../secrets/key-wrapper.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import { secretsFromSetting } from "../secrets/secrets-from-setting.ts";
import { inputFiles } from "./config-input.ts";
import { readSecret, refuseErrors } from "./secret-input.ts";
import { defaultStore, openStore, storeDescription, storeOption } from "./snapshots/open-store.ts";
import { printDiagnostics, type Register } from "./terminal.ts";

interface Options {
  readonly store: string;
  readonly namespace: string;
  readonly filename?: readonly string[];
  readonly serviceAccount?: readonly string[];
}

/** `portolan secret`: certificates and keys for gateways, encrypted, apart from sources and snapshots. */
export const registerSecret: Register = (program, terminal) => {
  const secret = program
    .command("secret")
    .description(
      "Keeps certificates and keys of gateways, encrypted with PORTOLAN_SECRETS_KEY, apart from everything else.",
    );
  const inStore = (command: Command) => command.option(storeOption, storeDescription, defaultStore);
  const inNamespace = (command: Command) => inStore(command).option("-n, --namespace <name>", "namespace", "default");

  secret
    .command("key")
    .description("Prints a new key for PORTOLAN_SECRETS_KEY.")
    .action(() => terminal.out(makeWrappingKey()));

  inNamespace(secret.command("apply").description("Encrypts and stores the Kubernetes Secrets of files."))
    .option("-f, --filename <path...>", "a file, a folder, or - for standard input")
    .option("--service-account <names...>", "only proxies that run as one of these may have them")
    .action(async (options: Options) => {
      const files = await inputFiles(options.filename);
      const found = files.flatMap(({ file, text, under = "" }) =>
        parseStream(text, { file: under + file }).value.filter(isSecret),
      );
      if (found.length === 0) throw new PortolanError("there is no Secret to store");
      const read = found.map((object) => readSecret(object, options.namespace, Date.now()));
      refuseErrors(read);
      printDiagnostics(
        terminal,
        read.flatMap(({ diagnostics }) => diagnostics),
      );
      const secrets = await openSecrets(options.store);
      for (const { namespace, name, secret: value } of read) {
        const { serviceAccount } = options;
        await secrets.put(
          { namespace, name },
          serviceAccount === undefined ? value : { ...value, serviceAccounts: serviceAccount },
        );
        terminal.out(`${namespace}/${name}`);
      }
    });

  inStore(secret.command("list").description("Lists names.")).action(async ({ store }: Options) => {
    for await (const { namespace, name } of (await openSecrets(store)).list()) terminal.out(`${namespace}/${name}`);
  });

  inNamespace(
    secret.command("delete <name>").description("Forgets one. Proxies that have it keep it until they start anew."),
  ).action(async (name: string, { store, namespace }: Options) => {
    await (await openSecrets(store)).delete({ namespace, name });
    terminal.out(`${namespace}/${name}`);
  });

  inStore(
    secret.command("rewrap").description("Encrypts everything with the first of two keys, so that the second can go."),
  ).action(async ({ store }: Options) => {
    terminal.out(`${await (await openSecrets(store)).rewrap()} secrets`);
  });
};

async function openSecrets(where: string): Promise<SecretStore> {
  const store = await openStore(where);
  const { secrets } = secretsFromSetting(store, process.env.PORTOLAN_SECRETS_KEY, "PORTOLAN_SECRETS_KEY");
  if (secrets === undefined)
    throw new PortolanError("no key: set PORTOLAN_SECRETS_KEY; `portolan secret key` prints a new one");
  return secrets;
}
