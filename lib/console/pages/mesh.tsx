import { useMemo } from "preact/hooks";
import type { Mesh, MeshServices } from "../../front/api/schema/mesh.ts";
import type { PageProps } from "../page-props.ts";
import { counted } from "../parts/numbers.ts";
import { Pager } from "../parts/pager.tsx";
import { Search } from "../parts/search.tsx";
import { Shown } from "../parts/shown.tsx";
import {
  type Caller,
  callerId,
  columnsOfMesh,
  columnsOfServices,
  edgesOfMesh,
  edgesOfServices,
  everythingId,
  hostOfId,
  keyOfCaller,
  kindText,
  namespaceId,
} from "../picture/columns.ts";
import { Picture } from "../picture/picture.tsx";
import { placeText } from "../place.ts";
import { useAnswer } from "../use-answer.ts";
import { changeQuery } from "../use-place.ts";

/** Who may call whom, and where routes lead. */
export function MeshPage({ place }: PageProps) {
  const answer = useAnswer("mesh", { root: place.query.root });
  return (
    <>
      <h1>The mesh</h1>
      <Shown of={answer}>{(mesh) => <Whole mesh={mesh} place={place} />}</Shown>
    </>
  );
}

/** In the address, where the name of what lies outside would be no name. */
const outside = "*outside";

function Whole({ mesh, place }: PageProps & { readonly mesh: Mesh }) {
  const { caller = "", namespace: named, q: part = "", root } = place.query;
  const namespace = named === outside ? "" : named;
  const columns = useMemo(() => columnsOfMesh(mesh, { caller, namespace, part }), [mesh, caller, namespace, part]);
  const edges = useMemo(() => edgesOfMesh(mesh, { caller, namespace, part }), [mesh, caller, namespace, part]);
  const press = (id: string) => {
    if (id === everythingId) return changeQuery(place, { caller: "", namespace: "", offset: "" });
    const pressed = mesh.callers.find((one) => callerId(one) === id);
    if (pressed !== undefined)
      return changeQuery(place, { caller: keyOfCaller(pressed) === caller ? "" : keyOfCaller(pressed), offset: "" });
    const name = mesh.namespaces.find((one) => namespaceId(one.name) === id)?.name;
    changeQuery(place, { namespace: name === namespace ? "" : name || outside, offset: "" });
  };
  const { service = "" } = place.query;
  const isSearch = service !== "" && namespace === undefined;
  const speaker = mesh.callers.find((one) => keyOfCaller(one) === caller) ?? widest(mesh, namespace);
  const isWhole = caller === "" && namespace === undefined && service === "";
  return (
    <>
      <p class="quiet">
        {counted(mesh.services, "service")} in {counted(mesh.namespaces.length, "namespace")}. Visibility and Sidecars
        decide which client sees which service; the wider a line, the more services. Select a client for what it sees, a
        namespace for its services, a service for its clients and routes.
        {mesh.isPartial ? " Only a part of the mesh is drawn." : ""}
      </p>
      <div class="asked">
        <Search
          label="Service"
          value={service}
          onSearch={(text) => changeQuery(place, { service: text, offset: "" })}
        />
        {isSearch ? null : <Search label="Namespace" value={part} onSearch={(q) => changeQuery(place, { q })} />}
        {isWhole ? null : (
          <button
            type="button"
            onClick={() => changeQuery(place, { caller: "", namespace: "", service: "", q: "", offset: "" })}
          >
            All of it
          </button>
        )}
      </div>
      {isSearch ? null : (
        <Picture label="Which clients see which services" columns={columns} edges={edges} onPress={press} />
      )}
      {speaker === undefined || (namespace === undefined && !isSearch) ? null : (
        <Services place={place} root={root} speaker={speaker} namespace={namespace ?? "*"} />
      )}
    </>
  );
}

/** Who sees most of a namespace, or of all. */
const widest = ({ callers }: Mesh, namespace: string | undefined): Caller | undefined =>
  callers
    .map((caller) => ({
      caller,
      sees: caller.sees
        .filter((one) => namespace === undefined || one.namespace === namespace)
        .reduce((sum, { services }) => sum + services, 0),
    }))
    .reduce<{ readonly caller?: Caller; readonly sees: number }>((most, one) => (one.sees > most.sees ? one : most), {
      sees: 0,
    }).caller;

interface ServicesProps extends PageProps {
  readonly root: string | undefined;
  /** Whose routes are drawn. */
  readonly speaker: Caller;
  /** `*` for all. */
  readonly namespace: string;
}

function Services({ place, root, speaker, namespace }: ServicesProps) {
  const { service = "", offset = "0" } = place.query;
  const [id = ""] = speaker.classes;
  const answer = useAnswer("meshServices", { root, class: id, namespace, q: service, offset });
  return (
    <>
      <h2>
        {namespace === "*" ? "Services" : `Services of ${namespace || "outside of the mesh"}`}, as the{" "}
        {kindText(speaker.kind)} of {speaker.namespace} have them
      </h2>
      <Shown of={answer}>
        {(value) => (
          <>
            <Routes value={value} root={root} place={place} />
            <Pager
              offset={Number(offset)}
              shown={value.services.length}
              total={value.total}
              onMove={(to) => changeQuery(place, { offset: String(to) })}
            />
          </>
        )}
      </Shown>
    </>
  );
}

function Routes({
  value,
  root,
  place,
}: PageProps & { readonly value: MeshServices; readonly root: string | undefined }) {
  const columns = useMemo(() => columnsOfServices(value), [value]);
  const edges = useMemo(() => edgesOfServices(value), [value]);
  if (value.total === 0) return <p class="quiet">It sees no service with this name.</p>;
  const press = (id: string) => {
    const host = hostOfId(id);
    const caller = id.startsWith("caller ") ? id.slice("caller ".length) : undefined;
    if (host !== undefined && value.services.some((one) => one.host === host))
      return changeQuery(place, { service: host, offset: "" });
    if (caller !== undefined) return changeQuery(place, { caller, offset: "" });
    location.hash = placeText(["resources"], {
      root,
      class: value.class,
      type: "clusters",
      shape: "stream",
      q: host ?? id.split(" ")[1] ?? "",
    });
  };
  const [first] = value.services;
  return (
    <>
      {value.isPartial ? <p>Only a part of the mesh was searched.</p> : null}
      {value.seenBy === undefined || first === undefined ? null : (
        <p>
          <code>{first.host}</code>{" "}
          <a
            href={placeText(["resources"], {
              root,
              class: value.class,
              type: "clusters",
              shape: "stream",
              q: first.host,
            })}
          >
            its clusters
          </a>
        </p>
      )}
      <Picture label="Services, and where routes lead" columns={columns} edges={edges} onPress={press} />
    </>
  );
}
