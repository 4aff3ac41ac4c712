// What happened, unpacked from the page's data, and what can be asked of it. Nothing here knows of the page.

/** Unpack the data: holds with their flits, events, and what each worm comes to. */
function unpack(data) {
  const holds = data.holds.map(([track, worm, first, last, ended, lengths]) => {
    const flits = new Set();
    let cycle = first;
    for (let i = 0; i < lengths.length; i += 2) {
      cycle += lengths[i];
      for (let n = 0; n < lengths[i + 1]; n += 1) flits.add(cycle++);
    }
    const lead = first > data.first || first === 0 ? first + (lengths[0] ?? 0) : null;
    return {track, worm, first, last, ended: Boolean(ended), delivered: ended === 2, flits, lead};
  });
  const waits = data.waits.map(([track, worm, first, last, resources]) => ({track, worm, first, last, resources}));
  const tokens = data.tokens.map(([resource, worm, first, last]) => ({resource, worm, first, last}));
  const links = data.links.map(([kind, source, target, track]) => ({kind, source, target, track}));
  const tracks = data.tracks.map(([link, name, flat]) => {
    const points = [];
    for (let i = 0; i < flat.length; i += 2) points.push([flat[i], flat[i + 1]]);
    return {link: links[link], name, points};
  });
  const worms = data.worms.map(([number, source, destinations, colour]) => (
    {number, source, destinations, colour, delivered: new Map(), begins: Infinity, tracks: new Set()}));
  for (const hold of holds) {
    const worm = worms[hold.worm], {target} = tracks[hold.track].link;
    worm.begins = Math.min(worm.begins, hold.first);
    worm.tracks.add(hold.track);
    if (hold.delivered) worm.delivered.set(target, hold.last);
  }
  const steps = (flat) => flat.flatMap((cycle, i) => (i % 2 ? [] : [[cycle, flat[i + 1]]]));
  const chunks = data.chunks.map(([buffer, row, worm, first, last, flits, counts, fetches]) => (
    {buffer, row, worm, first, last, flits: steps(flits), counts: steps(counts), fetches: steps(fetches)}));
  const readings = data.readings.map(([buffer, row, output, worm, first, last, places, follows]) => (
    {buffer, row, output, worm, first, last, places: steps(places), follows}));
  const buffers = data.buffers.map(([track, stored, spent]) => ({track, stored: steps(stored), spent: steps(spent)}));
  const arrivals = tracks.map(() => []);
  for (const hold of holds) for (const cycle of hold.flits) arrivals[hold.track].push([cycle, hold]);
  for (const of of arrivals) of.sort(([cycle], [other]) => cycle - other);
  const model = {
    buffers, arrivals, tokens, replicates: data.replicates, depth: data.depth, first: data.first, last: data.end - 1, links, tracks, worms, holds, waits, chunks, readings,
    resources: data.resources.map(([name, track]) => ({name, track})), names: data.names, switches: data.switches,
    deadlock: null,
  };
  model.deadlock = data.deadlock && circle(model, data.deadlock);
  model.stands = stands(model);
  model.events = events(model);
  return model;
}

/**
 * The circle of a deadlock: when it closes, its waits, and the tracks that lead from each to the next.
 *
 * A worm whose tail is in the buffer behind a track no longer holds the track, but fills the buffer: no credit is left,
 * and the next worm of the circle waits for it. `fills` has the worm for each such resource.
 */
function circle(model, {circle: steps, closed, milestones}) {
  const waits = steps.map(([worm, resources]) => model.waits.find((wait) => (
    wait.worm === worm && wait.last === model.last && resources.some((one) => wait.resources.includes(one)))));
  const tracks = new Set(), fills = new Map();
  steps.forEach(([, resources], place) => {
    const holder = steps[(place + 1) % steps.length][0];
    const held = model.holds.filter((hold) => hold.worm === holder && hold.last === model.last && !hold.ended);
    const asked = resources.map((one) => model.resources[one].track);
    for (const hold of held) if (asked.includes(hold.track)) follow(model, held, hold.track, tracks);
    for (const resource of resources) {
      const {track} = model.resources[resource];
      if (track === null || model.holds.some((hold) => hold.track === track && hold.last === model.last && !hold.ended)) continue;
      fills.set(resource, holder);
      tracks.add(track);
    }
  });
  return {since: closed ?? model.last, milestones, tracks, fills, waits: new Set(waits.filter(Boolean)), worms: new Set(steps.map(([worm]) => worm))};
}

/** Add to `found` a track that a worm holds, and those by which it goes on from there to its header. */
function follow(model, held, track, found) {
  found.add(track);
  const {kind, source, target} = model.tracks[track].link, at = kind === "consumption" ? source : target;  // a switch
  for (const next of held) {
    const link = model.tracks[next.track].link;
    if (link.kind === "network" && link.source === at && !found.has(next.track)) follow(model, held, next.track, found);
  }
}

/** Stretches in which a header stands behind one track; what it asks for there may change. */
function stands({waits}) {
  const found = [];
  for (const {worm, track, first, last} of waits) {
    const before = found.find((one) => one.worm === worm && one.track === track && one.last === first - 1);
    if (before) before.last = last;
    else found.push({worm, track, first, last});
  }
  return found.filter(({first, last}) => last > first);  // a turn that takes one cycle is nothing to look at
}

/** Cycles in which something is delivered, a worm comes to stand, or the circle of a deadlock closes; in order. */
function events({stands, worms, deadlock}) {
  const cycles = new Set(deadlock ? [deadlock.since] : []);
  for (const worm of worms) for (const cycle of worm.delivered.values()) cycles.add(cycle);
  for (const {first} of stands) cycles.add(first);
  return [...cycles].sort((a, b) => a - b);
}

