import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  IstioCertificateRequestSchema,
  IstioCertificateResponseSchema,
  IstioCertificateService,
} from "../../../gen/istio/auth/ca_pb.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { isFields, jsonIn, textOf } from "../../base/untyped.ts";
import type { FrontClient } from "../source/front-client.ts";
import type { Identity } from "./identity.ts";

/** A certificate signing request with its private key, PEM. */
interface MadeRequest {
  readonly csr: string;
  readonly key: string;
}

const { typeName } = IstioCertificateService;
const path = `/${typeName}/${IstioCertificateService.method.createCertificate.name}`;

/**
 * Asks the CA of a server for a certificate of the service account that the client's token proves, with a new key each time.
 *
 * @param validitySeconds how long it is to be good; 0: as long as the server usually gives
 * @throws PortolanError with the server's reason
 */
export async function identityOfServer(
  client: FrontClient,
  request: MadeRequest,
  validitySeconds: number,
): Promise<Identity> {
  const asked = { csr: request.csr, validityDuration: BigInt(validitySeconds) };
  const message = toBinary(IstioCertificateRequestSchema, create(IstioCertificateRequestSchema, asked));
  const { status, body, bytes } = await client.ask({ path, body: message });
  if (status !== 200) throw new PortolanError(`the server's CA answers ${status}${reasonIn(body)}`);
  const chain = chainIn(bytes);
  const [roots, ...certificates] = [...chain].reverse();
  if (roots === undefined || certificates.length === 0)
    throw new PortolanError("the server's CA has sent no certificate with its roots");
  return { certificate: certificates.reverse().join("\n"), key: request.key, roots };
}

function chainIn(bytes: Uint8Array): readonly string[] {
  try {
    return fromBinary(IstioCertificateResponseSchema, bytes).certChain;
  } catch (cause) {
    throw new PortolanError("what the server's CA has sent cannot be read: is it Portolan's?", [], cause);
  }
}

const maxReason = 300;

function reasonIn(body: string): string {
  const json = jsonIn(body);
  const reason = isFields(json) ? textOf(json.message) || textOf(json.detail) : "";
  return reason === "" ? ": is front.ca on there?" : `: ${reason.slice(0, maxReason)}`;
}
