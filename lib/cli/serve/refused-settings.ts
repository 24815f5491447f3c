import { InvalidArgumentError } from "commander";
import { PortolanError } from "../../base/diagnostic.ts";
import { neededSecretsKey } from "../../ca/secrets-key.ts";
import { compileSettingsFrom } from "../../compile/world/settings-from-environment.ts";
import { error, type Finding } from "../../config/finding.ts";
import { authenticationFor } from "../../front/auth/open-to.ts";
import { readInjectionValues } from "../../injection/values.ts";
import { readSourceAddress } from "../../mcp/source-address.ts";
import { awsKms } from "../../secrets/aws-kms.ts";
import { wrappingKeys } from "../../secrets/wrapping-keys.ts";
import { environmentOf } from "../../settings/environment.ts";
import { inFieldNames } from "../../settings/field-names.ts";
import type { CollectorSettings, Settings } from "../../settings/schema.ts";
import { readTrusted } from "../../snapshot/head/signing-keys.ts";
import { readStoreLocation } from "../../storage/store-location.ts";
import { readConsulAddress } from "../collect/collect-consul.ts";
import { refuseOpenMoves } from "../server/open-moves.ts";
import { tlsSource } from "../server/tls-settings.ts";
import { admissionSource, admissionTls } from "./admission-certificate.ts";
import { equalPortRules } from "./equal-ports.ts";
import { type Part, parts, type Rule } from "./rule.ts";

/**
 * What is wrong with settings that their schema takes: fields that do not go together, and texts that say what they cannot. The one place
 * that says so, before anything is started: `settings check` asks it, and `serve`.
 *
 * @param wanted the parts that are to run
 * @param unread fields that say nothing that can be read, or whose files are not on this machine: what follows from them is not known
 */
export function refusedSettings(
  settings: Settings,
  wanted: ReadonlySet<Part> = new Set(parts),
  unread: ReadonlySet<string> = new Set(),
): readonly Finding[] {
  return rulesFor(settings)
    .filter(({ parts: ofThese = [] }) => ofThese.every((part) => wanted.has(part)))
    .filter(({ path, reads = [] }) => ![path.join("."), ...reads].some((field) => holdsAny(field, unread)))
    .flatMap(({ path, check }) => {
      try {
        check();
        return [];
      } catch (cause) {
        if (!(cause instanceof PortolanError) && !(cause instanceof InvalidArgumentError)) throw cause;
        return [error(path, inFieldNames(cause.message))];
      }
    });
}

/** `settings check` may run outside of the cluster that `serve` will run in. */
const neverFetched = () => Promise.reject(new PortolanError("no key is read by a check"));

/** Whether a field, or one below it, is among some. */
const holdsAny = (field: string, some: ReadonlySet<string>): boolean =>
  [...some].some((one) => one === field || one.startsWith(`${field}.`));

function rulesFor(settings: Settings): readonly Rule[] {
  const { store, storeCopy, front = {}, compile, collectors = [] } = settings;
  const env = environmentOf(settings);
  const { PORTOLAN_AUTHENTICATION: setting, PORTOLAN_SECRETS_KEY: secretsKey, PORTOLAN_TRUSTED_KEYS: trusted } = env;
  const authentication = () =>
    authenticationFor(setting, front.host ?? "127.0.0.1", {
      clusterApi: () => ({ fetchKeys: neverFetched, post: neverFetched }),
      authorityIssuers: front.ca === "on" ? neverFetched : undefined,
    });
  const isDecided = setting !== undefined;
  return [
    { path: ["store"], check: () => store !== undefined && readStoreLocation(store) },
    { path: ["storeCopy"], check: () => storeCopy !== undefined && readStoreLocation(storeCopy) },
    {
      path: ["front", isDecided ? "authentication" : "host"],
      parts: ["front"],
      reads: ["front.authentication"],
      check: authentication,
    },
    {
      path: ["front", "moves"],
      parts: ["front"],
      reads: ["front.authentication"],
      check: () =>
        front.moves === "on" && (isDecided || front.host === undefined) && refuseOpenMoves(true, authentication()),
    },
    {
      path: ["secretsKey"],
      parts: ["front"],
      check: () =>
        secretsKey !== undefined && wrappingKeys(secretsKey, "PORTOLAN_SECRETS_KEY", awsKms({ onWarning: () => {} })),
    },
    {
      path: ["front", "tlsPort"],
      parts: ["front"],
      reads: ["front.ca", "front.tlsCertificate", "front.tlsKey"],
      check: () => front.tlsPort !== undefined && tlsSource(front),
    },
    {
      path: ["front", "ca"],
      parts: ["front"],
      reads: ["secretsKey"],
      check: () => front.ca === "on" && neededSecretsKey(secretsKey),
    },
    { path: ["trust", "trustedKeys"], parts: ["front"], check: () => readTrusted(trusted, "PORTOLAN_TRUSTED_KEYS") },
    {
      path: ["compile"],
      parts: ["compile"],
      reads: ["trust.signingKey", "trust.trustedKeys"],
      check: () => compile !== undefined && compileSettingsFrom(env),
    },
    ...collectors.map(
      (one, index): Rule => ({
        path: ["collectors", index, "address"],
        parts: ["collectors"],
        check: () => refuseAddress(one),
      }),
    ),
    {
      path: ["admission"],
      parts: ["admission"],
      reads: ["secretsKey"],
      check: () => {
        if (settings.admission === undefined) return;
        const { kind } = admissionSource(settings.admission);
        if (kind === "files") admissionTls(settings.admission);
        else neededSecretsKey(secretsKey);
      },
    },
    {
      path: ["admission", "injection"],
      parts: ["admission"],
      check: () =>
        settings.admission?.injection !== undefined &&
        readInjectionValues(settings.admission.injection, "admission.injection"),
    },
    ...equalPortRules(settings),
  ];
}

function refuseAddress({ kind, address }: CollectorSettings): void {
  if (address === undefined) return;
  if (kind === "consul") readConsulAddress(address);
  const read = kind === "mcp" ? readSourceAddress(address) : undefined;
  if (kind === "mcp" && (read === undefined || !("authority" in read)))
    throw new PortolanError("a source is xds://host:port, mcp://host:port or host:port");
}
