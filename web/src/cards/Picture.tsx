/** Something other than text: a picture is shown, anything else can be saved. */
import { useLayoutEffect, useState } from "preact/hooks";
import { save } from "../parts/save";
import { Trouble } from "../parts/Trouble";
import { sayFailure } from "../parts/toast";
import { blob } from "../wire/api";
import { Fetcher } from "./fetched";

const SHOWN = /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/;

const pictures = new Fetcher((path) => blob(path), 30);

export function Picture(props: { artifactId: string; mime: string; about: string }) {
  const path = `artifacts/${encodeURIComponent(props.artifactId)}/raw`;
  return SHOWN.test(props.mime) ? <Shown {...props} path={path} /> : <Saved {...props} path={path} />;
}

function Shown({ path, mime, about }: { path: string; mime: string; about: string }) {
  const { value: bytes, failure } = pictures.use(path);
  const [address, setAddress] = useState<string | null>(null);
  useLayoutEffect(() => {
    if (bytes === null) return;
    const made = URL.createObjectURL(new Blob([bytes], { type: mime }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, mime]);
  if (failure !== null) return <Trouble failure={failure} />;
  return address === null ? <p class="loading">Loading…</p> : <img class="card-picture" src={address} alt={about} />;
}

function Saved({ path, mime, about, artifactId }: { path: string; mime: string; about: string; artifactId: string }) {
  return (
    <button type="button" onClick={() => blob(path).then((bytes) => save(bytes, artifactId), sayFailure)}>
      Save {about} ({mime})
    </button>
  );
}
