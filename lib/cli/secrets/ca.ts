import type { Command } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { type Authority, rootsOf, type Signer } from "../../ca/authority.ts";
import { type AuthorityStore, authorityStore, noAuthority, type StoredAuthority } from "../../ca/authority-store.ts";
import { usualValidityMs } from "../../ca/certificate-authority.ts";
import { describeAuthority, describedText } from "../../ca/describe.ts";
import { importSigner } from "../../ca/import-signer.ts";
import { type KeptKey, makeSigner } from "../../ca/make-signer.ts";
import { activateNext, addNext, dropNext, type RotationStep, retirePrevious } from "../../ca/rotation.ts";
import { caHoursIn } from "../../config/setting-values.ts";
import { awsKms } from "../../secrets/aws-kms.ts";
import { signingService } from "../../secrets/wrapping-keys.ts";
import { examplesText } from "../examples.ts";
import { namedStore, openTarget, placeThere, storeOption } from "../named-store.ts";
import type { Register, Terminal } from "../terminal.ts";
import { authorityInFolder, authorityInSecret } from "./ca-input.ts";
import { secretKeys } from "./secret-keys.ts";

interface Options {
  readonly store?: string;
  readonly trustDomain: string;
  readonly next?: boolean;
  readonly folder?: string;
  readonly filename?: readonly string[];
  readonly force?: boolean;
  readonly key?: string;
  readonly json?: boolean;
}

const usualTrustDomain = "cluster.local";
const trustDomainForm = /^[a-z0-9](?:[a-z0-9.-]{0,253}[a-z0-9])?$/;

/** `portolan ca`: the certificate authority of a mesh, sealed in the store with PORTOLAN_SECRETS_KEY. */
export const registerCa: Register = (program, terminal) => {
  const ca = program
    .command("ca")
    .description("Manages the CA that signs workload certificates; it is stored encrypted with PORTOLAN_SECRETS_KEY.");
  const commandOf = (name: string, text: string, ...examples: readonly string[]): Command =>
    ca
      .command(name)
      .description(text)
      .addOption(storeOption())
      .option("--json", "the resulting CA as JSON")
      .addHelpText("after", examplesText(examples));
  const making = (command: Command): Command =>
    command
      .option(
        "--trust-domain <name>",
        "trust domain of all identities, as in the mesh's configuration",
        usualTrustDomain,
      )
      .option("--key <aws-kms:ARN>", "sign with a key that AWS KMS keeps: an ARN or alias of ECC_NIST_P256 or RSA_2048")
      .option("--next", "as the CA that signs after `ca activate`; workloads trust it from now on");

  making(
    commandOf(
      "init",
      "Creates a CA with a self-signed root.",
      "ca init",
      "ca init --trust-domain example.org",
      "ca init --next",
      "ca init --key aws-kms:alias/portolan-ca",
    ),
  ).action(async (options: Options) => {
    checkTrustDomain(options.trustDomain);
    await bring(options, terminal, await makeSigner(options.trustDomain, Date.now(), keptKey(options, terminal)));
  });

  making(
    commandOf(
      "import",
      "Imports istiod's CA: the Secret `cacerts`, or `istio-ca-secret` if istiod created its own.",
      "ca import --folder ./cacerts",
      "ca import -f istio-ca-secret.yaml",
      "ca import -f cacerts.yaml --next",
    ),
  )
    .option("--folder <path>", "a folder with ca-cert.pem, ca-key.pem, cert-chain.pem and root-cert.pem")
    .option("-f, --filename <path...>", "a file with that Secret as YAML, or - for standard input")
    .action(async (options: Options) => {
      const { folder, filename } = options;
      if ((folder === undefined) === (filename === undefined)) throw new PortolanError("name one of --folder and -f");
      checkTrustDomain(options.trustDomain);
      const kept = keptKey(options, terminal);
      const isKept = kept !== undefined;
      const files =
        folder === undefined
          ? await authorityInSecret(filename ?? [], isKept)
          : await authorityInFolder(folder, isKept);
      const key = kept && { name: kept.name, publicKey: await signingService(kept.name, kept.services).publicKey() };
      await bring(options, terminal, importSigner(files, Date.now(), key));
    });

  commandOf("show", "Shows the signing CA, the trusted roots and their expiry.", "ca show", "ca show --json").action(
    async (options: Options) => {
      const { stored } = await readAuthority(options, terminal);
      tell(terminal, stored.authority, options.json);
    },
  );

  commandOf("roots", "Prints the roots that workloads trust, PEM.", "ca roots > root-cert.pem").action(
    async (options: Options) => {
      const { stored } = await readAuthority(options, terminal);
      const roots = rootsOf(stored.authority);
      terminal.out(options.json === true ? JSON.stringify({ roots }) : roots.join("").trimEnd());
    },
  );

  const rotating = (command: Command, change: (authority: Authority, step: RotationStep) => Authority) =>
    command
      .option("--force", "do not wait until every workload has a new certificate")
      .action(async (options: Options) => {
        const { stored, authorities } = await readAuthority(options, terminal);
        const step = { nowMs: Date.now(), longestMs: longestMs(), force: options.force };
        const authority = change(stored.authority, step);
        await authorities.write(authority, stored);
        tell(terminal, authority, options.json);
      });
  rotating(
    commandOf(
      "activate",
      "Makes the next CA the signing CA; the previous one stays trusted until `ca retire`.",
      "ca activate",
    ),
    activateNext,
  );
  rotating(commandOf("retire", "Removes the previous CA from the trusted roots.", "ca retire"), retirePrevious);
  rotating(commandOf("drop-next", "Removes the next CA, which has signed nothing.", "ca drop-next"), dropNext);

  commandOf(
    "rewrap",
    "Encrypts the CA with the first of two keys.",
    'ca rewrap   # with PORTOLAN_SECRETS_KEY="new old"',
  ).action(async (options: Options) => {
    const { stored, authorities } = await readAuthority(options, terminal);
    await authorities.write(stored.authority, stored);
    tell(terminal, stored.authority, options.json);
  });
};

