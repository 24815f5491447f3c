import { Option } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { type KeyUse, makeSigningKey, publicPart } from "../../snapshot/head/signing-keys.ts";
import { examplesText } from "../examples.ts";
import type { Register } from "../terminal.ts";
import { keyringOption, keysFor, readKeyring, writeKeyring } from "./keyring.ts";

interface Options {
  readonly keyring: string;
  readonly use: KeyUse;
  readonly json?: boolean;
}

interface ListOptions extends Partial<Options> {
  readonly keyring: string;
  readonly public?: boolean;
  readonly json?: boolean;
}

/** `portolan keys`: what tokens and roots are signed with. */
export const registerKeys: Register = (program, terminal) => {
  const keys = program
    .command("keys")
    .description("Manages the keys that sign tokens and roots, in a local file.")
    .addHelpText(
      "after",
      "\nTo change a key without a gap: create one, give the output of `list --public` to every verifier,\nand rotate. Once nothing signed by the old key is in use, remove it and give them `list --public` again.",
    );
  const tell = (kid: string, json = false) => terminal.out(json ? JSON.stringify({ kid }) : kid);
  const use = () => new Option("--use <use>", "what the key signs").choices(["tokens", "roots"]).makeOptionMandatory();

  keys
    .command("create")
    .description("Adds a key. The first of a use signs at once, a later one after `rotate`.")
    .addHelpText("after", examplesText(["keys create --use tokens", "keys create --use roots --keyring keys.json"]))
    .addOption(use())
    .addOption(keyringOption())
    .option("--json", "its id as JSON")
    .action(async ({ keyring: file, use, json }: Options) => {
      const keyring = await readKeyring(file);
      const key = await makeSigningKey(use);
      await writeKeyring(file, { keys: [...keyring.keys, key] });
      const signs = keysFor(keyring, use).length === 0 ? "it signs" : "it signs after `portolan keys rotate`";
      terminal.err(`added to ${file}; ${signs}`);
      tell(key.kid, json);
    });

  keys
    .command("list")
    .description("Lists the keys; with --public prints what verifiers need.")
    .option("--json", "one JSON object a line")
    .addHelpText("after", examplesText(["keys list", "keys list --use roots --public"]))
    .addOption(new Option("--use <use>", "of this use only").choices(["tokens", "roots"]))
    .addOption(keyringOption())
    .option("--public", "the public keys as a JSON Web Key Set")
    .action(async ({ keyring: file, use, public: isPublic, json }: ListOptions) => {
      const keyring = await readKeyring(file);
      if (isPublic === true) {
        if (use === undefined) throw new PortolanError("say which: --use tokens or --use roots");
        terminal.out(JSON.stringify({ keys: keysFor(keyring, use).map(publicPart) }));
        return;
      }
      const uses = use === undefined ? (["tokens", "roots"] as const) : [use];
      if (uses.every((one) => keysFor(keyring, one).length === 0)) {
        const none = use === undefined ? "no key" : `no key for ${use}`;
        terminal.err(`${file} holds ${none}: \`portolan keys create --use ${use ?? "tokens"}\` makes one`);
      }
      for (const one of uses) {
        for (const [index, { kid }] of keysFor(keyring, one).entries())
          terminal.out(
            json === true
              ? JSON.stringify({ kid, use: one, signs: index === 0 })
              : `${kid}\t${one}\t${index === 0 ? "signs" : "trusted"}`,
          );
      }
    });

  keys
    .command("rotate")
    .description("Makes the newest key the signing key; the other keys stay trusted.")
    .addHelpText("after", examplesText(["keys rotate --use tokens"]))
    .addOption(use())
    .addOption(keyringOption())
    .option("--json", "its id as JSON")
    .action(async ({ keyring: file, use, json }: Options) => {
      const keyring = await readKeyring(file);
      const own = keysFor(keyring, use);
      const newest = own.at(-1);
      if (newest === undefined || own.length < 2)
        throw new PortolanError(`there is no other key for ${use}: \`portolan keys create --use ${use}\` first`);
      await writeKeyring(file, { keys: [newest, ...keyring.keys.filter((key) => key !== newest)] });
      tell(newest.kid, json);
    });

  keys
    .command("remove <id>")
    .description("Deletes a key that is not the signing key.")
    .addHelpText(
      "after",
      examplesText(["keys remove $(portolan keys list --use tokens | awk '/trusted/ { print $1 }')"]),
    )
    .addOption(keyringOption())
    .option("--json", "its id as JSON")
    .action(async (id: string, { keyring: file, json }: Omit<Options, "use">) => {
      const keyring = await readKeyring(file);
      const key = keyring.keys.find(({ kid }) => kid === id);
      if (key === undefined) throw new PortolanError(`there is no key ${id} in ${file}`);
      const [signing] = keysFor(keyring, key.portolan);
      if (signing === key) throw new PortolanError(`${id} signs: \`portolan keys rotate --use ${key.portolan}\` first`);
      await writeKeyring(file, { keys: keyring.keys.filter((other) => other !== key) });
      tell(id, json);
    });
};
