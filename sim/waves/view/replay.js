// Script of the page: draws the network once, and then, cycle by cycle, the parts that change.

const data = JSON.parse(document.getElementById("data").textContent);
const model = unpack(data);
const byId = (id) => document.getElementById(id);
const COLOURS = 8;  // number of colours; of two successive groups of 8 worms, the second group has a light core
const TIP = 7, STEP = 14;  // length of an arrowhead; distance between the waiting headers of two channels of a link
const LOW = 210;  // least height of the list of worms and the wait-for graph, in pixels
const THICK = 12;  // largest width of a drawn buffer
const slot = data.slots ? Math.min(8, data.queue / data.slots) : 0;  // length of a slot
const DEPTH = data.slots ? slot * data.slots + 8 : 9;  // distance of a waiting header from the edge of its router
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

// share: the fraction of the shown cycle that has passed, while the replay plays
const at = {cycle: model.first, share: 0, chosen: null, playing: false, state: null};

function svg(kind, attributes = {}, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  return made;
}

function element(kind, properties = {}, ...inside) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...inside);
  return made;
}

const colour = (worm) => `c${model.worms[worm].colour}`;
const path = (points) => `M${points.map(([x, y]) => `${x} ${y}`).join("L")}`;

/** Points from numbers, x and y in turn. */
function pairs(flat) {
  return flat.flatMap((x, i) => (i % 2 ? [] : [[x, flat[i + 1]]]));
}

/** An arrowhead at the end of a line through some points. */
function tip(points, size) {
  const [x, y] = points.at(-1), [backX, backY] = beyond(points, -size);
  const acrossX = (y - backY) * 0.55, acrossY = (backX - x) * 0.55;
  return `M${x} ${y}L${backX + acrossX} ${backY + acrossY}L${backX - acrossX} ${backY - acrossY}Z`;
}

// ---- parts of the drawing that do not change

const network = byId("network");
const layers = {};
// positions of nodes: where their worms start (sources) and end (sinks)
const sources = new Map(), sinks = new Map();
for (const [node, x, y, kind] of data.hosts) {
  if (kind !== "sink") sources.set(node, [x, y]);
  if (kind !== "source") sinks.set(node, [x, y]);
}

function drawNetwork() {
  const [x, y] = data.corner, [width, height] = data.size;
  network.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  network.style.maxWidth = `${width * 2.2}px`;
  for (const layer of ["ring", "path", "ground", "slots", "names", "hosts", "holds", "waits", "flits", "credits", "badges"]) {
    layers[layer] = network.appendChild(svg("g", {id: `layer-${layer}`}));
  }
  for (const plane of data.planes) {
    layers.ground.append(svg("path", {class: "ground", d: `${path(pairs(plane))}Z`}));
  }
  layers.ground.append(svg("path", {class: "tracks", d: model.tracks.map((track) => path(track.points)).join("")}));
  for (const [number, middleX, middleY, wide, high] of data.routers) {
    layers.ground.append(svg("rect", {class: "router", "data-switch": number, x: middleX - wide, y: middleY - high,
                                      width: 2 * wide, height: 2 * high, rx: 6}));
  }
  for (const [node, x, y, kind, name, anchor] of data.hosts) {
    layers.hosts.append(svg("rect", {class: "host", "data-node": node, "data-kind": kind, x: x - data.host,
                                     y: y - data.host, width: 2 * data.host, height: 2 * data.host, rx: 3}));
    if (kind !== "source") layers.hosts.append(svg("text", {class: "number received", "data-node": node, x, y}));
    layers.names.append(svg("text", {class: "name node", x: name[0], y: name[1], style: `text-anchor: ${anchor}`},
                            model.names[node]));
  }
  for (const [name, planeX, planeY] of data.plane_names) {
    layers.ground.append(svg("text", {class: "plane", x: planeX - 24, y: planeY}, name));
  }
}

