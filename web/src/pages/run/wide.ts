/** Whether there is room beside the timeline. Where there is none, what stands beside it opens when somebody wants it. */
export function isWide(): boolean {
  return matchMedia("(width > 900px)").matches;
}
