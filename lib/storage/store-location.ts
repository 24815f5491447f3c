import { PortolanError } from "../base/diagnostic.ts";

/** A bucket of S3, or of a server with its API. */
export interface S3Location {
  readonly kind: "s3";
  readonly bucket: string;
  /** Put before every key; ends with a slash, or is empty. So are those of the other kinds. */
  readonly prefix: string;
  /** Where it differs from the environment's. */
  readonly region?: string | undefined;
  /** A server other than AWS's, which is asked in path style. */
  readonly endpoint?: string | undefined;
}

/** A bucket of Google Cloud Storage. */
export interface GcsLocation {
  readonly kind: "gs";
  readonly bucket: string;
  readonly prefix: string;
}

/** A container of Azure Blob Storage. */
export interface AzureLocation {
  readonly kind: "az";
  readonly account: string;
  readonly container: string;
  readonly prefix: string;
  /** URL of the account's blob service, where it is not `https://ACCOUNT.blob.core.windows.net`. */
  readonly endpoint?: string | undefined;
}

/** A folder of a file system. */
export interface FolderLocation {
  readonly kind: "folder";
  readonly path: string;
}

export type StoreLocation = FolderLocation | S3Location | GcsLocation | AzureLocation;
export type StoreKind = StoreLocation["kind"];
type Cloud = Exclude<StoreKind, "folder">;