/** Write the name of each router: beside it, or at the position inside it where the buffers cover least of the name. */
function nameRouters() {
  const boxes = [...layers.slots.children].map((one) => one.getBoundingClientRect());
  for (const [number, middleX, middleY, wide, high, beside] of data.routers) {
    const name = layers.names.appendChild(svg("text", {class: beside ? "name" : "name inside"}, model.switches[number]));
    const put = ([x, y]) => { name.setAttribute("x", x); name.setAttribute("y", y); };
    if (beside) { put([middleX - wide + 7, middleY - high - 7]); continue; }
    const {width, height} = name.getBBox(), right = wide - width / 2 - 4, down = high - height / 2 - 2;
    const places = [0, -1, 1].flatMap((y) => [0, -1, 1].map((x) => [middleX + x * right, middleY + y * down]));
    const hidden = (place) => {
      put(place);
      const {left, right, top, bottom} = name.getBoundingClientRect(), size = (right - left) * (bottom - top);
      return boxes.reduce((sum, one) => sum + Math.max(0, Math.min(right, one.right) - Math.max(left, one.left)) *
        Math.max(0, Math.min(bottom, one.bottom) - Math.max(top, one.top)), 0) / size;
    };
    const shares = places.map(hidden);
    put(places[shares.indexOf(Math.min(...shares))]);
  }
}

let grown = 1;  // factor of the size of flits on links

/** Fit the network and the wait-for graph into the window. */
function fit() {
  document.body.classList.toggle("narrow", innerWidth < 760);
  const below = (id) => innerHeight - byId(id).getBoundingClientRect().top - scrollY - 10;  // pixels to the window's foot
  const [width, height] = data.size;
  // the list of worms and the graph are below a wide network, and beside other networks
  const wide = width > (large() ? 1.6 : 2.2) * height && (large() || width > 700);
  document.querySelector("main").classList.toggle("wide", wide);
  network.style.maxHeight = `${Math.max(Math.min(150, height), below("stage") - (wide ? LOW : 0))}px`;
  // on a projector, the numbers of flits are large enough to read
  const {width: across, height: down} = network.getBoundingClientRect();
  const pixels = Math.min(across / width, down / height) || 1;
  grown = large() ? Math.max(1, Math.min(1.7, 13 / (10 * pixels))) : 1;
  network.style.setProperty("--grown", grown);
  graph.style.maxHeight = `${Math.max(LOW - 40, below("waits"))}px`;
  placeFlits();
}

/**
 * The point at a distance inside the router at a track's end: in the direction of the track, or at a right angle to the
 * side of a router that has no node beside it.
 */
function inside(track, distance) {
  const [x, y] = track.points.at(-1), {kind, source, target} = track.link;
  const router = data.routers.find(([number]) => number === (kind === "consumption" ? source : target));
  if (!router || router[6] || kind === "consumption") return beyond(track.points, distance);
  const [, middleX, middleY, wide, high] = router, across = Math.abs(x - middleX) / wide > Math.abs(y - middleY) / high;
  return across ? [x + Math.sign(middleX - x) * distance, y] : [x, y + Math.sign(middleY - y) * distance];
}

/** Draw the slots of each buffer that ends at a router, and the place of each channel's free credits. */
function drawBuffers() {
  for (const buffer of model.buffers) {
    const track = model.tracks[buffer.track], [x, y] = track.points.at(-1), [aheadX, aheadY] = inside(track, 1);
    if (data.slots && buffer.stored.length) {
      const turn = Math.atan2(aheadY - y, aheadX - x) * 180 / Math.PI;
      const vcs = model.buffers.filter((one) => model.tracks[one.track].link === track.link).length;
      const thick = vcs > 1 ? THICK / 2 : THICK;
      const drawn = svg("g", {transform: `translate(${x} ${y}) rotate(${turn})`, "data-track": track.name});
      buffer.title = drawn.appendChild(svg("title"));
      // the front of the buffer, from which flits leave, is the innermost slot
      buffer.slots = Array.from({length: data.slots}, (_, place) => drawn.appendChild(svg("rect", {
        class: "slot", x: slot * (data.slots - 1 - place), y: -thick / 2, width: slot, height: thick})));
      layers.slots.append(drawn);
    }
    if (data.depth && buffer.spent.length && buffer.stored.length) {
      const way = 12 + 11 * (buffer.track - track.link.track);  // so that numbers of neighbouring channels do not overlap
      const at = along(track.points, Math.min(0.5, way / lengthOf(track.points)));
      buffer.credit = layers.credits.appendChild(svg("text", {class: "credit", x: at[0], y: at[1], "data-track": track.name}));
    }
  }
}

