/** Numbers and moments as people read them. Pure: the time now is handed in. */

/** Money: exact below a dollar, so that little is not shown as nothing, and else to the cent. */
export function dollars(micros: number): string {
  if (micros >= 1_000_000) return `$${(micros / 1_000_000).toFixed(2)}`;
  const digits = String(Math.max(0, Math.round(micros))).padStart(6, "0");
  return `$0.${digits.slice(0, 2)}${digits.slice(2).replace(/0+$/, "")}`;
}

/** 12,345 as 12.3 k. */
export function count(value: number): string {
  if (value < 1_000) return String(value);
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 10_000 ? 1 : 0)} k`;
  return `${(value / 1_000_000).toFixed(1)} M`;
}

/** Bytes as 1.4 MB. */
export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 10_000 ? 1 : 0)} kB`;
  return `${(value / 1_000_000).toFixed(1)} MB`;
}

/** How long: 850 ms, 12 s, 3 min 4 s, 2 h 5 min, 3 d. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d`;
}

/** How long ago, in one short word. */
export function ago(moment: string, nowMs: number): string {
  const ms = nowMs - Date.parse(moment);
  if (ms < 5_000) return "now";
  return `${duration(ms).split(" ").slice(0, 2).join(" ")} ago`;
}

/** An id as people say it: its kind and its last characters. */
export function short(id: string): string {
  return id.length > 14 ? `${id.slice(0, id.indexOf("_") + 1)}…${id.slice(-6)}` : id;
}

/** The local moment, for a title that pops up. */
export function moment(at: string): string {
  return new Date(at).toLocaleString();
}

/** A model without its provider, and a script without its folder. */
export function modelName(model: string): string {
  return model.slice(model.indexOf(":") + 1).replace(/^.*\//, "");
}