/** What holds in a cycle. */
function stateAt(model, cycle) {
  const during = (one) => one.first <= cycle && cycle <= one.last;
  const holds = model.holds.filter(during), waits = model.waits.filter(during);
  return {
    holds, waits,
    tokens: model.tokens.filter(during),
    chunks: model.chunks.filter(during), readings: model.readings.filter(during),
    flits: holds.filter((hold) => hold.flits.has(cycle)),
    waiting: new Set(waits.map((wait) => wait.worm)),
    closed: model.deadlock !== null && cycle >= model.deadlock.since,
  };
}

/** The worm that holds a resource in this state, or fills the buffer behind it in the deadlock; else undefined. */
function holderOf(model, state, resource) {
  const track = model.resources[resource].track;
  if (track === null) return state.tokens.find((token) => token.resource === resource)?.worm;
  return state.holds.find((hold) => hold.track === track)?.worm ?? (state.closed ? model.deadlock.fills.get(resource) : undefined);
}

/** Texts of requested resources, by the resources' names: a worm that switches copy needs one channel of each output. */
function joined(model, names, texts = names) {
  if (!model.replicates) return texts.join(" or ");
  const outputs = new Map();
  names.forEach((name, place) => {
    const output = name.slice(0, name.lastIndexOf(":"));
    outputs.set(output, [...outputs.get(output) ?? [], texts[place]]);
  });
  return [...outputs.values()].map((channels) => channels.join(" or ")).join(" and ");
}

/** The flits in a buffer, oldest first, each with its hold, or undefined if it arrived before the first cycle. */
function contents(model, buffer, cycle) {
  const stored = valueAt(buffer.stored, cycle) ?? 0;
  // a flit is in the buffer from the cycle after it was on the link; first in, first out
  const found = model.arrivals[buffer.track].filter(([at]) => at < cycle).slice(-stored || Infinity);
  return [...Array(Math.max(0, stored - found.length)).fill(undefined), ...found].slice(0, stored);
}

/** The wait-for graph: for each worm that waits, the worms that hold what it asks for, with the names of that. */
function waitsFor(model, state) {
  const edges = new Map();
  for (const wait of state.waits) {
    for (const resource of wait.resources) {
      const holder = holderOf(model, state, resource);
      if (holder === wait.worm) continue;
      const key = `${wait.worm}>${holder}`, knot = state.closed && model.deadlock.waits.has(wait);
      if (!edges.has(key)) edges.set(key, {from: wait.worm, to: holder, names: [], knot: false});
      edges.get(key).names.push(model.resources[resource].name);
      edges.get(key).knot ||= knot && model.deadlock.worms.has(holder);
    }
  }
  return [...edges.values()];
}

/** How far a worm has come by a cycle, in words; `state` is what holds in it. */
function tell(model, state, number, cycle) {
  const worm = model.worms[number];
  const waits = state.waits.filter((wait) => wait.worm === number);
  if (waits.length) return waits.map((wait) => tellWait(model, state, wait)).join("; ");
  // in the cycle of its last tail, a worm still holds the consumption channel
  if (worm.destinations.every((node) => (worm.delivered.get(node) ?? Infinity) <= cycle)) return "ejected";
  return cycle < worm.begins ? "not seen yet" : "on its way";
}

/** What a header waits for, where, and who has it. */
function tellWait(model, state, wait) {
  const names = wait.resources.map((resource) => model.resources[resource].name);
  const texts = wait.resources.map((resource, place) => {
    const holder = holderOf(model, state, resource);
    const by = holder === undefined || holder === wait.worm ? "" : ` (worm ${model.worms[holder].number})`;
    return names[place] + by;
  });
  return `waits at ${model.switches[model.tracks[wait.track].link.target]} for ${joined(model, names, texts)}`;
}

/** The last value of some steps up to a cycle, or undefined. */
function valueAt(steps, cycle) {
  return steps.findLast(([since]) => since <= cycle)?.[1];
}

/** What is in a row: `0:2`, its counter, or `0+3`, flits that have come so far; and for whom it is fetched. */
function tellChunk(chunk, cycle) {
  const count = valueAt(chunk.counts, cycle), flits = valueAt(chunk.flits, cycle);
  const fetched = chunk.fetches.filter(([at]) => at === cycle).map(([, output]) => ` → ${output}`);
  return `${chunk.row}${count === undefined ? `+${flits ?? ""}` : `:${count}`}${fetched.join("")}`;
}

/** Which flit of a row an output takes next. */
function tellReading(reading, cycle) {
  return `${reading.output} ${reading.row}.${valueAt(reading.places, cycle)}${reading.follows ? " as it passes" : ""}`;
}

/** The point at a share, 0 to 1, of the way along some points. */
function along(points, share) {
  const lengths = points.slice(1).map(([x, y], i) => Math.hypot(x - points[i][0], y - points[i][1]));
  let left = share * lengths.reduce((sum, one) => sum + one, 0);
  for (let i = 0; i < lengths.length; i += 1) {
    if (left <= lengths[i] || i === lengths.length - 1) {
      const part = lengths[i] ? left / lengths[i] : 0, [x, y] = points[i], [nextX, nextY] = points[i + 1];
      return [x + part * (nextX - x), y + part * (nextY - y)];
    }
    left -= lengths[i];
  }
  return points[0];
}

/** The point that lies some way beyond the end of a track, in its direction. */
function beyond(points, distance) {
  const [[x, y], [endX, endY]] = points.slice(-2), length = Math.hypot(endX - x, endY - y);
  return [endX + distance * (endX - x) / length, endY + distance * (endY - y) / length];
}