/** The key that `--key` names. */
const keptKey = ({ key }: Options, terminal: Terminal): KeptKey | undefined =>
  key === undefined ? undefined : { name: key, services: awsKms({ onWarning: terminal.err }) };

/** The validity that the servers give at most: `--force` apart, no step of a rotation is earlier. @throws PortolanError for a setting that is none */
function longestMs(): number {
  const hours = caHoursIn("PORTOLAN_CA_MAX_HOURS", process.env.PORTOLAN_CA_MAX_HOURS);
  return hours === undefined ? usualValidityMs : hours * 3_600_000;
}

function checkTrustDomain(name: string): void {
  if (!trustDomainForm.test(name))
    throw new PortolanError(`--trust-domain is ${JSON.stringify(name)}, which is no DNS name`);
}

/** Writes a signer as the CA, or as the one that signs next. */
async function bring({ store, trustDomain, next, json }: Options, terminal: Terminal, signer: Signer): Promise<void> {
  // A store is made where one is named: another default one beside those of `portolan dev` would be a mistake.
  const where = (await namedStore(store)) ?? (await placeThere(undefined));
  const authorities = authorityStore(await openTarget(where), secretKeys(terminal));
  const before = await readIn(where, authorities);
  const authority =
    next === true ? addNext(needed(before, where).authority, signer) : newAuthority(before, trustDomain, signer, where);
  await authorities.write(authority, before);
  if (json !== true) terminal.out(`store         ${where}`);
  tell(terminal, authority, json);
}

function newAuthority(
  before: StoredAuthority | undefined,
  trustDomain: string,
  active: Signer,
  where: string,
): Authority {
  if (before !== undefined)
    throw new PortolanError(`the store ${where} holds a CA already; --next brings one that signs after a rotation`);
  return { version: 1, trustDomain, active };
}

async function readAuthority(
  { store }: Options,
  terminal: Terminal,
): Promise<{ readonly stored: StoredAuthority; readonly authorities: AuthorityStore }> {
  const where = await placeThere(store, terminal.err);
  const authorities = authorityStore(await openTarget(where), secretKeys(terminal));
  return { stored: needed(await readIn(where, authorities), where), authorities };
}

/** @throws PortolanError that names the store, for one that cannot be read and a CA that another key seals */
const readIn = (where: string, authorities: AuthorityStore): Promise<StoredAuthority | undefined> =>
  authorities.read().catch((cause: unknown) => {
    if (!(cause instanceof PortolanError)) throw cause;
    throw new PortolanError(`${cause.message} (store ${where})`, cause.diagnostics, cause);
  });

function needed(stored: StoredAuthority | undefined, where: string): StoredAuthority {
  if (stored === undefined) throw new PortolanError(`${noAuthority} (store ${where})`);
  return stored;
}

const tell = (terminal: Terminal, authority: Authority, json = false): void => {
  const described = describeAuthority(authority);
  terminal.out(json ? JSON.stringify(described) : describedText(described));
};
