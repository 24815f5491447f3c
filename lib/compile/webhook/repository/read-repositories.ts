import { PortolanError } from "../../../base/diagnostic.ts";
import { isFields, jsonIn } from "../../../base/untyped.ts";
import { type RepositorySettings, repositoriesSchema } from "../../../config/repository-settings.ts";

/** The repository that a source is filled from. */
export interface Repository {
  readonly host: RepositorySettings["host"];
  /** Its path at its host: `shop/mesh`. */
  readonly name: string;
  readonly branch: string;
  /** The folder whose files are the source's, with `/` and without one at its ends; "" for all of the repository. */
  readonly path: string;
  /** Address of the host's API, without a slash at its end. */
  readonly api: string;
  /** Credential for the API; undefined for a public repository. */
  readonly token: string | undefined;
}

/** By source. */
export type Repositories = ReadonlyMap<string, Repository>;

export const noRepositories: Repositories = new Map();

/** The settings in a compile function's environment. */
export interface RepositoryEnvironment {
  /** JSON: source → `RepositorySettings`. */
  readonly REPOSITORIES?: string | undefined;
  /** JSON: source → token that reads its repository. */
  readonly REPOSITORY_TOKENS?: string | undefined;
}

const usualApi = { github: "https://api.github.com", gitlab: "https://gitlab.com/api/v4" } as const;

/**
 * @param prefix of the settings' names, for messages
 * @throws PortolanError that names the setting and what is wrong with it, and never what stands in a token
 */
export function readRepositories(
  { REPOSITORIES, REPOSITORY_TOKENS }: RepositoryEnvironment,
  prefix = "PORTOLAN_",
): Repositories {
  const settings = settingsIn(REPOSITORIES ?? "", `${prefix}REPOSITORIES`);
  const tokens = tokensIn(REPOSITORY_TOKENS ?? "", `${prefix}REPOSITORY_TOKENS`);
  return new Map(
    Object.entries(settings).map(([source, { host, repository, branch = "main", path = "", api = usualApi[host] }]) => [
      source,
      { host, name: repository, branch, path, api: api.replace(/(?<!\/)\/+$/, ""), token: tokens.get(source) },
    ]),
  );
}

function settingsIn(text: string, name: string): Readonly<Record<string, RepositorySettings>> {
  if (text === "") return {};
  const read = repositoriesSchema.safeParse(jsonIn(text));
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? "" : `, ${issue.path.join(".")}`;
    throw new PortolanError(
      `${name}${where}: ${issue?.message}; it is JSON of the form {"<source>": {"host": "github", "repository": "shop/mesh"}}, docs/git-to-mesh.md has all fields`,
    );
  }
  const wrong = Object.entries(read.data).find(
    ([, { host, repository }]) => host === "github" && repository.split("/").length !== 2,
  );
  if (wrong !== undefined)
    throw new PortolanError(`${name}, ${wrong[0]}.repository: a repository of GitHub's is OWNER/NAME`);
  return read.data;
}

function tokensIn(text: string, name: string): ReadonlyMap<string, string> {
  const json = text === "" ? {} : jsonIn(text);
  const entries = isFields(json) ? Object.entries(json) : undefined;
  if (entries?.every((entry): entry is [string, string] => isToken(entry[1])) !== true)
    throw new PortolanError(`${name} is not JSON of the form {"<source>": "<token>"}`);
  return new Map(entries);
}

/** Visible ASCII only: the token goes into a header, where a line break would begin another one. */
const isToken = (value: unknown): value is string => typeof value === "string" && /^[\x21-\x7e]{1,4096}$/.test(value);
