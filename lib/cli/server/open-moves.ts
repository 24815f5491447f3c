import { PortolanError } from "../../base/diagnostic.ts";
import { type Authentication, noAuthentication } from "../../front/auth/authentication.ts";

/** @throws PortolanError where operators may move HEAD, and nobody would have to prove to be one */
export function refuseOpenMoves(moves: boolean, authentication: Authentication): void {
  if (moves && authentication === noAuthentication)
    throw new PortolanError(
      "PORTOLAN_MOVES lets operators move HEAD, and no authentication is set: set PORTOLAN_AUTHENTICATION",
    );
}
