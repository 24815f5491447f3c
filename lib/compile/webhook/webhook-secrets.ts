import { PortolanError } from "../../base/diagnostic.ts";

/** Of each secret two may be valid at a time, the new one and the old, so that it can be changed without a gap. */
export interface WebhookSecrets {
  /** Good for every source, and for asking to compile. */
  readonly operators: readonly string[];
  /** Good for asking to compile, and nothing else. */
  readonly fronts: readonly string[];
  /** Good for one source: to fill it, to read and write its objects, and to ask for a compile. */
  readonly sources: ReadonlyMap<string, readonly string[]>;
  /** Good for `/hooks/github/<source>`, and nothing else. */
  readonly github: ReadonlyMap<string, readonly string[]>;
  /** Good for `/hooks/gitlab/<source>`, and nothing else. */
  readonly gitlab: ReadonlyMap<string, readonly string[]>;
}

export const noSecrets: WebhookSecrets = {
  operators: [],
  fronts: [],
  sources: new Map(),
  github: new Map(),
  gitlab: new Map(),
};

/** Those who may write to one source. */
export const secretsOf = (secrets: WebhookSecrets, source: string): readonly string[] => [
  ...secrets.operators,
  ...(secrets.sources.get(source) ?? []),
];

/** Those who may write to one source at least. */
export const allSecrets = (secrets: WebhookSecrets): readonly string[] => [
  ...secrets.operators,
  ...[...secrets.sources.values()].flat(),
];

/** Those who may ask for a compile. */
export const askingSecrets = (secrets: WebhookSecrets): readonly string[] => [
  ...allSecrets(secrets),
  ...secrets.fronts,
];

/** The sources whose diagnostics the holder of a secret may see; undefined for operators, who see all. */
export function sourcesShownTo({ operators, sources }: WebhookSecrets, secret: string): readonly string[] | undefined {
  if (operators.includes(secret)) return undefined;
  return [...sources].flatMap(([name, secrets]) => (secrets.includes(secret) ? [name] : []));
}

/**
 * Whose deliveries a secret signs. Each source has names of its own, and the operators have: who holds a source's secret cannot use up a name
 * that others will use. The old and the new secret of one of them share its names, so that a change of secrets makes nothing good for twice.
 */
export function senderOf({ operators, sources }: WebhookSecrets, secret: string): string {
  if (operators.includes(secret)) return "portolan";
  const source = [...sources].find(([, secrets]) => secrets.includes(secret))?.[0] ?? "";
  return `portolan source ${source}`;
}

/** What a compile function's environment says of its secrets. */
export interface SecretSettings {
  /** One secret, or the new and the old with a blank between them. */
  readonly WEBHOOK_SECRET?: string | undefined;
  /** The same. */
  readonly FRONT_SECRET?: string | undefined;
  /** JSON: source → such a text. The same for the two below. */
  readonly SOURCE_SECRETS?: string | undefined;
  readonly GITHUB_SECRETS?: string | undefined;
  readonly GITLAB_SECRETS?: string | undefined;
}

/**
 * @param prefix of the settings' names, for messages
 * @throws PortolanError that names the setting, and never what stands in it
 */
export function readWebhookSecrets(settings: SecretSettings, prefix = ""): WebhookSecrets {
  const bySource = (name: keyof SecretSettings): ReadonlyMap<string, readonly string[]> => {
    const json = readJson(settings[name] ?? "");
    const entries = Object.entries(json ?? {});
    if (json === undefined || !entries.every((entry): entry is [string, string] => typeof entry[1] === "string"))
      throw new PortolanError(`${prefix}${name} is not JSON of the form {"<source>": "<secret>"}`);
    return new Map(entries.map(([source, text]) => [source, secretsIn(text, `${prefix}${name}, ${source}`)]));
  };
  return {
    operators: secretsIn(settings.WEBHOOK_SECRET ?? "", `${prefix}WEBHOOK_SECRET`),
    fronts: secretsIn(settings.FRONT_SECRET ?? "", `${prefix}FRONT_SECRET`),
    sources: bySource("SOURCE_SECRETS"),
    github: bySource("GITHUB_SECRETS"),
    gitlab: bySource("GITLAB_SECRETS"),
  };
}

function secretsIn(text: string, where: string): readonly string[] {
  const secrets = text.split(/\s+/).filter((secret) => secret !== "");
  if (secrets.length > 2)
    throw new PortolanError(
      `${where}: ${secrets.length} secrets, separated by white space; two are valid at a time, the new one and the old`,
    );
  return secrets;
}

function readJson(text: string): object | undefined {
  if (text === "") return {};
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null && !Array.isArray(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
