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
  keyOfCaller,
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
    const pressed = mesh.callers.find((one) => callerId(one) === id);
    if (pressed !== undefined)
      return changeQuery(place, { caller: keyOfCaller(pressed) === caller ? "" : keyOfCaller(pressed), offset: "" });
    const name = mesh.namespaces.find((one) => namespaceId(one.name) === id)?.name;
    changeQuery(place, { namespace: name === namespace ? "" : name || outside, offset: "" });
  };
  const speaker = mesh.callers.find((one) => keyOfCaller(one) === caller) ?? firstThatSees(mesh, namespace);
  return (
    <>
      <p class="quiet">
        {counted(mesh.services, "service")} in {counted(mesh.namespaces.length, "namespace")}. Who sees what follows
        from visibility and Sidecars; the wider a line, the more services. Press a caller for what it sees, a namespace
        for its services.
        {mesh.isPartial ? " The mesh is larger than what is drawn." : ""}
      </p>
      <div class="asked">
        <Search label="Namespace" value={part} onSearch={(q) => changeQuery(place, { q })} />
        {caller === "" && namespace === undefined ? null : (
          <button type="button" onClick={() => changeQuery(place, { caller: "", namespace: "", offset: "" })}>
            All of it
          </button>
        )}
      </div>
      <Picture label="Who sees services of whom" columns={columns} edges={edges} onPress={press} />
      {namespace === undefined || speaker === undefined ? null : (
        <Services place={place} root={root} speaker={speaker} namespace={namespace} />
      )}
    </>
  );
}

const firstThatSees = ({ callers }: Mesh, namespace: string | undefined): Caller | undefined =>
  callers.find(({ sees }) => sees.some((one) => one.namespace === namespace));

interface ServicesProps extends PageProps {
  readonly root: string | undefined;
  /** Whose routes are drawn. */
  readonly speaker: Caller;
  readonly namespace: string;
}

function Services({ place, root, speaker, namespace }: ServicesProps) {
  const { service = "", offset = "0" } = place.query;
  const [id = ""] = speaker.classes;
  const answer = useAnswer("meshServices", { root, class: id, namespace, q: service, offset });
  return (
    <>
      <h2>
        Services of {namespace || "outside of the mesh"}, as the {speaker.kind === "router" ? "gateways" : "sidecars"}{" "}
        of {speaker.namespace} have them
      </h2>
      <div class="asked">
        <Search
          label="Service"
          value={service}
          onSearch={(text) => changeQuery(place, { service: text, offset: "" })}
        />
      </div>
      <Shown of={answer}>
        {(value) => (
          <>
            <Routes value={value} root={root} />
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

function Routes({ value, root }: { readonly value: MeshServices; readonly root: string | undefined }) {
  const columns = useMemo(() => columnsOfServices(value), [value]);
  const edges = useMemo(() => edgesOfServices(value), [value]);
  if (value.total === 0) return <p class="quiet">It sees none here.</p>;
  const press = (id: string) => {
    const host = id.split(" ")[1] ?? "";
    location.hash = placeText(["resources"], { root, class: value.class, type: "clusters", shape: "stream", q: host });
  };
  return (
    <>
      {value.isPartial ? <p>There are more routes than were looked at.</p> : null}
      <Picture label="Services, and where routes lead" columns={columns} edges={edges} onPress={press} />
    </>
  );
}
