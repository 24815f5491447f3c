import type { TokenCredential } from "@azure/identity";
import { ContainerClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { causeText, firstLine } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { azureStore } from "./azure.ts";
import { lacking } from "./lacking.ts";
import type { ObjectStore } from "./object-store.ts";
import type { AzureLocation } from "./store-location.ts";

/** Requests are repeated by the store. */
const once = { retryOptions: { maxTries: 1 } };
const scope = "https://storage.azure.com/.default";

/**
 * A store in a container of Azure Blob Storage. Credentials come from the variables of the Azure CLI: a connection string, a key of the
 * account, or a token with a shared access signature, each where it is of this account; else as Azure's libraries find an identity.
 *
 * @throws PortolanError without credentials, with what to set
 * @see https://learn.microsoft.com/azure/developer/javascript/sdk/authentication/credential-chains#defaultazurecredential-overview
 */
export async function openAzure(location: AzureLocation): Promise<ObjectStore> {
  return azureStore({ client: await clientFor(location), prefix: location.prefix });
}

async function clientFor({ account, container, endpoint }: AzureLocation): Promise<ContainerClient> {
  const {
    AZURE_STORAGE_CONNECTION_STRING: connection = "",
    AZURE_STORAGE_ACCOUNT: ofAccount = account,
    AZURE_STORAGE_KEY: key = "",
    AZURE_STORAGE_SAS_TOKEN: signature = "",
  } = process.env;
  if (connection !== "") {
    const client = readable("AZURE_STORAGE_CONNECTION_STRING", () => new ContainerClient(connection, container, once));
    if (client.accountName === account) return client;
  }
  const url = `${(endpoint ?? `https://${account}.blob.core.windows.net`).replace(/(?<!\/)\/+$/, "")}/${container}`;
  const isOwn = ofAccount === account;
  const clientAt = (query: string, credential?: StorageSharedKeyCredential | TokenCredential) =>
    readable(url, () => new ContainerClient(url + query, credential, once));
  if (key !== "" && isOwn) return clientAt("", new StorageSharedKeyCredential(account, key));
  if (signature !== "" && isOwn) return clientAt(`?${signature.replace(/^\?/, "")}`);
  // It is large, and keys and signatures need none of it.
  const { DefaultAzureCredential } = await import("@azure/identity").catch(lacking("@azure/identity"));
  const credential = new DefaultAzureCredential();
  await credential.getToken(scope).catch((cause: unknown) => {
    // The library reports each way that it tried, on many lines.
    throw new PortolanError(
      `no credentials for the container ${account}/${container}: run az login, give the workload an identity, or set AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING (${firstLine(causeText(cause)).slice(0, 300)})`,
      [],
      cause,
    );
  });
  return clientAt("", credential);
}

/** What the library makes of a text of somebody's; it throws errors of no kind of its own. The text may be secret. */
function readable<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new PortolanError(`${what} cannot be read: ${causeText(cause)}`, [], cause);
  }
}