function showSlots() {
  for (const buffer of model.buffers) {
    if (buffer.slots) {
      const found = contents(model, buffer, at.cycle);
      buffer.slots.forEach((rect, place) => {
        const [cycle, hold] = found[place] ?? [];
        const names = ["slot", place < found.length && "full", hold && colour(hold.worm), hold && hold.lead === cycle && "lead",
                       hold && aside(hold.worm) && "aside"];
        rect.setAttribute("class", names.filter(Boolean).join(" "));
      });
      buffer.title.textContent = `buffer of ${model.tracks[buffer.track].name}: ${found.length} of ${data.slots} flits`;
    }
    if (buffer.credit) {
      const free = data.depth - (valueAt(buffer.spent, at.cycle) ?? 0);
      buffer.credit.textContent = free;
      buffer.credit.classList.toggle("none", free === 0);
    }
  }
}

// ---- the wait-for graph

const large = () => document.body.classList.contains("projector");
const letter = () => large() ? 10 : 7;  // width of a letter in the graph
const MOST = 12;  // with more worms, the graph has only worms that wait or that others wait for
const graph = byId("waits");

function showGraph(state) {
  const edges = waitsFor(model, state), concerned = new Set(edges.flatMap(({from, to}) => [from, to]));
  const shown = model.worms.map((_, place) => place).filter((place) => model.worms.length <= MOST || concerned.has(place));
  const radius = Math.max(large() ? 48 : 62, shown.length * 13), stretch = shown.length < 4 ? 1.7 : 1.3;
  const longest = Math.max(0, ...edges.map(({names}) => letter() * longestOf(tellNames(names))));
  const high = (shown.length === 2 ? 0 : 2 * radius) + 130;
  const wide = Math.max(2 * stretch * radius + 120, stretch * radius + 80 + 1.5 * longest);
  const places = new Map(shown.map((worm, place) => {
    // two worms are side by side
    const turn = 2 * Math.PI * place / shown.length - (shown.length === 2 ? Math.PI : Math.PI / 2);
    return [worm, [wide / 2 + stretch * radius * Math.cos(turn), high / 2 + radius * Math.sin(turn)]];
  }));
  graph.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  const drawn = edges.filter(({to}) => to !== undefined).map((edge) => drawEdge(edge, places));
  const free = edges.filter(({to}) => to === undefined);
  const circles = shown.map((worm) => {
    const [x, y] = places.get(worm), idle = !state.holds.some((hold) => hold.worm === worm) && !state.waiting.has(worm);
    const made = group(worm, `worm ${model.worms[worm].number}`);
    made.append(svg("circle", {class: idle ? "worm idle" : "worm", cx: x, cy: y, r: 15}),
                svg("text", {class: "who", x, y}, model.worms[worm].number));
    const asked = free.filter(({from}) => from === worm).flatMap(({names}) => names);
    if (asked.length) made.append(svg("text", {class: "what", x, y: y + 25}, `waits for ${joined(model, asked)}`));
    made.classList.toggle("aside", at.chosen !== null && worm !== at.chosen);
    return made;
  });
  graph.replaceChildren(...drawn, ...circles);
  const names = (worm) => `worm ${model.worms[worm].number}`;
  graph.setAttribute("aria-label", edges.length ? edges.map(({from, to, names: what}) => (
    `${names(from)} waits for ${joined(model, what)}${to === undefined ? "" : `, held by ${names(to)}`}`)).join("; ")
    : "no worm waits");
  if (!shown.length) graph.append(svg("text", {class: "none", x: wide / 2, y: high / 2}, "no worm waits"));
}

/** An arrow with the names of the requested resources. It bends, so that two opposite arrows do not overlap. */
function drawEdge({from, to, names, knot}, places) {
  const [x, y] = places.get(from), [toX, toY] = places.get(to), length = Math.hypot(toX - x, toY - y);
  const bow = Math.min(36, 0.25 * length), [acrossX, acrossY] = [(y - toY) / length * bow, (toX - x) / length * bow];
  const middle = [(x + toX) / 2 - acrossX, (y + toY) / 2 - acrossY], end = beyond([middle, [toX, toY]], -17);
  const made = svg("g", {class: knot ? "knot" : "", "data-from": model.worms[from].number, "data-to": model.worms[to].number});
  const inner = beyond([middle, end], -8);
  // the names are on the outer side of the bend
  const told = tellNames(names), [outX, outY] = [acrossX / bow, acrossY / bow];
  const away = 6 + Math.abs(outX) * letter() * longestOf(told) / 2 + Math.abs(outY) * letter() * (2 * told.length - 1);
  made.append(svg("path", {class: "edge", d: `M${x} ${y}Q${middle[0]} ${middle[1]} ${inner[0]} ${inner[1]}`}),
              svg("path", {class: "head", d: tip([middle, end], 12)}),
              lines(told, (x + toX) / 4 + middle[0] / 2 - outX * away, (y + toY) / 4 + middle[1] / 2 - outY * away));
  return made;
}

