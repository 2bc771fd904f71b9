/**
 * What fills the window as a picture: a tile for each part, as large as its share. The small ones of a kind are one tile together. The list below
 * says the same in words, so the picture is hidden from screen readers and takes no focus.
 */

import { hierarchy, treemap } from "d3-hierarchy";
import { formatTokensExactly } from "../../src/format";
import { plural, t } from "../../src/l10n";
import type { ContextFill, ContextPart, ContextPartKind } from "../../src/protocol";
import { element, setChildren } from "../dom";
import { kindWords, partTitle } from "./contextText";

/** Of all tokens that a part needs for a tile of its own: smaller ones cannot be told apart. */
const LEAST_SHARE = 0.004;
/** Pixels. A smaller tile has no room for words. */
const LEAST_WIDTH = 46;
const LEAST_HEIGHT = 17;

interface Tile {
  kind: ContextPartKind;
  tokens: number;
  /** Its place among the largest; undefined if it stands for several small ones. */
  index?: number;
  part?: ContextPart;
  /** How many parts it stands for. */
  count: number;
}

/** The tiles of a view: they add up to all that there is. */
export function tilesOf({ used, kinds, largest }: Pick<ContextFill, "used" | "kinds" | "largest">): Tile[] {
  const own = largest.filter(({ tokens }) => tokens > 0 && tokens >= used * LEAST_SHARE);
  const tiles: Tile[] = own.map((part, index) => ({ kind: part.kind, tokens: part.tokens, index, part, count: 1 }));
  for (const { kind, count, tokens } of kinds) {
    const shown = own.filter((part) => part.kind === kind);
    const rest = tokens - shown.reduce((sum, part) => sum + part.tokens, 0);
    if (rest > 0) {
      tiles.push({ kind, tokens: rest, count: count - shown.length });
    }
  }
  return tiles;
}

export interface Box {
  tile: Tile;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where each tile lies in a picture of that size (pixels). */
export function laidOut(tiles: readonly Tile[], width: number, height: number): Box[] {
  const root = hierarchy<{ tile?: Tile; children?: { tile: Tile }[] }>({ children: tiles.map((tile) => ({ tile })) })
    .sum(({ tile }) => tile?.tokens ?? 0)
    // oxlint-disable-next-line unicorn/no-array-sort -- no array: a hierarchy of d3, which has no other way
    .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  return treemap<{ tile?: Tile; children?: { tile: Tile }[] }>()
    .size([width, height])
    .paddingInner(1)
    .round(true)(root)
    .leaves()
    .flatMap(({ data: { tile }, x0, y0, x1, y1 }) => (tile === undefined ? [] : [{ tile, x: x0, y: y0, width: x1 - x0, height: y1 - y0 }]));
}

export class Treemap {
  readonly element = element("div", { className: "treemap", attributes: { "aria-hidden": "true" } });
  private tiles: readonly Tile[] = [];
  private readonly watch: ResizeObserver | undefined;

  /** @param choose a tile was clicked. */
  constructor(private readonly choose: (tile: Tile) => void) {
    this.watch = typeof ResizeObserver === "undefined" ? undefined : new ResizeObserver(() => this.draw());
    this.watch?.observe(this.element);
  }

  update(fill: ContextFill): void {
    this.tiles = tilesOf(fill);
    this.draw();
  }

  private draw(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || clientHeight === 0) {
      this.element.replaceChildren();
      return;
    }
    setChildren(this.element, ...laidOut(this.tiles, clientWidth, clientHeight).map((box) => this.drawTile(box)));
  }

  private drawTile({ tile, x, y, width, height }: Box): HTMLElement {
    const name = nameOf(tile);
    const tokens = t("{tokens} tokens", { tokens: formatTokensExactly(tile.tokens) });
    const drawn = element("div", {
      className: `tile kind-${tile.kind}`,
      title: `${name}\n${tokens}`,
      on: { click: () => this.choose(tile) },
    });
    Object.assign(drawn.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
    if (width >= LEAST_WIDTH && height >= LEAST_HEIGHT) {
      drawn.append(element("span", { textContent: name }));
    }
    return drawn;
  }
}

function nameOf({ kind, part, count }: Tile): string {
  return part === undefined
    ? t("{what}: {many}", { what: kindWords(kind).many, many: plural(count, t("{count} small part"), t("{count} small parts")) })
    : partTitle(part);
}
