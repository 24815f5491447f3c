import { GoogleAuth } from "google-auth-library";
import { causeText } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { gcsStore } from "./gcs.ts";
import type { ObjectStore } from "./object-store.ts";
import type { GcsLocation } from "./store-location.ts";

const scopes = ["https://www.googleapis.com/auth/devstorage.read_write"];

/**
 * A store in a bucket of Google Cloud Storage, with Application Default Credentials. `STORAGE_EMULATOR_HOST` names a test server in its
 * place, as for Google's own libraries, which is asked without credentials.
 *
 * @throws PortolanError without credentials, with what to set
 * @see https://cloud.google.com/docs/authentication/application-default-credentials
 */
export async function openGcs({ bucket, prefix }: GcsLocation): Promise<ObjectStore> {
  const { STORAGE_EMULATOR_HOST: emulator = "" } = process.env;
  if (emulator !== "") {
    const endpoint = (/^https?:\/\//.test(emulator) ? emulator : `http://${emulator}`).replace(/(?<!\/)\/+$/, "");
    return gcsStore({ bucket, prefix, endpoint, authorize: async () => new Headers() });
  }
  const client = await new GoogleAuth({ scopes }).getClient().catch((cause: unknown) => {
    throw new PortolanError(
      `no credentials for the bucket ${bucket}: run gcloud auth application-default login, or name a file of credentials in GOOGLE_APPLICATION_CREDENTIALS (${causeText(cause)})`,
      [],
      cause,
    );
  });
  return gcsStore({ bucket, prefix, authorize: () => client.getRequestHeaders() });
}