/** Names of channels in lines, joined by "or" if one channel suffices, or by "and" if the worm needs several outputs. */
const tellNames = (names) => {
  if (names.length < 2) return names;
  const word = joined(model, names).includes(" and ") ? "and" : "or";
  return [`${names[0]} `, `${word} ${names.length > 2 ? `${names.length - 1} others` : names[1]}`];
};
const longestOf = (texts) => Math.max(...texts.map((text) => text.length));

/** Lines of text, centred at a point. */
function lines(texts, x, y) {
  const made = svg("text", {class: "what"});
  const step = 2 * letter();
  made.append(...texts.map((text, line) => svg("tspan", {x, y: y + (line - (texts.length - 1) / 2) * step}, text)));
  return made;
}

function drawStrip() {
  const strip = byId("strip"), cycles = Math.max(1, model.last - model.first);
  strip.setAttribute("viewBox", `0 0 ${cycles} 12`);
  const least = cycles / 400;  // least width of a mark, visible also if cycles are narrow
  const bars = model.stands.map(({first, last}) => (
    `M${first - model.first} 7h${Math.max(least, last - first)}v5h-${Math.max(least, last - first)}z`));
  strip.append(svg("path", {class: "waits", d: bars.join("")}));
  model.worms.forEach((worm, place) => {
    for (const cycle of worm.delivered.values()) {
      strip.append(svg("rect", {class: `delivery ${colour(place)}`, x: cycle - model.first - least, y: 0,
                                width: 2 * least, height: 6}));
    }
  });
}

function drawWorms() {
  model.worms.forEach((worm, place) => {
    const button = element("button", {textContent: worm.number, title: `Path of worm ${worm.number}`,
                                      onclick: () => choose(place)});
    button.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-label", `worm ${worm.number}`);
    const stops = worm.destinations.flatMap((node) => (
      [element("span", {className: "stop"}, model.names[node], " ", element("small")), " "]));
    const row = element("tr", {className: colour(place)}, element("td", {}, button),
                        element("td", {textContent: model.names[worm.source]}), element("td", {}, ...stops),
                        element("td", {className: "now"}));
    row.dataset.worm = worm.number;
    byId("worms").append(row);
  });
}

// ---- parts of the drawing that change

/** Keep one drawn element for each key of a layer: make elements of new keys, remove elements of missing keys. */
function keep(layer, keys, make, update) {
  const there = layer.things ??= new Map();
  for (const [key, thing] of there) if (!keys.has(key)) { thing.remove(); there.delete(key); }
  for (const key of keys) {
    if (!there.has(key)) there.set(key, layer.appendChild(make(key)));
    update(there.get(key), key);
  }
}

function group(worm, title) {
  const made = svg("g", {class: colour(worm), "data-worm": model.worms[worm].number});
  made.addEventListener("click", () => choose(worm));
  made.append(svg("title", {}, title));
  return made;
}

function makeHold(hold) {
  const track = model.tracks[hold.track], number = model.worms[hold.worm].number;
  const made = group(hold.worm, `${track.name}: worm ${number} since cycle ${hold.first}`);
  made.dataset.track = track.name;
  const line = [...track.points.slice(0, -1), beyond(track.points, -TIP + 1)];
  // the worm numbers on neighbouring channels are at different positions along the channels
  const vc = hold.track - track.link.track;
  const [x, y] = along(track.points, track.link.kind === "network" ? [0.12, 0.28, 0.74, 0.88][vc % 4] : 0.3);
  made.append(svg("path", {class: "held", d: path(line)}));
  if (Math.floor(hold.worm / COLOURS) % 2) made.append(svg("path", {class: "core", d: path(line)}));
  made.append(svg("path", {class: "tip", d: tip(track.points, TIP)}),
              svg("text", {class: "tag", x, y}, number));
  return made;
}

function makeFlit(hold) {
  const number = model.worms[hold.worm].number, width = 8 + 5 * String(number).length;
  const made = group(hold.worm, `flit of worm ${number}`);
  made.dataset.track = model.tracks[hold.track].name;
  made.append(svg("rect", {class: "flit", x: -width / 2, y: -6, width, height: 12}),
              svg("text", {class: "number", x: 0, y: 0.5}, number));
  return made;
}

