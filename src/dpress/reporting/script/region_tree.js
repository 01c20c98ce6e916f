/** The regions of a page: where each lies in the tree, what it is called, and which a text may mean. */

/** Returns the tree; a region is { level, node }, the same object each time. */
export function treeOf({ levels, caption, missing }) {
  const regions = levels.map(({ codes }, level) => codes.map((_, node) => ({ level, node })));
  const parents = levels.map((_, level) => (level ? parentsOf(levels[level - 1].starts, regions[level].length) : []));
  const [root] = regions[0];
  const code = ({ level, node }) => levels[level].codes[node];
  const parent = ({ level, node }) => (level ? regions[level - 1][parents[level][node]] : null);
  const below = ({ level, node }) => levels[level].starts?.slice(node, node + 2) ?? [0, 0];
  const children = (region) => regions[region.level + 1]?.slice(...below(region)) ?? [];
  const name = (region) =>
    region === root ? `all of ${caption}` : (levels[region.level].names?.[region.node] ?? code(region));
  const title = (region) => {
    if (region === root) return name(region);
    const place = `${levels[region.level].name} ${code(region)}`;
    return name(region) === code(region) ? place : `${name(region)} (${place})`;
  };
  const path = (region) => (region ? [...path(parent(region)), region] : []);
  const within = (region) => path(parent(region)).slice(1).toReversed().map(name).join(", "); // prettier-ignore
  const hidden = (region) => {
    const [first, last] = below(region);
    const finer = levels.length - 1 - region.level;
    return finer || first === last ? null : { count: last - first, name: missing[0] };
  };
  const place = ({ level, node }) => {
    const point = levels[level].place?.map((part) => part[node]);
    return point?.every((part) => part !== null) ? point : null;
  };
  const every = regions.slice(1).flat();
  const keys = every.map((region) => [name(region).toLowerCase(), code(region).toLowerCase()]);
  return {
    levels,
    depth: levels.length,
    root,
    regions: (level) => regions[level],
    code,
    parent,
    children,
    siblings: (region) => (region === root ? [] : children(parent(region)).filter((other) => other !== region)),
    name,
    title,
    path,
    within,
    hidden,
    place,
    search: (text, most) => search(every, keys, text.trim().toLowerCase(), most),
  };
}

function parentsOf(starts, count) {
  const parents = new Int32Array(count);
  for (let node = 0; node + 1 < starts.length; node++) parents.fill(node, starts[node], starts[node + 1]);
  return parents;
}

/** Returns the regions whose name or code has a text in it: the whole of it first, then at its start, then elsewhere. */
function search(every, keys, text, most) {
  if (!text) return [];
  const ranks = [[], [], []];
  keys.forEach((words, i) => {
    const rank = Math.min(
      ...words.map((key) => (key === text ? 0 : key.startsWith(text) ? 1 : key.includes(text) ? 2 : 3)),
    );
    ranks[rank]?.push(every[i]);
  });
  return ranks.flat().slice(0, most);
}
