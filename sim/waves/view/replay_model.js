// Model of the replay: the recorded events, unpacked from the page's data, and functions that evaluate them. This file
// does not use the page.

/** Return the model of the data: holds with their flits, events, and the deliveries and tracks of each worm. */
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
 * Return the cycle of waiting worms of a deadlock: the time at which the knot closes, the waits, and the tracks from the
 * requested channel of each wait to the header of its holder.
 *
 * A worm whose tail is in the buffer behind a track no longer holds the track, but fills the buffer: no credit is left,
 * and the worm before it in the cycle waits for a credit. `fills` has the worm that fills the buffer, by resource.
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

/** Add to `found` a track that a worm holds, and the further tracks of the worm from there to its header. */
function follow(model, held, track, found) {
  found.add(track);
  const {kind, source, target} = model.tracks[track].link, at = kind === "consumption" ? source : target;  // a switch
  for (const next of held) {
    const link = model.tracks[next.track].link;
    if (link.kind === "network" && link.source === at && !found.has(next.track)) follow(model, held, next.track, found);
  }
}

/** Periods of more than one cycle in which a header waits at the end of one track; its requests may change meanwhile. */
function stands({waits}) {
  const found = [];
  for (const {worm, track, first, last} of waits) {
    const before = found.find((one) => one.worm === worm && one.track === track && one.last === first - 1);
    if (before) before.last = last;
    else found.push({worm, track, first, last});
  }
  return found.filter(({first, last}) => last > first);  // each header waits for a cycle of arbitration
}

/** Cycles in which a worm is delivered, a header begins to wait, or the knot of a deadlock closes; in order. */
function events({stands, worms, deadlock}) {
  const cycles = new Set(deadlock ? [deadlock.since] : []);
  for (const worm of worms) for (const cycle of worm.delivered.values()) cycles.add(cycle);
  for (const {first} of stands) cycles.add(first);
  return [...cycles].sort((a, b) => a - b);
}

/** Return the state of a cycle: the holds, waits, tokens, chunks, readings and flits in this cycle. */
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

/**
 * Join texts of requested resources by "or", and by "and" between outputs if switches replicate worms: a replicated worm
 * needs one channel of each output.
 */
function joined(model, names, texts = names) {
  if (!model.replicates) return texts.join(" or ");
  const outputs = new Map();
  names.forEach((name, place) => {
    const output = name.slice(0, name.lastIndexOf(":"));
    outputs.set(output, [...outputs.get(output) ?? [], texts[place]]);
  });
  return [...outputs.values()].map((channels) => channels.join(" or ")).join(" and ");
}

/** The flits in a buffer, oldest first: cycle and hold of each, or undefined for a flit from before the first cycle. */
function contents(model, buffer, cycle) {
  const stored = valueAt(buffer.stored, cycle) ?? 0;
  // a flit is in the buffer from the cycle after it was on the link; first in, first out
  const found = model.arrivals[buffer.track].filter(([at]) => at < cycle).slice(-stored || Infinity);
  return [...Array(Math.max(0, stored - found.length)).fill(undefined), ...found].slice(0, stored);
}

/** Edges of the wait-for graph: a waiting worm, a holder of requested resources, and the names of these resources. */
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

/** The progress of a worm up to a cycle, in words; `state` is the state of this cycle. */
function tell(model, state, number, cycle) {
  const worm = model.worms[number];
  const waits = state.waits.filter((wait) => wait.worm === number);
  if (waits.length) return waits.map((wait) => tellWait(model, state, wait)).join("; ");
  // in the cycle of its last tail, a worm still holds the consumption channel
  if (worm.destinations.every((node) => (worm.delivered.get(node) ?? Infinity) <= cycle)) return "ejected";
  return cycle < worm.begins ? "not seen yet" : "on its way";
}

/** A header's wait in words: the switch, the requested resources, and their holders. */
function tellWait(model, state, wait) {
  const names = wait.resources.map((resource) => model.resources[resource].name);
  const texts = wait.resources.map((resource, place) => {
    const holder = holderOf(model, state, resource);
    const by = holder === undefined || holder === wait.worm ? "" : ` (worm ${model.worms[holder].number})`;
    return names[place] + by;
  });
  return `waits at ${model.switches[model.tracks[wait.track].link.target]} for ${joined(model, names, texts)}`;
}

/** The value in a cycle, by a list of changes; undefined before the first change. */
function valueAt(steps, cycle) {
  return steps.findLast(([since]) => since <= cycle)?.[1];
}

/** A buffer row in words: `0:2`, row 0 with its counter; `0+3`, row 0 with three flits so far; and outputs that fetch it. */
function tellChunk(chunk, cycle) {
  const count = valueAt(chunk.counts, cycle), flits = valueAt(chunk.flits, cycle);
  const fetched = chunk.fetches.filter(([at]) => at === cycle).map(([, output]) => ` → ${output}`);
  return `${chunk.row}${count === undefined ? `+${flits ?? ""}` : `:${count}`}${fetched.join("")}`;
}

/** The flit of a row that an output takes next, in words. */
function tellReading(reading, cycle) {
  return `${reading.output} ${reading.row}.${valueAt(reading.places, cycle)}${reading.follows ? " as it passes" : ""}`;
}

/** The point at a share, 0 to 1, of the length of a line through some points. */
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

/** The point at a distance beyond the end of a line, in the direction of its last part. */
function beyond(points, distance) {
  const [[x, y], [endX, endY]] = points.slice(-2), length = Math.hypot(endX - x, endY - y);
  return [endX + distance * (endX - x) / length, endY + distance * (endY - y) / length];
}
