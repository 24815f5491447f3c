import { fromBase64, toBase64 } from "../base/base64.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { createSemaphore } from "../limits/semaphore.ts";
import type { KmsClient } from "./aws-kms-client.ts";
import { type KmsFailure, kmsFailure } from "./aws-kms-failure.ts";
import { rememberDataKeys } from "./data-key-cache.ts";
import type { WrappingKey } from "./key-wrapper.ts";
import type { SecretKey } from "./secret-name.ts";
import type { SigningService } from "./signing-service.ts";
import { awsKmsPrefix, type KeyServices } from "./wrapping-keys.ts";

const partitionRegion = "arn:aws[a-z-]*:kms:([a-z0-9-]+):\\d{12}";
const keyNamePattern = new RegExp(`^(?:${partitionRegion}:key/([\\w-]+)|(?:${partitionRegion}:)?alias/[\\w/-]+)$`);

/** Far above what KMS makes of 32 bytes. */
const maxWrappedLength = 8_192;

export interface AwsKmsOptions {
  /** Hears of a service that is not reached while what it has opened is used on. */
  readonly onWarning: (message: string) => void;
  readonly connect?: (region: string | undefined) => Promise<KmsClient>;
  readonly now?: () => number;
}

/**
 * Keys of AWS KMS. Region and credentials come as the SDK finds them, the region from an ARN first. KMS binds a data key to the
 * secret that it seals by the encryption context `portolan=secret`, `namespace`, `name`, which its log shows. What it has opened is
 * remembered (`data-key-cache.ts`).
 */
export function awsKms({ onWarning, connect = connectLazily, now = Date.now }: AwsKmsOptions): KeyServices {
  const named = (keyName: string) => {
    const [found, keyRegion, keyId, aliasRegion] = keyNamePattern.exec(keyName) ?? [];
    return found === undefined ? undefined : { keyId, client: onceMade(() => connect(keyRegion ?? aliasRegion)) };
  };
  return {
    awsKms(keyName) {
      const key = named(keyName);
      return key && rememberDataKeys(awsKmsKey(keyName, key.keyId, key.client), { now, onWarning });
    },
    awsKmsSigning(keyName) {
      const key = named(keyName);
      return key && signingKey(keyName, key.client);
    },
  };
}

/** Calls at a time: the client has fifty connections, and KMS throttles an account by the second. */
const signsAtATime = 32;
/** How long a signature may wait for others before it. */
const queueMs = 4_000;

/** The client tries a call that was throttled again, later each time; what waits behind such calls too long fails as they do. */
function signingKey(keyName: string, client: () => Promise<KmsClient>): SigningService {
  const room = createSemaphore(signsAtATime);
  const asked = async <T>(action: string, ask: (client: KmsClient) => Promise<T>): Promise<T> => {
    let leave = () => {};
    try {
      leave = await room.enter(1, AbortSignal.timeout(queueMs));
      return await ask(await client());
    } catch (cause) {
      throw new PortolanError(kmsFailure(cause, { action, key: keyName }).reason, [], cause);
    } finally {
      leave();
    }
  };
  return {
    publicKey: () => asked("kms:GetPublicKey", (kms) => kms.publicKey(keyName)),
    sign: (message, algorithm) => asked("kms:Sign", (kms) => kms.sign(keyName, message, algorithm)),
  };
}

/** @param keyId of an ARN that ends with one; an alias may stand for any key */
function awsKmsKey(keyName: string, keyId: string | undefined, client: () => Promise<KmsClient>): WrappingKey {
  const failed = (cause: unknown, action: string): KmsFailure => kmsFailure(cause, { action, key: keyName });
  return {
    async wrap(dataKey, secret) {
      try {
        const { keyArn, ciphertext } = await (await client()).encrypt(keyName, dataKey, contextOf(secret));
        return { id: awsKmsPrefix + keyArn, wrapped: toBase64(ciphertext) };
      } catch (cause) {
        throw new PortolanError(failed(cause, "kms:Encrypt").reason, [], cause);
      }
    },
    async unwrap({ id, wrapped }, secret) {
      // The replicas of a multi-region key have one key ID in all regions.
      if (!id.startsWith(awsKmsPrefix) || (keyId !== undefined && !id.endsWith(`:key/${keyId}`)))
        return { kind: "foreign" };
      const ciphertext = wrapped.length > maxWrappedLength ? undefined : fromBase64(wrapped);
      if (ciphertext === undefined) return { kind: "refused", reason: "what is stored is no key that KMS has wrapped" };
      try {
        // The key is named, so that KMS opens nothing that somebody has wrapped with a key of their own.
        const dataKey = await (await client()).decrypt(keyName, ciphertext, contextOf(secret));
        return { kind: "opened", dataKey };
      } catch (cause) {
        return cause instanceof Error && cause.name === "IncorrectKeyException"
          ? { kind: "foreign" }
          : failed(cause, "kms:Decrypt");
      }
    },
  };
}

const contextOf = ({ namespace, name }: SecretKey) => ({ portolan: "secret", namespace, name });

/** The SDK is large, and only needed by those who use KMS. */
async function connectLazily(region: string | undefined): Promise<KmsClient> {
  const { connectKms } = await import("./aws-kms-client.ts");
  return connectKms(region);
}

function onceMade<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