/** What stands after the scheme, and the parameters after the question mark. */
interface Parts {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Scheme {
  readonly form: string;
  readonly what: string;
  /** Parameters that it takes. */
  readonly parameters: readonly string[];
  /** @returns undefined where the path lacks a name */
  readonly read: (parts: Parts) => StoreLocation | undefined;
}

/** Every kind of store that has a URL: the only list of them. `openStore` has the implementation of each. */
const schemes: Readonly<Record<Cloud, Scheme>> = {
  s3: {
    form: "s3://BUCKET/PREFIX",
    what: "Amazon S3, R2, or a server with the S3 API",
    parameters: ["region", "endpoint"],
    read({ path, parameters: { region, endpoint } }) {
      const [bucket, ...rest] = path.split("/");
      return bucket ? { kind: "s3", bucket, prefix: asPrefix(rest.join("/")), region, endpoint } : undefined;
    },
  },
  gs: {
    form: "gs://BUCKET/PREFIX",
    what: "Google Cloud Storage",
    parameters: [],
    read({ path }) {
      const [bucket, ...rest] = path.split("/");
      return bucket ? { kind: "gs", bucket, prefix: asPrefix(rest.join("/")) } : undefined;
    },
  },
  az: {
    form: "az://ACCOUNT/CONTAINER/PREFIX",
    what: "Azure Blob Storage",
    parameters: ["endpoint"],
    read({ path, parameters: { endpoint } }) {
      const [account, container, ...rest] = path.split("/");
      if (!account || !container) return undefined;
      return { kind: "az", account, container, prefix: asPrefix(rest.join("/")), endpoint };
    },
  },
};

const everyKind: readonly StoreKind[] = ["folder", "s3", "gs", "az"];

/** What a store may be, for help texts. */
export const storeForms = (): string =>
  oneOf(everyKind.map((kind) => (kind === "folder" ? "a folder" : schemes[kind].form)));

/**
 * Reads what names a store: a folder, or a URL with a scheme of the table above.
 *
 * @param kinds those that are accepted here
 * @throws PortolanError for anything else, which says how a URL of that scheme is written, or lists what is accepted
 */
export function readStoreLocation(where: string): StoreLocation;
export function readStoreLocation<K extends StoreKind>(
  where: string,
  kinds: readonly K[],
): Extract<StoreLocation, { readonly kind: K }>;
export function readStoreLocation(where: string, kinds: readonly StoreKind[] = everyKind): StoreLocation {
  const location = read(where);
  if (location === undefined || !kinds.includes(location.kind)) throw noStore(where, kinds);
  return location;
}

/** Whether a store lies in a folder, as far as its name tells: a name that is refused does not. */
export const isFolder = (where: string): boolean => schemeOf(where) === undefined;

/** Two letters and a colon are the scheme of a URL; one is a drive of Windows. */
const schemeOf = (where: string): string | undefined => /^([A-Za-z][A-Za-z0-9+.-]+):/.exec(where)?.[1];

function read(where: string): StoreLocation | undefined {
  const name = schemeOf(where);
  if (name === undefined) return where === "" ? undefined : { kind: "folder", path: where };
  const scheme = isCloud(name) ? schemes[name] : undefined;
  const [match, path = "", query = ""] = /^[a-z0-9]+:\/\/([^?]*)(?:\?(.*))?$/s.exec(where) ?? [];
  if (scheme === undefined || match === undefined) return undefined;
  const parameters = Object.fromEntries(new URLSearchParams(query));
  const odd = Object.keys(parameters).find((parameter) => !scheme.parameters.includes(parameter));
  if (odd !== undefined) throw new PortolanError(`${withoutQuery(where)}: ${noParameter(odd, scheme)}`);
  return scheme.read({ path, parameters });
}

const isCloud = (name: string): name is Cloud => Object.hasOwn(schemes, name);

/** A folder of a bucket as a prefix of keys: slashes at its end say nothing. */
function asPrefix(text: string): string {
  const folder = text.replace(/(?<!\/)\/+$/, "");
  return folder === "" ? "" : `${folder}/`;
}

/**
 * The folder of a bucket that a setting names, as a prefix of keys: `prod` and `prod/` are the same one, on every platform.
 *
 * @param name as messages say it
 * @returns "" for a text that is absent or empty: the whole bucket
 * @throws PortolanError for one with a slash before it, or with an empty part: no other tool would find its objects
 */
export function prefixIn(name: string, text = ""): string {
  const prefix = asPrefix(text);
  if (prefix === "" || /^(?:[^/]{1,100}\/){1,5}$/.test(prefix)) return prefix;
  throw new PortolanError(
    `${name} is ${JSON.stringify(text)}; it is empty, or a folder of the bucket, like "prod" or "mesh/prod": at most 5 names of 1 to 100 characters, with a slash between them`,
  );
}

/** A query may hold a signature that was pasted with it. */
const withoutQuery = (where: string): string => where.replace(/\?.*$/s, "");

function noParameter(odd: string, { form, parameters }: Scheme): string {
  if (parameters.length === 0) return `${form} has no parameter ${odd}, and no other`;
  return `${form} has no parameter ${odd}; it accepts ${parameters.map((one) => `?${one}=`).join(" and ")}`;
}

function noStore(where: string, kinds: readonly StoreKind[]): PortolanError {
  const name = schemeOf(where) ?? "";
  if (isCloud(name) && kinds.includes(name)) return incomplete(where, schemes[name]);
  const accepted = oneOf(
    kinds.map((kind) => (kind === "folder" ? "a folder (./mesh)" : `${schemes[kind].form} (${schemes[kind].what})`)),
  );
  const folderHint =
    kinds.includes("folder") && where !== "" ? ` For a folder of that name write ./${withoutQuery(where)}.` : "";
  return new PortolanError(
    `${where === "" ? "an empty text" : withoutQuery(where)} is no store. Use ${accepted}.${hintFor(where)}${folderHint}`,
  );
}

const incomplete = (where: string, { form, what }: Scheme): PortolanError =>
  new PortolanError(`${withoutQuery(where)} is no store. Write ${form} (${what}); only PREFIX may be left out.`);

const oneOf = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join() : `${texts.slice(0, -1).join(", ")} or ${texts.at(-1)}`;

/** What somebody may have meant. */
function hintFor(where: string): string {
  const [blob, account, container, path = ""] =
    /^https:\/\/([a-z0-9]+)\.blob\.[^/?]+\/([^/?]+)\/?([^?]*)/.exec(where) ?? [];
  if (blob !== undefined) return ` This container is written az://${account}/${container}/${path}.`;
  if (/^https?:/i.test(where))
    return " The URL of a compile function goes to apply, get, delete, history and collect as --store, and to push as --url.";
  return "";
}
