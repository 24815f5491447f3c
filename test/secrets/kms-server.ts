import { spawn } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../free-port.ts";
import { serverBinary } from "../servers/server-binaries.ts";

const moto = new URL("../../.venv/bin/moto_server", import.meta.url).pathname;
const region = "us-east-1";

/** How KMS answers: as it should, with a ThrottlingException, by hanging up, or never. */
export type Mood = "well" | "throttling" | "hanging up" | "silent";

export interface KmsServer {
  /** What the SDK has to be told, with the identity that asks and its secret. */
  environment(identity: string, secret?: string): Readonly<Record<string, string>>;
  /** @param spec of a key that signs; absent: one that encrypts @returns its ARN */
  createKey(spec?: "ECC_NIST_P256" | "RSA_2048"): Promise<string>;
  call(action: string, input: object): Promise<Readonly<Record<string, unknown>>>;
  /** `identity action` of each call of the SDK so far. */
  readonly calls: string[];
  /** What an identity may do; whoever is not named may do everything. */
  readonly allowed: Map<string, readonly string[]>;
  mood: Mood;
  close(): Promise<void>;
}

/**
 * A KMS on loopback: moto keeps the keys and does the cryptography, encryption context and all. It signs something else than the message;
 * local-kms signs the message. What both leave out, this adds as AWS documents it: signatures of requests, who may do what, the state of a
 * key, a ciphertext of another key than the named one, and bad moods.
 *
 * @see https://docs.aws.amazon.com/kms/latest/APIReference/API_Decrypt.html#API_Decrypt_Errors
 */
export async function startKms(program: "moto" | "local-kms" = "moto"): Promise<KmsServer> {
  const motoPort = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "portolan-kms-"));
  const child =
    program === "moto"
      ? spawn(moto, ["-H", "127.0.0.1", "-p", String(motoPort)], { stdio: "ignore" })
      : spawn(serverBinary("local-kms-20260228") ?? "", {
          env: { PORT: String(motoPort), KMS_DATA_PATH: folder, KMS_REGION: region },
          stdio: "ignore",
        });
  child.once("error", () => {});
  const origin = `http://127.0.0.1:${motoPort}`;
  await whenUp(origin);
  const secrets = new Map<string, string>();

  const ask = async (action: string, body: string): Promise<Answer> => {
    const scope = `AKIDMOTO/20261122/${region}/kms/aws4_request`;
    const headers = {
      "content-type": "application/x-amz-json-1.1",
      "x-amz-target": `TrentService.${action}`,
      authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=00`,
    };
    const response = await fetch(origin, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  };

  async function stateOf(keyName: unknown): Promise<string> {
    const { status, text } = await ask("DescribeKey", JSON.stringify({ KeyId: keyName }));
    return status === 200 ? String(JSON.parse(text).KeyMetadata.KeyState) : "";
  }

  async function decide(action: string, identity: string, body: string): Promise<Answer> {
    kms.calls.push(`${identity} ${action}`);
    const may = kms.allowed.get(identity);
    if (may !== undefined && !may.includes(action))
      return failure("AccessDeniedException", `User: ${identity} is not authorized to perform: kms:${action}`);
    if (kms.mood === "throttling") return failure("ThrottlingException", "Rate exceeded");
    const state = await stateOf(JSON.parse(body).KeyId);
    if (state === "Disabled") return failure("DisabledException", "the key is disabled.");
    if (state === "PendingDeletion") return failure("KMSInvalidStateException", "the key is pending deletion.");
    const answer = await ask(action, body);
    // A ciphertext of another key than the named one: moto takes the same error for it as for a key that is not there.
    return answer.status === 400 && answer.text.includes("AccessDenied")
      ? failure("IncorrectKeyException", "")
      : answer;
  }

  const server = createServer(async (request, response) => {
    const action = String(request.headers["x-amz-target"]).replace("TrentService.", "");
    const identity = /Credential=(\w+)/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (kms.mood === "silent") return;
    if (kms.mood === "hanging up") return request.socket.destroy();
    const body = await bodyOf(request);
    const { status, text } = isSigned(request, body, secrets.get(identity) ?? "")
      ? await decide(action, identity, body)
      : failure("InvalidSignatureException", "The request signature we calculated does not match");
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a TCP server's address is never a text

  const kms: KmsServer = {
    environment(identity, secret = "portolan-secret") {
      secrets.set(identity, secret);
      return {
        AWS_ENDPOINT_URL_KMS: `http://127.0.0.1:${port}`,
        AWS_REGION: region,
        AWS_ACCESS_KEY_ID: identity,
        AWS_SECRET_ACCESS_KEY: secret,
        AWS_EC2_METADATA_DISABLED: "true",
      };
    },
    async createKey(spec) {
      const input = spec === undefined ? {} : { KeyUsage: "SIGN_VERIFY", KeySpec: spec };
      const { KeyMetadata } = await kms.call("CreateKey", input);
      return String(Object(KeyMetadata).Arn);
    },
    async call(action, input) {
      const { status, text } = await ask(action, JSON.stringify(input));
      if (status !== 200) throw new Error(`${action}: ${status} ${text}`);
      return text === "" ? {} : JSON.parse(text);
    },
    calls: [],
    allowed: new Map(),
    mood: "well",
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      const exit = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return kms;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const failure = (type: string, message: string): Answer => ({
  status: 400,
  text: JSON.stringify({ __type: type, message }),
});

const hexOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function isSigned({ method, url, headers }: IncomingMessage, body: string, secret: string): boolean {
  const [, scope = "", names = "", signature = ""] =
    /Credential=\w+\/(\S+), SignedHeaders=(\S+), Signature=(\w+)/.exec(headers.authorization ?? "") ?? [];
  const [date = "", where = "", service = ""] = scope.split("/");
  const lines = names.split(";").map((name) => `${name}:${String(headers[name] ?? "").trim()}\n`);
  const canonical = [method, url, "", lines.join(""), names, hexOf(body)].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hexOf(canonical)].join("\n");
  const key = [date, where, service, "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return names.split(";").includes("host") && hmac(key, toSign).toString("hex") === signature;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

async function whenUp(origin: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const isUp = await fetch(origin).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await sleep(100);
  }
  throw new Error(
    "no KMS server: install Python 3 with venv and Go, then run `npm run setup:e2e` and `npm run test:servers`",
  );
}