function makeWait(wait) {
  const number = model.worms[wait.worm].number, width = 7 + 5 * String(number).length;
  const made = group(wait.worm, `worm ${number} ${tellWait(model, at.state, wait)}`);
  made.dataset.waits = wait.resources.map((one) => model.resources[one].name).join("|");
  const track = model.tracks[wait.track], from = inside(track, DEPTH + STEP * (wait.track - track.link.track));
  for (const one of wait.resources) {
    const asked = model.resources[one].track;
    if (asked === null) continue;
    const to = along(model.tracks[asked].points, Math.min(0.5, 9 / lengthOf(model.tracks[asked].points)));
    made.append(svg("path", {class: "arrow", d: path([from, beyond([from, to], -TIP)])}),
                svg("path", {class: "point", d: tip([from, to], TIP + 2)}));
  }
  made.append(svg("rect", {class: "header", x: from[0] - width / 2, y: from[1] - 6, width, height: 12}),
              svg("text", {class: "number own", x: from[0], y: from[1] + 0.5}, number));
  return made;
}

function lengthOf(points) {
  return points.slice(1).reduce((sum, [x, y], i) => sum + Math.hypot(x - points[i][0], y - points[i][1]), 0);
}

/** Return whether a worm is drawn pale: another worm is chosen, or a knot is shown and the worm is not in its cycle. */
function aside(worm) {
  if (at.chosen !== null) return worm !== at.chosen;
  return at.state.closed && !model.deadlock.worms.has(worm);
}

function show() {
  const state = at.state = stateAt(model, at.cycle);
  keep(layers.holds, new Set(state.holds), makeHold, (thing, hold) => {
    thing.classList.toggle("aside", aside(hold.worm));
    const busy = hold.flits.has(at.cycle);  // the worm's number is then on the flit
    thing.querySelector(".held").classList.toggle("still", state.waiting.has(hold.worm) && !busy);
    thing.classList.toggle("busy", busy);
  });
  keep(layers.flits, new Set(state.flits), makeFlit, (thing, hold) => {
    thing.classList.toggle("aside", aside(hold.worm));
    const lead = hold.lead === at.cycle, pill = thing.querySelector("rect");
    pill.classList.toggle("lead", lead);
    pill.setAttribute("rx", lead ? 0 : 6);
  });
  keep(layers.waits, new Set(state.waits), makeWait, (thing, wait) => {
    thing.classList.toggle("aside", aside(wait.worm));
    thing.classList.toggle("circle", state.closed && model.deadlock.waits.has(wait));
  });
  keep(layers.ring, new Set(state.closed ? model.deadlock.tracks : []),
       (track) => svg("path", {class: "ring", d: path(model.tracks[track].points), "data-track": model.tracks[track].name}),
       () => {});
  keep(layers.path, new Set(at.chosen === null ? [] : model.worms[at.chosen].tracks),
       (track) => svg("path", {d: path(model.tracks[track].points), "data-track": model.tracks[track].name}),
       (thing) => thing.setAttribute("class", `path ${colour(at.chosen)}`));
  showHosts();
  showBadges();
  showBuffers(state);
  showSlots();
  showGraph(state);
  showWords(state);
  placeFlits();
}

/** List the buffers of deep switches that are not empty: their rows, and the outputs that read them. */
function showBuffers(state) {
  const rows = new Map();
  const add = (place, one, text) => {
    if (!rows.has(one.buffer)) rows.set(one.buffer, [[], []]);
    const chip = element("span", {className: one.worm < 0 ? "chip" : `chip ${colour(one.worm)}`, textContent: text});
    if (one.worm >= 0) chip.title = `worm ${model.worms[one.worm].number}`;
    chip.classList.toggle("aside", one.worm >= 0 && aside(one.worm));
    rows.get(one.buffer)[place].push(chip, " ");
  };
  for (const one of state.chunks) add(0, one, tellChunk(one, at.cycle));
  for (const one of state.readings) add(1, one, tellReading(one, at.cycle));
  const names = [...rows.keys()].sort((one, other) => one.localeCompare(other, "en", {numeric: true}));
  byId("rows").replaceChildren(...names.map((name) => element(
    "tr", {}, element("td", {textContent: name}), ...rows.get(name).map((chips) => element("td", {}, ...chips)))));
}

