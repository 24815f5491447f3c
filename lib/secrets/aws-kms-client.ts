import { DecryptCommand, EncryptCommand, GetPublicKeyCommand, KMSClient, SignCommand } from "@aws-sdk/client-kms";
import type { SigningAlgorithm } from "./signing-service.ts";

/** What is asked of KMS. */
export interface KmsClient {
  encrypt(
    keyName: string,
    plaintext: Uint8Array,
    context: Readonly<Record<string, string>>,
  ): Promise<{ readonly keyArn: string; readonly ciphertext: Uint8Array }>;
  decrypt(
    keyName: string,
    ciphertext: Uint8Array,
    context: Readonly<Record<string, string>>,
  ): Promise<Uint8Array<ArrayBuffer>>;
  sign(keyName: string, message: Uint8Array, algorithm: SigningAlgorithm): Promise<Uint8Array<ArrayBuffer>>;
  publicKey(keyName: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** For a call with all its attempts: a poll waits for it. */
const callTimeoutMs = 4_000;
const attemptTimeoutMs = 1_500;

/** @param region undefined: as the SDK finds it, like credentials and the endpoint (`AWS_ENDPOINT_URL_KMS`) */
export function connectKms(region: string | undefined): KmsClient {
  const client = new KMSClient({
    ...(region === undefined ? {} : { region }),
    requestHandler: {
      connectionTimeout: attemptTimeoutMs,
      requestTimeout: attemptTimeoutMs,
      throwOnRequestTimeout: true,
    },
  });
  const patience = () => ({ abortSignal: AbortSignal.timeout(callTimeoutMs) });
  return {
    async encrypt(KeyId, Plaintext, EncryptionContext) {
      const command = new EncryptCommand({ KeyId, Plaintext, EncryptionContext });
      const { KeyId: keyArn = KeyId, CiphertextBlob = new Uint8Array() } = await client.send(command, patience());
      return { keyArn, ciphertext: CiphertextBlob };
    },
    async decrypt(KeyId, CiphertextBlob, EncryptionContext) {
      const command = new DecryptCommand({ KeyId, CiphertextBlob, EncryptionContext });
      const { Plaintext = new Uint8Array() } = await client.send(command, patience());
      return new Uint8Array(Plaintext);
    },
    async sign(KeyId, Message, SigningAlgorithm) {
      const command = new SignCommand({ KeyId, Message, MessageType: "RAW", SigningAlgorithm });
      const { Signature = new Uint8Array() } = await client.send(command, patience());
      return new Uint8Array(Signature);
    },
    async publicKey(KeyId) {
      const { PublicKey = new Uint8Array() } = await client.send(new GetPublicKeyCommand({ KeyId }), patience());
      return new Uint8Array(PublicKey);
    },
  };
}