function placeFlits() {
  for (const [hold, thing] of layers.flits.things ?? []) {
    const [x, y] = along(model.tracks[hold.track].points, at.playing && !reduced.matches ? at.share : 0.5);
    thing.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${grown.toFixed(2)})`);
  }
}

function showHosts() {
  const latest = new Map();
  model.worms.forEach((worm, place) => {
    for (const [node, cycle] of worm.delivered) {
      const before = latest.get(node);
      if (cycle <= at.cycle && (!before || before.cycle < cycle)) latest.set(node, {cycle, place});
    }
  });
  for (const thing of layers.hosts.children) {
    if (thing.dataset.kind === "source") continue;  // the place of a node that only sends
    const found = latest.get(Number(thing.dataset.node)), kind = thing.tagName === "rect" ? "host" : "number received";
    thing.setAttribute("class", found ? `${kind} has ${colour(found.place)}` : kind);
    if (thing.tagName === "text") thing.textContent = found ? model.worms[found.place].number : "";
  }
}

/** Number the destinations of the chosen worm in the order of its visits, and mark its source by S. */
function showBadges() {
  const worm = at.chosen === null ? null : model.worms[at.chosen];
  const marks = worm ? [[sources.get(worm.source), "S"],
                        ...worm.destinations.map((node, place) => [sinks.get(node), String(place + 1)])] : [];
  layers.badges.replaceChildren(...marks.filter(([at]) => at).flatMap(([at, text]) => {
    const [x, y] = at.map((one) => one + data.host);
    return [svg("circle", {class: "badge", cx: x, cy: y, r: 9}), svg("text", {class: "order", x, y}, text)];
  }));
}

function showWords(state) {
  byId("cycle").textContent = `cycle ${at.cycle}`;
  byId("time").value = at.cycle;
  byId("time").setAttribute("aria-valuetext", `cycle ${at.cycle} of ${model.last}`);
  const delivered = [];
  for (const [place, row] of [...byId("worms").rows].entries()) {
    const worm = model.worms[place], words = tell(model, state, place, at.cycle), now = row.querySelector(".now");
    if (now.textContent !== words) now.textContent = words;
    row.classList.toggle("waiting", state.waiting.has(place));
    row.classList.toggle("out", words === "ejected" || words === "not seen yet");
    row.querySelectorAll("small").forEach((small, stop) => {
      const cycle = worm.delivered.get(worm.destinations[stop]);
      const text = cycle !== undefined && cycle <= at.cycle ? `✓ ${cycle}` : "";
      if (small.textContent !== text) small.textContent = text;
      if (cycle === at.cycle) delivered.push(`worm ${worm.number} is ejected at ${model.names[worm.destinations[stop]]}`);
    });
    row.querySelector("button").setAttribute("aria-pressed", String(place === at.chosen));
  }
  const blocked = state.waits.filter((wait) => wait.first === at.cycle).map(
    (wait) => `worm ${model.worms[wait.worm].number} ${tellWait(model, state, wait)}`);
  const counts = `${state.flits.length} flit${state.flits.length === 1 ? "" : "s"} on links, ` +
    `${state.waiting.size} worm${state.waiting.size === 1 ? "" : "s"} waiting`;
  const words = [`Cycle ${at.cycle}: ${counts}.`, ...[...delivered, ...blocked].map((one) => `Now ${one}.`)].join(" ");
  // a screen reader reads single steps, and not every cycle while the replay plays
  byId("told").setAttribute("aria-live", at.playing ? "off" : "polite");
  byId("told").textContent = byId("told").title = words;
  const note = data.notes.findLast(([since]) => since <= at.cycle)?.[1] ?? "";
  byId("note").setAttribute("aria-live", at.playing ? "off" : "polite");
  if (byId("note").textContent !== note) byId("note").textContent = note;
  for (const item of byId("deadlock").children) item.classList.toggle("past", Math.min(Number(item.dataset.cycle), model.last) <= at.cycle);
}

// ---- controls

function go(cycle) {
  at.cycle = Math.min(model.last, Math.max(model.first, cycle));
  show();
}

function choose(worm) {
  at.chosen = worm === at.chosen ? null : worm;
  if (at.chosen !== null) byId("worms").rows[worm].scrollIntoView({block: "nearest"});
  show();
}

function play(on) {
  if (on === at.playing) return;
  at.playing = on;
  byId("play").textContent = on ? "Pause" : "Play";
  byId("play").setAttribute("aria-pressed", String(on));
  if (!on) { go(at.cycle); return; }
  if (at.cycle === model.last) at.cycle = model.first;
  at.share = 0;
  show();
  let before = null;
  requestAnimationFrame(function frame(now) {
    if (!at.playing) return;
    at.share += before === null ? 0 : (now - before) / 1000 * Number(byId("speed").value);
    before = now;
    const cycles = Math.floor(at.share);
    if (at.cycle + cycles > model.last) { at.cycle = model.last; play(false); return; }
    at.share -= cycles;
    at.cycle += cycles;
    if (cycles) show();
    else placeFlits();
    requestAnimationFrame(frame);
  });
}

function pauseAt(cycle) {
  play(false);
  go(cycle);
}

const actions = {
  first: () => pauseAt(model.first),
  last: () => pauseAt(model.last),
  back: (far) => pauseAt(at.cycle - (far ? 10 : 1)),
  forward: (far) => pauseAt(at.cycle + (far ? 10 : 1)),
  next: () => pauseAt(model.events.find((cycle) => cycle > at.cycle) ?? model.last),
  before: () => pauseAt(model.events.findLast((cycle) => cycle < at.cycle) ?? model.first),
  play: () => play(!at.playing),
  projector: () => press("projector"),
  credits: () => press("credits"),
};

/** Switch a display mode on or off. ``name``: id of the mode's button, and CSS class of the page in this mode. */
function press(name) {
  const on = document.body.classList.toggle(name);
  byId(name).setAttribute("aria-pressed", String(on));
  fit();
  show();
}

function faster(step) {
  const speed = byId("speed");
  speed.selectedIndex = Math.min(speed.options.length - 1, Math.max(0, speed.selectedIndex + step));
  byId("told").textContent = `${speed.value} cycles a second`;
}
const KEYS = {Home: "first", End: "last", ArrowLeft: "back", ArrowRight: "forward", n: "next", p: "before", " ": "play",
              l: "projector", c: "credits"};

for (const [name, action] of Object.entries(actions)) byId(name).addEventListener("click", (event) => action(event.shiftKey));
byId("time").addEventListener("input", () => pauseAt(Number(byId("time").value)));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "SELECT") return;
  if (event.key === "Escape" && at.chosen !== null) choose(at.chosen);
  if (["+", "=", "-"].includes(event.key)) { faster(event.key === "-" ? -1 : 1); return; }
  const name = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  // the browser presses a focused button when the user presses the space key
  if (!(name in actions) || (name === "play" && ["BUTTON", "SUMMARY"].includes(event.target.tagName))) return;
  event.preventDefault();
  actions[name](event.shiftKey);
});

const [title, ...hardware] = data.title;
byId("title").textContent = data.lesson || title;
byId("hardware").querySelector("summary").textContent = (data.lesson ? title : hardware.join(", ")) || "hardware";
byId("hardware").querySelector("dl").append(...data.hardware.map(([name, value]) => (
  element("div", {}, element("dt", {textContent: name}), element("dd", {textContent: value})))));
document.querySelector("footer").textContent = `wormcast ${data.version}; a flit is drawn in the middle of its link in the cycle in which it is on the link`;
Object.assign(byId("time"), {min: model.first, max: model.last});
byId("note").hidden = !data.notes.length;
if (model.deadlock) {
  byId("deadlock").hidden = false;
  for (const [words, cycle, why] of model.deadlock.milestones) {
    const item = element("li", {}, element("strong", {textContent: `${words} ${cycle}`}), ` ${why}`);
    item.dataset.cycle = cycle;
    byId("deadlock").append(item);
  }
}
document.body.classList.toggle("plain", !data.slots);
byId("buffers").hidden = !model.chunks.length;
drawNetwork();
drawBuffers();
nameRouters();
if (!model.buffers.some((one) => one.credit)) {
  byId("credits").remove();
  delete actions.credits;
}
drawStrip();
drawWorms();
// FILE.html#CYCLE opens the page at a cycle, FILE.html#CYCLE,projector,credits also with these display modes on
const opening = location.hash.slice(1).split(",");
for (const name of ["projector", "credits"]) if (opening.includes(name)) actions[name]?.();
const opened = opening.find((word) => /^\d+$/.test(word));
go(opened === undefined ? data.opens : Number(opened));
fit();
addEventListener("resize", fit);
